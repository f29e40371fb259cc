"""The page of the marker from continued games: what it answers, what it shows, and how it looks in a browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser, find_browser
from probed import Truth, write_probed

from azulsim import metrics
from azulsim.experiment import Experiment
from azulsim.log import Run, read_run
from azulsim.report import Report, Written, build_report
from azulsim.rules import Rules
from azulsim.runner import run

pytestmark = pytest.mark.xdist_group("marker_page")

EVIL = "</script><script>alert(1)</script>"
COSTS = ("floor", 0, 1, 2)


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run that varies the price of the marker, with a name that is an attack."""
    folder = tmp_path_factory.mktemp("runs") / "swept"
    lineups = [(spec,) * n for _ in COSTS for spec in ("good", EVIL) for n in (2, 3)]
    rules = [Rules(marker_cost=cost) for cost in COSTS for _ in range(4)]
    truths = [Truth(value=1.2 - (1 if cost == "floor" else cost)) for cost in COSTS for _ in range(4)]
    write_probed(folder, lineups, truths, deals=80, depth="rounds", rules=rules, skills={"good": 9.0, EVIL: 0.0})
    return read_run(folder)


@pytest.fixture(scope="module")
def written(swept: Run, tmp_path_factory: pytest.TempPathFactory) -> Written:
    return build_report(swept, "marker", folder=tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def report(written: Written) -> Report:
    return written.reports[0]


@pytest.mark.filterwarnings("error")
def test_decisions_continued_once_have_a_sentence_in_place_of_a_figure(tmp_path: Path) -> None:
    probes = {"decision": {"continuations": 1}}
    experiment = Experiment(name="once", lineup=("greedy",), deals=60, log="games", probes=probes)
    page = build_report(run(experiment, out=tmp_path / "run", jobs=1, progress=False), "marker")
    (section,) = [section for section in page.reports[0].sections if "deciding wrong" in section.title]
    assert section.text == ("Each decision is continued once. How often taking is right can be told from two "
                            "continuations on.",)  # fmt: skip
    assert not list(page.page.parent.rglob("right.*"))


def test_the_answer_leads_with_the_effects(swept: Run, report: Report) -> None:
    first, limit = report.answer
    starting = r"Starting a round changes the win share of good by \+[\d.]+ ± [\d.]+ at 2 and .* at 3 players, and "
    taking = r"taking the marker where something else can be done by .* players \(percentage points\)\."
    assert re.fullmatch(rf"{starting}{taking}", first)
    assert limit.startswith("The fixed price in points at which taking changes no win share is ")
    assert "these are effects" in limit
    for section in report.sections[:2]:
        assert re.search(r"In points .* worth .* ± [\d.]+ at 2 and .* at 3 players to good\.", section.text[0])
    frame = metrics.tempo_values(swept, ("players", "spec"))
    row = frame[(frame["rules"] == "standard") & (frame["spec"] == "good") & (frame["players"] == 3)]
    row = row[row["outcome"] == "win_share"].iloc[0]
    numbers = report.numbers["tempo_win_share_3_players"]
    assert (numbers["estimate"], numbers["low"]) == (row["estimate"], row["low"])
    assert {"decision_score_2_players", "fair_price_2_players", "price_paid_2_players"} <= set(report.numbers)


def test_effects_come_before_associations(report: Report) -> None:
    titles = [section.title for section in report.sections]
    assert titles[:2] == [
        "What it is worth to start a round (an effect)",
        "What it is worth to take the marker (an effect)",
    ]
    assert titles.index("Controls") < titles.index("What holders do afterwards") == len(titles) - 1
    assert "The fair price" in titles
    assert report.sections[-1].is_association
    tables = {table.name: table.frame for table in report.tables}
    assert set(tables["beside"]["what"]) == {
        "starting a round: effect", "deciding to take: effect", "takers minus others: association",
    }  # fmt: skip
    assert set(tables["tempo_variants"]["variant"]) == set(tables["tempo_variants"]["variant"].head(12))
    assert set(tables["controls"]["verdict"]) <= {"exact", "agrees", "differs"}


def test_every_number_is_in_the_json_and_none_is_not_a_number(written: Written) -> None:
    def refuse(word: str) -> None:
        raise AssertionError(word)

    data = json.loads(written.json.read_bytes(), parse_constant=refuse)["reports"][0]
    assert {"tempo", "tempo_by_round", "decisions", "right", "losses", "fair_prices", "controls"} <= set(data["tables"])
    assert written.page.stat().st_size < 5_000_000
    assert EVIL not in written.page.read_text(encoding="utf-8")


def test_without_tempo_or_without_decisions_the_page_still_stands(swept: Run, tmp_path: Path) -> None:
    for kind, word in (("tempo", "Starting a round"), ("decision", "Taking the marker")):
        folder = tmp_path / kind
        write_probed(folder, [("a", "a")], deals=30, rounds=4, kinds=[kind])
        report = build_report(folder, "marker").reports[0]
        assert report.answer[0].startswith(word)
        assert any(section.title == "Controls" for section in report.sections)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = find_browser()
    if program is None:
        pytest.skip("no Chromium is installed")
    with Browser(program) as found:
        yield found


@pytest.mark.parametrize("width", [320, 390, 1400])
def test_browser_has_no_complaint_and_nothing_overflows(browser: Browser, written: Written, width: int) -> None:
    browser.open(written.page, width=width)
    assert browser.complaints() == []
    assert browser.requests() == [written.page.resolve().as_uri()]
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    wide = browser.evaluate(
        "Array.from(document.querySelectorAll('main *')).filter(e => !e.closest('.scroll, svg') && "
        "e.getBoundingClientRect().right > innerWidth + 1).map(e => e.tagName + '.' + e.className)"
    )
    assert wide == []
