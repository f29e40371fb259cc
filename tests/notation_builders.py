"""Hypothesis builders of rules, moves, positions and game records, for any test that reads or writes them.

Positions are made from the rules alone, without the checks they are tested by: tiles are taken from a full box and
laid where docs/RULES.md lets them lie.
"""

from __future__ import annotations

import random
import string
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy, composite

from azulsim.errors import InputError
from azulsim.notation import TILES, Board, GameRecord, Luck, Move, Placing, Position, Round, Supply
from azulsim.rules import COLORS, VARIANTS, Rules, Termination, make_rules

ENDINGS = [ending for ending in Termination if ending]
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
"""Any text that a file can hold, quotes, braces and line breaks included."""


def rows_of(letters: str, *, distinct: bool) -> SearchStrategy[tuple[str, ...]]:
    """Five strings of five letters; if `distinct`, only a `.` may come twice in a row."""
    row = st.lists(
        st.sampled_from(letters),
        min_size=5,
        max_size=5,
        unique_by=(lambda x: x if x != "." else object()) if distinct else None,
    )
    return st.lists(row.map("".join), min_size=5, max_size=5).map(tuple)


_SMALL = st.integers(-20, 20)
_RULES: dict[str, SearchStrategy[Any]] = {
    "wall": st.sampled_from(["colored", "gray"]) | rows_of(COLORS + "...", distinct=True),
    "multipliers": rows_of("1123459", distinct=False),
    "gray_may_decline": st.booleans(),
    "joker_tiles": st.booleans(),
    "joker_overflow": st.sampled_from(["keep_jokers", "keep_color", "choose"]),
    "displays": st.dictionaries(st.sampled_from("234"), st.integers(1, 11), max_size=3),
    "tiles_per_display": st.integers(1, 10),
    "tiles_per_color": st.integers(1, 25),
    "floor_penalties": st.lists(st.integers(-20, 0), max_size=12),
    "bonus": st.dictionaries(st.sampled_from(["row", "column", "color"]), st.integers(-100, 100), max_size=3),
    "rows_to_end": st.integers(1, 5),
    "score_clamp": st.booleans(),
    "marker_cost": st.just("floor") | _SMALL,
    "next_starter": st.sampled_from(["holder", "rotation", "lottery"]),
    "starter_bonus": _SMALL,
    "marker_on_full_floor": st.sampled_from(["free", "replace_last"]),
    "lid_refill": st.sampled_from(["lazy", "eager"]),
    "no_tiles": st.sampled_from(["end_game", "error"]),
    "unclaimed_marker": st.sampled_from(["keep", "rotate"]),
    "max_rounds": st.integers(1, 500),
}
assert set(_RULES) == set(Rules.model_fields)


def _is_rules(data: dict[str, Any]) -> bool:
    try:
        make_rules(data)
    except InputError:
        return False
    return True


def rules() -> SearchStrategy[Rules]:
    """Any rules at all, the named variants often among them."""
    changes = st.fixed_dictionaries({}, optional=_RULES).filter(_is_rules).map(make_rules)
    return st.sampled_from(list(VARIANTS.values())) | changes


@composite
def moves(draw: DrawFn, n_displays: int = 11, *, joker_tiles: bool = True) -> Move:
    """Any move with a source up to `n_displays`."""
    color = draw(st.sampled_from(TILES if joker_tiles else COLORS))
    line = draw(st.integers(0, 5))
    jokers = joker_tiles and color != "J" and draw(st.booleans())
    keep = draw(st.none() | st.integers(0, line)) if jokers and line else None
    return Move(draw(st.integers(0, n_displays)), color, line, jokers, keep)


def placings() -> SearchStrategy[Placing]:
    """Any placing decision."""
    return st.builds(Placing, row=st.integers(1, 5), column=st.integers(0, 5))


def lucks() -> SearchStrategy[Luck]:
    """Any hidden luck."""
    big = st.integers(0, 2**32 - 1)
    return st.builds(Luck, seed=st.integers(0, 2**63 - 1), deal=big, continuation=big)


