"""What the report says of committed recordings, against the same worked out from their tables."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from golden import factory
from tare import recording, units
from tare.noise.view import views
from tare.report import View
from tare.report.page import render

GOLDEN = sorted(file.parent for file in Path(__file__).parent.glob("*/recording.json"))


@pytest.fixture(params=GOLDEN, ids=lambda folder: folder.name)
def opened(request: pytest.FixtureRequest) -> recording.Recording:
    return recording.open(request.param)


def by_cpu(opened: recording.Recording) -> pl.DataFrame:
    """Share of time taken, detours and the longest of each CPU, by hand from the tables."""
    traces = opened.table("traces").filter(pl.col("loop") == "selfish")
    joined = opened.table("detours").join(traces, on="trace_id", suffix="_trace")
    length = pl.col("gap_ticks") - pl.col("floor_ticks")
    taken = joined.group_by("cpu").agg(taken=length.sum(), detours=pl.len(), longest=length.max())
    observed = traces.group_by("cpu").agg(
        observed=(pl.col("end_ticks") - pl.col("start_ticks")).sum()
    )
    return (
        observed.join(taken, on="cpu")
        .with_columns(share=pl.col("taken") / pl.col("observed"))
        .sort("share", descending=True)
    )


def table(view: View, name: str) -> list[dict[str, object]]:
    return next(entry for entry in view.tables if entry.name == name).records()


def test_there_is_a_golden_recording() -> None:
    assert GOLDEN


def test_the_answer_is_that_of_the_tables(opened: recording.Recording) -> None:
    (view,) = views([opened])
    worst, *_ = expected = by_cpu(opened).to_dicts()
    assert view.sentences[0].startswith(
        f"A real-time program on CPU {worst['cpu']} loses {units.share(worst['share'])} of its time"
    )
    longest = max(row["longest"] for row in expected)
    assert f"longest detour took {units.time(opened.clock.ns(longest))}" in view.sentences[1]
    assert view.figures[0].value == units.share(worst["share"])
    assert view.figures[1].value == units.time(opened.clock.ns(longest))
    shown = {row["cpu"]: row for row in table(view, "loops") if row["loop"] == "selfish"}
    for row in expected:
        ours = shown[str(row["cpu"])]
        assert ours["time_taken_fraction"] == pytest.approx(row["share"], rel=1e-6)
        rate = row["detours"] / (opened.clock.ns(row["observed"]) / 1e9)
        assert ours["detours_hz"] == pytest.approx(rate, rel=1e-6)


def test_every_loop_and_cpu_is_in_the_first_table(opened: recording.Recording) -> None:
    (view,) = views([opened])
    rows = {(row["loop"], row["cpu"], row["slot_ns"]) for row in table(view, "loops")}
    traces = opened.table("traces")
    wanted = {
        (row["loop"], str(row["cpu"]), "-" if row["quantum_ns"] is None else row["quantum_ns"])
        for row in traces.iter_rows(named=True)
    }
    assert rows == wanted


def test_what_makes_it_doubtful_is_said(opened: recording.Recording) -> None:
    (view,) = views([opened])
    said = " ".join(doubt.what for doubt in view.doubts)
    assert f"Virtual machine ({opened.host.virtualisation})" in said
    assert ("other threads could run" in said) == bool(opened.conditions.runnable_before)


def test_the_page_is_whole_and_small(opened: recording.Recording) -> None:
    html = render(views([opened]))
    assert len(html) < 8 * 2**20
    assert opened.fingerprint in html
    names = {picture.name for view in views([opened]) for picture in view.pictures}
    assert {"selfish-trace", "selfish-lanes", "selfish-lengths", "selfish-tail", "selfish-heat",
            "timestamps-tail", "timestamps-cleaning-before"} <= names  # fmt: skip


def test_reading_changes_nothing(opened: recording.Recording) -> None:
    before = {path: path.read_bytes() for path in opened.path.iterdir()}
    render(views([opened]))
    assert {path: path.read_bytes() for path in opened.path.iterdir()} == before


# --- views of simulated noise ---------------------------------------------------------------


def view_of(tmp_path: Path, **options: object) -> View:
    path, _ = factory.noise(tmp_path / "x", **options)  # type: ignore[arg-type]
    (view,) = views([recording.open(path)])
    return view


def doubts_of(tmp_path: Path, **changes: object) -> str:
    view = view_of(tmp_path, seconds=1.0, changes=changes)
    return "\n".join(f"{doubt.what} {doubt.why}" for doubt in view.doubts)


def test_a_quiet_bare_host_has_no_doubts(tmp_path: Path) -> None:
    assert doubts_of(tmp_path) == ""


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"host": factory.host(virtualisation="kvm")}, "Virtual machine (kvm)"),
        ({"host": factory.host(container="docker")}, "Inside docker"),
        ({"host": factory.host(governor="powersave")}, "governor powersave"),
        ({"status": "interrupted", "status_reason": "Ctrl-C"}, "Not complete: Ctrl-C"),
        ({"losses": {"records": 1234, "wrapped_deltas": 0}}, "1\u202f234 records were lost"),
        (
            {
                "rungs": [
                    {"name": "fifo", "cpu": c, "state": "refused", "detail": "EPERM"}
                    for c in (0, 1)
                ]
            },
            "fifo refused on CPU 0-1: EPERM",
        ),
        (
            {"conditions": factory.manifest()["conditions"] | {"steal_ns": 200_000_000}},
            "gave 200 ms to others, 1.00 % of all CPU time",
        ),
        (
            {"conditions": factory.manifest()["conditions"] | {"load_1min_before": 4.0}},
            "Load average 4.0",
        ),
        (
            {"clock": factory.manifest()["clock"] | {"source": "os"}},
            "not from the CPU's counter",
        ),
    ],
)
def test_each_doubt_is_said(tmp_path: Path, changes: dict[str, object], words: str) -> None:
    assert words in doubts_of(tmp_path, **changes)


def test_unknown_conditions_raise_no_doubt(tmp_path: Path) -> None:
    unknown = dict.fromkeys(factory.manifest()["conditions"]) | {"window_ns": 10**9}
    host = factory.host(virtualisation=None, container=None, governor=None)
    assert doubts_of(tmp_path, conditions=unknown, host=host) == ""


def test_no_noise_at_all_is_said_and_drawn_without_failing(tmp_path: Path) -> None:
    view = view_of(tmp_path, seconds=1.0, tick_hz=0.0, rare_per_s=0.0)
    assert view.sentences[0].startswith("A real-time program on CPU 0 loses 0 % of its time")
    assert view.sentences[1].startswith("Not one detour was seen in 1.00 s on each of 2 CPUs")
    assert "Not one detour" in render([view])


def test_an_injected_disturbance_is_named_with_its_period_and_share(tmp_path: Path) -> None:
    view = view_of(tmp_path, seconds=10.0, injected=(50e6, 1e6))
    assert "The strongest period is 50.0 ms" in view.sentences[2]
    assert view.figures[2].value == "50.0 ms"
    (row,) = [r for r in table(view, "periods") if r["cpu"] == "0" and r["period_ns"] > 4.9e7]
    assert row["time_taken_fraction"] == pytest.approx(0.02, rel=0.05)


@pytest.mark.parametrize("loop", ["timestamps", "fwq", "ftq"])
def test_a_recording_of_one_loop_alone(tmp_path: Path, loop: str) -> None:
    view = view_of(tmp_path, seconds=2.0, loops=(loop,), samples=200_000)
    assert view.sentences[0].startswith("A real-time program on CPU")
    assert view.pictures
    assert all(picture.name.startswith(loop) for picture in view.pictures)
    render([view])
