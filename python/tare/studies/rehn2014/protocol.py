"""The protocol, as runs of the probe, and the published numbers, as data.

Place on the way of the data: says what to measure; measures nothing itself.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources

from tare.measure import Step


@cache
def published() -> dict[str, float]:
    """Return the published numbers by what they are (`published.csv`)."""
    text = resources.files("tare.studies.rehn2014").joinpath("published.csv").read_text("utf-8")
    return {row["quantity"]: float(row["value"]) for row in csv.DictReader(text.splitlines())}


def steps(cpus: str) -> list[Step]:
    """Return the one run of the probe: every memory state, as many repetitions as devices.

    Parameters
    ----------
    cpus : str
        As the flag `--cpus` takes it; those that are chosen start together.
    """
    known = published()
    flags = [
        "--loop=timestamps",
        f"--cpus={cpus}",
        f"--samples={known['deltas in a trace']:.0f}",
        f"--repeat={known['devices']:.0f}",
        "--memory-state=all",
    ]
    return [Step("noise", ["noise", *flags])]
