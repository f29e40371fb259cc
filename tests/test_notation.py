"""Moves, positions and games as text: lossless both ways, and any string at all gives a value or one sentence."""

from __future__ import annotations

import doctest
import importlib
import random
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from notation_builders import game_records, lucks, moves, mutations, placings, positions, rules
from reference import Reference, apply_move, draw_at_random

from azulsim.errors import InputError
from azulsim.notation import (
    TILES,
    Board,
    GameRecord,
    Luck,
    Move,
    NotationError,
    Placing,
    Position,
    Round,
    Supply,
    draw_text,
    format_game,
    format_move,
    format_placing,
    format_position,
    format_rules,
    parse_decision,
    parse_game,
    parse_move,
    parse_placing,
    parse_position,
    parse_rules,
)
from azulsim.notation.record import HEADERS
from azulsim.rules import VARIANTS, Bonus, Rules, Termination

settings.register_profile("notation", max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
FEW = settings(settings.get_profile("notation"))
PARSERS: dict[str, Callable[[str], Any]] = {
    "move": parse_move,
    "placing": parse_placing,
    "decision": parse_decision,
    "rules": parse_rules,
    "position": parse_position,
    "game": parse_game,
}

OPENING = "1 0 0 - BBYR,-,KKWW,Y,RRRR BY - W3J1 "
EMPTY_BOARD = "0:...../...../...../...../.....:./../.../..../.....:-"
BOARD = "7:BY.../...../..B../...../....B:R/YY/.../K.../.....:MBW"
LINE = f"4 1 0 0 BBYR,-,KKWW,Y,- KK B3Y12 W2 {BOARD} {EMPTY_BOARD}"
"""Golden: seat 1 to move in round 4, which seat 0 began and in which it took the marker."""
POSITION = Position(
    boards=(
        Board(7, ("BY...", ".....", "..B..", ".....", "....B"), ("R", "YY", "", "K", ""), "MBW"),
        Board(),
    ),
    displays=("BBYR", "", "KKWW", "Y", ""),
    center="KK",
    bag=Supply(B=3, Y=12),
    lid=Supply(W=2),
    round=4,
    seat=1,
    starter=0,
    holder=0,
)
GAME = """\
[azulsim "0.1.0"]
[rules "gray-joker"]
[players "greedy(floor=2)" "you \\"and\\" me"]
[seed 7]
[deal 3]
[scores 12 5]
[placements 1 2]
[termination "round_limit"]
[date "2026-11-30"]

round 1: YYKW BRKJ BBYR - BYKW
0: 2BJ1 1Y2
0: CK3 3B-
0: 5Y2
0: @2=5
1: @2=1 @3=0
scores: 2 0

round 2: YYKW BRKJ BBYR YRKW BYKW
1: CJ3 4R4
1: 2BJ2/1
"""
RECORD = GameRecord(
    players=("greedy(floor=2)", 'you "and" me'),
    rules=VARIANTS["gray-joker"],
    version="0.1.0",
    seed=7,
    deal=3,
    scores=(12, 5),
    placements=(1, 2),
    termination=Termination.ROUND_LIMIT,
    extras={"date": "2026-11-30"},
    rounds=(
        Round(
            1,
            ("YYKW", "BRKJ", "BBYR", "", "BYKW"),
            0,
            (
                Move(2, "B", 1, jokers=True),
                Move(1, "Y", 2),
                Move(0, "K", 3),
                Move(3, "B", 0),
                Move(5, "Y", 2),
            ),
            ((0, Placing(2, 5)), (1, Placing(2, 1)), (1, Placing(3, 0))),
            (2, 0),
        ),
        Round(
            2,
            ("YYKW", "BRKJ", "BBYR", "YRKW", "BYKW"),
            1,
            (Move(0, "J", 3), Move(4, "R", 4), Move(2, "B", 2, jokers=True, keep=1)),
        ),
    ),
)


def check_refusal(parse: Callable[[str], Any], text: str, message: str, spot: str | None = None) -> None:
    """A text is refused in one sentence that holds `message`, pointing at the last place where `spot` stands."""
    with pytest.raises(NotationError) as caught:
        parse(text)
    error = caught.value
    assert message in str(error)
    assert "\n" not in str(error)
    if spot is not None:
        assert error.text[error.at :].startswith(spot), error.point()


# ---- moves


def test_every_move_reads_back() -> None:
    texts = set()
    for source, color, line, jokers in product(range(12), TILES, range(6), [False, True]):
        for keep in (None, *range(1, line + 1)) if jokers else (None,):
            if jokers and color == "J":
                continue
            move = Move(source, color, line, jokers, keep)
            assert parse_move(str(move)) == parse_decision(str(move)) == parse_move(str(move).lower()) == move
            assert eval(repr(move)) == move
            texts.add(str(move))
    assert len(texts) == 12 * (6 * 6 + 5 * (6 + 1 + 2 + 3 + 4 + 5))


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("2B3", Move(2, "B", 3)),
        ("CR-", Move(0, "R", 0)),
        ("2J3", Move(2, "J", 3)),
        ("11BJ-", Move(11, "B", 0, jokers=True)),
        ("2BJ3/1", Move(2, "B", 3, jokers=True, keep=1)),
        ("2BJ3/0", Move(2, "B", 3, jokers=True, keep=0)),
    ],
)
def test_golden_moves(text: str, move: Move) -> None:
    assert parse_move(text) == move
    assert format_move(move) == text


