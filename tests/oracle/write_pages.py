"""Write the generated parts of the noise pages: `PYTHONPATH=tests python -m oracle.write_pages`.

A test compares what is in docs with what this makes.
"""

from __future__ import annotations

from pathlib import Path

from oracle import judge
from tare.noise.profile_file import reference_page

DOCS = Path(__file__).parents[2] / "docs"
CUTOFFS = DOCS / "methods" / "noise-cutoffs.md"
PROFILE = DOCS / "reference" / "profile.md"
HINT = "hint: PYTHONPATH=tests python -m oracle.write_pages"
BEGIN, END = "<!-- generated: begin -->\n", "<!-- generated: end -->\n"


def with_table(text: str, table: str) -> str:
    """The page with its generated part replaced."""
    head, rest = text.split(BEGIN)
    _, tail = rest.split(END)
    return head + BEGIN + "\n" + table + "\n" + END + tail


if __name__ == "__main__":
    CUTOFFS.write_text(
        with_table(CUTOFFS.read_text(encoding="utf-8"), judge.page(judge.judge())), "utf-8"
    )
    PROFILE.write_text(reference_page(), "utf-8")
