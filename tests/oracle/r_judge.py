"""R as a judge: hands samples to a piece of R and reads numbers back.

A test that needs R, or a package of it, is skipped by name where it is not installed.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

RSCRIPT = shutil.which("Rscript")


@cache
def _missing(package: str) -> str | None:
    if RSCRIPT is None:
        return "Rscript is not installed; hint: apt install r-base-core"
    found = subprocess.run(
        [RSCRIPT, "-e", f'quit(status = !requireNamespace("{package}", quietly = TRUE))'],
        check=False,
        capture_output=True,
    )
    return (
        f"R has no package {package}; hint: install.packages('{package}')"
        if found.returncode
        else None
    )


def judge(
    samples: Sequence[ArrayLike], expression: str, folder: Path, *, package: str = "stats"
) -> list[NDArray[np.float64]]:
    """Evaluate an expression of `x` in R for each sample.

    Parameters
    ----------
    samples : sequence of array_like[n]
    expression : str
        R; gives a vector of numbers.
    folder : Path
        For the file that carries the samples.
    package : str
        R package to load.

    Returns
    -------
    list of float64[m]
        One vector for each sample.
    """
    missing = _missing(package)
    if missing or RSCRIPT is None:
        pytest.skip(missing)
    carried = folder / "samples.txt"
    lines = [" ".join(float(x).hex() for x in np.asarray(sample)) for sample in samples]
    carried.write_text("\n".join(lines) + "\n")
    script = f"""
        library({package})
        for (line in readLines("{carried}")) {{
            x <- as.numeric(strsplit(line, " ")[[1]])
            cat(sprintf("%.17g", {expression}), "\\n")
        }}
    """
    answer = subprocess.run(
        [RSCRIPT, "-e", script], check=True, capture_output=True, text=True
    ).stdout
    return [np.array(line.split(), dtype=np.float64) for line in answer.splitlines()]