@pytest.mark.parametrize(
    ("text", "message", "spot"),
    [
        ("", "character 1: the end where the number of a display, or C for the center was expected", ""),
        ("0B3", "character 1: '0' where", "0B3"),
        ("12B3", "there are at most 11 displays", "12B3"),
        ("9999999999999999999999B3", "there are at most 11 displays", "9999"),
        ("2X3", "character 2: 'X' where one of BYRKWJ", "X3"),
        ("2B6", "character 3: '6' where a line from 1 to 5", "6"),
        ("2B", "character 3: the end where", ""),
        ("2B33", "character 4: '3' where the end of the move", "3"),
        ("2JJ3", "jokers alone are written with one J", "J3"),
        ("2B3/1", "jokers stay only on a pattern line, with a color", "/1"),
        ("2BJ-/1", "jokers stay only", "/1"),
        ("2BJ2/3", "no more than fit", "/3"),
        ("²B1", "character 1: ", "²"),
        ("2\u212a1", "character 2: ", "\u212a"),
    ],
)
def test_a_text_that_is_no_move_is_refused_at_the_spot(text: str, message: str, spot: str) -> None:
    check_refusal(parse_move, text, message, spot)


@given(placings())
def test_placings_read_back(placing: Placing) -> None:
    assert parse_placing(format_placing(placing)) == parse_decision(str(placing)) == placing
    assert eval(repr(placing)) == placing


@pytest.mark.parametrize(
    ("text", "spot"), [("", ""), ("@", ""), ("3=5", "3=5"), ("@6=1", "6=1"), ("@3=6", "6"), ("@3=55", "5")]
)
def test_a_text_that_is_no_placing_is_refused_at_the_spot(text: str, spot: str) -> None:
    check_refusal(parse_placing, text, "write @row=column", spot)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Move(12, "B", 1), "move: source = 12: must be from 0 (center) to 11"),
        (lambda: Move(1, "X", 1), "move: color = 'X'"),
        (lambda: Move(1, "B", 6), "move: line = 6"),
        (lambda: Placing(0, 1), "placing: row = 0"),
        (lambda: Placing(1, 6), "placing: column = 6"),
    ],
)
def test_a_decision_that_cannot_be_is_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(NotationError) as caught:
        make()
    assert str(caught.value).startswith(message)
    assert caught.value.point() == ""


# ---- rules


@given(rules())
def test_rules_read_back(chosen: Rules) -> None:
    text = format_rules(chosen)
    assert "\n" not in text
    assert parse_rules(text) == chosen


def test_golden_rules() -> None:
    assert {format_rules(chosen) for chosen in VARIANTS.values()} == set(VARIANTS)
    assert format_rules(Rules(wall="gray", bonus=Bonus(column=5))) == '{wall="gray", bonus.column=5}'
    assert parse_rules('{ displays.2 = 6, wall = "gray" }').displays.two == 6
    assert parse_rules("{}") == Rules()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("grey", "no such variant; did you mean 'gray'?"),
        ("{bonus.colum=5}", "unknown key 'bonus.colum'; did you mean 'column'?"),
        ("{tiles_per_color=0}", "tiles_per_color = 0"),
        ("{wall=", "no inline TOML table"),
        ("{} x=1", "no inline TOML table"),
        ("{a=" + "[" * 1900, "no inline TOML table"),
        ("{" + " " * 3000, "3001 characters are too long"),
        ("{a=" + "9" * 1500 + "}", "unknown key 'a'"),
        ("{\n}", "character 2: '\\n' is not allowed"),
    ],
)
def test_a_text_that_is_no_rules_is_refused(text: str, message: str) -> None:
    check_refusal(parse_rules, text, message)


