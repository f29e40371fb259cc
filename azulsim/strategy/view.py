"""What a strategy in plain Python sees: the legal moves as columns, the table as a player at it sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from azulsim.engine.move import Move, format_code
from azulsim.engine.record import GAME
from azulsim.rules import COLORED_WALL, Rules
from azulsim.schema import COLOR_NAMES
from azulsim.strategy.functions import as_column

T = TypeVar("T")


def _leave() -> None:
    """Fill in nothing."""


class Columns:
    """The fields of `Move` of many moves, each a float64 array; made when first asked for.

    The stored fields are int16: in those, `50 * move.placed * move.line` would wrap and `sqrt` be half precision.

    Parameters
    ----------
    records : MOVE[n]
    fill_denials : function, optional
        Fills in their `denial`, if that was left out; called when it is asked for.
    """

    def __init__(self, records: npt.NDArray[Any], fill_denials: Callable[[], None] = _leave) -> None:
        self._records, self._fill_denials = records, fill_denials

    def __getattr__(self, name: str) -> npt.NDArray[np.float64]:
        if name not in Move._fields:
            raise AttributeError(f"a move has no field {name!r}; it has {', '.join(Move._fields)}")
        if name == "denial":
            self._fill_denials()
        column: npt.NDArray[np.float64] = as_column(self._records[name].astype(np.float64))
        setattr(self, name, column)
        return column


class Moves(Sequence[Move]):
    """The legal moves at one point: `moves[i]` is a `Move`, `moves.gain` the gains of all, an int64 array each.

    Made as `Columns` are.
    """

    def __init__(self, records: npt.NDArray[Any], fill_denials: Callable[[], None] = _leave) -> None:
        self._records, self._fill_denials = records, fill_denials

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        self._fill_denials()
        return Move._make(self._records[index].item()[1:])

    def __iter__(self) -> Iterator[Move]:
        self._fill_denials()
        return (Move._make(record[1:]) for record in self._records.tolist())

    def __getattr__(self, name: str) -> npt.NDArray[np.int64]:
        if name not in Move._fields:
            raise AttributeError(f"moves have no field {name!r}; they have {', '.join(Move._fields)}")
        if name == "denial":
            self._fill_denials()
        return self._records[name].astype(np.int64)

    def text(self, index: int) -> str:
        """Return a move's text, such as `2B3` (display 2, blue, line 3) or `CR-` (center, red, floor)."""
        return format_code(int(self._records["code"][index]))


class View:
    """The table as the player to move sees it; changing it changes nothing.

    Boards, displays and center are open, and so are the contents of bag and lid; the order of coming tiles is not.
    Lists of seats are in seat order, rows and columns as on the board (index 0 is row 1).
    """

    def __init__(self, games: npt.NDArray[Any], index: int, rules: Rules) -> None:
        # NumPy copies records field by field; their bytes are copied many times faster.
        self._bytes = games[index : index + 1].view(np.uint8).copy()
        self.rules = rules
        """The rules of the game, an `azulsim.Rules`."""

    @cached_property
    def _game(self) -> Any:
        return self._bytes.view(GAME)[0]

    @cached_property
    def players(self) -> int:
        """Number of players."""
        return int(self._game["players"])

    @cached_property
    def seat(self) -> int:
        """The seat to move, yours, from 0."""
        return int(self._game["seat"])

    @cached_property
    def round(self) -> int:
        """The round, from 1."""
        return int(self._game["round"])

    @cached_property
    def starter(self) -> int:
        """The seat that started this round."""
        return int(self._game["starter"])

    @cached_property
    def marker_holder(self) -> int | None:
        """The seat that took the starting player marker in this round; None while it lies in the center."""
        holder = int(self._game["holder"])
        return None if holder < 0 else holder

    @cached_property
    def scores(self) -> list[int]:
        """The score of each seat."""
        return [int(score) for score in self._game["score"][: self.players]]

    @cached_property
    def floors(self) -> list[int]:
        """The occupied floor spaces of each seat, the marker included."""
        n_floor = int(self._game["n_floor"])
        return [min(int(n), n_floor) for n in self._game["floor"][: self.players]]

    @cached_property
    def walls(self) -> list[list[str]]:
        """The wall of each seat: five strings of five letters, `.` for an empty space."""
        return [wall_text(self._game, seat) for seat in range(self.players)]

    @cached_property
    def lines(self) -> list[list[str]]:
        """The pattern lines of each seat: five strings, such as `""`, `"RR"`."""
        return [lines_text(self._game, seat) for seat in range(self.players)]

    @cached_property
    def displays(self) -> list[str]:
        """The tiles on each display, sorted by color; display 1 comes first."""
        return [tiles_text(int(tiles)) for tiles in self._game["sources"][1 : int(self._game["n_displays"]) + 1]]

    @cached_property
    def center(self) -> str:
        """The tiles in the center, sorted by color."""
        return tiles_text(int(self._game["sources"][0]))

    @cached_property
    def bag(self) -> dict[str, int]:
        """The tiles of each color in the bag."""
        return counts_by_color(int(self._game["bag"]))

    @cached_property
    def lid(self) -> dict[str, int]:
        """The tiles of each color in the lid and on all floor lines."""
        return counts_by_color(int(self._game["lid"]))


