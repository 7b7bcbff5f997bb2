"""The page docs/reference/doctor.md, from the table of checks.

python -m tare.host.reference > docs/reference/doctor.md
"""

from __future__ import annotations

import sys
from typing import Final

from tare.host.checks import ALL
from tare.host.finding import Check, Severity, State
from tare.host.view import FORMAT, SCHEMA_VERSION

_HEAD: Final = f"""\
<!-- Generated from python/tare/host/checks by `python -m tare.host.reference`. -->

# `tare doctor`

What it is for, and how to read it: [guide](../guides/doctor.md).

## Exit codes

| code | meaning |
|---|---|
| 0 | done, whatever was found |
| 1 | with `--gate`: something disturbs |
| 2 | wrong use, for instance a CPU that is not there |

## The object of `--json`

| field | type | meaning |
|---|---|---|
| `format` | text | always `{FORMAT}` |
| `schema_version` | whole number | {SCHEMA_VERSION}; grows when a field goes or changes |
| `system` | text | `linux`, `macos`, `freebsd`, `windows`, or what Python calls the system |
| `kernel` | text or null | release of a Linux kernel |
| `cpus` | list of whole numbers | the CPUs that the findings are about |
| `window_s` | number, seconds | how long changes were watched |
| `counts` | object | findings in each state |
| `unchecked` | list of text | checks of other systems that have no counterpart on this one |
| `findings` | list of objects | worst first |

Each of `findings`:

| field | type | meaning |
|---|---|---|
| `name` | text | the check, as in the table below |
| `theme` | text | what it is about |
| `state` | text | {", ".join(f"`{state.value}`" for state in State)} |
| `severity` | text | {", ".join(f"`{severity.value}`" for severity in Severity)} |
| `evidence` | list of `source` and `value` | where it was read, and what it said |
| `why` | text | how it gets into a measurement |
| `mend` | text or null | a shell command that mends it; never run by `tare` |
| `undo` | text or null | the command that puts back what was there |
| `advice` | text or null | what no command does, or what to know before |

`unknown` is an answer: a right is missing, or the machine hides it, and `advice` says what would
help. `not_here` means that this machine or kernel has no such thing.

`high` can take milliseconds at once, change the CPU's speed or make the clock useless; `medium`
takes microseconds again and again; `low` is rare, small, or only keeps `tare` from seeing more.
These are judgements; what a thing really takes on your machine, `tare noise` measures.
"""

_SYSTEMS: Final = {
    "linux": "Linux",
    "macos": "macOS (written from its manuals, not run there)",
    "freebsd": "FreeBSD (written from its manuals, not run there)",
    "windows": "Windows (written from its manuals, not run there)",
}


def reference_page() -> str:
    """Return docs/reference/doctor.md."""
    parts = [_HEAD]
    for system, title in _SYSTEMS.items():
        checks = [check for check in ALL if check.system == system]
        parts.append(f"\n## Checks on {title}: {len(checks)}\n\n{_table(checks)}")
    return "".join(parts)


def _table(checks: list[Check]) -> str:
    lines = ["| theme | check | weight | question | why it matters |", "|---|---|---|---|---|"]
    lines += [
        f"| {check.theme} | `{check.name}` | {check.severity.value} | {check.asks} | {check.why} |"
        for check in checks
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(reference_page())
