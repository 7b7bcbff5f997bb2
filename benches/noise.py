"""What measuring noise costs and how well it repeats: every figure that the noise loops promise.

    python benches/noise.py              all of it, some five minutes, on a quiet machine, as root
    python benches/noise.py --only cost  one part: cost, large, repeats, injected, survey

cost      one stored sample over a raw counter read, same run, real-time priority
large     10^8 deltas: bytes a sample on disk, seconds and peak memory from file to report
repeats   ten runs of `tare noise --cpus 1 --duration 5s` under constant load: threshold, fraction
injected  a real-time thread that takes 1 ms of every 50 ms: its period and its share
survey    the measuring part of `tare survey`

Run the probe from target/release and tare from this Python. The result goes to
benches/results/noise.json, each part with its date, so that one part can be run again alone.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from medcouple import host

from tare import recording
from tare.noise.analysis import analyse

RESULT = Path(__file__).parent / "results" / "noise.json"
PROBE = Path(__file__).parents[1] / "target" / "release" / "tare-probe"
INJECT = PROBE.parent / "examples" / "inject"
TARE = [Path(sys.executable).with_name("tare")]
CPU = 1

COST_RUNS = 11
LARGE_SAMPLES = 100_000_000
REPEATS = 10
INJECTED_RUNS = 5
BUSY_NS, PERIOD_NS = 1_000_000, 50_000_000


def call(*command: object) -> str:
    """Run to the end and return stdout."""
    words = [str(word) for word in command]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def timed(*command: object) -> tuple[float, float]:
    """Wall time in s and peak memory in MiB of a command and what it waits for."""
    begin = time.monotonic()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    took = time.monotonic() - begin
    if status:
        sys.exit(f"failed: {command}")
    return took, usage.ru_maxrss / 1024


def cost(_: Path) -> dict[str, Any]:
    """Median over runs of the median over 1000 interleaved pairs of blocks."""
    clocks = [json.loads(call(PROBE, "clock", "--json")) for _ in range(COST_RUNS)]
    ratios = [clock["store_cost_ratio"] for clock in clocks]
    middle = statistics.median(ratios)
    return {
        "runs": COST_RUNS,
        "ratio_median": middle,
        "ratio_lowest": min(ratios),
        "ratio_highest": max(ratios),
        "read_cost_ns": statistics.median(clock["read_cost_ns"] for clock in clocks),
        "target_ratio": 1.05,
        "met": middle <= 1.05,
    }


def large(folder: Path) -> dict[str, Any]:
    """Record 10^8 deltas once, then make its report."""
    place = folder / "large"
    flags = ["--loop=timestamps", f"--samples={LARGE_SAMPLES}", f"--cpus={CPU}"]
    recorded, _ = timed(PROBE, "noise", *flags, f"--output={place}")
    size = sum(file.stat().st_size for file in place.iterdir())
    report_s, peak_mib = timed(*TARE, "report", place, "-o", folder / "large.html")
    page = (folder / "large.html").stat().st_size
    return {
        "samples": LARGE_SAMPLES,
        "recording_s": recorded,
        "bytes_a_sample": size / LARGE_SAMPLES,
        "report_s": report_s,
        "report_peak_mib": peak_mib,
        "page_mib": page / 2**20,
        "target": {"bytes_a_sample": 2.0, "report_s": 20.0, "report_peak_mib": 1024.0},
        "met": size / LARGE_SAMPLES <= 2.0 and report_s <= 20.0 and peak_mib <= 1024.0,
    }


@contextmanager
def load() -> Iterator[None]:
    """One ordinary busy process on each CPU."""
    spin = "import os, sys; os.sched_setaffinity(0, {int(sys.argv[1])})\nwhile True: pass"
    cpus = sorted(os.sched_getaffinity(0))
    busy = [subprocess.Popen([sys.executable, "-c", spin, str(cpu)]) for cpu in cpus]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def one_noise(place: Path, *flags: str) -> Any:
    call(PROBE, "noise", f"--cpus={CPU}", *flags, f"--output={place}")
    (trace,) = analyse(recording.open(place)).traces
    return trace


def repeats(folder: Path) -> dict[str, Any]:
    """Ten runs under load, one after the other."""
    with load():
        traces = [one_noise(folder / f"repeat-{i}", "--duration=5s") for i in range(REPEATS)]
    thresholds = [trace.threshold_ns for trace in traces]
    middle = statistics.median(thresholds)
    spread = max(abs(value - middle) for value in thresholds) / middle
    fractions = [
        {"value": t.fraction.value, "low": t.fraction.low, "high": t.fraction.high} for t in traces
    ]
    return {
        "thresholds_ns": thresholds,
        "threshold_spread": spread,
        "fractions": fractions,
        "load": "one ordinary busy process on each CPU",
        "target_spread": 0.05,
        "met": spread <= 0.05,
    }


def injected(folder: Path) -> dict[str, Any]:
    """The period and share that the analysis finds, beside what the injector truly took."""
    runs = [disturbed(folder / f"injected-{i}") for i in range(INJECTED_RUNS)]
    period_off = statistics.median(run["period_off"] for run in runs)
    share_off = statistics.median(run["share_off"] for run in runs)
    by_counter = statistics.median(run["share_off_by_counter"] for run in runs)
    return {
        "asked": {"busy_ns": BUSY_NS, "period_ns": PERIOD_NS},
        "runs": runs,
        "period_off_median": period_off,
        "share_off_median": share_off,
        "share_off_by_counter_median": by_counter,
        "target_off": 0.05,
        "met": abs(period_off) <= 0.05 and abs(share_off) <= 0.05,
    }


def disturbed(place: Path) -> dict[str, Any]:
    """One run: what was taken, what was found, how far that is off.

    What was taken is the CPU time that the OS accounts to the injector: waking up and switching to
    it are part of the disturbance, and its own counter does not see them.
    """
    flags = ["--busy=1ms", "--period=50ms", "--duration=60s", f"--cpu={CPU}"]
    injector = subprocess.Popen([INJECT, *flags], stdout=subprocess.PIPE, text=True)
    assert injector.stdout is not None
    injector.stdout.readline()
    try:
        trace = one_noise(place, "--duration=10s")
    finally:
        injector.terminate()
        truth = json.loads(injector.communicate()[0])
    family = min(trace.periods.families, key=lambda found: abs(found.period_ns - PERIOD_NS))
    taken_share = truth["busy_by_cpu_time_ns"] / truth["duration_ns"]
    return {
        "taken_period_ns": truth["period_mean_ns"],
        "taken_share": taken_share,
        "taken_share_by_counter": truth["share_by_counter"],
        "found_period_ns": family.period_ns,
        "found_share": family.share,
        "longest_ns": family.length_max_ns,
        "period_off": family.period_ns / truth["period_mean_ns"] - 1,
        "share_off": family.share / taken_share - 1,
        "share_off_by_counter": family.share / truth["share_by_counter"] - 1,
    }


def survey(folder: Path) -> dict[str, Any]:
    """Wall time of the probe alone, with the flags of the survey."""
    from tare import measure  # noqa: PLC0415

    took = 0.0
    for step in measure.survey_steps("all"):
        seconds, _ = timed(PROBE, *step.arguments, f"--output={folder / step.name}")
        took += seconds
    return {"measuring_s": took, "target_s": 60.0, "met": took <= 60.0}


PARTS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "cost": cost,
    "large": large,
    "repeats": repeats,
    "injected": injected,
    "survey": survey,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=PARTS, action="append", help="one part; again for more")
    parser.add_argument("-o", "--output", type=Path, default=RESULT, help="default: %(default)s")
    asked = parser.parse_args()
    known = json.loads(asked.output.read_text()) if asked.output.exists() else {}
    met = True
    for name in asked.only or PARTS:
        before = host()
        with tempfile.TemporaryDirectory() as folder:
            answer = PARTS[name](Path(folder))
        date = datetime.now(UTC).strftime("%Y-%m-%d")
        command = f"python benches/noise.py --only {name}"
        known[name] = {"command": command, "date": date, "host": before, **answer}
        print(f"{name}: {'met' if answer['met'] else 'missed'}")
        print(json.dumps(answer, indent=2))
        met = met and answer["met"]
    asked.output.parent.mkdir(parents=True, exist_ok=True)
    asked.output.write_text(json.dumps(known, indent=2) + "\n")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
