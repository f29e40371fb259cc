"""A person at the table: what is typed, what is answered, what is kept; and games that are made again from text."""

from __future__ import annotations

import contextlib
import os
import pty
import random
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import azulsim
from azulsim import cli
from azulsim.errors import InputError, StrategyError
from azulsim.explain import describe_moves, explain
from azulsim.game import Game
from azulsim.interactive import Session, begin_session, load_session, play_in_terminal
from azulsim.interactive.reading import read_decision
from azulsim.interactive.words import COLOR_WORDS
from azulsim.notation import Position, parse_move
from azulsim.rules import VARIANTS, Bonus, Rules

AZULSIM = [sys.executable, "-c", "from azulsim.cli import main; main()"]
HOUSE = Rules(
    wall="gray",
    joker_tiles=True,
    joker_overflow="choose",
    gray_may_decline=True,
    marker_cost=3,
    starter_bonus=-2,
    next_starter="lottery",
    bonus=Bonus(row=-1),
    max_rounds=4,
)
ALL_RULES = {**VARIANTS, "house": HOUSE}

OWN = '''"""A player for each kind of trouble."""
from azulsim.engine.compiling import popcount
from azulsim.strategy import strategy
from azulsim.strategy.toolbox import count_moves, nth_move


@strategy
def lucky(view, moves, rng):
    return rng.integers(len(moves))


@strategy(workspace=16)
def counting(scratch, moves, key, params, workspace):
    workspace[0] += 1
    return nth_move(scratch, moves, workspace[0] % count_moves(scratch, moves))


@strategy(place=lambda spot, *, lean=1.0: lean * spot.column)
def leaning(move, *, lean=1.0):
    return move.gain


@strategy
def quitter(view, moves, rng):
    if view.round == 2:
        raise ValueError("no idea")
    return 0
'''


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "strategies").mkdir()
    (folder / "strategies" / "own.py").write_text(OWN, encoding="utf-8")
    return folder


def play_randomly(game: Game, seed: int, n: int = 10_000) -> Game:
    rng = random.Random(seed)
    while not game.is_over and n:
        game.play(rng.choice(game.legal_moves()))
        n -= 1
    return game


# Games made again


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("rules", ALL_RULES.values(), ids=ALL_RULES)
def test_a_game_is_made_again_from_its_repr_at_any_point_with_the_same_future(rules: Rules, players: int) -> None:
    for n in (0, 31, 10_000):
        game = play_randomly(Game(players, rules=rules, seed=players, deal=4), n, n)
        again = eval(repr(game), {"Game": Game})
        assert again == game
        assert again.position() == game.position()
        assert again.tilings == game.tilings
        assert play_randomly(again, 5).outcome == play_randomly(game, 5).outcome
        for _ in range(3):
            assert again.undo().position() == game.undo().position()


def test_games_laid_by_hand_are_made_again_too() -> None:
    text = "4 1 0 0 BBYR,-,KKWW,Y,- KK B3Y12 W2 7:BY.../...../..B../...../....B:R/YY/.../K.../.....:MBW "
    text += "0:...../...../...../...../.....:./../.../..../.....:-"
    for luck in ("", " luck=3/4/5"):
        game = play_randomly(Game.from_position(Position.from_text(text + luck), seed=9), 1, 5)
        again = eval(repr(game))
        assert again == game
        assert play_randomly(again, 5).outcome == play_randomly(game, 5).outcome
    placing = placing_game()
    laid = Game.from_position(placing.position())
    assert eval(repr(laid)) == laid
    assert laid != placing
    assert play_randomly(eval(repr(laid)), 5).outcome == play_randomly(placing, 5).outcome
    over = azulsim.play("greedy", "uniform", seed=1)
    assert eval(repr(over)) == over
    assert eval(repr(Game.from_position(over.position()))).outcome == over.outcome


