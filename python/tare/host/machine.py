"""The machine as the checks see it: files and read-only commands, nothing else.

Answers: what a file says, or why it says nothing; what changed within a short window; how a
command that would change a file is written. Does not answer: what any of it means (checks/).

Everything goes through one root folder, so a test stands a folder of small files where the
machine was. Nothing here writes: commands that would mend something are text.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Final

from tare.host import cpulist, kernel_config
from tare.host.finding import Absent, Evidence, Unclear, shorten
from tare.host.window import Process, Window, parse_process, watched_paths

_SYSTEMS: Final = {"linux": "linux", "darwin": "macos", "win32": "windows"}
# A command that only lists something and has said nothing for this long has hung; seconds.
_COMMAND_PATIENCE_S: Final = 5.0
_ASK_ROOT: Final = "run `tare doctor` as root"


def run_command(argv: tuple[str, ...]) -> str:
    """Run a command that only lists something, and return its standard output.

    Raises
    ------
    Absent
        If there is no such command.
    Unclear
        If it failed or hung.
    """
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, errors="replace", check=True,
            timeout=_COMMAND_PATIENCE_S, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except FileNotFoundError:
        raise Absent(argv[0], "is not installed") from None
    except subprocess.TimeoutExpired:
        raise Unclear(" ".join(argv), f"no answer within {_COMMAND_PATIENCE_S:g} s") from None
    except (OSError, subprocess.CalledProcessError) as cause:
        said = getattr(cause, "stderr", None) or str(cause)
        raise Unclear(" ".join(argv), shorten(said.strip(), 120)) from None
    return done.stdout


class Machine:
    """One machine, read through a root folder.

    Parameters
    ----------
    root
        Where its `/` is.
    system
        `linux`, `macos`, `freebsd` or `windows`.
    cpus
        CPUs that a measurement would use; None for the last one this process may use, which is
        also what `tare noise` takes.
    window_s
        Length of the window in which changes are watched, seconds.
    is_root
        Whether the commands that mend need no `sudo`.
    run
        Runs a listing command; see `run_command`.
    pause
        Sleeps for that many seconds.
    unix_s
        Wall clock, seconds since 1970.
    """

    def __init__(
        self,
        root: Path = Path("/"),
        *,
        system: str = "linux",
        cpus: Iterable[int] | None = None,
        window_s: float = 1.0,
        is_root: bool = False,
        run: Callable[[tuple[str, ...]], str] = run_command,
        pause: Callable[[float], None] = time.sleep,
        unix_s: Callable[[], float] = time.time,
    ) -> None:
        self.root = root
        self.system = system
        self.window_s = window_s
        self.is_root = is_root
        self.unix_s = unix_s
        self._wanted = None if cpus is None else tuple(sorted(set(cpus)))
        self._run = run
        self._pause = pause

    @classmethod
    def here(cls, *, cpus: Iterable[int] | None = None, window_s: float = 1.0) -> Machine:
        """Return the machine that this program runs on."""
        system = _SYSTEMS.get(sys.platform, sys.platform.rstrip("0123456789"))
        is_root = hasattr(os, "geteuid") and os.geteuid() == 0
        return cls(system=system, cpus=cpus, window_s=window_s, is_root=is_root)

    # --- reading -------------------------------------------------------------------------

    def raw(self, path: str) -> bytes:
        """Return a file's bytes.

        Raises
        ------
        Absent
            If there is no such file.
        Unclear
            If there is one that may not or cannot be read.
        """
        try:
            return self._place(path).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            raise Absent(path) from None
        except PermissionError:
            raise Unclear(path, "permission denied", _ASK_ROOT) from None
        except OSError as cause:
            raise Unclear(path, cause.strerror or str(cause)) from None

    def text(self, path: str) -> str:
        """Return a file's text; bytes that are not UTF-8 become U+FFFD. Raises like `raw`."""
        return self.raw(path).decode(errors="replace")

    def value(self, path: str) -> Evidence:
        """Return a one-line file as evidence. Raises like `raw`."""
        return Evidence(path, self.text(path).strip())

    def maybe(self, path: str) -> Evidence | None:
        """Return the same, or None if there is no such file."""
        try:
            return self.value(path)
        except Absent:
            return None

    def names(self, path: str) -> list[str]:
        """Return the sorted names in a folder; none if there is no such folder.

        Raises
        ------
        Unclear
            If it may not be listed.
        """
        try:
            return sorted(entry.name for entry in self._place(path).iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as cause:
            advice = _ASK_ROOT if isinstance(cause, PermissionError) else None
            raise Unclear(path, cause.strerror or str(cause), advice) from None

    def exists(self, path: str) -> bool:
        """Say whether there is such a file; one behind a closed door counts as not."""
        try:
            return self._place(path).exists()
        except OSError:
            return False

    def link(self, path: str) -> str | None:
        """Return what a symbolic link names; None if it is none or may not be read."""
        try:
            return str(self._place(path).readlink())
        except OSError:
            return None

    def output(self, *argv: str) -> Evidence:
        """Run a command that only lists something. Raises like `run_command`."""
        return Evidence(" ".join(argv), self._run(argv).strip())

    def cpu_list(self, path: str) -> tuple[Evidence, frozenset[int]]:
        """Return a file that holds a CPU list, and the CPUs."""
        return self._cpus_of(self.value(path), cpulist.parse_list)

    def cpu_mask(self, path: str) -> tuple[Evidence, frozenset[int]]:
        """Return a file that holds a CPU mask, and the CPUs."""
        return self._cpus_of(self.value(path), cpulist.parse_mask)

    # --- what many checks need ------------------------------------------------------------

    @cached_property
    def online(self) -> frozenset[int]:
        """CPUs that are online; empty if the machine does not say."""
        for path in ("/sys/devices/system/cpu/online", "/sys/devices/system/cpu/present"):
            try:
                return self.cpu_list(path)[1]
            except (Absent, Unclear):
                continue
        return self.allowed

    @cached_property
    def allowed(self) -> frozenset[int]:
        """CPUs that this process may use; empty if the machine does not say."""
        try:
            listed = self.status_field("Cpus_allowed_list")
            return cpulist.parse_list(listed.value)
        except (Absent, Unclear, ValueError):
            return frozenset()

    @cached_property
    def cpus(self) -> tuple[int, ...]:
        """CPUs that a measurement would use, sorted; CPU 0 if the machine says nothing."""
        if self._wanted is not None:
            return self._wanted
        return (max(self.allowed or self.online or {0}),)

    @property
    def housekeeping(self) -> frozenset[int]:
        """CPUs that are left for everything else; may be empty."""
        return self.online - set(self.cpus)

    @cached_property
    def kernel(self) -> tuple[int, int]:
        """Version of the kernel, major and minor.

        Raises
        ------
        Unclear
            If the release does not begin with two numbers.
        """
        release = self.value("/proc/sys/kernel/osrelease")
        major, _, rest = release.value.partition(".")
        minor = "".join(c for c in rest.split(".")[0].split("-")[0] if c.isascii() and c.isdigit())
        if not (major.isascii() and major.isdigit() and minor) or len(major + minor) > 8:
            raise Unclear(release.source, f"holds {shorten(release.value)}, not a kernel release")
        return int(major), int(minor)

    @cached_property
    def boot_parameters(self) -> dict[str, str]:
        """Boot parameters by name; one without `=` maps to the empty string."""
        words = self.text("/proc/cmdline").split()
        return {name: given for name, _, given in (word.partition("=") for word in words)}

    @cached_property
    def config(self) -> kernel_config.KernelConfig:
        """How the running kernel was built. Raises `Unclear` if no file says so."""
        return kernel_config.find(self)

    def status_field(self, name: str) -> Evidence:
        """Return one field of this process' status.

        Raises
        ------
        Absent
            If the kernel has no such field.
        """
        for line in self.text("/proc/self/status").splitlines():
            key, _, given = line.partition(":")
            if key == name:
                return Evidence(f"/proc/self/status {name}", given.strip())
        raise Absent(f"/proc/self/status {name}")

    def meminfo_kib(self, name: str) -> tuple[Evidence, int]:
        """Return one line of /proc/meminfo and its value in KiB.

        Raises
        ------
        Absent
            If the kernel has no such line.
        Unclear
            If it holds no number.
        """
        for line in self.text("/proc/meminfo").splitlines():
            key, _, given = line.partition(":")
            if key == name:
                number = Evidence(f"/proc/meminfo {name}", given.replace("kB", "").strip())
                return Evidence(number.source, f"{number.value} KiB"), number.number()
        raise Absent(f"/proc/meminfo {name}")

    def processes(self) -> dict[int, Process]:
        """Return the processes of this moment by number; one that ends meanwhile is left out."""
        found = {}
        for name in self.names("/proc"):
            if name.isascii() and name.isdigit() and len(name) <= 10:
                try:
                    process = parse_process(self.text(f"/proc/{name}/stat"))
                except (Absent, Unclear):
                    continue
                if process is not None:
                    found[process.pid] = process
        return found

    def running(self, *names: str) -> list[Process]:
        """Return the processes whose command has one of these names (the kernel keeps 15 bytes).

        Raises
        ------
        Unclear
            If the processes of others are hidden.
        """
        wanted = {name[:15] for name in names}
        return [p for p in self.all_processes().values() if p.command in wanted]

    def all_processes(self) -> Mapping[int, Process]:
        """Return the processes at the end of the window. Raises `Unclear` if some are hidden."""
        found = self.window.processes_after
        if 1 not in found:
            raise Unclear("/proc", "hides the processes of others (hidepid)", _ASK_ROOT)
        return found

    @cached_property
    def window(self) -> Window:
        """What the machine said before and after a pause: read once, shared by all checks."""
        paths = watched_paths(self)
        before, processes = self._look(paths), self.processes()
        self._pause(self.window_s)
        return Window(before, self._look(paths), processes, self.processes())

    # --- writing commands down ------------------------------------------------------------

    @property
    def sudo(self) -> str:
        """Return what a command that needs root begins with."""
        return "" if self.is_root else "sudo "

    def write(self, values: Mapping[str, str | int]) -> str:
        """Return the command that writes these values into these files, equal values together."""
        groups: dict[str, list[str]] = {}
        for path, value in values.items():
            groups.setdefault(str(value), []).append(shlex.quote(path))
        return " && ".join(
            f"echo {shlex.quote(value)} | {self.sudo}tee {' '.join(paths)}"
            for value, paths in groups.items()
        )

    def boot_with(self, parameter: str) -> tuple[str | None, str | None, str]:
        """Return (mend, undo, advice) for one more boot parameter, as this boot loader takes it."""
        advice = f"takes effect with the next boot; the boot parameter is `{parameter}`"
        name = "".join(c if c.isalnum() else "-" for c in parameter.partition("=")[0])
        quoted = shlex.quote(parameter)
        if self.exists("/etc/default/grub") and self.exists("/usr/sbin/update-grub"):
            # Debian's grub-mkconfig reads this folder after /etc/default/grub, so undoing is
            # removing one file of our own.
            drop_in = f"/etc/default/grub.d/90-tare-{name}.cfg"
            line = shlex.quote(f'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX {parameter}"')
            return (
                f"{self.sudo}mkdir -p /etc/default/grub.d && echo {line} | "
                f"{self.sudo}tee {drop_in} && {self.sudo}update-grub",
                f"{self.sudo}rm {drop_in} && {self.sudo}update-grub",
                advice,
            )
        if self.exists("/usr/sbin/grubby") or self.exists("/sbin/grubby"):
            grubby = f"{self.sudo}grubby --update-kernel=ALL"
            return f"{grubby} --args={quoted}", f"{grubby} --remove-args={quoted}", advice
        return None, None, f"boot with `{parameter}`; no boot loader that tare knows was found here"

    # --- inside ---------------------------------------------------------------------------

    def _place(self, path: str) -> Path:
        return self.root / path.lstrip("/")

    def _look(self, paths: Iterable[str]) -> dict[str, str]:
        seen = {}
        for path in paths:
            try:
                seen[path] = self.text(path)
            except (Absent, Unclear):
                continue
        return seen

    @staticmethod
    def _cpus_of(
        found: Evidence, parse: Callable[[str], frozenset[int]]
    ) -> tuple[Evidence, frozenset[int]]:
        try:
            return found, parse(found.value)
        except ValueError as cause:
            raise Unclear(found.source, str(cause)) from None
