"""Opening recordings: good ones are read as they are, bad ones are refused with a reason."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import get_args

import polars as pl
import pytest

from golden import factory
from tare import recording
from tare.errors import RecordingError
from tare.recording_schema import FORMAT, SCHEMA_VERSION, TABLES

RUST = Path(__file__).parents[3] / "crates" / "tare-record" / "src"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path, _ = factory.noise(tmp_path / "good", seconds=0.5)
    return path


def edit(folder: Path, **changes: object) -> None:
    file = folder / "recording.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def edit_entry(folder: Path, table: str, **changes: object) -> None:
    file = folder / "recording.json"
    data = json.loads(file.read_text())
    for entry in data["tables"]:
        if entry["name"] == table:
            entry.update(changes)
    file.write_text(json.dumps(data))


def replace_table(folder: Path, table: str, frame: pl.DataFrame) -> None:
    file = folder / f"{table}.parquet"
    frame.write_parquet(file)
    edit_entry(folder, table, rows=frame.height, size_bytes=file.stat().st_size)


def test_reads_what_was_written(folder: Path) -> None:
    opened = recording.open(folder)
    assert opened.kind == "noise"
    assert opened.name == "good"
    assert opened.clock.ticks_per_second == factory.TICKS_PER_SECOND
    assert opened.clock.ns(2) == 1.0
    assert opened.host.turbo is None
    assert opened.table("traces")["loop"].to_list() == ["selfish", "selfish"]
    assert opened.rows("detours") == opened.table("detours").height > 0
    assert not opened.has("deltas")
    assert opened.rows("deltas") == 0


def test_manifest_file_itself_may_be_named(folder: Path) -> None:
    assert recording.open(folder / "recording.json").path == folder


def test_batches_are_the_table_in_order(folder: Path) -> None:
    opened = recording.open(folder)
    batches = list(opened.iter_batches("detours", rows=37))
    assert max(batch.height for batch in batches) == 37
    assert pl.concat(batches).equals(opened.table("detours"))
    only = next(opened.iter_batches("detours", rows=5, columns=["gap_ticks"]))
    assert only.columns == ["gap_ticks"]


def test_absent_table_says_what_is_there(folder: Path) -> None:
    with pytest.raises(RecordingError, match="no table 'deltas'") as caught:
        recording.open(folder).table("deltas")
    assert "detours" in str(caught.value.hint)


def refused(folder: Path, pattern: str) -> None:
    with pytest.raises(RecordingError, match=pattern) as caught:
        recording.open(folder)
    assert caught.value.hint
    assert "Traceback" not in str(caught.value)


def test_no_such_folder(tmp_path: Path) -> None:
    refused(tmp_path / "none", "no such recording")


def test_a_file_is_no_recording(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("x")
    refused(tmp_path / "x.txt", "not a recording")


def test_an_empty_folder_is_no_recording(tmp_path: Path) -> None:
    refused(tmp_path, r"it has no recording\.json")


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b"[]", b"{}", b"3"])
def test_manifest_that_is_none(folder: Path, content: bytes) -> None:
    (folder / "recording.json").write_bytes(content)
    refused(folder, "not JSON|not the manifest")


def test_manifest_too_large_is_not_read(folder: Path) -> None:
    with (folder / "recording.json").open("r+b") as file:
        file.truncate(1 << 40)
    refused(folder, "more than a manifest can have")


def test_newer_schema(folder: Path) -> None:
    edit(folder, schema_version=SCHEMA_VERSION + 1, clock="another shape")
    refused(folder, f"schema version {SCHEMA_VERSION + 1}, this tare reads up to")


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("kind", "../../etc", "kind"),
        ("kind", None, "kind"),
        ("clock", {}, "clock.source"),
        ("status", "perhaps", "status"),
        ("schema_version", "1", "schema_version"),
        ("host", [], "host"),
        ("losses", {"records": -1, "wrapped_deltas": 0}, "losses.records"),
        ("tables", [{"name": "traces"}], "tables.0.file"),
    ],
)
def test_wrong_field_is_named(folder: Path, field: str, value: object, named: str) -> None:
    edit(folder, **{field: value})
    refused(folder, f"`{re.escape(named)}` is wrong")


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan"), float("inf"), 1e300])
def test_clock_without_a_rate(folder: Path, rate: float) -> None:
    clock = factory.manifest()["clock"] | {"ticks_per_second": rate}
    edit(folder, clock=clock)
    refused(folder, "clock.ticks_per_second")


def test_truncated_table(folder: Path) -> None:
    file = folder / "detours.parquet"
    file.write_bytes(file.read_bytes()[:-100])
    refused(folder, "cut or changed")


def test_truncated_table_of_the_promised_size(folder: Path) -> None:
    file = folder / "detours.parquet"
    file.write_bytes(file.read_bytes()[:-100])
    edit_entry(folder, "detours", size_bytes=file.stat().st_size)
    refused(folder, "cut or damaged")


def test_damage_inside_a_table_is_found_when_it_is_read(folder: Path) -> None:
    file = folder / "detours.parquet"
    content = bytearray(file.read_bytes())
    content[4:600] = b"\xff" * 596
    file.write_bytes(content)
    opened = recording.open(folder)
    with pytest.raises(RecordingError, match="cut or damaged"):
        opened.table("detours")
    with pytest.raises(RecordingError, match="cut or damaged"):
        list(opened.iter_batches("detours"))


def test_missing_table(folder: Path) -> None:
    (folder / "traces.parquet").unlink()
    refused(folder, r"traces\.parquet: missing")


def test_wrong_number_of_rows(folder: Path) -> None:
    edit_entry(folder, "detours", rows=1)
    refused(folder, "the manifest says 1")


def test_table_named_twice(folder: Path) -> None:
    tables = json.loads((folder / "recording.json").read_text())["tables"]
    edit(folder, tables=[*tables, tables[0]])
    refused(folder, "names a table twice")


def test_column_of_another_type(folder: Path) -> None:
    frame = pl.read_parquet(folder / "detours.parquet").cast({"gap_ticks": pl.Float64})
    replace_table(folder, "detours", frame)
    refused(folder, "column 'gap_ticks' is Float64, it should be UInt64")


def test_column_missing(folder: Path) -> None:
    frame = pl.read_parquet(folder / "detours.parquet").drop("gap_ticks")
    replace_table(folder, "detours", frame)
    refused(folder, "no column 'gap_ticks'")


def test_null_where_none_may_be(folder: Path) -> None:
    frame = pl.read_parquet(folder / "detours.parquet")
    frame = frame.with_columns(pl.lit(None, pl.UInt64).alias("gap_ticks"))
    replace_table(folder, "detours", frame)
    opened = recording.open(folder)
    with pytest.raises(RecordingError, match="holds nulls"):
        opened.table("detours")


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("traces", "../good/traces.parquet"),
        ("traces", "/etc/passwd"),
        ("../traces", "../traces.parquet"),
        ("traces", "detours.parquet"),
        ("a/b", "a/b.parquet"),
        ("tr\u0430ces", "tr\u0430ces.parquet"),
    ],
)
def test_no_file_outside_the_folder(folder: Path, name: str, file: str) -> None:
    edit_entry(folder, "traces", name=name, file=file)
    refused(folder, r"not NAME\.parquet")


def test_no_link_is_followed(folder: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.parquet"
    (folder / "traces.parquet").rename(elsewhere)
    (folder / "traces.parquet").symlink_to(elsewhere)
    refused(folder, "not a plain file")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this OS has no named pipes")
def test_a_pipe_does_not_hang(folder: Path) -> None:
    (folder / "traces.parquet").unlink()
    os.mkfifo(folder / "traces.parquet")
    refused(folder, "not a plain file")


def test_the_name_of_a_host_is_not_part_of_its_fingerprint(tmp_path: Path) -> None:
    hosts = [factory.host(), factory.host(hostname="other"), factory.host(turbo=True)]
    opened = []
    for number, host in enumerate(hosts):
        path, _ = factory.noise(tmp_path / str(number), seconds=0.1, changes={"host": host})
        opened.append(recording.open(path))
    assert opened[0].fingerprint == opened[1].fingerprint != opened[2].fingerprint
    assert recording.differences(opened[0].host, opened[1].host) == []
    (unlike,) = recording.differences(opened[0].host, opened[2].host)
    assert str(unlike) == "turbo: unknown / True"
    recording.check_mergeable(opened[:2])
    with pytest.raises(RecordingError, match="unlike hosts: turbo: unknown / True"):
        recording.check_mergeable(opened)


def rust_tables() -> dict[str, dict[str, tuple[str, bool]]]:
    """The declaration in tables.rs, as TABLES has it."""
    source = (RUST / "tables.rs").read_text()
    column = re.compile(r'\b(col|opt)\(\s*"(\w+)",\s*Kind::(\w+)|\b(TRACE_ID),\n')
    tables = {}
    for name, body in re.findall(r'name: "(\w+)",(.*?)\n};', source, re.DOTALL):
        columns = {}
        for maker, column_name, kind, shared in column.findall(body):
            if shared:
                columns["trace_id"] = ("U32", False)
            else:
                columns[column_name] = (kind, maker == "opt")
        tables[name] = columns
    return tables


def test_the_mirror_of_the_tables_agrees_with_rust() -> None:
    declared = rust_tables()
    source = (RUST / "tables.rs").read_text()
    assert len(declared) == len(re.findall(r"^pub const \w+: Table ", source, re.MULTILINE))
    assert {name: list(columns.items()) for name, columns in declared.items()} == {
        name: list(columns.items()) for name, columns in TABLES.items()
    }


def test_the_mirror_of_the_manifest_agrees_with_rust() -> None:
    from tare import recording_schema

    source = (RUST / "manifest.rs").read_text()
    structs = dict(re.findall(r"pub struct (\w+) \{(.*?)\n\}", source, re.DOTALL))
    assert len(structs) >= 8
    for name, body in structs.items():
        fields = dict(re.findall(r"^    pub (\w+): (.*),$", body, re.MULTILINE))
        mirror = getattr(recording_schema, name).model_fields
        assert list(fields) == list(mirror), name
        for field, kind in fields.items():
            nullable = type(None) in get_args(mirror[field].annotation)
            assert nullable == kind.startswith("Option<"), f"{name}.{field}"


def test_format_and_version_agree_with_rust() -> None:
    source = (RUST / "lib.rs").read_text()
    assert f'FORMAT: &str = "{FORMAT}"' in source
    assert f"SCHEMA_VERSION: u32 = {SCHEMA_VERSION};" in source