def counts_by_color(lanes: int) -> dict[str, int]:
    """Return the count of each color, and of jokers if there are any, in a word of color lanes."""
    counts = {color: lanes >> 8 * i & 255 for i, color in enumerate(COLOR_NAMES)}
    if not counts["J"]:
        del counts["J"]
    return counts


def tiles_text(lanes: int) -> str:
    """Return the tiles of a word of color lanes as letters."""
    return "".join(color * n for color, n in counts_by_color(lanes).items())


def lines_text(game: Any, seat: int) -> list[str]:
    """Return the five pattern lines of a seat as letters, jokers first."""
    counts, colors, jokers = (int(game[name][seat]) for name in ("counts", "colors", "line_jokers"))
    texts = []
    for line in range(1, 6):
        count, n_jokers = counts >> 4 * line & 15, jokers >> 4 * line & 15
        texts.append("J" * n_jokers + COLOR_NAMES[colors >> 4 * line & 7] * (count - n_jokers))
    return texts


def wall_text(game: Any, seat: int) -> list[str]:
    """Return the five rows of a seat's wall as letters."""
    wall = int(game["wall"][seat])
    rows = [[COLORED_WALL[r][c] if wall >> 5 * r + c & 1 else "." for c in range(5)] for r in range(5)]
    if game["is_general"]:
        for color, spaces in zip(COLOR_NAMES, game["tiles"][seat].tolist(), strict=True):
            for space in range(25):
                if spaces >> space & 1:
                    rows[space // 5][space % 5] = color
    return ["".join(row) for row in rows]


_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15


class DecisionRng:
    """The luck of one decision: the same decision always draws the same, and no other decision's draws move.

    A SplitMix64 stream; `numpy()` gives a full NumPy generator for whatever is missing here.
    """

    def __init__(self, key: int) -> None:
        self._key = self._state = key

    def _next(self) -> int:
        self._state = (self._state + _GOLDEN) & _MASK
        z = self._state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & _MASK
        return z ^ z >> 31

    def random(self) -> float:
        """Return a float, uniform in [0, 1)."""
        return (self._next() >> 11) * 2.0**-53

    def integers(self, n: int) -> int:
        """Return an integer, uniform in 0 .. n-1."""
        if n < 1:
            raise ValueError(f"rng.integers({n}) has nothing to choose from")
        return self._next() * n >> 64

    def choice(self, options: Sequence[T]) -> T:
        """Return one of the options, each as likely as the others."""
        return options[self.integers(len(options))]

    def numpy(self) -> np.random.Generator:
        """Return a NumPy generator seeded by this decision."""
        return np.random.Generator(np.random.Philox(key=self._key))
