"""From a recording to its analysis, its profile and back to noise; recordings of known content."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from golden import factory
from tare import recording
from tare.errors import RecordingError
from tare.noise.analysis import analyse
from tare.noise.groups import moment_table
from tare.noise.profile import NoiseProfile, families_of, make_profile
from tare.noise.profile_compare import compare_profiles
from tare.noise.profile_file import read_profile, to_text
from tare.noise.results import NoiseAnalysis
from tare.noise.simulate import simulate_detours

INJECTED = (50e6, 1e6)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recordings") / "all-loops"
    path, truth = factory.noise(
        folder,
        loops=("selfish", "timestamps", "fwq", "ftq"),
        seconds=5.0,
        samples=400_000,
        injected=INJECTED,
    )
    opened = recording.open(path)
    return opened, truth, analyse(opened)


def by_loop(analysis: NoiseAnalysis, loop: str):
    return [trace for trace in analysis.traces if trace.loop == loop]


def test_every_trace_is_analysed_in_order_of_time(made) -> None:
    opened, _, analysis = made
    ids = {number for trace in analysis.traces for number in trace.trace_ids}
    assert ids == set(opened.table("traces")["trace_id"])
    starts = [trace.windows_ns[0][0] for trace in analysis.traces]
    assert starts == sorted(starts)
    assert starts[0] == 0


@pytest.mark.parametrize(
    ("loop", "close"), [("selfish", 1e-3), ("timestamps", 0.01), ("fwq", 0.03), ("ftq", 0.03)]
)
def test_the_fraction_is_the_one_that_was_put_in(made, loop, close) -> None:
    _, truth, analysis = made
    for trace in by_loop(analysis, loop):
        true = truth[trace.trace_ids[0]].lengths_ns.sum() / trace.observed_ns
        assert trace.fraction.value == pytest.approx(true, rel=close)
        if trace.fraction.low is not None:
            assert trace.fraction.low < true < trace.fraction.high


def test_the_injected_disturbance_is_found_by_selfish_and_fwq(made) -> None:
    _, _, analysis = made
    for trace in by_loop(analysis, "selfish") + by_loop(analysis, "fwq"):
        found = min(trace.periods.families, key=lambda f: abs(f.period_ns / 50e6 - 1))
        assert found.period_ns == pytest.approx(50e6, rel=1e-3)
        assert found.share == pytest.approx(0.02, rel=0.05)
        assert "timer tick 250 Hz" in {family.name for family in trace.periods.families}


def test_timestamps_are_tallied_mapped_and_cut(made) -> None:
    _, truth, analysis = made
    for trace in by_loop(analysis, "timestamps"):
        true = truth[trace.trace_ids[0]]
        assert trace.samples == trace.kept.tally.n == 400_000
        assert trace.heat.counts.sum() == 400_000
        assert len(trace.detours.length_ns) == len(true.starts_ns) == trace.cutoff.removed
        np.testing.assert_allclose(trace.detours.length_ns, true.lengths_ns, atol=10)
        assert trace.kept.clean.maximum <= trace.cutoff.value < trace.kept.raw.maximum
        assert trace.threshold_ns > trace.cutoff.value
        assert trace.floor_ns == pytest.approx(10, abs=1)


def write_selfish(folder: Path, traces: list[dict], detours: dict) -> recording.Recording:
    base = {
        "loop": "selfish", "cpu": 0, "cpu_after": 0, "group": 0, "repetition": 0, "window": 0,
        "samples": 1, "floor_ticks": 20.0, "threshold_ticks": 100, "lost_records": 0,
        "lost_ticks": 0, "wrapped_deltas": 0,
    }  # fmt: skip
    rows = [factory.frame("traces", base | {"trace_id": i} | row) for i, row in enumerate(traces)]
    tables = {"traces": pl.concat(rows), "detours": factory.frame("detours", detours)}
    return recording.open(factory.write(folder, tables))


S = int(factory.TICKS_PER_SECOND)


def test_windows_of_one_measurement_are_joined_and_the_rests_left_out(tmp_path) -> None:
    traces = [
        {"window": w, "start_ticks": 10 * S + 2 * w * S, "end_ticks": 11 * S + 2 * w * S}
        for w in range(3)
    ]
    starts = np.concatenate([np.arange(100) * (S // 100) + 10 * S + 2 * w * S for w in range(3)])
    detours = {
        "trace_id": np.repeat([0, 1, 2], 100),
        "start_ticks": starts,
        "gap_ticks": np.full(300, 20 + 2000),
    }
    (trace,) = analyse(write_selfish(tmp_path / "r", traces, detours)).traces
    assert trace.trace_ids == (0, 1, 2)
    assert trace.observed_ns == 3e9
    assert trace.fraction.value == pytest.approx(300 * 1000 / 3e9)
    assert trace.rate_per_s == pytest.approx(100)
    # Nothing changes from block to block once the rests are left out.
    assert trace.fraction.high - trace.fraction.low < 0.1 * trace.fraction.value
    assert 95 < trace.rate_low_per_s < 100 < trace.rate_high_per_s < 105
    (family,) = trace.periods.families
    assert family.period_ns == pytest.approx(1e7, rel=1e-6)
    assert family.events == pytest.approx(300)


def test_lost_detours_count_in_the_fraction_and_the_rate(tmp_path) -> None:
    traces = [
        {"start_ticks": 0, "end_ticks": S, "lost_records": 100, "lost_ticks": 100 * (20 + 4000)}
    ]
    detours = {
        "trace_id": np.zeros(100, dtype=int),
        "start_ticks": np.arange(100) * (S // 200),
        "gap_ticks": np.full(100, 20 + 2000),
    }
    (trace,) = analyse(write_selfish(tmp_path / "r", traces, detours)).traces
    assert trace.fraction.value == pytest.approx((100 * 1000 + 100 * 2000) / 1e9)
    assert trace.rate_per_s == pytest.approx(200)
    assert any("100 records" in doubt for doubt in trace.doubts)


def test_deltas_that_wrapped_are_counted_in(tmp_path) -> None:
    deltas = np.full(1000, 20)
    deltas[500] = 6000
    deltas[700] = 30  # 2^32 + 30 ticks: 2.1 s
    total = int(deltas.sum()) + 2**32
    trace = {
        "trace_id": 0, "loop": "timestamps", "cpu": 0, "group": 0, "repetition": 0, "window": 0,
        "start_ticks": 5, "end_ticks": 5 + total, "samples": 1000, "lost_records": 0,
        "lost_ticks": 0, "wrapped_deltas": 1,
    }  # fmt: skip
    tables = {
        "traces": factory.frame("traces", trace),
        "deltas": factory.frame("deltas", {"trace_id": 0, "delta_ticks": deltas}),
    }
    (found,) = analyse(recording.open(factory.write(tmp_path / "r", tables))).traces
    assert found.fraction.value == pytest.approx(1.0, abs=1e-4)
    assert found.detours.lost == 1
    assert found.fraction.lost_ns == pytest.approx(2**32 / 2)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"end_ticks": 5}, "ends before it starts"),
        ({"loop": "guesswork"}, "unknown loop"),
        ({"loop": "fwq"}, "no quanta"),
        ({"loop": "ftq", "quantum_ns": 10}, "no slot holds any work"),
        ({"loop": "ftq"}, "without the length of its slots"),
        ({"loop": "timestamps"}, "no deltas"),
    ],
)
def test_a_recording_that_contradicts_itself_is_refused(tmp_path, change, words) -> None:
    trace = {"start_ticks": 10, "end_ticks": S} | change
    detours = {"trace_id": [0], "start_ticks": [20], "gap_ticks": [500]}
    opened = write_selfish(tmp_path / "r", [trace], detours)
    with pytest.raises(ValueError, match=words):
        analyse(opened)


def test_groups_sum_up_repetitions_with_the_interval_between_them(tmp_path) -> None:
    lengths = [2000, 2200, 1800, 2000]
    traces = [
        {"repetition": r, "group": r, "start_ticks": 2 * r * S, "end_ticks": 2 * r * S + S}
        for r in range(4)
    ]
    detours = {
        "trace_id": np.repeat(range(4), 50),
        "start_ticks": np.concatenate([2 * r * S + np.arange(50) * (S // 50) for r in range(4)]),
        "gap_ticks": np.repeat(lengths, 50) + 20,
    }
    analysis = analyse(write_selfish(tmp_path / "r", traces, detours))
    (group,) = analysis.groups
    assert (group.traces, len(analysis.traces)) == (4, 4)
    assert group.fraction == pytest.approx(50 * 1000 / 1e9)
    # Student with 3 degrees of freedom on fractions 50, 55, 45, 50 millionths.
    half = 3.1824463 * np.std([50, 55, 45, 50], ddof=1) / 2 * 1e-6
    assert group.fraction_high - group.fraction == pytest.approx(half, rel=1e-6)
    assert group.threshold_low_ns == group.threshold_high_ns == 50


def test_the_profile_goes_to_a_file_and_back(made, tmp_path) -> None:
    opened, _, analysis = made
    profile = make_profile(analysis, opened.manifest)
    file = tmp_path / "profile.json"
    file.write_text(to_text(profile))
    assert read_profile(file) == profile
    assert NoiseProfile.from_dict(profile.to_dict()) == profile
    assert [entry.cpu for entry in profile.cpus] == [0, 1]
    assert {entry.loop for entry in profile.cpus} == {"selfish"}
    assert profile.fingerprint == opened.fingerprint


def test_noise_made_from_a_profile_has_its_fraction_and_periods(made) -> None:
    opened, _, analysis = made
    entry = make_profile(analysis, opened.manifest).cpus[0]
    again = simulate_detours(families_of(entry), 20e9, np.random.default_rng(1))
    assert again.length_ns.sum() / 20e9 == pytest.approx(entry.fraction, rel=0.03)
    assert len(again.start_ns) / 20 == pytest.approx(entry.rate_per_s, rel=0.03)


def test_a_profile_compared_with_itself_differs_in_nothing(made) -> None:
    opened, _, analysis = made
    profile = make_profile(analysis, opened.manifest)
    rows = compare_profiles(profile, profile)
    assert {row.ratio for row in rows if row.ratio is not None} == {1.0}
    fraction = next(row for row in rows if row.quantity == "noise fraction")
    assert fraction.low < 1 < fraction.high
    noisier = profile.model_copy(
        update={
            "cpus": [
                entry.model_copy(
                    update={
                        "fraction": entry.fraction * 3,
                        "fraction_low": entry.fraction_low * 3,
                        "fraction_high": entry.fraction_high * 3,
                    }
                )
                for entry in profile.cpus
            ]
        }
    )
    tripled = next(
        row for row in compare_profiles(profile, noisier) if row.quantity == "noise fraction"
    )
    assert tripled.ratio == pytest.approx(3)
    assert tripled.low > 1


def test_profiles_without_a_cpu_in_common_cannot_be_compared(made) -> None:
    opened, _, analysis = made
    profile = make_profile(analysis, opened.manifest)
    left = profile.model_copy(update={"cpus": profile.cpus[:1]})
    right = profile.model_copy(update={"cpus": profile.cpus[1:]})
    with pytest.raises(ValueError, match="share no CPU"):
        compare_profiles(left, right)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d.update(format="other"), "not a noise profile"),
        (lambda d: d.update(schema_version=99), "schema version 99"),
        (lambda d: d["cpus"][0].update(fraction="much"), "cpus.0.fraction"),
        (lambda d: d["cpus"][0]["lengths"].update(counts=[-1]), "counts.0"),
        (lambda d: d["cpus"].reverse(), "each once, ascending"),
        (lambda d: d.pop("clock"), "clock"),
    ],
)
def test_what_is_no_profile_is_refused_with_its_place(made, tmp_path, change, words) -> None:
    opened, _, analysis = made
    data = json.loads(json.dumps(make_profile(analysis, opened.manifest).to_dict()))
    change(data)
    file = tmp_path / "bad.json"
    file.write_text(json.dumps(data))
    with pytest.raises(RecordingError, match=words) as caught:
        read_profile(file)
    assert str(file) in caught.value.message
    assert caught.value.hint


def test_unreadable_files_say_so(tmp_path) -> None:
    with pytest.raises(RecordingError, match="cannot be read"):
        read_profile(tmp_path / "none.json")
    broken = tmp_path / "broken.json"
    broken.write_text('{"format":')
    with pytest.raises(RecordingError, match="not JSON"):
        read_profile(broken)


def test_table_one_means_skewness_and_kurtosis_over_traces() -> None:
    # Two traces by hand: 0 0 0 4 has g1 = 2/sqrt(3), b2 = 7/3; 1 2 has 0 and 1.
    raw = moment_table([[0, 0, 0, 4], [1, 2]])[0]
    assert (raw.rule, raw.traces, raw.undefined) == ("raw", 2, 0)
    assert raw.mean_skewness == pytest.approx((2 / np.sqrt(3) + 0) / 2)
    assert raw.mean_kurtosis == pytest.approx((7 / 3 + 1) / 2)
    rows = {row.rule: row for row in moment_table([[0, 0, 0, 4], [5, 5, 5]])}
    assert (rows["raw"].traces, rows["raw"].undefined) == (1, 1)
    # Tukey removes the 4: what is left is constant and has no skewness.
    assert rows["tukey"].mean_skewness is None
    assert rows["tukey"].removed_share == pytest.approx(1 / 7) or rows["tukey"].traces == 0
