"""Find the probe, check that it is of our version, run it, and pass on what it says.

Way of the data: *measure* -> recording -> infer -> show. The probe measures in its own process,
without an interpreter; this side only waits. While it runs, nothing here wakes by itself: a line of
progress is drawn when the probe sends one, because a redraw every tenth of a second would be the
noise that is measured.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from tare import __version__
from tare.errors import ProbeError

NAME = "tare-probe.exe" if sys.platform == "win32" else "tare-probe"
VARIABLE = "TARE_PROBE"

_VERSION_TIMEOUT_S = 30.0
# A probe's answer is a summary of some kilobytes; more is not one.
_MOST_ANSWER_CHARS = 64 * 2**20


@dataclass(frozen=True)
class Progress:
    """How far the probe is.

    Attributes
    ----------
    done_ns, total_ns : int
        Time measured, and planned.
    what : str
        What it does now.
    """

    done_ns: int
    total_ns: int
    what: str


def find() -> Path:
    """Return the probe: from `$TARE_PROBE`, beside the package, in target/release, on the PATH.

    Raises
    ------
    ProbeError
        If it is in none of these places.
    """
    named = os.environ.get(VARIABLE)
    if named:
        path = Path(named)
        if not path.is_file():
            raise ProbeError(
                f"${VARIABLE} is {named}, and there is no such file",
                hint=f"set {VARIABLE} to the probe, or unset it",
                exit_code=2,
            )
        return path.resolve()
    package = Path(__file__).resolve().parent
    beside = (
        package / "bin" / NAME,
        Path(sys.executable).parent / NAME,
        package.parents[1] / "target" / "release" / NAME,
    )
    for path in beside:
        if path.is_file():
            return path
    found = shutil.which(NAME)
    if found is None:
        raise ProbeError(
            f"{NAME} is not there: not beside the package, not in target/release, not on the PATH",
            hint="build it with `cargo build --release`, "
            f"or say where it is with the variable {VARIABLE}",
        )
    return Path(found)


def check_version(path: Path) -> None:
    """Refuse a probe of another version: its flags and tables may mean something else.

    Raises
    ------
    ProbeError
        If it does not start, or says another version.
    """
    try:
        done = subprocess.run(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_VERSION_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ProbeError(
            f"{path} does not start ({error})", hint="is it built for this machine? build it again"
        ) from error
    words = done.stdout.split()
    if done.returncode != 0 or len(words) < 2 or words[0] != "tare-probe":
        raise ProbeError(
            f"{path} does not say its version: this is not tare-probe",
            hint=f"set {VARIABLE} to the probe of tare {__version__}",
        )
    if words[1] != __version__:
        raise ProbeError(
            f"{path} is version {words[1]}, this is tare {__version__}",
            hint="build both from one checkout: `cargo build --release`",
        )


def run(
    arguments: Sequence[str],
    *,
    on_progress: Callable[[Progress], None] | None = None,
    on_log: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Run the probe to its end and return the object that it answers with.

    A Ctrl-C (SIGINT) or SIGTERM that comes meanwhile is passed on to the probe, which ends in order
    and keeps what it has; a second one is passed on too.

    Parameters
    ----------
    arguments : sequence of str
        The verb and its flags, as `--flag=value`. Given as a list: no shell sees them.
    on_progress : callable, optional
        Gets each line of progress.
    on_log : callable, optional
        Gets each other line of its stderr.

    Returns
    -------
    dict
        Its `--json` object; its `status` is `interrupted` after a signal.

    Raises
    ------
    ProbeError
        If it fails: with its own message, hint and exit code.
    """
    path = find()
    check_version(path)
    progress = "json" if on_progress else "none"
    command = [str(path), *arguments, "--json", f"--progress={progress}"]
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            **_own_group(),
        )
    except OSError as error:
        raise ProbeError(f"{path} does not start ({error})", hint="build it again") from error
    with child, _passing_signals_on(child):
        answer = _Reader(child)
        lines = _listen(child, on_progress, on_log)
        code = child.wait()
        text = answer.text()
    return _judge(path, code, text, lines)


def _own_group() -> dict[str, Any]:
    # In a group of its own the probe gets Ctrl-C once, from here, and not a second time from the
    # terminal. Not a session of its own: that would change how the scheduler groups it.
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"process_group": 0}


@contextmanager
def _passing_signals_on(child: subprocess.Popen[str]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def pass_on(number: int, _: FrameType | None) -> None:
        if child.poll() is not None:
            return
        if sys.platform == "win32":
            child.send_signal(signal.CTRL_BREAK_EVENT)
        else:
            child.send_signal(number)

    before = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Reader:
    """Read the answer beside, so that a full pipe never stops the probe."""

    def __init__(self, child: subprocess.Popen[str]) -> None:
        assert child.stdout is not None  # noqa: S101 - asked for as a pipe
        self._stream = child.stdout
        self._text = ""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        self._text = self._stream.read(_MOST_ANSWER_CHARS)

    def text(self) -> str:
        self._thread.join()
        return self._text


def _listen(
    child: subprocess.Popen[str],
    on_progress: Callable[[Progress], None] | None,
    on_log: Callable[[str], None] | None,
) -> list[str]:
    assert child.stderr is not None  # noqa: S101 - asked for as a pipe
    lines: list[str] = []
    for raw in child.stderr:
        line = raw.rstrip("\n")
        seen = _progress(line)
        if seen is not None:
            if on_progress:
                on_progress(seen)
            continue
        lines.append(line)
        if on_log and not line.startswith(("error:", "hint:")):
            on_log(line)
    return lines


def _progress(line: str) -> Progress | None:
    if not line.startswith("{"):
        return None
    try:
        data = json.loads(line)
        return Progress(int(data["done_ns"]), int(data["total_ns"]), str(data["what"]))
    except (ValueError, KeyError, TypeError):
        return None


def _judge(path: Path, code: int, text: str, lines: list[str]) -> dict[str, Any]:
    answer = _answer(text)
    # Stopped from outside it still answers: what was whole by then is recorded.
    if answer is not None and (code == 0 or answer.get("status") == "interrupted"):
        return answer
    if code == 0:
        raise ProbeError(
            f"{path} answered with something else than a JSON object", hint="build it again"
        )
    said = [line.removeprefix("error:").strip() for line in lines if line.startswith("error:")]
    hints = [line.removeprefix("hint:").strip() for line in lines if line.startswith("hint:")]
    if said:
        message = said[-1]
    elif code < 0:
        message = f"{NAME} was ended by signal {-code} ({signal.strsignal(-code) or 'unknown'})"
    else:
        message = (
            f"{NAME} failed with exit code {code}: {lines[-1] if lines else 'it said nothing'}"
        )
    raise ProbeError(
        message,
        hint=hints[-1] if hints else None,
        exit_code=code if code in {2, 3} else 3,
    )


def _answer(text: str) -> dict[str, Any] | None:
    try:
        answer = json.loads(text)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None
