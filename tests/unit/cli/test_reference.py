"""The reference: what the code prints is what the pages and the schema say."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from golden import factory
from tare import recording
from tare.cli import build
from tare.cli.reference import cli_page, noise_schema
from tare.noise.view import views
from tare.report.files import as_json

DOCS = Path(__file__).parents[3] / "docs" / "reference"


@pytest.mark.parametrize(
    ("name", "page"), [("cli.md", cli_page), ("noise.schema.json", noise_schema)]
)
def test_the_committed_page_is_up_to_date(name: str, page: object) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == page()  # type: ignore[operator]


def test_every_verb_and_flag_is_in_the_page() -> None:
    page = cli_page()
    for name, command in build().commands.items():
        section = page.split(f"## tare {name}\n")[1].split("\n## ")[0]
        for option in command.params:
            for flag in option.opts:
                assert f"`{flag}`" in section or option.param_type_name == "argument"


def test_what_is_printed_fits_the_schema(tmp_path: Path) -> None:
    schema = json.loads(noise_schema())
    jsonschema.Draft202012Validator.check_schema(schema)
    path, _ = factory.noise(
        tmp_path / "x", seconds=0.5, loops=("timestamps", "selfish", "fwq", "ftq")
    )
    (view,) = views([recording.open(path)])
    printed = json.loads(as_json(view.data))
    jsonschema.validate(printed, schema)
    # A schema that lets everything pass would be no proof.
    assert set(printed) == set(schema["properties"])
    trace = schema["$defs"]["TraceAnalysis"]["properties"]
    assert set(printed["traces"][0]) == set(trace)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(printed | {"span_ns": "long"}, schema)
