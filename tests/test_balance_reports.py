"""The pages on player count, seats, luck, and balance: their answers come from the data, and fit a phone."""

from __future__ import annotations

import json
import re
from itertools import combinations
from pathlib import Path

import pytest
import synthetic
from browser import Browser, find_browser
from typer.testing import CliRunner

import azulsim
from azulsim import metrics
from azulsim.catalog import find, load_module
from azulsim.cli import app
from azulsim.errors import InputError
from azulsim.log import Run, read_run
from azulsim.report import Report, Written, build_report, make_report

pytestmark = pytest.mark.xdist_group("balance")

SKILLS = {"</script><b>a": 6.0, "=b": 0.0, "$c": -6.0}


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Real games of three levels, alone and together, in every order of seats."""
    together = ["uniform", "greedy", "beginner"]
    experiment = azulsim.Experiment(
        grid={"lineup": [*together, *(list(pair) for pair in combinations(together, 2)), together]},
        players=[2, 3], deals=12, seatings="full", log="moves", denial=True,
    )  # fmt: skip
    return azulsim.run(experiment, out=tmp_path_factory.mktemp("runs") / "real", jobs=1, progress=False)


@pytest.fixture(scope="session")
def page(real: Run, tmp_path_factory: pytest.TempPathFactory) -> Written:
    """The balance page."""
    return build_report(real, "balance", options={"margin": "0.3"}, folder=tmp_path_factory.mktemp("page"))


def make(run: Run, name: str, **options: str) -> Report:
    return make_report(load_module(find("reports", name)), run, options)


def frames(report: Report) -> dict[str, object]:
    return {table.name: table.frame for table in report.tables}


def test_page_has_the_answers_of_all_reports_first(real: Run, page: Written) -> None:
    report = page.reports[0]
    picks = load_module(find("reports", "balance")).PICKS
    for name, said in zip(("player_count", "seats", "ranking", "luck"), report.answer, strict=False):
        alone = make(real, name, **({"margin": "0.3"} if name == "seats" else {}))
        assert said == f"{alone.title}: {alone.answer[0]}"
        assert str(report.numbers[name]) == str(alone.numbers)  # as text: NaN is not NaN
        assert set(alone.how_computed) <= set(report.how_computed)
        assert set(alone.limits) <= set(report.limits)
        known = {item.name for item in (*alone.plots, *alone.tables)}
        assert set(picks[name]) - known <= {"decided"}, name
    text = page.page.read_text()
    assert text.index(report.answer[3][:40]) < text.index("<figure")
    assert {plot.name for plot in report.plots} >= {
        "player_count-outcomes", "player_count-supply", "player_count-denials", "seats-seats", "seats-parts",
        "ranking-shares", "luck-variance", "luck-lead", "luck-leader",
    }  # fmt: skip
    assert page.page.stat().st_size < 5_000_000
    json.loads(page.json.read_bytes(), parse_constant=pytest.fail)


@pytest.mark.skipif(find_browser() is None, reason="no Chromium")
def test_page_in_a_browser(page: Written) -> None:
    program = find_browser()
    assert program is not None
    with Browser(program) as browser:
        for width in (390, 1100):
            browser.open(page.page, width=width)
            assert browser.complaints() == []
            assert browser.evaluate("document.documentElement.scrollWidth") <= width
            assert len(browser.requests()) == 1


def test_seats_say_which_seat_wins_most(real: Run) -> None:
    report = make(real, "seats", margin="0.4")
    numbers = report.numbers
    games = real.games().query("players == 3").merge(real.cells[["cell", "lineup"]])
    alone = games[games["lineup"].map(lambda text: set(text.split(", ")) == {numbers["strategy"]})]
    shares = alone.groupby("seat")["win_share"].mean()
    for seat, share in shares.items():
        assert numbers[f"seat_{seat}_3_players"]["estimate"] == pytest.approx(share)
    assert f"at 3 players seat {shares.idxmax()} wins" in report.answer[0]
    within = metrics.seat_equivalence(real, margin=0.4, lineups="self_play")
    fair = within.groupby(["players", "spec"], observed=True)["is_within"].all()
    assert f"40 percentage points of it in {fair.sum()} of {len(fair)}" in report.answer[1]


@pytest.mark.parametrize("margin", ["two", "0", "-0.1", "nan", "1.5"])
def test_margin_that_is_no_share_is_refused(real: Run, margin: str) -> None:
    with pytest.raises(InputError, match=r"margin = '.*': must be a share between 0 and 1"):
        make(real, "seats", margin=margin)


def test_margin_goes_through_the_command_line(real: Run, tmp_path: Path) -> None:
    words = ["report", str(real.path), "--report", "seats", "--margin", "0.15", "--out", str(tmp_path), "--json"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["reports"][0]["numbers"]["margin"] == 0.15


def test_luck_tells_what_the_lead_explains_and_how_long_it_takes(real: Run) -> None:
    report = make(real, "luck")
    tables = frames(report)
    assert set(tables) >= {"variance", "lead", "runaway", "standings", "lead_changes", "tell"}
    assert re.search(r"Who plays explains [\d.]+ %", report.answer[0])
    assert re.search(r"the lead after round 2 explains [\d.]+ %", report.answer[0])
    assert "decided" not in tables


def test_player_count_prints_what_the_rules_fix(real: Run) -> None:
    table = frames(make(real, "player_count"))["mechanics"]
    assert table.to_numpy().tolist() == [[2, 5, 20, 100, 100 / 20], [3, 7, 28, 100, 100 / 28]]  # type: ignore[attr-defined]


def test_pages_of_shallow_runs_say_what_they_can(tmp_path: Path) -> None:
    lineups = [("=b", "$c"), ("=b",) * 3]
    run = read_run(synthetic.write_run(tmp_path / "run", lineups, skills=SKILLS, deals=10, depth="games"))
    mixed = make(run, "seats")
    assert {table.name for table in mixed.tables} == {"seats", "seat_tests"}
    assert "is fair" not in mixed.answer[0]
    assert "the height of these shares is strength" in mixed.answer[1]
    assert {table.name for table in make(run, "luck").tables} >= {"variance", "tell"}
    alone = read_run(synthetic.write_run(tmp_path / "alone", [("=b",) * 2], skills=SKILLS, deals=10, depth="games"))
    assert {table.name for table in make(alone, "seats").tables} == {"seats", "seat_tests", "within"}
    assert "where 50 is fair" in make(alone, "seats").answer[0]
    assert "can tell nothing of luck" in make(alone, "luck").answer[0]
    assert make(alone, "balance").answer


@pytest.mark.parametrize("rules", [{"tiles_per_display": 3}, {"joker_tiles": True}])
def test_other_rules_have_pages_too(rules: dict[str, int], tmp_path: Path) -> None:
    experiment = azulsim.Experiment(
        strategies=["greedy"], players=[2, 3], schedule="self_play", deals=4, log="rounds", rules=rules
    )
    run = azulsim.run(experiment, out=tmp_path / "run", jobs=1, progress=False)
    report = make(run, "player_count")
    assert len(frames(report)["supply"]) > 0  # type: ignore[arg-type]
    for name in ("seats", "luck"):
        assert make(run, name).sections


def test_names_are_never_markup(tmp_path: Path) -> None:
    lineups = [*combinations(SKILLS, 2), *((name,) * 2 for name in SKILLS)]
    run = read_run(synthetic.write_run(tmp_path / "run", lineups, skills=SKILLS, deals=8))
    page = build_report(run, "luck", folder=tmp_path / "page").page.read_text()
    assert "<b>a" not in page
    assert "&lt;/script&gt;&lt;b&gt;a" in page
    assert "'=b" in (tmp_path / "page/tables/tell.csv").read_text()


@pytest.mark.long
def test_same_run_gives_the_same_bytes(real: Run, page: Written, tmp_path: Path) -> None:
    again = build_report(read_run(real.path), "balance", options={"margin": "0.3"}, folder=tmp_path)
    for one, two in zip(page.files, again.files, strict=True):
        assert one.read_bytes() == two.read_bytes(), one.name