def test_looking_back_gives_a_game_of_its_own() -> None:
    game = play_randomly(Game(2, seed=1), 1, 20)
    before = game.position()
    twin = game.look_back(5)
    play_randomly(twin, 3)
    while twin.moves:
        twin.undo()
    twin.play(twin.legal_moves()[-1])
    assert game.position() == before
    assert game.undo().undo().play(game.legal_moves()[0]).look_back(18).moves == game.moves[:18]
    with pytest.raises(InputError, match="must be from 0 to 19"):
        game.look_back(20)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[seed 7]\n", "", "no header seed"),
        ("round 1: YYKW", "round 1: YYYW", "round 1: the displays are not those that the seed deals, YYKW"),
        ("0: 2Y1", "0: 2Y6", r"line \d+, column \d+: move '2Y6'"),
        ("0: 2Y1", "0: 2W1", "round 1: move '2W1' is not legal"),
        ("round 2:", "rounds2:", "'rounds2:' where a seat such as 0:, scores: or round was expected"),
        ("scores: 4 2", "scores: 4 3", r"round 1: the scores are \(4, 2\)"),
        ("[scores 71 41]", "[scores 71 42]", r"header scores does not fit: it must be \(71, 41\)"),
    ],
)
def test_a_text_that_contradicts_the_game_is_refused(old: str, new: str, message: str) -> None:
    text = str(azulsim.play("greedy", "greedy", seed=7).record())
    assert old in text
    with pytest.raises(InputError, match=message) as caught:
        Game.from_text(text.replace(old, new, 1))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("rules", [3, 0, "gray", {}])
def test_rules_that_are_none_are_refused_in_one_sentence(rules: Any) -> None:
    for make in (lambda: Game(rules=rules), lambda: azulsim.play("greedy", "uniform", rules=rules)):
        with pytest.raises(InputError, match=r"rules = .*: must be Rules"):
            make()


# Strategies at the table


@pytest.mark.parametrize(
    ("lineup", "rules"),
    [
        (("greedy", "uniform"), "standard"),
        (("counting", "lucky", "greedy"), "standard"),
        (("noisy(greedy, eps=0.3)", "noisy(lucky, eps=0.2)", "end_watcher"), "joker"),
        (("leaning(lean=2)", "greedy"), "gray-joker"),
        (("counting", "uniform"), "gray-joker"),
    ],
)
def test_strategies_play_at_the_table_as_in_a_run(lineup: tuple[str, ...], rules: str, project: Path) -> None:
    game = Game(len(lineup), rules=VARIANTS[rules], seed=11)
    game.specs = lineup
    session = Session(game, project=project)
    while not game.is_over:
        session.answer()
    assert game == azulsim.play(*lineup, seed=11, rules=VARIANTS[rules], project=project)


@pytest.mark.parametrize("rules", ["standard", "gray-joker"])
def test_undo_and_load_get_the_same_answers_even_from_memory(rules: str, project: Path, tmp_path: Path) -> None:
    session = begin_session(["counting", "lucky"], [1], rules=VARIANTS[rules], seed=2, project=project)
    rng = random.Random(1)

    def go_on(session: Session, decisions: list[str], n: int) -> None:
        while n and not session.game.is_over:
            if session.is_waiting:
                decisions.append(rng.choice(session.game.legal_moves()))
                session.decide(decisions[-1])
                n -= 1
            else:
                session.answer()

    decisions: list[str] = []
    go_on(session, decisions, 14)
    session.save(tmp_path / "game.txt")
    moves = list(session.game.moves)
    for _ in range(4):
        assert session.undo()
        assert session.is_waiting
    assert session.game.moves == moves[: len(session.game.moves)]
    loaded = load_session(tmp_path / "game.txt", project=project)
    assert loaded.game == session.game  # what is kept is what stands after the undo
    for again in (session, loaded):
        for decision in decisions[-4:]:
            while not again.is_waiting:
                again.answer()
            again.decide(decision)
        assert again.game.moves == moves
    for again in (session, loaded):
        rng = random.Random(3)
        go_on(again, [], 10_000)
    assert loaded.game == session.game
    assert session.game.is_over


# What is typed


