"""Stream the deltas of timestamps traces: 10^8 and more in bounded memory.

Answers: tally, heat map and detours of each trace, in two passes over the table (the cut-off must
be known before detours can be listed). Does not judge anything: `tare.noise.analysis` does.

Place on the way of the data: recording -> *here* (with the compiled `TraceScan`) -> inference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tare._native import TraceScan
from tare.noise.source import Source
from tare.noise.tally import Tally

HEAT_COLUMNS = 512
"""Most intervals of the heat map: about the width of a picture in columns that one can tell."""

SAMPLES_PER_COLUMN = 500
"""Samples to an interval at least, so that a short trace does not fill its map with blanks."""

LISTED = 1_000_000
"""Detours of one trace that are listed; more are counted and summed."""

BATCH_ROWS = 1 << 20


@dataclass(frozen=True)
class TraceRow:
    """What a scan must know of its trace, ticks."""

    trace_id: int
    start_ticks: int
    end_ticks: int
    samples: int


@dataclass(frozen=True)
class Scanned:
    """What the two passes found in one trace, ticks.

    Attributes
    ----------
    tally : Tally
        All deltas.
    threshold_ticks : int
        Smallest delta that was listed.
    start_ticks : uint64[n]
        Counter before each listed detour.
    gap_ticks : uint32[n]
        Its length, floor included.
    lost, lost_ticks : int
        Detours that did not fit into the list, and their sum.
    unaccounted_ticks : int
        Time of the trace that its deltas do not hold (wrapped ones).
    time_edges_ticks, length_edges_ticks : uint64
        Edges of the heat map.
    heat : uint64[t, b]
    longest_start_ticks : uint64[m]
    longest_ticks : uint32[m]
        Longest delta of each interval that has any.
    """

    tally: Tally
    threshold_ticks: int
    start_ticks: NDArray[np.uint64]
    gap_ticks: NDArray[np.uint32]
    lost: int
    lost_ticks: int
    unaccounted_ticks: int
    time_edges_ticks: NDArray[np.uint64]
    length_edges_ticks: NDArray[np.uint64]
    heat: NDArray[np.uint64]
    longest_start_ticks: NDArray[np.uint64]
    longest_ticks: NDArray[np.uint32]


def _chunks(source: Source) -> Iterator[tuple[int, NDArray[np.uint32]]]:
    """Deltas in order of the file, each chunk of one trace."""
    for batch in source.iter_batches("deltas", rows=BATCH_ROWS):
        ids = batch["trace_id"].to_numpy()
        deltas = np.ascontiguousarray(batch["delta_ticks"].to_numpy())
        # Most batches hold one trace; telling that by the ends is enough, ids only ascend.
        if ids[0] == ids[-1]:
            yield int(ids[0]), deltas
            continue
        edges = np.concatenate([[0], np.flatnonzero(np.diff(ids)) + 1, [len(ids)]])
        for low, high in pairwise(edges.tolist()):
            yield int(ids[low]), deltas[low:high]


def _scan(
    source: Source, rows: dict[int, TraceRow], plan: Callable[[TraceRow], TraceScan]
) -> Iterator[tuple[int, TraceScan]]:
    """Run one scan to each trace; traces lie one after the other in the table."""
    current: int | None = None
    scan: TraceScan | None = None
    for trace_id, deltas in _chunks(source):
        if trace_id != current:
            if current is not None and scan is not None:
                yield current, scan
            current, scan = trace_id, plan(rows[trace_id])
        if scan is not None:
            scan.update(deltas)
    if current is not None and scan is not None:
        yield current, scan


def scan_deltas(
    source: Source, rows: dict[int, TraceRow], threshold: Callable[[Tally], int]
) -> dict[int, Scanned]:
    """Scan the table `deltas` twice.

    Parameters
    ----------
    source : Source
        The recording.
    rows : dict of int to TraceRow
        Traces of the timestamps loop by their number.
    threshold : callable
        Smallest delta, ticks, that is a detour in a trace with this tally (ticks).

    Returns
    -------
    dict of int to Scanned
        By number of the trace; traces without a single delta are missing.

    Raises
    ------
    KeyError
        If a delta names a trace that is not in `rows`.
    ValueError
        If the deltas of a trace add up to more than it lasted.
    """
    tallies, thresholds = {}, {}
    one = lambda row: TraceScan(row.start_ticks, row.end_ticks, 1)  # noqa: E731
    for trace_id, scan in _scan(source, rows, one):
        values, counts = scan.tally()
        tally = Tally(values.astype(np.float64), counts.astype(np.int64))
        tallies[trace_id], thresholds[trace_id] = tally, threshold(tally)

    def listing(row: TraceRow) -> TraceScan:
        columns = int(np.clip(row.samples // SAMPLES_PER_COLUMN, 1, HEAT_COLUMNS))
        least = thresholds[row.trace_id]
        return TraceScan(row.start_ticks, row.end_ticks, columns, least, LISTED)

    found = {}
    for trace_id, scan in _scan(source, rows, listing):
        start, gap = scan.detours()
        _, _, longest_start, longest = scan.longest()
        found[trace_id] = Scanned(
            tallies[trace_id], thresholds[trace_id], start, gap,
            scan.detours_lost, scan.detours_lost_ticks, scan.unaccounted_ticks,
            scan.time_edges(), scan.length_edges(), scan.heat(), longest_start, longest,
        )  # fmt: skip
    return found
