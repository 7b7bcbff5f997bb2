"""A stand-in for tare-probe: answers as it does, with simulated noise. Said what to do by FAKE.

FAKE is JSON: `version`, `code` and `say` (its stderr), `answer` (its stdout instead of a summary),
`wait` (go on until a signal comes, then end as interrupted), `args` (a file that gets its flags).
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))


def say(line: str) -> None:
    """Write a line to stderr at once."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def main() -> int:
    asked = json.loads(os.environ.get("FAKE", "{}"))
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write(f"tare-probe {asked.get('version', os.environ['FAKE_VERSION'])}\n")
        return 0
    if "args" in asked:
        with Path(asked["args"]).open("a") as file:
            file.write(json.dumps(sys.argv[1:]) + "\n")
    if "--progress=json" in sys.argv:
        say(json.dumps({"done_ns": 1, "total_ns": 2, "what": "selfish"}))
    for line in asked.get("say", []):
        say(line)
    if "answer" in asked:
        sys.stdout.write(asked["answer"] + "\n")
        return int(asked.get("code", 0))
    if asked.get("code"):
        return int(asked["code"])
    changes = _interrupted() if asked.get("wait") else {}
    from golden import factory

    flags = dict(flag.split("=", 1) for flag in sys.argv[2:] if "=" in flag)
    loops = [flag.split("=")[1] for flag in sys.argv if flag.startswith("--loop=")]
    folder, _ = factory.noise(
        Path(flags["--output"]), loops=loops or ["selfish"], seconds=0.5, changes=changes
    )
    status = changes.get("status", "complete")
    sys.stdout.write(json.dumps({"recording": str(folder), "status": status}) + "\n")
    if status == "interrupted":
        say(f"error: interrupted; 2 traces of 24 kept in {folder}")
        return 3
    return 0


def _interrupted() -> dict[str, object]:
    # Blocked first and then waited for, so that a signal cannot slip in between.
    stops = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, stops)
    say("ready")
    came = signal.Signals(signal.sigwait(stops))
    return {"status": "interrupted", "status_reason": f"stopped by {came.name}"}


if __name__ == "__main__":
    sys.exit(main())
