"""Types of the Rust kernels; what they compute is documented where `tare.stats` wraps them.

Long calls release the interpreter lock. Arrays have to be contiguous and of the dtype named.
"""

from typing import final

import numpy as np
import numpy.typing as npt

__version__: str

def medcouple(values: npt.NDArray[np.float64]) -> float:
    """Exact medcouple, O(n log n), one copy of `values`.

    Raises
    ------
    ValueError
        Without values, or with NaN or infinity among them.
    """

def medcouple_tally(values: npt.NDArray[np.float64], counts: npt.NDArray[np.uint64]) -> float:
    """Exact medcouple of `counts[i]` samples of `values[i]`; values ascend and are distinct.

    Raises
    ------
    ValueError
        When a value is not finite, the values do not ascend, the lengths differ or all counts
        are 0.
    """

@final
class TraceScan:
    """One pass over the deltas of a timestamps trace, in bounded memory.

    Time is rebuilt by adding up the deltas; a delta belongs to the reading before it.

    Parameters
    ----------
    start_ticks, end_ticks : int
        First and last reading of the trace (table `traces`).
    time_bins : int
        Intervals of equal length, 1 to 2**20; 992 bytes each.
    threshold_ticks : int, optional
        Smallest delta that is listed as a detour. None lists none.
    detour_capacity : int
        Most detours that are listed; more are counted.

    Raises
    ------
    ValueError
        When the trace ends before it starts, or with a number of bins out of range.
    """

    def __new__(
        cls,
        start_ticks: int,
        end_ticks: int,
        time_bins: int,
        threshold_ticks: int | None = None,
        detour_capacity: int = 1_000_000,
    ) -> TraceScan: ...
    def update(self, deltas_ticks: npt.NDArray[np.uint32]) -> None:
        """Read on; chunks may have any size.

        Raises
        ------
        ValueError
            When the deltas add up to more than the trace lasted.
        """

    @property
    def samples(self) -> int:
        """Deltas read so far."""

    @property
    def unaccounted_ticks(self) -> int:
        """`end_ticks` minus the last rebuilt reading: 2**32 for each wrapped delta."""

    @property
    def detours_lost(self) -> int:
        """Detours that came after the list was full."""

    @property
    def detours_lost_ticks(self) -> int:
        """Their summed length."""

    def tally(self) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint64]]:
        """Distinct deltas, ascending, and how often each was seen."""

    def time_edges(self) -> npt.NDArray[np.uint64]:
        """Edges of the time bins, ticks: `time_bins + 1`."""

    @staticmethod
    def length_edges() -> npt.NDArray[np.uint64]:
        """Edges of the length bins, ticks: 0, 1, 2, 3, then four to a doubling, up to 2**32."""

    def heat(self) -> npt.NDArray[np.uint64]:
        """Number of deltas, `uint64[time_bins, length_bins]`."""

    def longest(
        self,
    ) -> tuple[
        npt.NDArray[np.uint64],
        npt.NDArray[np.uint64],
        npt.NDArray[np.uint64],
        npt.NDArray[np.uint32],
    ]:
        """Longest delta of each time bin: bin, number of the delta, start_ticks, gap_ticks.

        The first of equals. Bins in which no delta started have no row.
        """

    def detours(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]:
        """Deltas at or above the threshold: start_ticks, gap_ticks."""