# ---- positions


@FEW
@given(positions())
def test_positions_read_back(position: Position) -> None:
    text = format_position(position)
    assert "\n" not in text
    assert parse_position(text) == position
    assert format_position(parse_position(text)) == text
    assert hash(eval(repr(position))) == hash(position)


def test_golden_position() -> None:
    assert format_position(POSITION) == str(POSITION) == LINE
    assert parse_position(f"  {LINE} ") == POSITION
    assert repr(POSITION) == f"Position.from_text({LINE!r})"


@pytest.mark.parametrize(
    ("option", "luck", "chosen"),
    [
        ("luck=7/4/0", Luck(7, 4), Rules()),
        ("rules={bonus.column=5, rows_to_end=2}", None, Rules(bonus=Bonus(column=5), rows_to_end=2)),
        ("luck=7/4/2 rules={score_clamp=false}", Luck(7, 4, 2), Rules(score_clamp=False)),
    ],
)
def test_golden_options(option: str, luck: Luck | None, chosen: Rules) -> None:
    position = parse_position(f"{LINE} {option}")
    assert (position.luck, position.rules) == (luck, chosen)
    assert str(position) == f"{LINE} {option}"
    assert parse_position(f"{LINE} luck=7").luck == Luck(7)


def test_golden_phases() -> None:
    tiling = LINE.replace("4 1 0", "4 0@1 0").replace("BBYR,-,KKWW,Y,- KK", "-,-,-,-,- -")
    position = parse_position(tiling)
    assert (position.seat, position.row, position.is_over) == (0, 1, False)
    assert str(position) == tiling
    over = LINE.replace("4 1 0", "4 no_tiles 0")
    position = parse_position(over)
    assert (position.seat, position.row, position.termination) == (None, None, Termination.NO_TILES)
    assert position.is_over
    assert str(position) == over


def test_tiles_are_sorted() -> None:
    assert parse_position(LINE.replace("BBYR", "RBYB")) == POSITION
    jokers = f"{OPENING}{EMPTY_BOARD.replace(':./..', ':W/JB')} {EMPTY_BOARD} rules=joker"
    assert parse_position(jokers).boards[0].lines[:2] == ("W", "BJ")


