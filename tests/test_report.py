"""Reports: what is on the page and beside it, that it repeats to the byte, and that no name is ever trusted."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import synthetic
from browser import Browser, find_browser
from fake_tables import fake_failure
from matplotlib.figure import Figure
from typer.testing import CliRunner

import azulsim
from azulsim import metrics, schema
from azulsim.catalog import find, load_module
from azulsim.cli import app
from azulsim.errors import InputError, RunError
from azulsim.log import Run, Shard, read_run, write_shard
from azulsim.replay import replay_game
from azulsim.report import Plot, Report, Section, Table, Written, build_report, figures, make_report
from azulsim.report.games import choose_game, read_game
from azulsim.report.page import make_csv, make_json, write_page
from azulsim.report.style import assign_looks
from azulsim.report.words import clean_label, format_estimate, format_short
from azulsim.stats.intervals import NO_VARIATION, ONE_CLUSTER

pytestmark = pytest.mark.xdist_group("report")

ROOT = Path(__file__).parent.parent
DEFAULT = ("player_count", "marker", "ranking")
NAMES = (*DEFAULT, "fingerprints", "strategy")
LONG_NAMES = [pytest.param(name, marks=[pytest.mark.long] * (name != "ranking")) for name in NAMES]
EVIL = ("</script><script>alert(1)</script>", "=HYPERLINK('http://evil')", "$\\frac{", '"><img src=x onerror=alert(1)>')
STORED = ("games", "rounds", "moves")
DAGGER = "x\x00\u202e\n\U0001f5e1"


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A small run of real games."""
    return azulsim.run("demo", out=tmp_path_factory.mktemp("runs") / "real", deals=12, jobs=1, progress=False)


@pytest.fixture(scope="session")
def written(real: Run, tmp_path_factory: pytest.TempPathFactory) -> Written:
    """All reports of the run on one page."""
    return write_all(real, tmp_path_factory.mktemp("page"), "greedy")


@pytest.fixture(scope="session")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """The page of a run whose names are attacks."""
    folder = tmp_path_factory.mktemp("runs") / "evil"
    specs = dict.fromkeys((*EVIL, DAGGER), 0.0)
    lineups = [(a, b) for a, b in zip(specs, [*specs][1:], strict=False)] + [(a, a) for a in specs]
    synthetic.write_run(folder, lineups, skills=specs, deals=10, name=f"{EVIL[0]}{EVIL[3]}")
    return write_all(read_run(folder), folder, EVIL[0])


def write_all(run: Run, folder: Path, strategy: str) -> Written:
    """Write all bundled reports on one page, one of them about a strategy."""
    options = {"strategy": {"strategy": strategy}}
    modules = {name: load_module(find("reports", name)) for name in NAMES}
    return write_page([make_report(module, run, options.get(name)) for name, module in modules.items()], folder)