# ---- positions


class _Layer:
    """Lays tiles from one box; `rng` decides, `fullness` how much."""

    def __init__(self, rng: random.Random, rules: Rules, players: int, fullness: float) -> None:
        self.rng, self.rules, self.fullness = rng, rules, fullness
        self.box = list(COLORS * rules.n_tiles_of_color(players) + "J" * rules.n_jokers(players))
        rng.shuffle(self.box)

    def take(self, allowed: str) -> str:
        """Take one tile of an allowed kind, or return `.`."""
        for at, tile in enumerate(self.box):
            if tile in allowed:
                return self.box.pop(at)
        return "."

    def take_any(self, most: int) -> str:
        """Take up to that many tiles of any kind."""
        n = self.rng.randint(0, min(most, len(self.box)))
        taken, self.box = self.box[:n], self.box[n:]
        return "".join(taken)

    def wall(self) -> tuple[str, ...]:
        layout, wall = self.rules.layout, [["."] * 5 for _ in range(5)]
        for row, column in self.rng.sample([(r, c) for r in range(5) for c in range(5)], 25):
            if self.rng.random() > self.fullness:
                continue
            printed = layout[row][column]
            allowed = "J" + "".join(
                color
                for color in COLORS
                if printed in (".", color)
                and color not in wall[row]
                and not any(
                    wall[other][column] == color and not printed == layout[other][column] == color for other in range(5)
                )
            )
            wall[row][column] = self.take(allowed)
        return tuple("".join(row) for row in wall)

    def line(self, row: str, printed: str, size: int) -> str:
        if "." not in row:
            return ""
        colors = [c for c in COLORS if c not in row and ("." in printed or row[printed.index(c)] == ".")]
        color = self.rng.choice([*colors, "J"])
        tiles = [self.take(color + "J") for _ in range(self.rng.randint(0, size))]
        return "".join(sorted("".join(tiles).replace(".", ""), key=TILES.index))

    def board(self, has_marker: bool, score: int) -> Board:
        wall = self.wall()
        lines = tuple(self.line(wall[row], self.rules.layout[row], row + 1) for row in range(5))
        spaces = len(self.rules.floor_penalties)
        floor = self.take_any(spaces)
        if has_marker and self.rules.marker_cost == "floor" and len(floor) < spaces and self.rng.random() < 0.8:
            at = self.rng.randint(0, len(floor))
            floor = f"{floor[:at]}M{floor[at:]}"
        return Board(score, wall, lines, floor)

    def supply(self, share: float) -> Supply:
        n = round(share * len(self.box))
        taken, self.box = self.box[:n], self.box[n:]
        return Supply(**{tile: taken.count(tile) for tile in TILES})


@composite
def positions(draw: DrawFn, of: SearchStrategy[Rules] | None = None, players: int | None = None) -> Position:
    """Any position of any phase that can lie on a table, under any rules (or those of a strategy `of`)."""
    chosen = draw(rules() if of is None else of)
    n = draw(st.integers(2, 4)) if players is None else players
    rng = random.Random(draw(st.integers(0, 2**32)))
    layer = _Layer(rng, chosen, n, draw(st.sampled_from([0.0, 0.2, 0.5, 1.0])))
    holder = draw(st.none() | st.integers(0, n - 1))
    phase = draw(st.sampled_from(["offer", "offer", "tiling", "over"]))
    lowest = 0 if chosen.score_clamp and phase != "over" else -30_000
    first = layer.take_any(1) or layer.box.pop()
    boards = tuple(layer.board(seat == holder, draw(st.integers(lowest, 30_000))) for seat in range(n))
    complete = [
        (seat, 1 + min(row for row in range(5) if len(board.lines[row]) == row + 1))
        for seat, board in enumerate(boards)
        if any(len(board.lines[row]) == row + 1 for row in range(5))
    ]
    if phase == "tiling" and not complete:
        phase = "over"
    seat, row = complete[0] if phase == "tiling" else (None if phase == "over" else rng.randrange(n), None)
    is_offer = phase == "offer"
    size = chosen.tiles_per_display
    return Position(
        boards=boards,
        displays=tuple(layer.take_any(size) if is_offer else "" for _ in range(chosen.n_displays(n))),
        center=first + layer.take_any(30) if is_offer else "",
        bag=layer.supply(rng.random()),
        lid=layer.supply(rng.random()),
        round=draw(st.integers(1, chosen.max_rounds)),
        seat=seat,
        row=row,
        starter=draw(st.integers(0, n - 1)),
        holder=holder,
        termination=draw(st.sampled_from(ENDINGS)) if phase == "over" else Termination.NONE,
        luck=draw(st.none() | lucks()),
        rules=chosen,
    )


