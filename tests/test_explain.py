"""Explaining moves, and the commands about rules."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

import azulsim
from azulsim import cli
from azulsim.errors import InputError, StrategyError
from azulsim.explain import explain
from azulsim.game import Game, play
from azulsim.notation import Board, Position
from azulsim.notation.rules_text import SUMMARIES, list_differences
from azulsim.rules import VARIANTS, Rules, read_rules
from azulsim.strategy import Move

STRATEGIES = '''"""Three ways to go."""
from azulsim.strategy import strategy
from azulsim.strategy.toolbox import count_source


@strategy
def last(view, moves, rng):
    return len(moves) - 1


@strategy
def outside(view, moves, rng):
    return len(moves)


@strategy
def after(move, position, *, love=2):
    return love * count_source(position, 0, 0) + move.placed
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "strategies").mkdir()
    (tmp_path / "strategies" / "three.py").write_text(STRATEGIES, encoding="utf-8")
    return tmp_path


def run_command(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["azulsim", *map(str, words)])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    return int(stop.value.code or 0)


@pytest.mark.parametrize("rules", VARIANTS.values(), ids=VARIANTS)
def test_every_move_is_there_once_best_first_and_the_best_is_chosen(rules: Rules) -> None:
    game = Game(2, rules=rules, seed=3)
    answer = explain(game.position(), "greedy")
    assert sorted(one.move for one in answer.candidates) == sorted(game.legal_moves())
    scores = [one.score for one in answer.candidates if one.score is not None]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == len(answer.candidates)
    assert [one.is_chosen for one in answer.candidates] == [True] + [False] * (len(scores) - 1)


def test_what_is_called_best_is_what_is_played() -> None:
    game = play("row_builder(love=3)", "greedy", seed=4)
    replayed, n_decided = Game(2, seed=4), 0
    for move in game.moves[:24]:
        spec = game.specs[replayed.seat]
        answer = explain(replayed.position(), spec)
        best = [one.move for one in answer.candidates if one.score == answer.candidates[0].score]
        assert move in best
        n_decided += len(best) == 1
        replayed.play(move)
    assert n_decided > 2


def test_scores_are_made_of_the_fields_shown() -> None:
    answer = explain(Game(2, seed=1).position(), "row_builder(love=3)")
    for one in answer.candidates:
        move = one.fields
        assert one.score == move.gain + 3 * move.row_tiles * move.placed / (move.placed + move.missing + 1)
    assert answer.shown == ("placed", "gain", "missing", "row_tiles")
    assert str(answer).splitlines()[1].split() == ["move", "score", *answer.shown]


def test_other_kinds_of_strategies_have_their_choice_marked(project: Path) -> None:
    position = Game(2, seed=1).position()
    assert "B" in position.displays[0]
    for spec in ("last", "uniform"):
        answer = explain(position, spec, project=project)
        assert [one.is_chosen for one in answer.candidates].count(True) == 1
        assert answer.candidates[0].is_chosen
        assert {one.score for one in answer.candidates} == {None}
    scored = explain(position, "after(love=0)", project=project)
    assert all(one.score == one.fields.placed for one in scored.candidates)
    blue = {one.move: one.score - one.fields.placed for one in explain(position, "after", project=project).candidates}
    display = position.displays[0]
    color = next(color for color in display if color != "B")
    assert blue[f"1{color}1"] == 2 * display.count("B")
    with pytest.raises(StrategyError, match="outside"):
        explain(position, "outside", project=project)


def test_positions_without_moves_are_refused() -> None:
    with pytest.raises(InputError, match="the game is over"):
        explain(play("greedy", "uniform", seed=1).position(), "greedy")
    board = Board(lines=("B", "", "", "", ""))
    placing = Position(boards=(board, Board()), displays=("",) * 5, row=1, holder=1, rules=VARIANTS["gray"])
    with pytest.raises(InputError, match="being placed"):
        explain(placing, "greedy")
    with pytest.raises(InputError):
        explain("no position", "greedy")


def test_explain_on_the_command_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    line = str(Game(2, seed=1).position())
    assert run_command(monkeypatch, "explain", line, "--strategy", "greedy", "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["position"] == line
    assert set(answer["moves"][0]["fields"]) == set(Move._fields)
    monkeypatch.setattr(sys, "stdin", io.StringIO(line + "\n"))
    assert run_command(monkeypatch, "explain", "-", "--strategy", "greedy") == 0
    assert capsys.readouterr().out.startswith("greedy, seat 0 in round 1")
    assert run_command(monkeypatch, "explain", line[:20], "--strategy", "greedy") == 2


# Rules


def test_rules_are_listed_shown_and_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert set(SUMMARIES) == set(VARIANTS)
    assert run_command(monkeypatch, "rules", "list") == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(VARIANTS)
    file = tmp_path / "mine.toml"
    for name, rules in VARIANTS.items():
        assert run_command(monkeypatch, "rules", "show", name) == 0
        file.write_text(capsys.readouterr().out, encoding="utf-8")
        assert read_rules(file) == rules
        assert run_command(monkeypatch, "rules", "check", file) == 0
        told = capsys.readouterr().out
        assert told.startswith("ok")
        for key, value, printed in list_differences(rules):
            assert f"{key} = {value}  (printed: {printed})" in told
    assert list_differences(azulsim.Rules()) == []


def test_rules_that_cannot_be_played_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "odd.toml"
    file.write_text("gray_may_decline = true\n", encoding="utf-8")
    assert run_command(monkeypatch, "rules", "check", file) == 2
    assert "only a wall with a free space" in capsys.readouterr().err
    assert run_command(monkeypatch, "rules", "show", "grey") == 2
    assert "'gray'" in capsys.readouterr().err
