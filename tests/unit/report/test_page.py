"""The page: everything escaped, nothing loaded, units in every head, evidence whole."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest

from golden import factory
from tare import recording
from tare.charts.axes import Limit
from tare.charts.trace_scatter import trace_scatter
from tare.report import Column, Doubt, Figure, Table, View
from tare.report.page import render

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'{{7*7}}&amp;"


class Page(HTMLParser):
    """The page's elements: name, attributes, and the text directly inside scripts and styles."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: list[str] = []
        self.texts: list[str] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.inside.append(tag)
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_endtag(self, tag: str) -> None:
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self.inside and self.inside[-1] == "script":
            attributes, text = self.scripts[-1]
            self.scripts[-1] = (attributes, text + data)
        elif not self.inside or self.inside[-1] != "style":
            self.texts.append(data)


def picture(title: str = "Noise", source: str = "irq") -> object:
    time = np.linspace(0, 1, 50)
    kinds = ["unknown", source] * 25
    limits = [Limit(title, 5_000.0)]
    length = np.geomspace(100, 1e6, 50)
    return trace_scatter("trace", title, time, length, kinds, limits=limits, caption=title)


@pytest.fixture
def opened(tmp_path: Path) -> recording.Recording:
    path, _ = factory.noise(tmp_path / "good", seconds=0.2)
    return recording.open(path)


def view(opened: recording.Recording | None = None, word: str = "plain") -> View:
    return View(
        name="noise",
        title=f"OS noise on {word}",
        sentences=[f"{word} one.", "two 3.5 % of it.", "three."],
        figures=[Figure(word, "0.09 %", word), Figure("b", "2 µs"), Figure("c", "4 ms")],
        doubts=[Doubt(word, word)],
        pictures=[picture(word, word)],
        tables=[
            Table(
                "t",
                word,
                [Column("CPU"), Column("longest", "time_ns"), Column("share", "share")],
                [[word, 1500.0, 0.01], ["1", None, 0.02]],
                word,
            )
        ],
        recordings=[opened] if opened else [],
    )


def test_the_answer_stands_before_the_pictures_and_they_before_the_evidence(
    opened: recording.Recording,
) -> None:
    text = "\n".join(Page(render([view(opened)])).texts)
    order = ["OS noise on plain", "plain one.", "0.09\u00a0%", "doubtful", "Pictures", "Tables",
             "Evidence"]  # fmt: skip
    places = [text.index(word) for word in order]
    assert places == sorted(places)


def test_everything_from_data_is_escaped(tmp_path: Path) -> None:
    changes = {
        "host": factory.host(
            hostname=EVIL, cpu_model=EVIL, kernel=EVIL, mitigations={EVIL: EVIL}, os_release=EVIL
        ),
        "status_reason": EVIL,
        "asked": {EVIL: EVIL, "nested": {"a": [EVIL]}},
        "rungs": [{"name": EVIL, "cpu": 0, "state": "refused", "detail": EVIL}],
        "tool": {"name": EVIL, "version": EVIL, "target": EVIL},
        "started_at": EVIL,
    }
    path, _ = factory.noise(tmp_path / "evil", seconds=0.2, changes=changes)
    html = render([view(recording.open(path), EVIL)], command=EVIL)
    page = Page(html)
    clean = Page(render([view(None, "plain")]))
    assert [tag for tag, _ in page.elements].count("script") == 4 == len(clean.scripts)
    assert not [
        tag for tag, attributes in page.elements if any(a.startswith("on") for a in attributes)
    ]
    for tag, attributes in page.elements:
        assert tag != "img" or str(attributes["src"]).startswith("data:image/svg+xml;base64,")
    assert "49" not in "".join(page.texts)
    # It is there as text, so it was not simply dropped.
    assert "".join(page.texts).count("alert(1)") >= 10


def test_json_in_scripts_is_whole_and_closes_nothing() -> None:
    page = Page(render([view(None, EVIL)]))
    data = {
        attributes["id"]: json.loads(text)
        for attributes, text in page.scripts
        if attributes.get("type") == "application/json"
    }
    assert set(data) == {"pictures", "themes"}
    assert set(data["themes"]) == {"light", "dark"}
    assert EVIL in json.dumps(data["pictures"], ensure_ascii=False).replace('\\"', '"')