def test_moves_may_be_written_in_many_ways() -> None:
    game = Game(2, seed=7)
    for text in (
        "2B3",
        "2b3",
        "2 b 3",
        "2 blue 3",
        "blue 2 3",
        "display 2 blue line 3",
        "blue from display 2 to line 3",
    ):
        assert read_decision(text, game) == "2B3", text
    assert read_decision("blue from 2 to line 3", game) == "2B3"
    for text in ("take all the black tiles from factory 4, put them on row 5", "4k5", " 4  K  5 ", "4, black, 5"):
        assert read_decision(text, game) == "4K5", text
    for text in ("3w-", "3 white floor", "white from 3 to the floor line", "3 w f", "3w0"):
        assert read_decision(text, game) == "3W-", text
    game.play("1Y2")
    for text in ("cw-", "center white floor", "CW-", "white center -", "c w 0", "centre white to floor"):
        assert read_decision(text, game) == "CW-", text


JOKERS = "1 0 0 - BJJ,-,-,-,- - B3 - 0:B..../...../...../...../.....:./BJ/Y../..../.....:- "
JOKERS += '0:...../...../...../...../.....:./../.../..../.....:- rules={joker_tiles=true, joker_overflow="choose"}'


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("9b1", "there is no display 9; they are 1 to 5"),
        ("0b1", "displays count from 1"),
        ("2k2", "display 2 is empty"),
        ("cy-", "center holds no yellow, but 2 black"),
        ("1w1", "display 1 holds no white, but 2 blue and 1 yellow and 1 red"),
        ("1b3", "line 3 holds red already, so that no blue fits"),
        ("1b1", "line 1 is full"),
        ("1y2", "row 2 of your wall has a yellow tile already"),
        ("1b6", "there is no line 6"),
        ("1b", "say also to which line"),
        ("blue", "say also from which display .* and to which line"),
        ("1 b r 3", "only one color"),
        ("c 1 b 3 4", "one place only|a number too many|all to the floor line"),
        ("1b3 4", "all tiles taken go to one line|a number too many"),
        ("1b-3", "all tiles taken go to one line|a number too many"),
        ("hello", "'hello' is not understood"),
        ("", "is no move"),
        ("²b1", "not understood"),
        ("1j1", "holds no joker"),
    ],
)
def test_what_is_no_legal_move_is_answered_by_what_is_wrong(text: str, answer: str) -> None:
    line = "2 0 0 - BBYR,-,-,-,- KK - - 0:...../.Y.../...../...../.....:W/../R../..../.....:- "
    line += "0:...../...../...../...../.....:./../.../..../.....:-"
    game = Game.from_position(Position.from_text(line.replace(".Y...", "..Y..")))
    with pytest.raises(InputError, match=answer):
        read_decision(text, game)


def test_jokers_are_asked_for_in_words() -> None:
    game = Game.from_position(Position.from_text(JOKERS.replace("./BJ/", "./B./")))
    legal = game.legal_moves()
    assert read_decision("1 jokers 4", game) == "1J4"
    assert read_decision("jokers and blue from display 1 to line 5", game) == "1BJ5"
    assert read_decision("1 blue+joker 5", game) == "1BJ5"
    choices = [move for move in legal if move.startswith("1BJ2/")]
    assert choices
    with pytest.raises(InputError, match=f"how many jokers stay on the line: {' or '.join(choices)}"):
        read_decision("1bj2", game)
    assert read_decision(f"1 blue and jokers 2 keep {choices[0][-1]}", game) == choices[0]
    with pytest.raises(InputError, match="not yours to choose here; write 1BJ5"):
        read_decision("1bj5/1", game)


def placing_game(rules: Rules = VARIANTS["gray"]) -> Game:
    game = Game(2, rules=rules, seed=3)
    rng = random.Random(2)
    while not game.placing:
        game.play(rng.choice(game.legal_moves()))
    return game


