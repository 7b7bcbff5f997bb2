"""The glue to the kernels: arrays in and out, refusals, and the lock released in long calls.

What the scan computes is tested in crates/tare-kernels/tests.
"""

from __future__ import annotations

import sys
import threading
import time

import numpy as np
import pytest

from tare import _native


def test_scan_hands_out_all_its_columns() -> None:
    scan = _native.TraceScan(100, 400, 3, threshold_ticks=50, detour_capacity=1)
    scan.update(np.array([26, 60], dtype=np.uint32))
    scan.update(np.array([26, 70, 100], dtype=np.uint32))
    values, counts = scan.tally()
    assert (values.tolist(), counts.tolist()) == ([26, 60, 70, 100], [2, 1, 1, 1])
    assert (values.dtype, counts.dtype) == (np.uint32, np.uint64)
    assert scan.time_edges().tolist() == [100, 200, 300, 400]
    bins, index, start, gap = (column.tolist() for column in scan.longest())
    assert (bins, index, start, gap) == ([0, 1], [1, 4], [126, 282], [60, 100])
    start, gap = (column.tolist() for column in scan.detours())
    assert (start, gap) == ([126], [60])
    assert (scan.detours_lost, scan.detours_lost_ticks) == (2, 170)
    assert (scan.samples, scan.unaccounted_ticks) == (5, 18)
    heat, edges = scan.heat(), _native.TraceScan.length_edges()
    assert heat.shape == (3, edges.size - 1)
    assert heat.sum(axis=1).tolist() == [3, 2, 0]
    assert heat[1, np.searchsorted(edges, 100, side="right") - 1] == 1


def test_longest_has_no_row_for_a_bin_without_deltas() -> None:
    scan = _native.TraceScan(0, 100, 10)
    scan.update(np.array([35, 40, 25], dtype=np.uint32))
    assert scan.longest()[0].tolist() == [0, 3, 7]
    assert scan.detours()[0].size == 0


def test_scan_says_what_is_wrong() -> None:
    with pytest.raises(ValueError, match=r"before its start.*hint"):
        _native.TraceScan(10, 9, 3)
    with pytest.raises(ValueError, match=r"0 time bins; hint"):
        _native.TraceScan(0, 9, 0)
    with pytest.raises(ValueError, match=r"with delta 1 .*hint"):
        _native.TraceScan(0, 9, 1).update(np.array([9, 1], dtype=np.uint32))
    with pytest.raises(ValueError, match=r"`deltas_ticks` has strides.*ascontiguousarray"):
        _native.TraceScan(0, 9, 1).update(np.ones(6, dtype=np.uint32)[::2])


def test_other_threads_run_during_a_long_call() -> None:
    # With no forced switching, the other thread gets the lock only where it is given up: by its own
    # pauses, by this thread's wait, and by the call, or never until `during` is taken.
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    x = np.random.default_rng(1).normal(size=2_000_000)
    running, stop, rounds = threading.Event(), threading.Event(), [0]

    def count() -> None:
        while not stop.is_set():
            rounds[0] += 1
            running.set()
            time.sleep(0)

    other = threading.Thread(target=count)
    other.start()
    try:
        running.wait()
        at_start = rounds[0]
        _native.medcouple(x)
        during = rounds[0] - at_start
    finally:
        stop.set()
        sys.setswitchinterval(before)
        other.join()
    assert during > 0