class Page(HTMLParser):
    """What a browser would see: elements with their attributes, and the text."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.source = path.read_text(encoding="utf-8")
        self.feed(self.source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def read_json(path: Path) -> dict[str, object]:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} in report.json")

    return json.loads(path.read_bytes(), parse_constant=refuse)


def test_page_stands_alone(written: Written) -> None:
    page = Page(written.page)
    assert written.page.stat().st_size < 5_000_000
    for tag, attributes in page.elements:
        assert tag not in {"img", "iframe", "object", "embed", "base"}
        assert "src" not in attributes
        assert not any(name.startswith("on") for name in attributes)
        if tag == "link":
            assert attributes["href"] == "data:,"
        if tag == "a":
            assert not re.match(r"[a-z]+:|//", attributes["href"] or "")
    assert "@import" not in page.source
    assert set(re.findall(r"url\((.)", page.source)) <= {"#"}
    assert "default-src 'none'" in page.source


def test_page_answers_first_and_says_where_it_comes_from(real: Run, written: Written) -> None:
    page = Page(written.page)
    for report in written.reports:
        assert len(report.answer) == 2
        assert re.search(r"\(.\d*[\d.]+ to .?\d*[\d.]+\)|\d to ", report.answer[0]), report.answer[0]
        answer, section = page.text.index(report.answer[0]), page.text.index(report.sections[0].text[0])
        assert answer < page.text.index(report.answer[1]) < section
        for part in (*report.how_to_read, *report.how_computed, *report.limits):
            assert part in page.text
    assert "azulsim run RUN/experiment.toml" in page.text
    assert str(real.manifest.seed) in page.text
    assert f"{real.n_games:,}" in page.text


def test_answers_are_made_from_the_data(real: Run, written: Written) -> None:
    games = real.games().astype({"spec": str})
    by_name = {report.name: report for report in written.reports}
    numbers = by_name["ranking"].numbers["2_players"]
    mixed = games.merge(real.cells[["cell", "lineup"]]).query("players == 2")
    mixed = mixed[mixed["lineup"].map(lambda text: len(set(text.split(", "))) > 1)]
    shares = mixed.groupby("spec")["win_share"].mean()
    assert numbers["best"] == shares.idxmax()
    assert numbers["estimate"] == pytest.approx(shares.max())
    best = by_name["player_count"].numbers["strategy"]
    mean = games[(games["players"] == 4) & (games["spec"] == best)]["score"].mean()
    assert by_name["player_count"].numbers["score_4_players"]["estimate"] == pytest.approx(mean)


def test_files_beside_the_page(written: Written) -> None:
    folder = written.page.parent
    document = read_json(written.json)
    assert document["schema"] == "azulsim.report/1"
    assert [report["name"] for report in document["reports"]] == list(NAMES)
    for report, data in zip(written.reports, document["reports"], strict=True):
        for table in report.tables:
            rows = list(csv.reader(io.StringIO((folder / f"tables/{report.name}-{table.name}.csv").read_text())))
            assert rows[0] == data["tables"][table.name]["columns"] == list(table.frame.columns)
            assert len(rows) - 1 == len(data["tables"][table.name]["rows"]) == len(table.frame) > 0
        for plot in report.plots:
            svg = (folder / f"figures/{report.name}-{plot.name}.svg").read_text()
            assert "<svg" in svg
            assert "<dc:date>" not in svg
            assert (folder / f"figures/{report.name}-{plot.name}.png").read_bytes().startswith(b"\x89PNG")
    assert all(path.is_file() for path in written.files)
    assert written.files[0] == written.page


def test_estimates_always_come_with_interval_deals_and_smallest_effect(written: Written) -> None:
    for report in written.reports:
        for table in report.tables:
            frame = table.frame
            if "estimate" not in frame:
                continue
            known = frame["n_deals"] > 1
            assert (frame.loc[known, "low"].notna() | (frame.loc[known, "note"] != "")).all(), table.name
            seen = frame[frame["low"].notna()]
            assert (seen["mde"] > 0).all(), table.name
            assert (seen["low"] <= seen["estimate"] + 1e-12).all()
            assert (seen["estimate"] <= seen["high"] + 1e-12).all()


@pytest.mark.parametrize("name", LONG_NAMES)
def test_same_run_gives_the_same_bytes(real: Run, name: str, tmp_path: Path) -> None:
    first, second = (build_report(read_run(real.path), name, folder=tmp_path / place) for place in ("here", "there"))
    found = [{path.relative_to(made.page.parent): path.read_bytes() for path in made.files} for made in (first, second)]
    assert found[0].keys() == found[1].keys()
    assert [str(path) for path in found[0] if found[0][path] != found[1][path]] == []


def test_figures_are_matplotlib_figures(written: Written) -> None:
    for report in written.reports:
        for narrow in (False, True):
            drawn = report.figures(narrow=narrow)
            assert set(drawn) == {plot.name for plot in report.plots}
            assert all(isinstance(figure, Figure) for figure in drawn.values())
            assert all((figure.get_figwidth() < 4) == narrow for figure in drawn.values())


def test_names_are_never_markup(evil: Written) -> None:
    page = Page(evil.page)
    tags = [tag for tag, _ in page.elements]
    assert "img" not in tags
    assert tags.count("script") == 2
    for name in EVIL:
        assert name in page.text
    embedded = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page.source, re.S)
    assert embedded is not None
    assert json.loads(embedded[1]) == read_json(evil.json)
    assert any(
        EVIL[0] in report["answer"][0] or EVIL[0] in str(report["tables"])
        for report in json.loads(embedded[1])["reports"]
    )


def test_names_are_never_formulas_of_a_spreadsheet(evil: Written) -> None:
    cells = [
        cell
        for path in evil.page.parent.glob("tables/*.csv")
        for row in csv.reader(io.StringIO(path.read_text()))
        for cell in row
    ]
    assert any(EVIL[1] in cell for cell in cells)
    for cell in cells:
        assert not cell.startswith(("=", "+", "@"))
        if cell.startswith("-"):
            float(cell)


def test_names_are_never_formulas_of_a_figure(evil: Written) -> None:
    svg = next(evil.page.parent.glob("figures/ranking-shares.svg")).read_text()
    assert "$\\frac{" in svg
    assert "\x00" not in svg
    text = figures.Figure().text(0, 0, clean_label("$x$ \\$y$"))
    text.figure.draw_without_rendering()
    assert text._preprocess_math(text.get_text()) == ("$x$ \\$y$", False)


@pytest.mark.parametrize("share_y", [True, False])
def test_nothing_drawn_is_cut_off_at_the_top(share_y: bool) -> None:
    """Panels one higher than the other, the highest last: a limit set for the first must not hold for all."""
    looks = assign_looks(["a"])
    panels = {}
    for high in (0.2, 0.9, 0.5):
        rows = {
            "spec": "a",
            "players": [2, 3],
            "estimate": [high, high / 2],
            "low": [high - 0.1] * 2,
            "high": high + 0.05,
        }
        panels[f"up to {high}"] = pd.DataFrame({**rows, "unit": "share", "n_clusters": 9})
    lines = figures.draw_lines(panels, "players", looks, share_y=share_y, from_zero=True)
    for drawn, scale in ((lines, 1), (figures.draw_distribution(panels, "players", looks), 100)):
        for axis, frame in zip(drawn.axes, panels.values(), strict=False):
            bottom, top = axis.get_ylim()
            assert bottom == 0
            assert top > scale * frame["estimate"].max()


def test_csv_keeps_numbers_and_disarms_text() -> None:
    frame = pd.DataFrame({"=name": ["-1+1", "@x", "ok", " =1"], "value": [-1.5, 2.0, np.nan, 0.0]})
    assert make_csv(frame).decode().splitlines() == ["'=name,value", "'-1+1,-1.5", "'@x,2.0", "ok,", "' =1,0.0"]


def test_long_tables_are_cut_on_the_page_only(tmp_path: Path) -> None:
    table = Table("long", "Long", pd.DataFrame({"number": np.arange(1000)}))
    written = Report("r", "t", "q", ("a",), (Section("s", (), (table,)),)).write(tmp_path)
    page = Page(written.page)
    assert [tag for tag, _ in page.elements].count("td") == 200
    assert "The first 200 of 1,000 rows" in page.text
    assert len((tmp_path / "tables/long.csv").read_text().splitlines()) == 1001


def test_json_has_null_for_what_is_no_number() -> None:
    report = Report("r", "t", "q", (), (), numbers={"a": np.nan, "b": [np.inf, pd.NA, np.int64(3), np.bool_(True)]})
    assert json.loads(make_json([report]))["reports"][0]["numbers"] == {"a": None, "b": [None, None, 3, True]}


def test_estimates_are_worded_with_their_interval() -> None:
    share = {"estimate": 0.3591, "low": 0.3412, "high": 0.377, "unit": "share"}
    assert format_estimate(share) == "35.9 % (34.1 to 37.7)" or format_estimate(share) == "36 % (34 to 38)"
    points = {"estimate": -1.25, "low": -1.4, "high": -1.1, "unit": "points"}
    assert format_estimate(points, signed=True) == "\u22121.25 points (\u22121.40 to \u22121.10)"
    alone = {**points, "low": np.nan, "high": np.nan, "note": ONE_CLUSTER}
    assert format_estimate(alone) == "\u22121.25 points (no interval)"
    assert format_estimate({**alone, "estimate": 1.0, "note": NO_VARIATION}) == "1 point (the same in every deal)"


def test_short_estimates_tell_lopsided_intervals_by_their_ends() -> None:
    even = {"estimate": 0.359, "low": 0.341, "high": 0.377, "unit": "share"}
    assert format_short(even) == ("35.9", "± 1.8")
    assert format_short({**even, "estimate": 1.0, "low": 0.03, "high": 1.0}) == ("100", "(3 to 100)")
    assert format_short({**even, "low": np.nan, "high": np.nan}) == ("36", "")


def test_run_with_games_only_still_has_its_reports(tmp_path: Path) -> None:
    lineups = [("a", "a"), ("b", "b"), ("a", "b")]
    folder = synthetic.write_run(tmp_path / "run", lineups, skills={"a": 1.0, "b": 0.0}, deals=20, depth="games")
    written = build_report(folder)
    assert [report.name for report in written.reports] == list(DEFAULT)
    assert "short_games" not in json.dumps(read_json(written.json))


def test_self_play_alone_has_nothing_to_rank(tmp_path: Path) -> None:
    folder = synthetic.write_run(tmp_path / "run", [("a", "a"), ("a", "a", "a")], skills={"a": 0.0}, deals=20)
    written = build_report(folder)
    assert "nothing to rank" in written.answer


ODD = {
    "a wrong plural": r"\b1 (deals|games|points|pairs|others|tables)\b",
    "no number": r"\bnan\b|\binf\b|\u2013 (deal|point|%)",
    "a hole": r"\(\s*\)|\s[,;.]|  |: ?\.",
    "too much said": r"surely|clearly ahead of [1-9]|below .* could not have been seen.*\b0\.0 percentage",
}
SMALL = ("seats", "luck", "balance", "whatif", "marker", "player_count", "ranking", "fingerprints", "strategy")


@pytest.mark.parametrize("lineups", [[("a", "b")], [("a", "a"), ("a", "a", "a")]])
@pytest.mark.parametrize("deals", [1, 2])
def test_a_deal_or_two_read_well(lineups: list[tuple[str, ...]], deals: int, tmp_path: Path) -> None:
    folder = synthetic.write_run(tmp_path / "run", lineups, skills={"a": 0.0, "b": 0.0}, deals=deals)
    run = read_run(folder)
    for name in SMALL:
        report = make_report(load_module(find("reports", name)), run)
        said = [*report.answer, *(text for section in report.sections for text in (*section.text, section.note))]
        said += [item.caption for section in report.sections for item in section.items]
        for text in said:
            assert not [what for what, pattern in ODD.items() if re.search(pattern, text)], text
        assert all(sentence.endswith(".") and ". " not in sentence for sentence in report.answer), report.answer


def test_one_deal_makes_a_page_too(tmp_path: Path) -> None:
    folder = synthetic.write_run(tmp_path / "run", [("a", "b")], skills={"a": 0.0, "b": 0.0}, deals=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Page(build_report(folder).page).text


def test_several_rules_are_told_apart(tmp_path: Path) -> None:
    rules = [azulsim.Rules(), azulsim.Rules(starter_bonus=3)]
    folder = synthetic.write_run(tmp_path / "run", [("a", "b")] * 2, skills={"a": 2.0, "b": 0.0}, deals=20, rules=rules)
    written = build_report(folder)
    assert "starter_bonus=3" in Page(written.page).text
    assert any("sets of rules" in limit for limit in written.reports[0].limits)


@pytest.mark.parametrize("name", LONG_NAMES)
def test_scripts_run_alone(real: Run, name: str, tmp_path: Path) -> None:
    done = run_script(name, str(real.path), "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == f"page: {tmp_path / 'report.html'}"
    assert len(done.stdout) > 100
    assert done.stderr == ""


@pytest.mark.parametrize("kept", [{0}, {2}, {3}, {0, 3}, {2, 3}])
def test_reports_of_a_run_that_was_killed_say_so_on_top(kept: set[int], tmp_path: Path) -> None:
    skills = {"a": 3.0, "b": 0.0, "c": -2.0}
    lineups = [("a",) * 2, ("a",) * 3, ("a", "b"), ("a", "b", "c")]
    folder = synthetic.write_run(tmp_path / "run", lineups, skills=skills, deals=15)
    for cell in {0, 1, 2, 3} - kept:
        (folder / "commits" / f"c{cell:05d}-d0000000000.json").unlink()
    written = build_report(folder)
    page = Page(written.page)
    seatings = [1, 1, 2, 3]
    games = 15 * sum(seatings[cell] for cell in kept)
    there = f"{games} of {15 * sum(seatings)} games are here ({len(kept)} of 4 shards"
    note = f"Not finished: {there}: the run is not finished"
    assert written.answer.startswith(note)
    assert page.source.index(f"{note}; go on with: azulsim resume RUN).") < page.source.index("<h1")
    played = "0 to 15" if kept & {0, 2} else "0"
    assert f"2 players: {played} of 15" in page.text
    assert f"15 deals a player count, {games} games" in written.reports[0].answer[1]
    ratings = metrics.ratings(read_run(folder))
    assert set(ratings["players"]) == {len(lineups[cell]) for cell in kept if cell > 1}


def test_page_says_how_many_deals_a_failure_costs_and_what_that_may_do(tmp_path: Path) -> None:
    folder = synthetic.write_run(tmp_path / "run", [("a", "b"), ("a", "a")], skills={"a": 1.0, "b": 0.0}, deals=20)
    tables = synthetic.make_tables([(0, 1)], skills=[1.0, 0.0], deals=20)
    kept = {name: rows[(rows["game"] >> schema.DEAL_SHIFT) % 2 > 0] for name, rows in tables.items() if name in STORED}
    failures = [fake_failure(0, deal, 0, "b") for deal in range(0, 20, 2)]
    write_shard(folder, Shard(0, 0, 20), kept, failures, depth="moves", specs=("a", "b"))
    run = read_run(folder)
    told = (
        "10 games failed, so that 10 of 40 deals are left out, each with all seatings of its cell; "
        "first b: raised: ZeroDivisionError: division by zero"
    )
    assert run.describe_failures() == told
    text = Page(build_report(folder).page).text
    assert f"{told}. Leaving out the deals in which a strategy failed may bias comparisons." in text


def test_run_without_a_finished_game_has_no_report(tmp_path: Path) -> None:
    folder = synthetic.write_run(tmp_path / "run", [("a", "b")], skills={"a": 1.0, "b": 0.0}, deals=2)
    nothing = {name: rows[:0] for name, rows in synthetic.make_tables([(0, 1)], skills=[1.0, 0.0], deals=2).items()}
    failures = [fake_failure(0, deal, 0, "b") for deal in (0, 1)]
    write_shard(folder, Shard(0, 0, 2), nothing, failures, depth="moves", specs=("a", "b"))
    with pytest.raises(RunError, match="no game was finished; 2 games failed, so that 2 of 2 deals"):
        build_report(folder)


def test_scripts_refuse_what_is_no_run(tmp_path: Path) -> None:
    done = run_script("marker", str(tmp_path))
    assert done.returncode == 2
    assert done.stdout == ""
    assert re.fullmatch(r"error: .*not a run folder.*\n", done.stderr)


def make_strategy_page(run: Run, strategy: str | None) -> Report:
    """Make the report about a strategy, without drawing it."""
    options = {} if strategy is None else {"strategy": strategy}
    return make_report(load_module(find("reports", "strategy")), run, options)


def test_page_of_a_strategy_tells_of_it_alone(real: Run, written: Written) -> None:
    report = next(report for report in written.reports if report.name == "strategy")
    assert report.title == "greedy"
    games = real.games().query("spec == 'greedy' and players == 2").merge(real.cells[["cell", "lineup"]])
    mixed = games[games["lineup"] != "greedy, greedy"]
    assert report.numbers["win share, 2 players"]["estimate"] == pytest.approx(mixed["win_share"].mean())
    text = report.sections[0].text
    assert text[0] == "Play the move with the best exact change of its own round-end score; ties are broken evenly."
    tables = {table.name: table.frame for table in report.tables}
    assert all("spec" not in frame for frame in tables.values())
    assert len(tables["payoffs"]) == 3 * 4
    assert len(tables["wall"]) == 3 * 25
    assert {drawing.name for drawing in report.drawings} >= {"game_end", "game_round_1", "game_round_2"}
    page = Page(written.page)
    assert page.text.count("As round 1 began") >= 1
    assert (written.page.parent / "figures/strategy-game_end.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("skills", "wanted", "title"),
    [
        ({"a(x=1)": 3.0, "b": 0.0}, "a", "a(x=1)"),
        ({"a(x=1)": 0.0, "b": 3.0}, None, "b"),
        ({"a": 0.0, "a(x=1)": 3.0}, "a", "a"),
    ],
)
def test_strategy_is_found_by_its_name(
    skills: dict[str, float], wanted: str | None, title: str, tmp_path: Path
) -> None:
    folder = synthetic.write_run(tmp_path / "run", [tuple(skills)], skills=skills, deals=20, depth="games")
    assert make_strategy_page(read_run(folder), wanted).title == title


@pytest.mark.parametrize(
    ("wanted", "words"), [("a", r"a\(x=1\) and a\(x=2\); name one in full"), ("grredy", "'greedy'")]
)
def test_strategy_that_is_not_clear_is_refused(wanted: str, words: str, tmp_path: Path) -> None:
    skills = {"a(x=1)": 0.0, "a(x=2)": 0.0, "greedy": 0.0}
    folder = synthetic.write_run(tmp_path / "run", [tuple(skills)], skills=skills, deals=2, depth="games")
    with pytest.raises(InputError, match=words):
        make_strategy_page(read_run(folder), wanted)


@pytest.mark.parametrize("rules", [azulsim.Rules(), azulsim.Rules(wall="gray", gray_may_decline=True)])
def test_game_put_together_from_the_log_is_the_game_played_again(rules: azulsim.Rules, tmp_path: Path) -> None:
    experiment = azulsim.Experiment(strategies=["uniform", "greedy"], players=[2, 4], deals=2, log="moves", rules=rules)
    run = azulsim.run(experiment, out=tmp_path / "run", jobs=1, progress=False)
    for players in (2, 4):
        number = choose_game(run, "uniform", players)
        found, again = read_game(run, number), replay_game(run.path, number)
        positions = [replace(position, luck=None) for position in again.positions]
        assert [position for position in found.rounds if position not in positions] == []
        assert [position.round for position in found.rounds] == list(range(1, len(again.record.rounds) + 1))
        assert found.end == positions[-1]
        assert found.specs == again.record.players
        assert len(found.moves) == sum(len(played.moves) for played in again.record.rounds)


def test_game_with_jokers_is_not_drawn(tmp_path: Path) -> None:
    rules = azulsim.Rules(joker_tiles=True)
    experiment = azulsim.Experiment(strategies=["uniform", "greedy"], deals=1, log="moves", rules=rules)
    run = azulsim.run(experiment, out=tmp_path / "run", jobs=1, progress=False)
    with pytest.raises(InputError, match="jokers"):
        read_game(run, choose_game(run, "greedy", 2))
    report = make_strategy_page(run, "greedy")
    assert "jokers" in report.sections[-1].text[0]


def test_command_line_takes_the_strategy(real: Run, tmp_path: Path) -> None:
    words = [
        "report",
        str(real.path),
        "--report",
        "strategy",
        "--strategy",
        "uniform",
        "--out",
        str(tmp_path),
        "--json",
    ]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.stderr
    report = json.loads(done.stdout)["reports"][0]
    assert report["title"] == "uniform"
    assert report["provenance"]["commands"][-1].endswith("--report strategy --strategy uniform")
    assert (tmp_path / "report.html").is_file()


def test_numbers_in_names_stay_as_they_are(tmp_path: Path) -> None:
    skills = {"a(x=0.50001)": 1.0, "b": 0.0}
    folder = synthetic.write_run(tmp_path / "run", [tuple(skills)], skills=skills, deals=5, depth="games")
    text = build_report(folder, "ranking").page.read_text()
    assert "a(x=0.50)" not in text
    assert ">a(x=0.50001)</text>" in re.sub(r"\s*\n\s*", "", text)


OPTIONS = """
from azulsim.report import Report