def test_columns_are_asked_for_in_words() -> None:
    game = placing_game()
    row = game.placing.row  # type: ignore[union-attr]
    assert read_decision("", game, 4) == f"@{row}=4"
    for text in ("2", "column 2", "@{row}=2", "to column 2"):
        assert read_decision(text.format(row=row), game) == f"@{row}=2"
    for text, answer in (
        ("6", "there is no column 6"),
        ("0", "a complete line must be placed"),
        ("floor", "a complete line must be placed"),
        ("2b3", "no column"),
        ("@9=1", "does not fit"),
        ("", "is no column"),
    ):
        with pytest.raises(InputError, match=answer):
            read_decision(text, game)
    free = placing_game(HOUSE)
    assert read_decision("floor", free) == f"@{free.placing.row}=0"  # type: ignore[union-attr]


POSITIONS = [
    Game(2, seed=7),
    play_randomly(Game(3, rules=VARIANTS["joker"], seed=1), 4, 20),
    play_randomly(Game(4, rules=HOUSE, seed=2), 4, 33),
    placing_game(),
    placing_game(HOUSE),
]
WORDS = ("display", "line", "keep", "blue", "red", "joker", "center", "floor", "take", "column", "and", "@", "=", "/")
LINES = st.one_of(
    st.text(max_size=40),
    st.text("0123456789cbyrkwjCBYRKWJ-/@= ", max_size=12),
    st.lists(st.sampled_from([*WORDS, *"0123459-"]), max_size=7).map(" ".join),
)


@settings(max_examples=400)
@given(LINES, st.integers(0, len(POSITIONS) - 1))
def test_any_line_is_a_legal_decision_or_gets_one_sentence(text: str, which: int) -> None:
    game = POSITIONS[which]
    try:
        answer = read_decision(text, game, None)
    except InputError as error:
        answer = str(error)
    is_sentence = answer.isprintable() and " " in answer and len(answer) < 250
    assert is_sentence or answer in game.legal_moves()


# At the table


class Person:
    """Types lines, and reads what is said."""

    def __init__(self, session: Session, lines: Iterator[str]) -> None:
        self.session, self.lines = session, lines
        self.heard: list[str] = []
        self.width = 80

    def ask(self, prompt: str) -> str:
        self.heard.append(prompt)
        line = next(self.lines, None)
        if line is None:
            raise EOFError
        return line

    def play(self) -> str:
        play_in_terminal(self.session, ask=self.ask, say=self.heard.append, width=self.width)
        return "\n".join(self.heard)


def type_words(session: Session, seed: int) -> Iterator[str]:
    """Play any legal moves, in words, with questions and mistakes in between."""
    rng = random.Random(seed)
    game = session.game
    while not game.is_over:
        if rng.random() < 0.15:
            yield rng.choice(["hint", "moves", "help", "table", "", "nonsense", "9z9", "HINT", "?", "undo", "undo"])
            continue
        if game.placing:
            yield rng.choice(["", *map(str, game.placing.columns)])
            continue
        move = parse_move(rng.choice(game.legal_moves()))
        source = f"display {move.source}" if move.source else "center"
        color = COLOR_WORDS[move.color] + (" and jokers" if move.jokers else "")
        line = f"line {move.line}" if move.line else "floor"
        keep = "" if move.keep is None else f" keep {move.keep}"
        yield rng.choice([str(move), str(move).lower(), f"take {color} from {source} to {line}{keep}"])
    yield "hint"
    yield "quit"