@pytest.mark.parametrize(
    ("old", "new", "message", "spot"),
    [
        ("BBYR", "BXYR", "(display 1): 'X' is no tile; write the letters BYRKW", "XYR"),
        ("BBYR", "BJYR", "(display 1): no joker is in play", "JYR"),
        ("BBYR", "BBYRR", "(display 1): 5 tiles lie there; a display holds 4", "R,-"),
        (",Y,-", ",Y", "(displays): there are 4; the rules have 5 at 2 players", "BBYR"),
        (" KK ", " KM ", "(center): 'M' is no tile", "M B3"),
        ("4 1 0 0", "0 1 0 0", "(round): 0 must be from 1 to 100", "0 1"),
        ("4 1 0 0", "4 2 0 0", "(seat): 2 must be from 0 to 1", "2 0"),
        ("4 1 0 0", "4 x 0 0", "(seat): 'x' must be a seat such as 0", "x 0"),
        ("4 1 0 0", "4 1@1 0 0", "(seat): tiles are placed when none is left", "1@1"),
        ("4 1 0 0", "4 1 7 0", "(starter): 7 must be from 0 to 1", "7 0"),
        ("4 1 0 0", "4 1 0 1", "floor line): the marker cannot lie here, since its holder is seat 1", "MBW"),
        ("4 1 0 0", "4 1 0 -", "floor line): the marker cannot lie here, since its holder is nobody", "MBW"),
        ("4 1 0 0", "4 1 0 -1", "(holder): -1 must be from 0 to 1", "-1"),
        ("MBW", "MBWM", "floor line): there is one marker only", "M 0:"),
        ("MBW", "BBWWRRKK", "floor line): 8 pieces lie there; the floor line has 7 spaces", "K 0:"),
        ("MBW", "MbW", "'b' is no tile", "bW"),
        ("7:BY", "-7:BY", "score): -7 cannot be: a score never falls below 0", "-7"),
        ("7:BY", "70000:BY", "score): 70000 must be from -30000 to 30000", "70000"),
        ("7:BY", "seven:BY", "score): 'seven' is no whole number", "seven"),
        (":BY...", ":BYB..", "wall row 1, space 3): the space is for R, not for B", "B../"),
        (":BY...", ":BY..", "wall row 1): 'BY..' has 4 letters", "BY../"),
        (":BY...", ":BY..b", "wall row 1, space 5): 'b' is no tile", "b/"),
        ("/....B:", ":", "wall): 4 rows where five are needed", "BY..."),
        ("R/YY/", "RR/YY/", "pattern line 1): 'RR' is longer than the line, which holds 1", "R/YY"),
        ("R/YY/", "B/YY/", "pattern line 1): B cannot lie here: B already lies in its row of the wall", "B/YY"),
        ("R/YY/", "R/YR/", "pattern line 2): R cannot lie with Y: a line holds one color", "R/..."),
        ("R/YY/", "R/.Y/", "pattern line 2): a free space is written after the tiles", ".Y/"),
        ("R/YY/", "R/Y/", "pattern line 2): 'Y' is too short: write 2 letters", "Y/..."),
        ("R/YY/...", "R/YY/....", "pattern line 3): '....' is longer than the line", "./K"),
        ("B3Y12", "B3B12", "(bag): B is given twice", "B12"),
        ("B3Y12", "B3Y", "(bag): write letters and numbers", "Y "),
        ("B3Y12", "X3", "(bag): 'X' is no tile", "X3"),
        ("B3Y12", "B3Y19", "(bag): 24 tiles of Y are on the table, in bag and lid; there are 20", "B3Y19"),
        (" W2 ", " J1 ", "(lid): 1 tiles of J are on the table", "J1"),
        (f" {EMPTY_BOARD}", "", "there are 1 boards; Azul is played by 2 to 4", ""),
        (f" {EMPTY_BOARD}", f" {EMPTY_BOARD}" * 4, "there are 5 boards", EMPTY_BOARD),
        (f" {EMPTY_BOARD}", " 0:.", "has 2 parts; write score:wall:lines:floor", "0:."),
        (f" {EMPTY_BOARD}", f" {EMPTY_BOARD} luck=x", "'x' is no whole number", "x"),
        (f" {EMPTY_BOARD}", f" {EMPTY_BOARD} luck=1/2/3/4", "write seed/deal/continuation", "1/2/3/4"),
        (f" {EMPTY_BOARD}", f" {EMPTY_BOARD} luck=1/9999999999", "deal 9999999999 must be from 0 to", "1/9"),
        (f" {EMPTY_BOARD}", f" {EMPTY_BOARD} luck=1 luck=2", "(luck): is given twice", "luck=2"),
        (f" {EMPTY_BOARD}", f" {EMPTY_BOARD} look=1", "'look' is no option", "look"),
        (f" {EMPTY_BOARD}", f" luck=1 {EMPTY_BOARD}", "follows an option", EMPTY_BOARD),
        (f" {EMPTY_BOARD}", f" {EMPTY_BOARD} rules=grey", "(rules): 'grey': no such variant", "grey"),
        (f" {EMPTY_BOARD}", f" {EMPTY_BOARD} rules={{wall=gray}}", "no inline TOML table", "gray}"),
        (" KK ", "\tKK ", "'\\t' is not allowed", "\tKK"),
        (LINE, "", "the field round is missing", ""),
        (LINE, LINE[:30], "the field lid is missing", ""),
    ],
)  # fmt: skip
def test_a_line_that_is_no_position_is_refused_at_the_spot(old: str, new: str, message: str, spot: str) -> None:
    assert old in LINE
    check_refusal(parse_position, LINE.replace(old, new, 1), message, spot)


@pytest.mark.parametrize(
    ("turn", "message"),
    [
        ("0@2", "the topmost complete line is 1"),
        ("1@1", "the topmost complete line does not exist"),
        ("0@7", "row 7 must be from 1 to 5"),
        ("1", "no tile lies on the displays or in the center"),
    ],
)
def test_whose_turn_it_is_must_fit_to_the_table(turn: str, message: str) -> None:
    tiling = LINE.replace("4 1 0", f"4 {turn} 0").replace("BBYR,-,KKWW,Y,- KK", "-,-,-,-,- -")
    check_refusal(parse_position, tiling, message, turn)


