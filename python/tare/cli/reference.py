"""Pages of docs/reference that are made from the command line's own definition.

python -m tare.cli.reference cli      docs/reference/cli.md
python -m tare.cli.reference noise    docs/reference/noise.schema.json
"""

from __future__ import annotations

import json
import sys
from typing import Any

import typer

_INTRODUCTION = """# The command `tare`

Made from the flags themselves by `python -m tare.cli.reference cli`; do not edit.

`tare-probe`, the part that measures, has the [same flags for the same things](probe.md).

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | done, and the answer is 'no' |
| 2 | wrong use or bad input; nothing was written |
| 3 | could not measure or write (rights, OS, disk); what was whole is kept and named |

The answer goes to stdout, progress and messages to stderr. With `--json` the answer is one object:
`recordings` (folders), `report` (the page, or null) and `results`, one for each recording; of
noise, [noise.schema.json](noise.schema.json) describes them. An error is `error: ...` and
`hint: ...` on stderr.
"""


def cli_page() -> str:
    """Return docs/reference/cli.md."""
    from tare.cli import build

    root = build()
    above = typer.Context(root, info_name="tare", **root.context_settings)
    parts = [_INTRODUCTION]
    for name in sorted(root.commands):
        parts.append(_verb(name, root.commands[name], above))
    return "\n".join(parts)


def _verb(name: str, command: Any, above: typer.Context) -> str:
    context = typer.Context(command, info_name=name, parent=above)
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [f"## tare {name}", "", command.help, "", "```text", f"tare {name} {usage}", "```", ""]
    lines += ["| flag | value | meaning |", "|---|---|---|"]
    for option in command.get_params(context):
        names = ", ".join(
            f"`{part}`" for part in sorted(option.opts, key=lambda part: (len(part), part))
        )
        if option.param_type_name == "argument":
            names = f"`{option.metavar or option.name.upper()}`"
            value = ""
        else:
            value = f"`{option.metavar}`" if option.metavar else ""
        described = (getattr(option, "help", None) or "").replace("|", "\\|")
        lines.append(f"| {names} | {value} | {described} |")
    return "\n".join([*lines, ""])


def noise_schema() -> str:
    """Return docs/reference/noise.schema.json."""
    from tare.noise.results import NoiseAnalysis
    from tare.noise.view import SUMMARY_HEAD
    from tare.report.schema import schema

    described = schema(NoiseAnalysis, "What `tare noise --json` says of one recording")
    described["properties"] = SUMMARY_HEAD | described["properties"]
    described["required"] = list(described["properties"])
    return json.dumps(described, indent=2, ensure_ascii=False) + "\n"


_PAGES = {"cli": cli_page, "noise": noise_schema}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in _PAGES:
        sys.exit(f"error: say which page: {', '.join(_PAGES)}")
    sys.stdout.write(_PAGES[sys.argv[1]]())