@pytest.mark.parametrize(
    ("rules", "opponents", "seats"),
    [
        ("standard", ["greedy"], [0]),
        ("standard", ["uniform", "lucky", "greedy"], [3]),
        ("gray", [], [0, 1]),
        ("joker", ["greedy", "uniform"], [1]),
        ("gray-joker", ["leaning"], [1]),
        ("crystal-mosaic", ["greedy", "lucky"], [2, 0]),
        ("house", ["uniform"], [0, 1]),
    ],
)
def test_whole_games_are_played_in_words(
    rules: str, opponents: list[str], seats: list[int], project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    session = begin_session(opponents, seats, rules=ALL_RULES[rules], seed=5, project=project)
    session.save(Path("game.txt"))
    said = Person(session, type_words(session, 1)).play()
    outcome = session.game.outcome
    assert outcome is not None
    assert said.isascii()
    assert [line for line in said.splitlines() if len(line) > 80] == []
    assert said.endswith("The game is saved in game.txt.")
    assert said.count("is over; the walls are tiled") >= session.game.round
    for score in outcome.scores:
        assert re.search(rf": {score}\b", said)
    best = max(outcome.scores)
    assert re.search(rf"(wins?|the victory)\s+with {best} point", said)
    assert load_session(Path("game.txt"), project=project).game == session.game
    assert Game.from_text(Path("game.txt").read_text()).outcome == outcome


def test_what_the_others_did_and_what_tiling_brought_is_told() -> None:
    session = begin_session(["greedy"], [0], seed=7)
    best = (move for move in iter(lambda: best_of_greedy(session), ""))
    said = re.sub("\n +", " ", Person(session, best).play())
    record = session.game.record()
    for seat, move in enumerate(session.game.moves[:2]):
        assert re.search(
            rf"^seat {seat} \((you|greedy)\): {move}, \d \w+ from display {move[0]} to", said, re.MULTILINE
        )
    assert "with the starting player marker" in said
    for played in record.rounds:
        assert f"Round {played.number} is over; the walls are tiled:" in said
        for score in played.scores:
            assert f"{score} point" in said
    assert "who took the marker" in said
    assert "Bonuses:" in said


def best_of_greedy(session: Session) -> str:
    """The move of greedy; empty when the game is over."""
    return "" if session.game.is_over else explain(session.game.position(), "greedy").candidates[0].move


def test_who_moves_later_is_told_what_was_dealt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    session = begin_session(["uniform"], [1], seed=7)
    said = Person(session, iter([])).play()
    assert said.startswith("On the displays: 1 YYKW, 2 BYRK, 3 YRKW, 4 RKKW, 5 BBKW.\nseat 0 (uniform): ")
    assert "On the displays" not in Person(begin_session(["uniform"], [0], seed=7), iter([])).play()


def test_hints_name_legal_moves_with_their_worth() -> None:
    session = begin_session(["uniform"], [0], seed=7)
    said = Person(session, iter(["hint"])).play()
    hints = re.findall(r"^  (\S+)  ([+-]?\d+) this round", said, re.MULTILINE)
    fields = describe_moves(session.game)
    assert len(hints) == 3
    assert all(int(worth) == fields[move].gain for move, worth in hints)


def test_nothing_is_lost_and_no_file_is_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = Person(begin_session(["uniform"], [0], seed=7), iter(["quit"])).play()
    assert "nothing is saved" in said
    assert list(tmp_path.iterdir()) == []
    for name in ("azul-7.txt", "azul-7-2.txt"):
        said = Person(begin_session(["uniform"], [0], seed=7), iter(["2b3", "4r-"])).play()
        assert f"azulsim play --load {name}" in said
        assert load_session(Path(name)).is_waiting
    Path("mine.txt").write_text("mine")
    lines = ["2b3", "save", "save mine.txt", "save no/such/folder.txt", "save a\0b", "save yours.txt", "4r-", "quit"]
    said = Person(begin_session(["uniform"], [0], seed=7), iter(lines)).play()
    assert "there is such a file already" in said
    assert "Say where: save FILE." in said
    assert said.count("cannot be written") == 2
    assert Path("mine.txt").read_text() == "mine"
    assert "azulsim play --load yours.txt" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["azul-7-2.txt", "azul-7.txt", "mine.txt", "yours.txt"]
    assert load_session(Path("yours.txt")).game.moves[0] == "2B3"
    tmp_path.chmod(0o500)
    monkeypatch.setattr(Path, "write_text", refuse)
    said = Person(begin_session(["uniform"], [0], seed=7), iter(["2b3"])).play()
    tmp_path.chmod(0o700)
    assert Game.from_text(said[said.index("[azulsim") :]).moves[0] == "2B3"


def refuse(*_: object, **__: object) -> int:
    raise PermissionError(13, "Permission denied")


def test_undo_after_the_end_goes_on(project: Path) -> None:
    session = begin_session(["uniform"], [0], rules=Rules(max_rounds=1), seed=3)

    def lines() -> Iterator[str]:
        while not session.game.is_over:
            yield session.game.legal_moves()[0]
        yield "2b3"
        yield "undo"
        assert session.is_waiting
        yield session.game.legal_moves()[0]

    said = Person(session, lines()).play()
    assert "The game is over; undo takes back your last decision" in said


# The command


@pytest.fixture
def azul(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run the command in this process, with lines from a pipe, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*words: object, typed: str = "") -> tuple[int, str, str]:
        import io

        monkeypatch.setattr(sys, "argv", ["azulsim", *map(str, words)])
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        with pytest.raises(SystemExit) as stop:
            cli.main()
        captured = capsys.readouterr()
        return int(stop.value.code or 0), captured.out, captured.err

    return run


def test_a_game_is_saved_and_taken_up_through_pipes(azul: Any, tmp_path: Path) -> None:
    code, out, err = azul("play", "uniform", "--seed", 7, "--save", "game.txt", typed="2b3\n")
    assert (code, err) == (0, "")
    assert "your move (such as 2B3, or hint, or help)> 2b3" in out
    assert out.endswith("The game is saved. Go on with: azulsim play --load game.txt\n")
    code, out, _ = azul("play", "--load", "game.txt", typed="undo\nundo\n2b2\nquit\n")
    assert code == 0
    assert "There is no decision of yours to take back." in out
    moves = Game.from_text(Path("game.txt").read_text()).moves
    assert moves[0] == "2B2"
    code, out, _ = azul("play", "--load", "game.txt", "--seat", 1, typed="")
    assert code == 0
    assert "seat 0 you, seat 1 you" in out


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["play", "gredy"], "'greedy'"),
        (["play", "--rules", "grey"], "'gray'"),
        (["play", "--rules", "none.toml"], "none.toml"),
        (["play", "--seat", 2], "seat 2: with 2 players the seats are 0 to 1"),
        (["play", "--seat", 1, "--seat", 1], "given to two persons"),
        (["play", "greedy", "greedy", "greedy", "greedy"], "5 players"),
        (["play", "--load", "none.txt"], "none.txt: no such file"),
        (["play", "--load", "odd.txt"], "odd.txt: game, line 1"),
        (["play", "--load", "bytes.txt"], "bytes.txt: no game"),
        (["play", "--load", "theirs.txt"], "say with --seat where you sit"),
        (["play", "--load", "theirs.txt", "--seat", 3], "has the seats 0 to 1"),
        (["play", "--load", "odd.txt", "--seed", 3], "--load odd.txt with --seed"),
        (["play", "--save", "odd.txt"], "odd.txt: there is such a file already"),
        (["play", "--save", "a" * 300], f"{'a' * 300}: cannot be written: File name too long"),
    ],
)
def test_what_cannot_be_used_is_answered_in_a_sentence(azul: Any, words: list[str], answer: str) -> None:
    Path("odd.txt").write_text("odd")
    Path("bytes.txt").write_bytes(b"\xff\xfe")
    Path("theirs.txt").write_text(str(azulsim.play("greedy", "uniform", seed=1).record()))
    code, out, err = azul(*words)
    assert (code, out) == (2, "")
    assert answer in err
    assert err.count("\n") == 1