def build(run, *, word="none"):
    if word == "bad":
        raise KeyError(word)
    return Report("told", "Told", "What was said?", (word, "Nothing else."), ())
"""


def test_options_are_the_keywords_of_build(tmp_path: Path) -> None:
    folder = synthetic.write_run(tmp_path / "run", [("a", "b")], skills={"a": 1.0, "b": 0.0}, deals=2)
    script = tmp_path / "told.py"
    script.write_text(OPTIONS)
    assert build_report(folder, str(script)).answer == "Told: none Nothing else."
    written = build_report(folder, str(script), options={"word": "../x y"})
    assert written.answer == "Told: ../x y Nothing else."
    assert written.page.parent.parent == folder / "reports"
    assert "azulsim report NEW --report told --word '../x y'" in written.reports[0].provenance["commands"]
    with pytest.raises(InputError, match=r"told\.py: the report takes no option 'wrd'.*did you mean 'word'"):
        build_report(folder, str(script), options={"wrd": "x"})


def test_report_that_raises_is_named_with_its_file_and_line(tmp_path: Path) -> None:
    folder = synthetic.write_run(tmp_path / "run", [("a", "b")], skills={"a": 1.0, "b": 0.0}, deals=2)
    script = tmp_path / "told.py"
    script.write_text(OPTIONS)
    with pytest.raises(InputError, match=r"told\.py, line 6: build\(run\) raised KeyError: 'bad'"):
        build_report(folder, str(script), options={"word": "bad"})


def run_script(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "reports" / f"{name}.py"), *arguments], capture_output=True, text=True, check=False
    )


def test_reading_never_loads_the_engine(real: Run, tmp_path: Path) -> None:
    code = f"""
