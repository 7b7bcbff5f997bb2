"""The medcouple: skewness without the influence of outliers.

Answers: how skewed are data, from -1 (long left tail) over 0 (symmetric) to 1 (long right tail)? A
quarter of the data may be outliers without breaking it. Exact, also with ties. Does not say whether
a rule that builds upon it suits the data. Place on the way of the data: infer; computed in Rust
(crates/tare-kernels), explained in docs/methods/medcouple.md.
"""

from __future__ import annotations

import numpy as np

from tare import _native
from tare.stats.data import Data, Tallied, columns_of


def medcouple(data: Data) -> float:
    """Exact medcouple.

    Parameters
    ----------
    data : Tallied or array_like[n]
        Any unit, any order. O(n log n) time and one copy of a float64 array; a tally of k distinct
        values takes O(k log k) whatever the counts.

    Returns
    -------
    float
        From -1 to 1; 0 for constant data.

    Raises
    ------
    ValueError
        Without data, or with NaN or infinity among them.

    References
    ----------
    Brys, Hubert & Struyf 2004, "A robust measure of skewness", Journal of Computational and
    Graphical Statistics 13(4), 996-1017, doi:10.1198/106186004X12632.
    """
    if isinstance(data, Tallied):
        values, counts = columns_of(data)
        return _native.medcouple_tally(
            np.ascontiguousarray(values), np.ascontiguousarray(counts, dtype=np.uint64)
        )
    samples = np.ascontiguousarray(data, dtype=np.float64)
    if samples.ndim != 1 or np.ndim(data) != 1:
        msg = "the medcouple is that of one sample; hint: pass one dimension"
        raise ValueError(msg)
    return _native.medcouple(samples)