def test_a_strategy_that_fails_ends_the_game_and_it_is_saved(azul: Any, project: Path) -> None:
    lines = "".join(f"{source}{color}-\n" for _ in range(30) for source in ["C", *range(1, 6)] for color in "BYRKW")
    code, _, err = azul("play", "quitter", "--seed", 7, "--project", project, typed=lines)
    assert code == 1
    assert "seat 1 cannot go on: quitter: ValueError: no idea. The game is saved." in err
    assert err.count("\n") == 1
    game = Game.from_text(Path("azul-7.txt").read_text())
    assert game.round == 2
    with pytest.raises(StrategyError):
        load_session(Path("azul-7.txt"), project=project).answer()


# A real terminal


class Terminal:
    """The command at a pseudo-terminal."""

    def __init__(self, folder: Path, *words: str, **environment: str) -> None:
        self.master, slave = pty.openpty()
        settings = {**os.environ, "COLUMNS": "80", "LINES": "24", "TERM": "xterm", **environment}
        self.process = subprocess.Popen(
            [*AZULSIM, "play", *words], cwd=folder, env=settings, stdin=slave, stdout=slave, stderr=slave,
            preexec_fn=lambda: (os.setsid(), __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0)),
        )  # fmt: skip
        os.close(slave)
        self.seen = ""
        self.is_told = False
        """True when the way to go on has been shown."""

    def wait_for(self, text: str, seconds: float = 120) -> str:
        """Read until a text has been seen; return all up to it."""
        end = time.monotonic() + seconds
        while text not in self.seen:
            assert time.monotonic() < end, self.seen
            if select.select([self.master], [], [], 0.2)[0]:
                try:
                    self.seen += os.read(self.master, 65536).decode()
                except OSError:  # the other side has been closed
                    break
        assert text in self.seen, self.seen
        before, _, self.seen = self.seen.partition(text)
        return before

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def leave_by(self, leave: Callable[[], object]) -> int:
        """Do what ends the command, and again: a signal is lost if it comes between prompt and waiting for a key."""
        for _ in range(20):
            time.sleep(0.2)
            if self.process.poll() is not None:
                break
            with contextlib.suppress(OSError):
                leave()
            with contextlib.suppress(subprocess.TimeoutExpired, AssertionError):
                self.wait_for("azulsim play --load azul-7.txt", 3)
                self.is_told = True
                break
        code = self._end()
        os.close(self.master)
        return code

    def _end(self) -> int:
        """Read until the command has ended: at its end it waits for everything it wrote to be read."""
        end = time.monotonic() + 60
        while self.process.poll() is None and time.monotonic() < end:
            if select.select([self.master], [], [], 0.1)[0]:
                with contextlib.suppress(OSError):
                    os.read(self.master, 65536)
        if self.process.poll() is None:
            self.process.kill()
        return self.process.wait()