@pytest.mark.parametrize(
    ("wall", "lines", "option", "message"),
    [
        ("B.B..", "./..", "gray", "space 3): B already lies in this row, in column 1"),
        ("B..../B....", "./..", "gray", "wall row 2, space 1): B already lies in this column, in row 1"),
        ("JYRKW", "J/..", "gray-joker", "pattern line 1): J cannot lie here: its row of the wall is full"),
        ("JYRKW", "B/..", "gray-joker", "pattern line 1): B cannot lie here: its row of the wall is full"),
        (
            "J....",
            "B/..",
            "joker",
            "pattern line 1): B cannot lie here: the space of B in its row of the wall is taken",
        ),
        ("...B.", "./..", "crystal-mosaic", "space 4): the space is for K, not for B"),
    ],
)
def test_walls_and_lines_of_every_variant_are_checked(wall: str, lines: str, option: str, message: str) -> None:
    board = EMPTY_BOARD.replace("/".join(["....."] * (wall.count("/") + 1)), wall, 1).replace(":./..", f":{lines}", 1)
    check_refusal(parse_position, f"1 0 0 - B,-,-,-,- - - - {board} {EMPTY_BOARD} rules={option}", message)


def test_a_color_may_come_twice_in_a_column_if_both_spaces_are_printed_in_it() -> None:
    twice = 'rules={wall=["B....", "B....", ".....", ".....", "....."]}'
    board = EMPTY_BOARD.replace("...../.....", "B..../B....", 1)
    assert parse_position(f"1 0 0 - B,-,-,-,- - - - {board} {EMPTY_BOARD} {twice}").boards[0].wall[1] == "B...."
    third = EMPTY_BOARD.replace("...../...../.....", "B..../B..../B....", 1)
    check_refusal(
        parse_position, f"1 0 0 - B,-,-,-,- - - - {third} {EMPTY_BOARD} {twice}", "already lies in this column"
    )


def test_a_position_made_by_hand_is_checked_too() -> None:
    with pytest.raises(
        NotationError, match=r"^board of seat 1, wall row 2, space 1: the space is for W, not for B"
    ) as caught:
        Position(boards=(Board(), Board(wall=(".....", "B....", ".....", ".....", "....."))), displays=("B",) * 5)
    assert caught.value.path == ("boards", 1, "wall", 1, 0)
    assert issubclass(NotationError, InputError)


VARIED = [
    *VARIANTS.values(),
    Rules(tiles_per_color=7, floor_penalties=(-1, -2), marker_on_full_floor="replace_last", max_rounds=7),
    Rules(
        wall="gray", joker_tiles=True, joker_overflow="choose", gray_may_decline=True, marker_cost=2, score_clamp=False
    ),
]


@pytest.mark.parametrize("chosen", VARIED, ids=lambda chosen: format_rules(chosen)[:30])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_position_of_a_real_game_reads_back(players: int, chosen: Rules) -> None:
    rng = random.Random(players)
    lines: list[list[list[str]]] = []
    """The pattern lines of each seat when the offer ended: the reference empties a line before it asks."""
    n_asked = 0

    def place(game: Reference, seat: int, row: int, options: Any) -> int:
        nonlocal n_asked
        n_asked += 1
        game.boards[seat].lines[row - 1] = lines[seat][row - 1]
        check(picture(game, seat, row))
        game.boards[seat].lines[row - 1] = []
        return int(rng.choice(options))

    def check(position: Position) -> None:
        assert parse_position(str(position)) == position

    game = Reference(players, chosen, draw_at_random(rng), place=place)
    while not game.is_over:
        check(picture(game, game.seat))
        move = rng.choice(game.legal_moves())
        assert parse_move(str(Move(*move))) == Move(*move)
        after = [board.copy() for board in game.boards]
        apply_move(game.table.copy(), after[game.seat], move, chosen)
        lines = [board.lines for board in after]
        game.play(move)
    check(picture(game, None))
    assert (n_asked > 0) == (chosen.has_free_spaces or chosen.joker_tiles)


