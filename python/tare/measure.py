"""Run the probe, one step after another, and open what it recorded.

Way of the data: *measure* -> recording -> infer -> show. A survey and a study are a list of steps;
each capability says its own (`tare/KIND/survey.py`, `tare/studies/NAME`), so a new one adds its
part without touching this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from tare import probe, recording
from tare.errors import OutputError, ProbeError, UsageError
from tare.recording import Recording

if TYPE_CHECKING:
    from tare.report import View

_PACKAGE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Step:
    """One run of the probe.

    Attributes
    ----------
    name : str
        Of the recording's folder.
    arguments : sequence of str
        The verb and its flags, as `--flag=value`; without output, JSON and progress.
    """

    name: str
    arguments: Sequence[str]


class Plan(Protocol):
    """A module that says what is to be measured."""

    def steps(self, cpus: str) -> list[Step]:
        """Return its runs of the probe."""


class Study(Plan, Protocol):
    """A folder `tare/studies/NAME`: the protocol of a published study, and what it found."""

    def views(self, recordings: Sequence[Recording]) -> list[View]:
        """Return its tables beside ours."""


def survey_steps(cpus: str) -> list[Step]:
    """Return the steps of all capabilities that take part in a survey.

    Parameters
    ----------
    cpus : str
        As the flag `--cpus` takes it.
    """
    found: list[Step] = []
    for file in sorted(_PACKAGE.glob("*/survey.py")):
        if file.parent.name == "cli":
            continue
        found += cast(Plan, import_module(f"tare.{file.parent.name}.survey")).steps(cpus)
    return found


def studies() -> list[str]:
    """Return the names of the studies there are."""
    return sorted(file.parent.name for file in _PACKAGE.glob("studies/*/__init__.py"))


def study(name: str) -> Study:
    """Return one study.

    Raises
    ------
    UsageError
        If there is none of that name.
    """
    known = studies()
    if name not in known:
        raise UsageError(
            f"there is no study '{name}'", hint=f"there are: {', '.join(known) or 'none yet'}"
        )
    return cast(Study, import_module(f"tare.studies.{name}"))


def new_folder(folder: Path) -> None:
    """Refuse a folder that is there already: a recording is never overwritten.

    Raises
    ------
    UsageError
        If something of that name exists.
    """
    if folder.exists() or folder.is_symlink():
        raise UsageError(f"{folder} is there already", hint="name another folder with -o")


@contextmanager
def _folder_above(folder: Path) -> Iterator[None]:
    """Make the folders above; after a failure, take away those that were made and are empty."""
    made = [above for above in folder.parents if not above.exists()]
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"{folder.parent}: cannot be made ({error.strerror})",
            hint="name another folder with -o",
        ) from error
    try:
        yield
    except BaseException:
        for above in made:
            # A folder that something was kept in stays, and so do those above it.
            with suppress(OSError):
                above.rmdir()
        raise


def run_step(
    step: Step,
    folder: Path,
    *,
    on_progress: Callable[[probe.Progress], None] | None = None,
    on_log: Callable[[str], None] | None = None,
) -> Recording:
    """Measure once.

    Parameters
    ----------
    step : Step
        What to measure.
    folder : Path
        The recording to write; the folder above it is made.
    on_progress, on_log : callable, optional
        As for `tare.probe.run`.

    Returns
    -------
    Recording

    Raises
    ------
    UsageError, OutputError, ProbeError
        If it cannot be measured or written.
    """
    new_folder(folder)
    with _folder_above(folder):
        answer = probe.run(
            [*step.arguments, f"--output={folder}"], on_progress=on_progress, on_log=on_log
        )
    place = answer.get("recording")
    if not isinstance(place, str):
        raise ProbeError("the probe did not say where its recording is", hint="build it again")
    return recording.open(place)


def run_steps(
    steps: Sequence[Step],
    folder: Path,
    *,
    on_progress: Callable[[probe.Progress], None] | None = None,
    on_log: Callable[[str], None] | None = None,
) -> list[Recording]:
    """Measure one step after another, until all are done or one was interrupted.

    Parameters
    ----------
    steps : sequence of Step
        In their order.
    folder : Path
        Holds one recording for each step.
    on_progress, on_log : callable, optional
        As for `tare.probe.run`.

    Returns
    -------
    list of Recording
        What was recorded; fewer than the steps after a Ctrl-C.
    """
    new_folder(folder)
    done: list[Recording] = []
    for step in steps:
        recorded = run_step(step, folder / step.name, on_progress=on_progress, on_log=on_log)
        done.append(recorded)
        if recorded.manifest.status == "interrupted":
            break
    return done
