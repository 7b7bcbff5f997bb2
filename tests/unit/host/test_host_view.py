"""What the doctor prints: for people, for programs, and in the reference page."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from fake_host import CPU, KERNEL, build, stat_line
from rich.console import Console
from typer import Typer
from typer.testing import CliRunner

from tare.cli import doctor as cli
from tare.errors import UsageError
from tare.host import Machine, State, diagnose, view
from tare.host.reference import reference_page

ROOT = Path(__file__).resolve().parents[3]


def printed(machine: Machine, *, width: int = 100, everything: bool = False) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, no_color=True)
    view.show(diagnose(machine), console, everything=everything)
    return out.getvalue()


@pytest.fixture
def app(tmp_path, monkeypatch):
    """Return a function that runs the verb on a machine of files and gives (exit code, stdout)."""

    def run(*argv: str, changes=None):
        monkeypatch.setattr(
            Machine, "here", lambda cpus=None, window_s=1.0: build(tmp_path, changes, cpus=cpus)
        )
        typer_app = Typer()
        cli.add(typer_app)
        return CliRunner().invoke(typer_app, list(argv))

    return run


def test_meaning_stands_in_words_and_commands_are_not_wrapped(tmp_path):
    text = printed(build(tmp_path, {f"{KERNEL}/randomize_va_space": "2"}), width=40)
    assert "disturbs" in text
    assert f"  mend: echo 0 | sudo tee {KERNEL}/randomize_va_space\n" in text
    assert f"  undo: echo 2 | sudo tee {KERNEL}/randomize_va_space\n" in text
    assert "1 thing disturbs; 0 unknown" in text


def test_ok_is_named_briefly_and_with_evidence_when_asked(tmp_path):
    assert "performance" not in printed(build(tmp_path))
    assert "performance" in printed(build(tmp_path), everything=True)
    assert "governor" in printed(build(tmp_path))


def test_foreign_text_is_neither_obeyed_nor_taken_for_markup(tmp_path):
    evil = "[red]\x1b[2J\rgone"
    text = printed(build(tmp_path, {f"{CPU}/cpu3/cpufreq/scaling_governor": evil}))
    assert "\x1b" not in text
    assert "[red]\\x1b[2J" in text


def test_a_quoted_value_cannot_break_out_of_a_command(tmp_path):
    evil = "x; touch /tmp/gone"
    machine = build(tmp_path, {f"{CPU}/cpu3/cpufreq/scaling_governor": evil})
    finding = next(f for f in diagnose(machine).findings if f.name == "governor")
    assert str(finding.undo).startswith("echo 'x; touch /tmp/gone' | ")


def test_long_evidence_is_cut_in_the_table_only(tmp_path):
    machine = build(tmp_path, {f"{CPU}/vulnerabilities/v{i}": "Mitigation: PTI" for i in range(9)})
    assert "and 5 more" in printed(machine)
    found = view.to_json(diagnose(machine))["findings"]
    assert len(next(f for f in found if f["name"] == "mitigations")["evidence"]) == 9


def test_json_is_one_object_with_every_finding(app):
    done = app("--json", "--cpus", "3")
    told = json.loads(done.stdout)
    assert done.exit_code == 0
    assert (told["format"], told["schema_version"], told["cpus"]) == ("tare-doctor", 1, [3])
    assert sum(told["counts"].values()) == len(told["findings"]) > 25
    assert told["kernel"] == "6.12.3-amd64"


def test_every_field_of_the_json_is_in_the_reference_page(tmp_path):
    told = view.to_json(diagnose(build(tmp_path)))
    for field in (*told, *told["findings"][0]):
        assert f"| `{field}` |" in reference_page()


@pytest.mark.parametrize(
    ("argv", "changes", "code"),
    [
        ((), {f"{KERNEL}/randomize_va_space": "2"}, 0),
        (("--gate",), {f"{KERNEL}/randomize_va_space": "2"}, 1),
        (("--gate", "--json"), {f"{KERNEL}/randomize_va_space": "2"}, 1),
        (("--gate",), {}, 0),
        # Unknown is no reason to fail a gate.
        (("--gate",), {f"{KERNEL}/randomize_va_space": "?"}, 0),
    ],
)
def test_exit_codes(app, argv, changes, code):
    assert app(*argv, changes=changes).exit_code == code


def test_quiet_prints_one_line(app):
    done = app("-q", "--no-color")
    assert done.stdout.count("\n") == 1
    assert done.stdout.startswith("nothing that was checked disturbs")


@pytest.mark.parametrize(
    "argv",
    [
        ("--cpus", "9"),
        ("--cpus", "0,x"),
        ("--cpus", ""),
        ("--duration", "0s"),
        ("--duration", "-1s"),
        ("--duration", "fast"),
        ("--duration", "99m"),
        ("--duration", "5"),
    ],
)
def test_wrong_use_is_told_with_a_hint(app, argv):
    error = app(*argv).exception
    assert isinstance(error, UsageError)
    assert error.exit_code == 2
    assert error.hint


def test_all_cpus(app):
    assert json.loads(app("--cpus", "all", "--json").stdout)["cpus"] == [0, 1, 2, 3]


def test_the_reference_page_is_the_one_in_the_repository():
    committed = (ROOT / "docs/reference/doctor.md").read_text(encoding="utf-8")
    assert committed == reference_page(), "run: python -m tare.host.reference > that file"


def test_the_doctor_loads_no_heavy_library():
    heavy = {"polars", "scipy", "numpy", "altair", "pandas"}
    code = """
import sys, typer
from tare.cli import doctor
app = typer.Typer()
doctor.add(app)
app(["--json", "--duration", "10ms"], standalone_mode=False)
print(*sys.modules, file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["findings"]
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert not loaded & heavy


def test_the_summary_counts(tmp_path):
    changes = {f"{KERNEL}/randomize_va_space": "2", "/proc/5/stat": stat_line(5, "cron")}
    diagnosis = diagnose(build(tmp_path, changes))
    assert len(diagnosis.of(State.DISTURBS)) == 2
    assert view.summary(diagnosis).startswith("2 things disturb; ")
