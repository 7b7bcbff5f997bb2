"""Time and memory of the medcouple, beside its peers, on data of four kinds.

    python benches/medcouple.py              under three minutes
    python benches/medcouple.py --long       robustbase on 10^7 values as well, minutes each
    python benches/medcouple.py --tare-only  the targets alone, under a minute

Every run is a fresh process that loads its data from a file, so that its peak is that of one call
with its input (VmHWM; includes the interpreter). The contenders take turns, and the median of the
rounds is kept. The result goes to benches/results/medcouple.json.

Targets: 10^6 values in 0.15 s, 10^7 values in 1.5 s and 250 MiB.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

RESULT = Path(__file__).parent / "results" / "medcouple.json"
SEED = 2004
TARGETS = [
    {"n": 10**6, "most_s": 0.15, "most_mib": None},
    {"n": 10**7, "most_s": 1.5, "most_mib": 250.0},
]

KINDS = {
    "continuous": "exponential, no ties",
    "clock-quantised": "a floor of 78 ticks and up in steps of 26: almost all ties",
    "all ties": "one value",
    "bimodal": "two uniform modes, a thousand widths apart",
}

TARE = """
import sys, time
import numpy as np
from tare.stats import medcouple
x = np.load(sys.argv[1])
start = time.perf_counter()
value = medcouple(x)
print(time.perf_counter() - start, value)
"""

STATSMODELS = """
import sys, time
import numpy as np
from statsmodels.stats.stattools import medcouple
x = np.load(sys.argv[1])
start = time.perf_counter()
value = float(medcouple(x))
print(time.perf_counter() - start, value)
"""

PEAK_PYTHON = """
from pathlib import Path
status = Path("/proc/self/status")
lines = status.read_text().splitlines() if status.exists() else []
print(*[line.split()[1] for line in lines if line.startswith("VmHWM")])
"""

ROBUSTBASE = r"""
suppressMessages(library(robustbase))
options(mc_doScale_quiet = TRUE)
name <- commandArgs(TRUE)[1]
npy <- file(name, "rb")
invisible(readBin(npy, "raw", 128))  # the header of a .npy file of format 1
x <- readBin(npy, "double", (file.size(name) - 128) / 8)
close(npy)
time <- system.time(value <- mc(x, doReflect = FALSE), gcFirst = FALSE)
cat(time[["elapsed"]], sprintf("%.17g", value), "\n")
if (file.exists("/proc/self/status")) {
    peak <- grep("VmHWM", readLines("/proc/self/status"), value = TRUE)
    cat(gsub("[^0-9]", "", peak), "\n")
}
"""


def samples(kind: str, n: int) -> NDArray[np.float64]:
    random = np.random.default_rng(SEED)
    if kind == "continuous":
        return random.exponential(size=n)
    if kind == "clock-quantised":
        return 26.0 * (3 + np.floor(random.exponential(2, n)))
    if kind == "all ties":
        return np.full(n, 78.0)
    return random.random(n) + np.where(random.random(n) < 0.5, 0.0, 1000.0)


def contenders() -> tuple[dict[str, list[str]], dict[str, str]]:
    """Command of each contender that is here, and why another is not."""
    here = {"tare": [sys.executable, "-c", TARE + PEAK_PYTHON]}
    missing = {}
    if importlib.util.find_spec("statsmodels"):
        here["statsmodels"] = [sys.executable, "-c", STATSMODELS + PEAK_PYTHON]
    else:
        missing["statsmodels"] = "not installed; hint: uv run --with statsmodels ..."
    rscript = shutil.which("Rscript")
    probe = 'quit(status = !requireNamespace("robustbase", quietly = TRUE))'
    if rscript and not subprocess.run([rscript, "-e", probe], check=False).returncode:
        here["robustbase"] = [rscript, "-e", ROBUSTBASE]
    else:
        missing["robustbase"] = "not installed; hint: apt install r-cran-robustbase"
    return here, missing


def plan(*, long: bool, tare_only: bool) -> list[tuple[str, int, str, int]]:
    """Kind, n, contender and rounds of each case; what a peer cannot do in time is left out."""
    cases = [(kind, n, "tare", 5) for n in (10**6, 10**7) for kind in KINDS]
    if not tare_only:
        # statsmodels lists all pairs: 10^4 values take 200 MB of them.
        cases += [(kind, 2_000, who, 3) for who in ("tare", "statsmodels") for kind in KINDS]
        cases += [(kind, 10**5, who, 3) for who in ("tare", "robustbase") for kind in KINDS]
        cases += [(kind, 10**6, "robustbase", 1) for kind in KINDS]
    if long:
        cases += [(kind, 10**7, "robustbase", 1) for kind in KINDS]
    return cases


def run_once(command: list[str], file: Path) -> dict[str, float | None]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, str(file)], check=True, stdout=subprocess.PIPE, text=True, env=environment
    )
    seconds, value, *peak_kib = done.stdout.split()
    return {
        "seconds": float(seconds),
        "value": float(value),
        "peak_mib": float(peak_kib[0]) / 1024 if peak_kib else None,
    }


def measure(
    cases: list[tuple[str, int, str, int]], commands: dict[str, list[str]], folder: Path
) -> list[dict[str, object]]:
    files = {}
    for kind, n, *_ in cases:
        if (kind, n) not in files:
            files[kind, n] = folder / f"{kind.replace(' ', '-')}-{n}.npy"
            np.save(files[kind, n], samples(kind, n))
    runs: dict[tuple[str, int, str], list[dict[str, float | None]]] = {}
    for turn in range(max(rounds for *_, rounds in cases)):
        for kind, n, who, rounds in cases:
            if who in commands and turn < rounds:
                print(f"round {turn + 1}: {who}, {n:,} {kind}", file=sys.stderr)
                runs.setdefault((kind, n, who), []).append(run_once(commands[who], files[kind, n]))
    return [
        {"contender": who, "data": kind, "n": n, **summary(found)}
        for (kind, n, who), found in runs.items()
    ]


def summary(runs: list[dict[str, float | None]]) -> dict[str, object]:
    seconds = [run["seconds"] for run in runs if run["seconds"] is not None]
    peaks = [run["peak_mib"] for run in runs if run["peak_mib"] is not None]
    return {
        "median_s": statistics.median(seconds),
        "lowest_s": min(seconds),
        "highest_s": max(seconds),
        "runs": len(runs),
        "peak_mib": max(peaks) if peaks else None,
        "medcouple": runs[0]["value"],
    }


def host() -> dict[str, object]:
    info = Path("/proc/cpuinfo")
    model = re.search(r"model name\s*: (.*)", info.read_text()) if info.exists() else None
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "cpu": model.group(1) if model else platform.processor() or None,
        "cpus": os.cpu_count(),
        "system": platform.system(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "load_1min_before": load,
    }


def table(rows: list[dict[str, object]]) -> str:
    head = f"{'n':>10}  {'data':16} {'contender':12} {'median s':>9} {'peak MiB':>9}  medcouple"
    lines = [
        f"{row['n']:>10,}  {row['data']:16} {row['contender']:12} {row['median_s']:9.3f} "
        + (f"{row['peak_mib']:9.0f}" if row["peak_mib"] is not None else f"{'-':>9}")
        + f"  {row['medcouple']:.6f}"
        for row in sorted(rows, key=lambda row: (row["n"], row["data"], row["contender"]))
    ]
    return "\n".join([head, *lines])


def targets(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Worst case of each target, and whether it is met."""
    answers = []
    for target in TARGETS:
        ours = [row for row in rows if row["contender"] == "tare" and row["n"] == target["n"]]
        slowest = max(row["median_s"] for row in ours)
        peaks = [row["peak_mib"] for row in ours if row["peak_mib"] is not None]
        largest = max(peaks) if peaks else None
        met = slowest <= target["most_s"]
        if target["most_mib"] is not None:
            met = met and largest is not None and largest <= target["most_mib"]
        answers.append({**target, "slowest_s": slowest, "largest_mib": largest, "met": met})
    return answers


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--long", action="store_true", help="robustbase on 10^7 values as well")
    parser.add_argument("--tare-only", action="store_true", help="without the peers")
    parser.add_argument("-o", "--output", type=Path, default=RESULT, help="default: %(default)s")
    asked = parser.parse_args()
    before = host()
    commands, missing = contenders()
    with tempfile.TemporaryDirectory() as folder:
        cases = plan(long=asked.long, tare_only=asked.tare_only)
        rows = measure(cases, commands, Path(folder))
    answers = targets(rows)
    document = {
        "benchmark": "medcouple",
        "command": "python benches/medcouple.py" + (" --long" if asked.long else ""),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "host": before,
        "data": KINDS,
        "skipped": missing,
        "targets": answers,
        "results": rows,
    }
    asked.output.parent.mkdir(parents=True, exist_ok=True)
    asked.output.write_text(json.dumps(document, indent=2) + "\n")
    print(table(rows))
    for who, why in missing.items():
        print(f"skipped {who}: {why}")
    for answer in answers:
        word = "met" if answer["met"] else "missed"
        print(f"target {word}: {answer}")
    return 0 if all(answer["met"] for answer in answers) else 1


if __name__ == "__main__":
    sys.exit(main())
