"""The command: what is typed, what comes out, which exit code, what is left on the disk."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from golden import factory
from tare import __version__
from tare.cli import build
from tare.noise.profile_file import read_profile

Run = Callable[..., subprocess.CompletedProcess[str]]

VERBS = ("doctor", "noise", "report", "study", "survey")


def assert_refused(done: subprocess.CompletedProcess[str], code: int, *words: str) -> None:
    """An error as the interface asks: code, `error:` and `hint:` on stderr, nothing on stdout."""
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert lines[0].startswith("error: ")
    assert any(line.startswith("hint: ") for line in lines)
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr


def left(work: Path) -> list[str]:
    """Every file, and every folder without one."""
    paths = [path for path in work.rglob("*") if path.is_file() or not any(path.iterdir())]
    return sorted(str(path.relative_to(work)) for path in paths)


# --- right use ----------------------------------------------------------------------------


def test_version(run: Run) -> None:
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"tare {__version__}\n")


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_and_the_common_options(verb: str) -> None:
    command = build().commands[verb]
    names = {name for option in command.params for name in option.opts}
    assert command.help.endswith(".")
    assert {"--json", "-q", "-v", "--no-color", "--debug"} <= names
    for option in command.params:
        assert option.help, f"{verb} {option.name} says nothing"


def test_noise_measures_prints_and_says_where(run: Run, work: Path) -> None:
    done = run("noise", "--cpus", "0-1", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert "OS noise on scale-1" in done.stdout
    assert "time taken" in done.stdout
    assert "(%)" in done.stdout
    assert "recording: out" in done.stderr
    assert (work / "out" / "recording.json").is_file()


def test_default_folder_has_a_readable_name(run: Run, work: Path) -> None:
    done = run("noise", "-q")
    assert done.returncode == 0, done.stderr
    (folder,) = (work / "recordings").iterdir()
    assert folder.name.startswith("noise-")
    assert done.stderr == ""


def test_flags_reach_the_probe_unchanged_and_unsplit(run: Run, work: Path) -> None:
    log = work.parent / "args"
    flags = ["--loop", "fwq", "--loop", "ftq", "--slot", "1ms", "--slot", "370us"]
    flags += ["--threshold", "250 ns; rm -rf /", "--start-at=-5", "--memory-state", "all"]
    run("noise", *flags, "-o", "out put", args=str(log))
    (seen,) = [json.loads(line) for line in log.read_text().splitlines()]
    assert seen == [
        "noise", "--loop=fwq", "--loop=ftq", "--memory-state=all", "--slot=1ms", "--slot=370us",
        "--threshold=250 ns; rm -rf /", "--start-at=-5", "--output=out put", "--json",
        "--progress=none",
    ]  # fmt: skip


def test_json_is_one_object_without_arrays_of_detours(run: Run) -> None:
    done = run("noise", "--json", "-o", "out")
    answer = json.loads(done.stdout)
    assert answer["recordings"] == ["out"]
    (result,) = answer["results"]
    assert result["kind"] == "noise"
    assert len(result["fingerprint"]) == 12
    assert {trace["cpu"] for trace in result["traces"]} == {0, 1}
    assert 0 < result["groups"][0]["fraction"] < 0.01
    assert "start_ns" not in result["traces"][0]["detours"]
    assert len(done.stdout) < 60_000


def test_survey_measures_all_loops_and_writes_one_page(run: Run, work: Path) -> None:
    done = run("survey", "-o", "out")
    assert done.returncode == 0, done.stderr
    traces = pl.read_parquet(work / "out" / "noise" / "traces.parquet")
    assert set(traces["loop"]) == {"timestamps", "selfish", "fwq", "ftq"}
    assert "OS noise on scale-1" in (work / "out" / "report.html").read_text()
    assert "report.html" in done.stderr


def test_report_of_two_recordings_and_every_export(run: Run, work: Path) -> None:
    factory.noise(work / "a", seconds=0.5)
    factory.noise(work / "b", seconds=0.5, changes={"host": factory.host(turbo=True)})
    formats = ("svg", "png", "csv", "parquet", "json", "profile")
    flags = [word for name in formats for word in ("--export", name)]
    done = run("report", "a", "b", "-o", "page.html", *flags)
    assert done.returncode == 0, done.stderr
    page = (work / "page.html").read_text()
    assert "unlike hosts" in page
    assert "turbo: unknown / True" in page
    written = left(work / "page")
    for name in formats:
        ending = ".profile.json" if name == "profile" else f".{name}"
        assert any(file.endswith(ending) for file in written), name
    profile = read_profile(work / "page" / "1-noise.profile.json")
    assert profile.cpus[0].fraction > 0
    assert "noise-profile.json" in page
    assert pl.read_csv(work / "page" / "1-noise-selfish-trace.csv").height > 0
    assert pl.read_parquet(work / "page" / "1-noise-table-loops.parquet")["observed_ns"][0] > 0
    assert json.loads((work / "page" / "1-noise.json").read_text())["kind"] == "noise"
    assert (work / "page" / "1-noise-selfish-trace.png").read_bytes()[:4] == b"\x89PNG"
    assert not [file for file in left(work) if ".partial" in file]


def test_study_lists_what_there_is(run: Run) -> None:
    assert "rehn2014" in run("study").stdout.split()


# --- wrong use and bad input --------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["nois"], "nois"),
        (["noise", "--foo"], "--foo"),
        (["noise", "extra"], "extra"),
        (["noise", "--cpus"], "--cpus"),
        (["report"], "RECORDING"),
        (["report", "none"], "no such recording"),
        (["report", "x", "--export", "pdf"], "pdf"),
        (["study", "none"], "no study 'none'"),
        (["doctor", "--cpus", "x"], "x"),
    ],
)
def test_wrong_use(run: Run, work: Path, arguments: list[str], word: str) -> None:
    assert_refused(run(*arguments), 2, word)
    assert left(work) == []


def test_report_refuses_what_is_no_recording(run: Run, work: Path) -> None:
    (work / "x").mkdir()
    assert_refused(run("report", "x"), 2, "it has no recording.json")
    assert left(work) == ["x"]


def test_report_refuses_a_newer_schema(run: Run, work: Path) -> None:
    path, _ = factory.noise(work / "x", seconds=0.1)
    manifest = path / "recording.json"
    manifest.write_text(manifest.read_text().replace('"schema_version": 1', '"schema_version": 99'))
    assert_refused(run("report", "x"), 2, "schema version 99", "update tare")


def test_report_refuses_a_truncated_table(run: Run, work: Path) -> None:
    path, _ = factory.noise(work / "x", seconds=0.1)
    table = path / "detours.parquet"
    table.write_bytes(table.read_bytes()[:-50])
    assert_refused(run("report", "x"), 2, "detours.parquet", "cut or changed")
    assert not (work / "report.html").exists()


def test_report_refuses_an_unknown_kind_and_never_imports_it(run: Run, work: Path) -> None:
    factory.noise(work / "x", seconds=0.1, changes={"kind": "antigravity"})
    assert_refused(run("report", "x"), 2, "holds antigravity", "noise")


def test_a_recording_that_contradicts_itself(run: Run, work: Path) -> None:
    path, _ = factory.noise(work / "x", seconds=0.1, loops=["fwq"])
    file = path / "quanta.parquet"
    pl.read_parquet(file).head(0).write_parquet(file)
    manifest = json.loads((path / "recording.json").read_text())
    for entry in manifest["tables"]:
        if entry["name"] == "quanta":
            entry |= {"rows": 0, "size_bytes": file.stat().st_size}
    (path / "recording.json").write_text(json.dumps(manifest))
    assert_refused(run("report", "x"), 2, "no quanta")


def test_output_that_is_there_already_is_kept(run: Run, work: Path) -> None:
    (work / "out").mkdir()
    (work / "out" / "mine").write_text("mine")
    for verb in ("noise", "survey"):
        assert_refused(run(verb, "-o", "out"), 2, "out is there already")
    assert left(work) == ["out/mine"]


def test_report_into_a_folder(run: Run, work: Path) -> None:
    factory.noise(work / "x", seconds=0.1)
    (work / "out").mkdir()
    assert_refused(run("report", "x", "-o", "out"), 2, "out is a folder")


def test_report_that_cannot_be_written(run: Run, work: Path) -> None:
    factory.noise(work / "x", seconds=0.1)
    (work / "file").write_text("")
    assert_refused(run("report", "x", "-o", "file/page.html"), 3, "file/page.html")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this OS has no /dev/full")
def test_a_full_disk_under_stdout(environment: dict[str, str], work: Path) -> None:
    # Unbuffered, Python would fail at once; buffered, it fails again when it ends.
    buffered = {name: value for name, value in environment.items() if name != "PYTHONUNBUFFERED"}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", "from tare.cli import main; main()", "study"],
            cwd=work, env=buffered, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 3
    assert "error: " in done.stderr
    assert "Traceback" not in done.stderr


# --- the probe ----------------------------------------------------------------------------


def test_a_refusal_of_the_probe_is_passed_on(run: Run, work: Path) -> None:
    said = ["error: CPU 99 is not online", "hint: online: 0-1"]
    for arguments in (["noise"], ["noise", "-o", "a/b/c"], ["survey"]):
        assert_refused(run(*arguments, "--cpus", "99", code=2, say=said), 2, *said)
        assert left(work) == []


def test_could_not_measure(run: Run) -> None:
    assert_refused(run("noise", code=3, say=["error: no room", "hint: less"]), 3, "no room")


def test_a_probe_that_dies_silently(run: Run) -> None:
    done = run("noise", code=101, say=["thread 'main' panicked"])
    assert done.returncode == 3
    assert "failed with exit code 101: thread 'main' panicked" in done.stderr


@pytest.mark.parametrize("answer", ["", "[]", "not JSON", "{}"])
def test_a_probe_that_answers_nonsense(run: Run, answer: str) -> None:
    assert_refused(run("noise", answer=answer), 3)


def test_a_probe_of_another_version(run: Run) -> None:
    done = run("noise", version="99.0.0")
    assert_refused(done, 3, "version 99.0.0", f"this is tare {__version__}")


def test_a_probe_that_is_not_there(run: Run, environment: dict[str, str]) -> None:
    environment["TARE_PROBE"] = "/nowhere/tare-probe"
    assert_refused(run("noise"), 2, "/nowhere/tare-probe")


def test_something_else_called_the_probe(run: Run, environment: dict[str, str]) -> None:
    environment["TARE_PROBE"] = "/bin/true"
    assert_refused(run("noise"), 3, "does not say its version")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_passed_on_and_what_is_whole_is_kept(
    environment: dict[str, str], work: Path, number: signal.Signals
) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", "from tare.cli import main; main()", "noise", "-v", "-o", "out"],
        cwd=work, env=environment | {"FAKE": json.dumps({"wait": True})},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stderr is not None
    # The probe says that it is ready to be stopped; --verbose passes that on.
    assert child.stderr.readline().strip() == "ready"
    child.send_signal(number)
    out, err = child.communicate(timeout=120)
    assert child.returncode == 3, err
    assert "error: interrupted; what was whole by then is kept in out" in err
    assert f"Not complete: stopped by {number.name}" in out
    assert (work / "out" / "recording.json").is_file()


# --- the terminal -------------------------------------------------------------------------


def test_head_is_no_failure(environment: dict[str, str], work: Path) -> None:
    factory.noise(work / "x", seconds=0.1)
    command = f"{sys.executable} -c 'from tare.cli import main; main()' report x --json"
    done = subprocess.run(
        ["/bin/bash", "-c", f"set -o pipefail; {command} | head -n 1"],
        cwd=work, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == "{\n"
    assert "Traceback" not in done.stderr
    assert "Broken" not in done.stderr


def coloured(environment: dict[str, str], work: Path, *flags: str) -> bool:
    """Run on a terminal of its own and tell whether colours came out."""
    import pty

    master, slave = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-c", "from tare.cli import main; main()", "report", "x", *flags],
        cwd=work, env=environment | {"TERM": "xterm-256color"}, stdout=slave, stderr=slave,
    )  # fmt: skip
    os.close(slave)
    seen = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:
            break
        if not part:
            break
        seen += part
    child.wait()
    os.close(master)
    assert b"OS noise" in seen
    return re.search(rb"\x1b\[(?:\d+;)*[39]\d", seen) is not None


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of Unix")
def test_colours_only_where_they_are_wanted(environment: dict[str, str], work: Path) -> None:
    doubtful = factory.host(virtualisation="kvm")
    factory.noise(work / "x", seconds=0.1, changes={"host": doubtful})
    assert coloured(environment, work)
    assert not coloured(environment, work, "--no-color")
    assert not coloured(environment | {"NO_COLOR": "1"}, work)


def test_a_hostile_recording_cannot_steer_the_terminal(run: Run, work: Path) -> None:
    evil = "a\x1b]0;owned\x07\n[red]b[/red]"
    factory.noise(work / "x", seconds=0.1, changes={"host": factory.host(hostname=evil)})
    done = run("report", "x")
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert "\x07" not in done.stdout
    assert "[red]b[/red]" in done.stdout


def test_traceback_only_with_debug(run: Run) -> None:
    assert "Traceback" not in run("report", "none").stderr
    assert "Traceback" in run("report", "none", "--debug").stderr


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from tare.cli import run; run(['--help']);"
        "heavy = {'polars', 'numpy', 'scipy', 'altair', 'vl_convert', 'jinja2'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