@pytest.mark.parametrize(
    ("key", "code"), [("\x03", 128 + signal.SIGINT), ("\x04", 0), ("quit\r", 0)], ids=["Ctrl-C", "Ctrl-D", "quit"]
)
def test_a_terminal_is_left_politely_and_the_game_goes_on_later(key: str, code: int, tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "greedy", "--seed", "7")
    assert "\x1b[" in terminal.wait_for("or help)> ")
    terminal.type("2 blue 3\r")
    terminal.wait_for("seat 1 (greedy): ")
    terminal.wait_for("your move> ")
    assert terminal.leave_by(lambda: terminal.type(key)) == code
    assert terminal.is_told
    assert Game.from_text((tmp_path / "azul-7.txt").read_text()).moves[0] == "2B3"


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGHUP])
def test_a_closed_window_loses_no_game(sign: signal.Signals, tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "greedy", "--seed", "7")
    terminal.wait_for("or help)> ")
    terminal.type("2b3\r")
    terminal.wait_for("your move> ")
    assert terminal.leave_by(lambda: terminal.process.send_signal(sign)) == 128 + signal.SIGINT
    assert Game.from_text((tmp_path / "azul-7.txt").read_text()).moves[0] == "2B3"


def test_a_reader_who_goes_away_loses_no_game(tmp_path: Path) -> None:
    command = [*AZULSIM, "play", "greedy", "--seed", "7"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write("2b3\n")
        process.stdin.flush()
        while "seat 0 (you): 2B3" not in process.stdout.readline():
            pass
        process.stdout.close()
        process.stdin.write("hint\n" * 50)
        process.stdin.close()
        assert process.wait(60) == 1
    assert Game.from_text((tmp_path / "azul-7.txt").read_text()).moves[0] == "2B3"


def test_no_color_is_used_where_none_is_wanted(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "greedy", "--seed", "7", NO_COLOR="1")
    assert "\x1b[3" not in terminal.wait_for("or help)> ")
    terminal.type("2b3\r")
    terminal.wait_for("your move> ")
    assert terminal.leave_by(lambda: terminal.type("\x04")) == 0