def picture(game: Reference, seat: int | None, row: int | None = None) -> Position:
    """What lies on the table of the reference."""
    return Position(
        boards=tuple(
            Board(
                board.score,
                tuple("".join(tiles) for tiles in board.wall),
                tuple("".join(tiles) for tiles in board.lines),
                "".join(board.floor),
            )
            for board in game.boards
        ),
        displays=tuple("".join(tiles) for tiles in game.table.displays),
        center="".join(game.table.center),
        bag=Supply(**game.bag),
        lid=Supply(**game.lid),
        round=game.round,
        seat=seat,
        row=row,
        starter=game.starter,
        holder=game.holder,
        termination=game.termination,
        rules=game.rules,
    )


# ---- games


@FEW
@given(game_records())
def test_games_read_back(record: GameRecord) -> None:
    text = format_game(record)
    assert parse_game(text) == record
    assert format_game(parse_game(text)) == text
    assert eval(repr(record)) == record


def test_golden_game() -> None:
    assert format_game(RECORD) == str(RECORD) == GAME
    assert parse_game(GAME) == RECORD
    assert [str(move) for move in RECORD.moves[4:7]] == ["5Y2", "@2=5", "@2=1"]


def test_comments_and_line_breaks_do_not_matter() -> None:
    talked = (
        GAME.replace("1Y2", "1Y2 {a good\nmove} ; better than 1Y3")
        .replace("0: CK3", "CK3")
        .replace("round 2:", "\nround  2 :")
    )
    assert talked != GAME
    assert parse_game(talked.replace("\n[seed", "\r\n; the luck\n[seed")) == RECORD


def test_a_game_may_begin_with_a_position() -> None:
    record = GameRecord(players=("a", "b"), start=POSITION, rounds=(Round(4, seat=1, moves=(parse_move("CK-"),)),))
    assert format_game(record).endswith("\n\nround 4:\n1: CK-\n")
    assert parse_game(format_game(record)) == record
    gray = parse_position(f"{LINE.replace('BY...', 'BY...')} rules=gray")
    assert parse_game(f'[players "a" "b"][start "{gray}"]').rules == VARIANTS["gray"]


@pytest.mark.parametrize(
    ("old", "new", "message", "spot"),
    [
        ("[seed 7]", "[seed x]", "line 4, column 7: header seed: write texts", "x]"),
        ("[seed 7]", "[seed 7 8]", "header seed: write one whole number", "7 8]"),
        ("[seed 7]", "[seed -7]", "seed -7 must be from 0 to", "-7]"),
        ("[seed 7]", "[Seed 7]", "line 4, column 2: a header opens with a name", "Seed"),
        ("[seed 7]", "[seed 7", "header seed: write texts", "[deal"),
        ("[deal 3]", "[seed 3]", "the header seed is given twice", "[seed 3]"),
        ('"gray-joker"', '"gray-jokr"', "no such variant; did you mean 'gray-joker'?", '"gray-jokr"'),
        ('"greedy(floor=2)" ', "", "players: there are 1; Azul is played by 2 to 4", '"you'),
        ('"greedy(floor=2)" ', "3 ", "header players: write a text", "3 "),
        ("[players", "[payers", 'header payers: write one text in "quotes"', '"greedy'),
        ('"round_limit"', '"round_limits"', "did you mean 'round_limit'?", '"round_limits"'),
        ("[scores 12 5]", "[scores 12]", "scores: there are 1 for 2 players", "12]"),
        ("[placements 1 2]", "[placements 1 3]", "placements: must be from 1 to 2", "1 3]"),
        ("round 1: YYKW", "round 1: YYXW", "is no display: write up to 4 letters of BYRKWJ", "YYXW"),
        ("round 1: YYKW", "round 1:", "4 displays; the rules have 5", "round 1:"),
        ("round 1:", "rounds 1:", "'rounds' where a header or round 1: was expected", "rounds"),
        ("round 2:", "round 3:", "round 3: round 2 comes next", "round 3:"),
        ("2BJ1", "2BJ7", "line 12, column 7: move '2BJ7', character 4", "7 1Y2"),
        ("1Y2", "6Y2", "6Y2: there are 5 displays", "6Y2"),
        ("0: CK3", "1: CK3", "line 13, column 4: it is the turn of seat 0, not of seat 1", "CK3"),
        ("0: CK3", "7: CK3", "seat 7 must be from 0 to 1", "7: CK3"),
        ("0: CK3", "x: CK3", "'x:' where a seat such as 0:, scores: or round was expected", "x: CK3"),
        ("@2=5", "@2=7", "write @row=column", "7"),
        ("@2=5", "@2=5 1B1", "'1B1' cannot follow wall-tiling in the same round", "1B1"),
        ("scores: 2 0", "scores: 2 x", "'x' is no score", "x"),
        ("scores: 2 0", "scores: 2", "1 scores for 2 players", "scores: 2"),
        ("scores: 2 0", "scores: 2 0 0: 1B1", "'0:' where a seat", "0: 1B1"),
        ("scores: 2 0", "{scores", "the comment has no closing }", "{scores"),
        ("scores: 2 0", "]", "']' is out of place", "]"),
    ],
)  # fmt: skip
def test_a_text_that_is_no_game_is_refused_at_the_spot(old: str, new: str, message: str, spot: str) -> None:
    assert old in GAME
    check_refusal(parse_game, GAME.replace(old, new, 1), message, spot)