def test_only_the_pages_own_scripts_may_run() -> None:
    page = Page(render([view()]))
    (policy,) = [
        str(attributes["content"])
        for tag, attributes in page.elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy.startswith("default-src 'none';")
    assert "unsafe-eval" not in policy
    scripts = re.search(r"script-src ([^;]*)", policy)
    assert scripts is not None
    assert "unsafe-inline" not in scripts[1]
    allowed = set(scripts[1].split())
    run = {
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for attributes, text in page.scripts
        if attributes.get("type") is None
    }
    assert run == allowed


def test_nothing_is_loaded_from_elsewhere(opened: recording.Recording) -> None:
    html = render([view(opened)])
    for tag, attributes in Page(html).elements:
        for name in ("src", "href", "action", "data", "srcset", "poster"):
            value = attributes.get(name)
            if value is not None and (tag, name) != ("div", "data"):
                assert value.startswith(("data:", "#")), (tag, name, value[:80])
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)
    assert style is not None
    assert "@import" not in style[1]
    assert "url(" not in style[1]


def test_every_picture_has_words_numbers_and_a_still(opened: recording.Recording) -> None:
    page = Page(render([view(opened)]))
    plots = [a for tag, a in page.elements if tag == "div" and a.get("class") == "plot"]
    assert plots
    links = {a["id"]: a for tag, a in page.elements if tag == "a" and a.get("id")}
    for plot in plots:
        assert plot["role"] == "img"
        assert "50 detours" in str(plot["aria-label"])
        link = links[str(plot["data-csv"])]
        csv = unquote(str(link["href"]).split(",", 1)[1])
        assert csv.startswith("time_s,length_ns,source\n")
        assert csv.count("\n") == 51
        assert str(link["download"]).endswith(".csv")
    stills = [a for tag, a in page.elements if tag == "img"]
    assert len(stills) == len(plots)
    svg = base64.b64decode(str(stills[0]["src"]).split(",", 1)[1]).decode()
    assert svg.startswith("<svg")
    assert "<script" not in svg


def test_light_dark_print_and_phone_are_provided_for() -> None:
    html = render([view()])
    for rule in (
        "@media (prefers-color-scheme: dark)",
        ':root[data-theme="dark"]',
        "@media print",
        "@media (max-width: 720px)",
    ):
        assert rule in html
    assert 'name="viewport" content="width=device-width' in html
    assert '<html lang="en">' in html


def test_evidence_shows_host_clock_rungs_conditions_and_losses(
    opened: recording.Recording,
) -> None:
    text = "\n".join(Page(render([view(opened)])).texts)
    for words in (
        opened.fingerprint,
        "Example CPU @ 2.00GHz",
        "granted: SCHED_FIFO 90",
        "9.50 ns (9.40 ns to 9.90 ns)",
        "context switches, whole machine",
        "records that did not fit",
        "detours.parquet",
        "mitigation: meltdown",
    ):
        assert words in text, words


def test_unknown_is_shown_as_unknown_and_not_as_zero(opened: recording.Recording) -> None:
    html = render([view(opened)])
    assert re.search(r"<dt>turbo</dt><dd class=\"unknown\">unknown</dd>", html)
    assert re.search(r"<dt>thermal throttle events</dt><dd class=\"unknown\">unknown</dd>", html)


def test_unlike_hosts_are_named_first(tmp_path: Path) -> None:
    opened = []
    for number, host in enumerate([factory.host(), factory.host(kernel="5.0")]):
        path, _ = factory.noise(tmp_path / str(number), seconds=0.1, changes={"host": host})
        opened.append(recording.open(path))
    text = "\n".join(Page(render([view(one) for one in opened])).texts)
    assert "kernel: 6.1.0-18-amd64 / 5.0" in text
    assert text.index("unlike hosts") < text.index("plain one.")
    alike = render([view(opened[0]), view(opened[0])])
    assert "unlike hosts" not in alike


def test_a_number_and_its_unit_are_not_parted() -> None:
    text = "".join(Page(render([view()])).texts)
    assert "two 3.5\u00a0% of it." in text


def test_the_page_is_the_same_twice(opened: recording.Recording) -> None:
    def without_ids(html: str) -> str:
        return re.sub(r"base64,[A-Za-z0-9+/=]+|(?:view|layer|concat|param)_[0-9a-z_]+", "", html)

    assert without_ids(render([view(opened)])) == without_ids(render([view(opened)]))