# ---- games


@composite
def rounds(draw: DrawFn, number: int, players: int, chosen: Rules, *, is_last: bool) -> Round:
    """Any round as a record can hold it; the moves need not be legal."""
    kinds = TILES if chosen.joker_tiles else COLORS
    n = chosen.n_displays(players)
    display = st.text(kinds, max_size=chosen.tiles_per_display)
    is_finished = not is_last or draw(st.booleans())
    return Round(
        number=number,
        displays=draw(st.just(()) | st.lists(display, min_size=n, max_size=n).map(tuple)),
        seat=draw(st.integers(0, players - 1)),
        moves=tuple(draw(st.lists(moves(n, joker_tiles=chosen.joker_tiles), max_size=9))),
        placings=tuple(draw(st.lists(st.tuples(st.integers(0, players - 1), placings()), max_size=5))),
        scores=tuple(draw(st.lists(_SMALL, min_size=players, max_size=players))) if is_finished else (),
    )


@composite
def game_records(draw: DrawFn) -> GameRecord:
    """Any game record, begun anew or from a position."""
    start = draw(st.none() | positions())
    chosen = draw(rules()) if start is None else start.rules
    n = draw(st.integers(2, 4)) if start is None else start.players
    first = 1 if start is None else start.round
    last = min(chosen.max_rounds, first + draw(st.integers(-1, 2)))
    number = st.none() | st.integers(0, 2**32 - 1)
    extra = st.text(string.ascii_lowercase, min_size=1, max_size=6).map(lambda name: f"x_{name}")
    return GameRecord(
        players=tuple(draw(st.lists(NAMES, min_size=n, max_size=n))),
        rules=chosen,
        version=draw(st.sampled_from(["", "0.1.0"])),
        seed=draw(number),
        deal=draw(number),
        seating=draw(number),
        start=start,
        rounds=tuple(draw(rounds(at, n, chosen, is_last=at == last)) for at in range(first, last + 1)),
        scores=draw(st.just(()) | st.lists(_SMALL, min_size=n, max_size=n).map(tuple)),
        placements=draw(st.just(()) | st.lists(st.integers(1, n), min_size=n, max_size=n).map(tuple)),
        termination=draw(st.sampled_from(Termination)),
        extras=draw(st.dictionaries(extra, NAMES, max_size=3)),
    )


# ---- broken text


@composite
def mutations(draw: DrawFn, text: str, letters: str = "BYRKWJMX.-:/,=@ 0123456789{}[]\"'\n") -> str:
    """A text with one to three letters changed, left out, put in, or two parts swapped."""
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        to = draw(st.integers(at, min(len(text), at + 8)))
        piece = draw(st.text(letters, max_size=3) | st.text(max_size=2))
        kind = draw(st.sampled_from(["change", "cut", "insert", "repeat", "drop the rest"]))
        text = {
            "change": text[:at] + piece + text[at + len(piece) :],
            "cut": text[:at] + text[to:],
            "insert": text[:at] + piece + text[at:],
            "repeat": text[:to] + text[at:],
            "drop the rest": text[:at],
        }[kind]
    return text