def test_a_game_without_players_or_jokers_is_refused() -> None:
    check_refusal(parse_game, "", "the header [players")
    check_refusal(
        parse_game, GAME.replace("gray-joker", "gray").replace("BRKJ", "BRK"), "2BJ1: no joker is in play", "2BJ1"
    )
    check_refusal(
        parse_game, f'[players "a" "b" "c"]\n[start "{LINE}"]', "start: there are 2 boards for 3 players", '"4 1'
    )
    check_refusal(
        parse_game, '[players "a" "b"]\n[start "4 1"]', "line 2, column 8: header start: position, character 4", '"4 1'
    )


# ---- any string at all


def check_any(name: str, text: str) -> None:
    """A parser gives a value or one sentence that points into the text."""
    try:
        value = PARSERS[name](text)
    except NotationError as refusal:
        error = refusal
    else:
        assert PARSERS[name](format_rules(value) if name == "rules" else str(value)) == value
        return
    assert "\n" not in str(error)
    assert str(error).startswith((name, "move", "placing", "rules"))
    assert 0 <= error.at <= len(text)
    assert len(error.point().splitlines()) <= 2


@pytest.mark.parametrize("name", PARSERS)
def test_any_text_gives_a_value_or_one_sentence(name: str) -> None:
    @FEW
    @given(st.text() | st.text('BYRKWJMC@/.,:-={}[]" 0123456789\n'))
    @example("\x00")
    @example("ſ")
    def check(text: str) -> None:
        check_any(name, text)

    check()


@FEW
@given(moves().map(str).flatmap(mutations))
def test_a_broken_move_gives_a_value_or_one_sentence(text: str) -> None:
    check_any("move", text)


@FEW
@given(rules().map(format_rules).flatmap(mutations))
def test_broken_rules_give_a_value_or_one_sentence(text: str) -> None:
    check_any("rules", text)


@FEW
@given(positions().map(str).flatmap(mutations))
def test_a_broken_position_gives_a_value_or_one_sentence(text: str) -> None:
    check_any("position", text)


@FEW
@given(st.just(GAME).flatmap(mutations) | game_records().map(str).flatmap(mutations))
def test_a_broken_game_gives_a_value_or_one_sentence(text: str) -> None:
    check_any("game", text)


@given(lucks())
def test_luck_reads_back(luck: Luck) -> None:
    assert parse_position(f"{LINE} luck={luck.seed}/{luck.deal}/{luck.continuation}").luck == luck


def test_the_spot_is_shown_below_the_line() -> None:
    with pytest.raises(NotationError) as caught:
        parse_game(GAME.replace("1Y2", "1Y9"))
    assert caught.value.point() == "0: 2BJ1 1Y9\n          ^"


# ---- the document

DOCUMENT = (Path(__file__).parents[1] / "docs" / "NOTATION.md").read_text(encoding="utf-8")


def test_what_the_document_shows_is_true() -> None:
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)
    assert [language for language, _ in blocks] == ["python", "text", "python"]
    for language, block in blocks:
        if language == "python":
            exec(block, {})
        else:
            game = parse_game(block)
            assert parse_game(str(game)) == game
    drawn = "".join(line and f"    {line}" for line in draw_text(POSITION).splitlines(keepends=True))
    assert drawn.replace("    \n", "\n") in DOCUMENT


def test_the_document_names_every_header_and_ending() -> None:
    for name in (*HEADERS, *(ending.name.lower() for ending in Termination if ending), *VARIANTS):
        assert f"`{name}`" in DOCUMENT


@pytest.mark.parametrize("name", ["moves", "position", "rules_text"])
def test_examples_in_docstrings_are_true(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"azulsim.notation.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