import sys
from azulsim.report import build_report
build_report({str(real.path)!r}, "ranking", folder={str(tmp_path)!r})
loaded = {{"numba", "azulsim.engine", "azulsim.arena", "azulsim.registry", "azulsim.runner"}} & set(sys.modules)
assert not loaded, loaded
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_reports_can_be_named_and_added(real: Run, tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(
        '"""Mine."""\nfrom azulsim.report import Report\n'
        'def build(run):\n    return Report("mine", "Mine", "Why?", ("Because.", "But."), ())\n'
    )
    written = build_report(real, str(mine), folder=tmp_path / "out")
    assert "Because." in Page(written.page).text
    assert load_module(find("reports", "marker")).TITLE
    mine.write_text("def build(run):\n    return 3\n")
    with pytest.raises(InputError, match="returned int"):
        make_report(load_module(find("reports", str(mine))), real)
    with pytest.raises(InputError, match="did you mean 'marker'"):
        build_report(real, "markr")


def test_examples_of_the_documentation_run(real: Run, tmp_path: Path) -> None:
    blocks = re.findall(r"\n\n((?:    .*\n|\n)+)", (ROOT / "docs" / "REPORTS.md").read_text())
    code = [re.sub(r"^    ", "", block, flags=re.M) for block in blocks]
    mine = tmp_path / "ties.py"
    mine.write_text(next(block for block in code if "def build(run):" in block))
    written = build_report(real, str(mine), folder=tmp_path / "out")
    assert re.search(r"at 2 players: [\d.]+ % \([\d.]+ to [\d.]+\)", written.answer)
    calls = next(block for block in code if "metrics.scores(run)" in block)
    names = {"run": real}
    calls = calls.replace('azulsim.read_run("runs/demo")', "run").replace(
        '"ranking")', f'"ranking", folder={str(tmp_path)!r})'
    )
    exec(calls, names)
    assert isinstance(names["written"], Written)


def test_names_of_figures_and_tables_are_checked() -> None:
    with pytest.raises(InputError, match="not a name"):
        Table("../x", "t", pd.DataFrame())
    plots = tuple(Plot("same", "t", lambda narrow: Figure()) for _ in range(2))
    with pytest.raises(InputError, match="two figures are called 'same'"):
        Report("r", "t", "q", (), (Section("s", (), plots),))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_said(real: Run, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(RunError, match="cannot be written"):
        build_report(real, "ranking", folder=tmp_path / "x")


def test_a_file_in_the_way_is_said(real: Run, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(RunError, match="cannot be written"):
        build_report(real, "ranking", folder=tmp_path / "x")


def test_full_disk_leaves_no_parts(real: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(RunError, match="the report cannot be written: No space left"):
        build_report(real, "ranking", folder=tmp_path / "page")
    assert not list(tmp_path.rglob("*.part"))


def test_looks_differ_even_without_color() -> None:
    looks = assign_looks([f"s{i}" for i in range(20)])
    assert len({(look.color, look.line) for look in looks.values()}) == 20
    assert len({look.marker for look in list(looks.values())[:8]}) == 8


# In a real browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = find_browser()
    if program is None:
        pytest.skip("no Chromium is installed")
    with Browser(program) as found:
        yield found


@pytest.mark.parametrize("which", ["written", "evil"])
def test_browser_has_no_complaint_and_asks_for_nothing(
    browser: Browser, which: str, request: pytest.FixtureRequest
) -> None:
    page = request.getfixturevalue(which).page
    browser.open(page)
    assert browser.complaints() == []
    assert browser.requests() == [page.resolve().as_uri()]


@pytest.mark.parametrize("which", ["written", "evil"])
@pytest.mark.parametrize("width", [320, 390, 768, 1400])
def test_nothing_overflows(browser: Browser, which: str, width: int, request: pytest.FixtureRequest) -> None:
    browser.open(request.getfixturevalue(which).page, width=width)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    # Only what stands in a box that scrolls may be wider than the page.
    wide = browser.evaluate(
        "Array.from(document.querySelectorAll('main *')).filter(e => !e.closest('.scroll, svg') && "
        "e.getBoundingClientRect().right > innerWidth + 1).map(e => e.tagName + '.' + e.className)"
    )
    assert wide == []


def test_tables_sort(browser: Browser, written: Written) -> None:
    browser.open(written.page)
    table = "Array.from(document.querySelectorAll('table')).find(t => t.tHead && t.tBodies[0].rows.length > 5)"
    column = f"Array.from(({table}).tBodies[0].rows).map(r => r.cells[{{}}].dataset.sort)"
    head = f"({table}).tHead.rows[0].cells[{{}}].querySelector('button').click()"
    find = f"Array.from(({table}).tHead.rows[0].cells).findIndex(head => head.dataset.kind === '{{}}')"
    number, name = (browser.evaluate(find.format(kind)) for kind in ("number", "text"))
    before = browser.evaluate(column.format(number))
    browser.evaluate(head.format(number))
    values = [float(text) for text in browser.evaluate(column.format(number)) if text]
    assert values == sorted(values)
    browser.evaluate(head.format(number))
    assert [float(text) for text in browser.evaluate(column.format(number)) if text] == values[::-1]
    browser.evaluate(head.format(name))
    names = browser.evaluate(column.format(name))
    assert names == sorted(names)
    assert len(names) == len(before) > 5


def test_a_phone_shows_what_a_row_is_and_its_first_estimate(browser: Browser, written: Written) -> None:
    browser.open(written.page, width=390)
    hidden = browser.evaluate(
        """Array.from(document.querySelectorAll('.table > .scroll')).filter(box => {
            const cells = Array.from(box.querySelector('tbody tr').cells).filter(cell => cell.offsetWidth > 0);
            const first = cells.find(cell => cell.querySelector('small'));
            const end = box.getBoundingClientRect().right + 1;
            return first && [cells[0], first].some(cell => cell.getBoundingClientRect().right > end);
        }).map(box => box.getAttribute('aria-label'))"""
    )
    assert hidden == []


def test_dark_and_light_are_both_readable(browser: Browser, written: Written) -> None:
    def brightness(color: str) -> float:
        return sum(map(float, re.findall(r"[\d.]+", color)[:3])) / 3

    for dark in (False, True):
        browser.open(written.page, dark=dark)
        paper = brightness(browser.evaluate("getComputedStyle(document.querySelector('section')).backgroundColor"))
        ink = brightness(browser.evaluate("getComputedStyle(document.querySelector('section h3')).color"))
        in_figure = brightness(browser.evaluate("getComputedStyle(document.querySelector('figure svg text')).fill"))
        assert (ink > paper) == (in_figure > paper) == dark
        assert abs(ink - paper) > 120
        assert abs(in_figure - paper) > 90
