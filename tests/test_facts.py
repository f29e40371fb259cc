"""Worked examples and recorded games against every implementation of the rules (tests/subjects.py).

`answer_*` finds what a subject says to one kind of case, by laying a position on its table and playing the last moves.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, get_args

import reference
from fact_files import Case, Trace
from reference import COLORS, FREE, JOKER, LAYOUT, Move
from subjects import NO_COLUMNS, NO_LINES, NO_WALL, Picture, Player, Playing, Subject

from azulsim.rules import Bonus, Rules, Termination

Given = dict[str, Any]
Answer = dict[str, Any]

PLENTY = 100
"""A score that no floor line brings down to 0."""
NO_BONUS = Bonus(row=0, column=0, color=0)


# ---------------------------------------------------------------------------------------------- laying positions


def rules_of(case: Case) -> Rules:
    """Return the rules by which a case is played."""
    options: dict[str, Any] = options_in(case.given)
    if case.is_gray:
        options["wall"] = "gray"
    if case.has_jokers:
        options["joker_tiles"] = True
    return Rules.model_validate(options)


def options_in(given: Given) -> dict[str, str]:
    """Return the options of `Rules` that a case sets: a string that is the value of an option names it."""
    options = {value: name for name, info in Rules.model_fields.items() for value in words_in(info.annotation)}
    return {options[value]: value for value in given.values() if isinstance(value, str) and value in options}


def words_in(annotation: Any) -> Iterator[str]:
    """Yield the words that an annotation allows as values."""
    for arg in get_args(annotation):
        if isinstance(arg, str):
            yield arg
        else:
            yield from words_in(arg)


def one_round(rules: Rules, bonus: Bonus = NO_BONUS) -> Rules:
    """Return the rules with an end after this round."""
    return rules.model_copy(update={"max_rounds": 1, "bonus": bonus})


def columns_in(choices: Mapping[str, int]) -> dict[int, int]:
    """Return the columns chosen by row."""
    return {int(row): column for row, column in choices.items()}


def lay_displays(rules: Rules, players: int, *displays: str) -> list[str]:
    """Return displays filled up with empty ones to the number of the rules."""
    return [*displays, *[""] * (rules.n_displays(players) - len(displays))]


def spread(n_tiles: int) -> Counter[str]:
    """Return that many tiles, of all colors as evenly as possible."""
    return +Counter({color: n_tiles // 5 + (i < n_tiles % 5) for i, color in enumerate(COLORS)})


def settle(subject: Subject, player: Player, rules: Rules, columns: Mapping[int, int] = NO_COLUMNS) -> Playing:
    """End the offer with a move that leaves `player` (seat 0) alone: the other one puts one tile on line 5."""
    has_taken = "M" in player.floor
    picture = Picture(
        [player, Player()],
        lay_displays(rules, 2, "W"),
        has_marker=not has_taken,
        holder=0 if has_taken else None,
        bag=spread(60),
        starter=1,
        seat=1,
    )
    game = subject.lay(picture, rules, columns)
    game.play(Move(1, "W", 5))
    return game


def settle_player(subject: Subject, player: Player, rules: Rules, columns: Mapping[int, int] = NO_COLUMNS) -> Player:
    """Return a player after the offer has ended, and with it the game."""
    return settle(subject, player, one_round(rules), columns).picture().players[0]


def find_gains(
    subject: Subject, player: Player, rules: Rules, columns: Mapping[int, int] = NO_COLUMNS
) -> dict[int, int]:
    """Return the points of each tile placed in one wall-tiling by row, from the totals of its first lines.

    No floor is subtracted, so that lines that find no space change nothing.
    """
    floorless = rules.model_copy(update={"floor_penalties": ()})
    gains: dict[int, int] = {}
    before = 0
    for last in (line for line in range(1, 6) if len(player.lines[line - 1]) == line):
        lines = [tiles if line <= last else "" for line, tiles in enumerate(player.lines, 1)]
        after = settle_player(subject, Player(player.wall, lines), floorless, columns)
        if after.wall[last - 1] != player.wall[last - 1]:
            gains[last] = after.score - before
        before = after.score
    return gains


def find_penalty(subject: Subject, floor: str) -> int:
    """Return what a floor line costs."""
    return PLENTY - settle_player(subject, Player(floor=floor, score=PLENTY), Rules()).score


def complete_lines(wall: list[str], cells: list[tuple[int, int]], rules: Rules) -> list[str]:
    """Return pattern lines that are complete for these free cells of a wall (row, column), one in a row."""
    lines = list(NO_LINES)
    rows = list(wall)
    for row, column in cells:
        color = rules.layout[row - 1][column - 1]
        if color == FREE:
            taken = rows[row - 1] + "".join(other[column - 1] for other in rows)
            color = next(letter for letter in COLORS if letter not in taken)
        lines[row - 1] = color * row
        rows[row - 1] = rows[row - 1][: column - 1] + color + rows[row - 1][column:]
    return lines


def before_tiling(wall: list[str]) -> Player:
    """Return a player whose wall will be this one after the tiling: of each complete row the last tile still waits."""
    complete = [row for row, tiles in enumerate(wall, 1) if "." not in tiles]
    before = [tiles[:4] + "." if row in complete else tiles for row, tiles in enumerate(wall, 1)]
    return Player(before, [tiles[4] * row if row in complete else "" for row, tiles in enumerate(wall, 1)])


def place_cells(
    subject: Subject, wall: list[str], cells: list[tuple[int, int]], rules: Rules
) -> tuple[list[int], list[str]]:
    """Place tiles one after another, downwards in one wall-tiling and upwards in the next; return points and wall."""
    points: list[int] = []
    while cells:
        n = next((i for i in range(1, len(cells)) if cells[i][0] <= cells[i - 1][0]), len(cells))
        player, columns = Player(wall, complete_lines(wall, cells[:n], rules)), dict(cells[:n])
        points += find_gains(subject, player, rules, columns).values()
        wall = list(settle_player(subject, player, rules, columns).wall)
        cells = cells[n:]
    return points, wall


@cache
def board_gaining(points: int) -> Player:
    """Find a wall and complete lines that bring that many points in one round."""
    if not points:
        return Player()
    rng = random.Random(points)
    for _ in range(20_000):
        share = rng.random()
        wall = ["".join(tile if rng.random() < share else "." for tile in row) for row in LAYOUT]
        free = [(row, rng.choice([c for c in range(5) if wall[row][c] == "."])) for row in range(5) if "." in wall[row]]
        chosen = rng.sample(free, rng.randint(0, len(free)))
        lines = complete_lines(wall, [(row + 1, column + 1) for row, column in chosen], Rules())
        board = reference.Board(reference.make_wall(wall), [list(line) for line in lines])
        if board.round_end_points(Rules()) == points:
            return Player(wall, lines)
    raise AssertionError(f"no board found that gains {points} points in one round (at most 50, RULES.md 9)")


# ---------------------------------------------------------------------------------------------- kinds of cases


def answer_layout(subject: Subject, given: Given, rules: Rules) -> Answer:
    rows = [[".", ".", ".", ".", "."] for _ in range(5)]
    for color in COLORS:
        lines = [color * line for line in range(1, 6)]
        wall = settle_player(subject, Player(NO_WALL, lines), rules).wall
        for row in range(5):
            rows[row][wall[row].index(color)] = color
    return {"rows": ["".join(row) for row in rows]}


def answer_place_score(subject: Subject, given: Given, rules: Rules) -> Answer:
    points, _ = place_cells(subject, given["wall"], [(given["row"], given["col"])], rules)
    return {"points": points[0]}


def answer_sequence(subject: Subject, given: Given, rules: Rules) -> Answer:
    points, _ = place_cells(subject, given["wall"], [(row, column) for row, column in given["cells"]], rules)
    return {"points": points, "total": sum(points)}


def answer_fill_order(subject: Subject, given: Given, rules: Rules) -> Answer:
    when = {(r, c): n for r, row in enumerate(given["rounds"], 1) for c, n in enumerate(row, 1) if n is not None}
    wall, total = list(NO_WALL), 0
    for number in sorted(set(when.values())):
        points, wall = place_cells(subject, wall, sorted(cell for cell, n in when.items() if n == number), rules)
        total += sum(points)
    return {"total": total}


def answer_floor(subject: Subject, given: Given, rules: Rules) -> Answer:
    n = given["occupied"]
    rules = one_round(rules)
    picture = Picture(
        [Player(score=PLENTY), Player()],
        lay_displays(rules, 2, "W"),
        center="B" * n,
        has_marker=False,
        holder=1,
        seat=0 if n else 1,
    )
    game = subject.lay(picture, rules)
    if n:
        game.play(Move(0, "B", 0))
    game.play(Move(1, "W", 5))
    return {"penalty": PLENTY - game.picture().players[0].score}


def answer_round_score(subject: Subject, given: Given, rules: Rules) -> Answer:
    score = given["score"]
    for gain, occupied in given["rounds"]:
        player = replace(board_gaining(gain), floor="R" * min(occupied, 7), score=score)
        score = settle_player(subject, player, rules).score
    return {"score": score}


def answer_legal_dest(subject: Subject, given: Given, rules: Rules) -> Answer:
    picture = Picture([Player(given["wall"], given["lines"]), Player()], lay_displays(rules, 2, given["color"]))
    lines = sorted(move.line for move in subject.lay(picture, rules).legal_moves())
    assert len(set(lines)) == len(lines)
    return {"dest": [line for line in lines if line] + ["floor"] * (0 in lines)}


def answer_take(subject: Subject, given: Given, rules: Rules) -> Answer:
    asked = given["move"]
    # One tile more on a display of its own, so that the offer does not end with the move.
    displays = lay_displays(rules, 4, *given["factories"], "W")
    has_marker = given["marker_in_center"]
    holder = None if has_marker else 0 if "M" in given["floor"] else 1
    mover = Player(NO_WALL, given["lines"], given["floor"])
    picture = Picture([mover, *[Player()] * 3], displays, given["center"], has_marker, holder)
    game = subject.lay(picture, rules)
    source = 0 if asked["source"] == "center" else asked["source"]
    line = 0 if asked["dest"] == "floor" else asked["dest"]
    move = Move(source, asked["color"], line, asked.get("jokers", False))
    assert move in game.legal_moves()
    game.play(move)
    after = game.picture()
    assert after.seat == 1
    return {
        "center": after.center,
        "marker_in_center": after.has_marker,
        "lines": list(after.players[0].lines),
        "floor": after.players[0].floor,
        "penalty": find_penalty(subject, after.players[0].floor),
        "next_start": "mover" if after.holder == 0 else None,
        "lid": "".join(after.lid.elements()),
    }


def answer_sources(subject: Subject, given: Given, rules: Rules) -> Answer:
    displays = lay_displays(rules, 2, *given["factories"])
    game = subject.lay(Picture([Player(), Player()], displays, given["center"]), rules)
    takes = {(move.source or "center", move.color) for move in game.legal_moves()}
    return {"moves": [list(take) for take in takes]}


def answer_joker_takes(subject: Subject, given: Given, rules: Rules) -> Answer:
    game = subject.lay(Picture([Player(), Player()], lay_displays(rules, 2, given["tiles"])), rules)
    return {"takes": [list(take) for take in {(move.color, move.jokers) for move in game.legal_moves()}]}


def answer_tiling(subject: Subject, given: Given, rules: Rules) -> Answer:
    player = Player(given["wall"], given["lines"], given["floor"], given["score"])
    columns = columns_in(given.get("choices", {}))
    game = settle(subject, player, one_round(rules), columns)
    after = game.picture().players[0]
    next_game = settle(subject, player, rules, columns)
    next_picture = next_game.picture()
    gains = find_gains(subject, player, rules, columns)
    rich = settle_player(subject, replace(player, score=PLENTY), rules, columns)
    return {
        "options": {
            str(row): game.asked.get((0, row), find_new_tiles(player.wall[row - 1], after.wall[row - 1]))
            for row in range(1, 6)
            if len(player.lines[row - 1]) == row
        },
        "gains": list(gains.values()),
        "penalty": PLENTY + sum(gains.values()) - rich.score,
        "score": after.score,
        "lid": "".join(game.picture().lid.elements()),
        "lines": list(after.lines),
        "wall": list(after.wall),
        "marker_kept": (next_picture.starter if next_game.termination() == Termination.NONE else next_picture.holder)
        == 0,
        "row_done": game.termination() == Termination.ROW_COMPLETED,
    }


def find_new_tiles(before: str, after: str) -> list[int]:
    """Return the columns in which two pictures of a row of the wall differ: where a forced tile went, if it did."""
    return [column for column in range(1, 6) if before[column - 1] != after[column - 1]]


def answer_bonus(subject: Subject, given: Given, rules: Rules) -> Answer:
    def ask(bonus: Bonus) -> int:
        return settle(subject, Player(given["wall"]), one_round(rules, bonus)).picture().players[0].score

    return {
        "rows": ask(Bonus(row=1, column=0, color=0)),
        "cols": ask(Bonus(row=0, column=1, color=0)),
        "colors": ask(Bonus(row=0, column=0, color=1)),
        "bonus": ask(rules.bonus),
    }


def answer_rank(subject: Subject, given: Given, rules: Rules) -> Answer:
    players = [Player([*LAYOUT[: p["rows"]], *NO_WALL[p["rows"] :]], score=p["score"]) for p in given["players"]]
    # Seat 0 ends the offer with one tile on its floor line, which costs the point it has too many.
    players[0] = replace(players[0], score=players[0].score + 1)
    game = subject.lay(Picture(players, lay_displays(rules, len(players), "W")), one_round(rules))
    game.play(Move(1, "W", 0))
    assert [player.score for player in game.picture().players] == [p["score"] for p in given["players"]]
    return {"winners": [number for number, place in enumerate(game.placements(), 1) if place == 1]}


def answer_refill(subject: Subject, given: Given, rules: Rules) -> Answer:
    players = given["players"]
    picture = Picture(
        [Player()] * players,
        lay_displays(rules, players, "W"),
        bag=spread(given["bag"]),
        lid=spread(given["lid"]),
    )
    game = subject.lay(picture, rules)
    game.play(Move(1, "W", 5))
    after = game.picture()
    return {
        "sizes": [len(display) for display in after.displays],
        "bag": after.bag.total(),
        "lid": after.lid.total(),
        "poured": int(given["lid"] > 0 and after.lid.total() == 0),
    }


def answer_setup(subject: Subject, given: Given, rules: Rules) -> Answer:
    picture = subject.start(given["players"], rules).picture()
    tiles = picture.bag + picture.lid + Counter("".join(picture.displays))
    (per_color,) = {tiles[color] for color in COLORS}
    return {
        "factories": len(picture.displays),
        "on_table": sum(map(len, picture.displays)),
        "per_color": per_color,
        "jokers": tiles[JOKER],
        "total": tiles.total(),
        "bag_after_first_fill": picture.bag.total(),
    }


def answer_next_start(subject: Subject, given: Given, rules: Rules) -> Answer:
    taker = given["taker"]
    holder = None if taker is None else taker - 1
    players = [Player(floor="M" if seat == holder else "") for seat in range(4)]
    picture = Picture(
        players,
        lay_displays(rules, 4, "W"),
        has_marker=holder is None,
        holder=holder,
        bag=spread(60),
        starter=given["start"] - 1,
        seat=1,
    )
    game = subject.lay(picture, rules)
    game.play(Move(1, "W", 5))
    after = game.picture()
    assert after.seat == after.starter
    return {"start": after.starter + 1}


def answer_game_end(subject: Subject, given: Given, rules: Rules) -> Answer:
    walls = given["walls"]
    players = [before_tiling(wall) for wall in walls] + [Player()] * (2 - len(walls))
    picture = Picture(players, lay_displays(rules, len(players), "W"), bag=spread(60))
    game = subject.lay(picture, rules, dict.fromkeys(range(1, 6), 5))
    game.play(Move(1, "W", 0))
    after = game.picture().players
    assert [list(player.wall) for player in after[: len(walls)]] == walls
    return {"ends": game.termination() == Termination.ROW_COMPLETED}


def answer_final(subject: Subject, given: Given, rules: Rules) -> Answer:
    rounds = {"score": given["score"], "rounds": [[given["gain"], given["floor"]]]}
    player = Player(given["wall"], score=answer_round_score(subject, rounds, rules)["score"])
    return {"score": settle(subject, player, one_round(rules, rules.bonus)).picture().players[0].score}


def answer_lockup(subject: Subject, given: Given, rules: Rules) -> Answer:
    players = given["players"]
    setup = answer_setup(subject, {"players": players}, rules)
    on_wall, in_lines = 5 * 4, 0 + 1 + 2 + 3 + 4
    locked = players * (on_wall + in_lines)
    free = max(0, setup["total"] - locked)
    sizes = answer_refill(subject, {"players": players, "bag": 0, "lid": free}, rules)["sizes"]
    assert sum(sizes) == min(free, setup["on_table"])
    return {"locked_max": locked, "free_min": free, "always_full": min(sizes) == 4}


ANSWERS: dict[str, Callable[[Subject, Given, Rules], Answer]] = {
    name.removeprefix("answer_"): function for name, function in globals().items() if name.startswith("answer_")
}


def in_order(facts: Answer) -> Answer:
    """Return facts with what has no order (takes, tiles in lid, center and lines) sorted."""
    unordered: Answer = {
        key: "".join(sorted(facts[key])) for key in ("lid", "center") if isinstance(facts.get(key), str)
    }
    unordered |= {key: sorted(facts[key], key=str) for key in ("moves", "takes") if key in facts}
    if "lines" in facts:
        unordered["lines"] = ["".join(sorted(line)) for line in facts["lines"]]
    return facts | unordered


def test_case(subject: Subject, fact_case: Case) -> None:
    answer = in_order(ANSWERS[fact_case.kind](subject, fact_case.given, rules_of(fact_case)))
    expected = in_order(fact_case.expect)
    assert {key: answer[key] for key in expected} == expected


# ---------------------------------------------------------------------------------------------- recorded games


def deal_again(picture: Picture, displays: list[str]) -> Picture:
    """Return a picture with given displays; whatever lies nowhere else is in the bag."""
    seen = Counter("".join(displays))
    for player in picture.players:
        seen.update("".join([*player.wall, *player.lines]))
    bag = Counter({color: 20 - seen[color] for color in COLORS})
    return replace(picture, displays=displays, bag=bag, lid=Counter())


def play_round(subject: Subject, picture: Picture, moves: list[tuple[int, str, int]], rules: Rules) -> Playing:
    """Play the moves of one round from a picture; return the game."""
    game = subject.lay(picture, rules)
    for move in moves:
        assert game.termination() == Termination.NONE
        assert Move(*move) in game.legal_moves()
        game.play(Move(*move))
    return game


def test_trace(subject: Subject, fact_trace: Trace) -> None:
    picture = subject.start(fact_trace.players, Rules()).picture()
    for number, traced in enumerate(fact_trace.rounds, 1):
        is_last = number == len(fact_trace.rounds)
        picture = deal_again(picture, traced.displays)
        assert (picture.round, picture.seat) == (number, picture.starter)
        game = play_round(subject, picture, traced.moves, Rules(bonus=NO_BONUS) if is_last else Rules())
        after = game.picture()
        assert [player.score for player in after.players] == traced.scores
        assert [list(player.wall) for player in after.players] == traced.walls
        if is_last:
            assert after.holder == traced.taker
            assert game.termination() == Termination.ROW_COMPLETED
            final = play_round(subject, picture, traced.moves, Rules()).picture()
            assert [player.score for player in final.players] == fact_trace.scores
        else:
            assert game.termination() == Termination.NONE
            assert after.starter == (picture.starter if traced.taker is None else traced.taker)
        picture = after
