"""What the box says, as one frozen value: counts, penalties, bonuses and the points it leaves open.

Sections (`1.2`, `4.2`, ...) are those of docs/RULES.md. Bounds keep every value inside the packed
fields of the engine, whose buffers are unchecked: at most 127 tiles in all, 11 displays, 12 floor spaces.
"""

from __future__ import annotations

import os
import re
from enum import IntEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import tomli_w
from pydantic import Field, ValidationInfo, field_validator, model_validator

from azulsim.config import Frozen, flatten_keys, read_toml, validate
from azulsim.errors import InputError, did_you_mean

COLORS = "BYRKW"
"""Colors in the order of the wall's first row: blue, yellow, red, black, white (1.3). A joker is `J`."""

COLORED_WALL = ("BYRKW", "WBYRK", "KWBYR", "RKWBY", "YRKWB")
"""The coloured side, row by row (1.3)."""

MAX_DISPLAYS = 11
MAX_TILES_PER_DISPLAY = 10
MAX_FLOOR_SPACES = 12
MAX_ROUNDS = 500
MAX_POINTS = 30_000
"""Scores are kept in 16 bits."""
MIN_PLAYERS, MAX_PLAYERS = 2, 4


class Termination(IntEnum):
    """How a game ended."""

    NONE = 0
    """The game is not over."""
    ROW_COMPLETED = 1
    """Somebody completed a horizontal row of the wall (5.1)."""
    ROUND_LIMIT = 2
    """`max_rounds` were played and no row was complete (4.7)."""
    NO_TILES = 3
    """Bag and lid were empty when a round had to be dealt (4.4)."""
    FORFEIT = 4
    """A strategy failed and the policy ended the game."""


Rows = tuple[str, str, str, str, str]


class Displays(Frozen):
    """Number of factory displays by number of players (1.1)."""

    two: Annotated[int, Field(alias="2", ge=1, le=MAX_DISPLAYS)] = 5
    three: Annotated[int, Field(alias="3", ge=1, le=MAX_DISPLAYS)] = 7
    four: Annotated[int, Field(alias="4", ge=1, le=MAX_DISPLAYS)] = 9


class Bonus(Frozen):
    """Points at the end of the game for each complete row, column and color of the wall (5.2)."""

    row: Annotated[int, Field(ge=-100, le=100)] = 2
    column: Annotated[int, Field(ge=-100, le=100)] = 7
    color: Annotated[int, Field(ge=-100, le=100)] = 10


class Rules(Frozen):
    """The rules of one kind of Azul; the defaults are the printed rules of the base game (2017).

    >>> Rules().bonus.column
    7
    >>> Rules(bonus=Bonus(column=5)) == Rules()
    False
    """

    wall: Literal["colored", "gray"] | Rows = "colored"
    """The spaces of the wall: the coloured side (1.3), the gray side (6), or five rows of five letters, `.` for a free
    space (8, 12)."""
    multipliers: Rows = ("11111",) * 5
    """Five rows of five digits from 1 to 9: the points of a tile placed on that space are multiplied (8)."""
    gray_may_decline: bool = False
    """On a wall with a free space, a complete line may be declined: all its tiles fall to the floor line (6.3)."""
    joker_tiles: bool = False
    """Some tiles are replaced by jokers (7): 5 of them at 2 players, 10 at 3 and 4."""
    joker_overflow: Literal["keep_jokers", "keep_color", "choose"] = "keep_jokers"
    """Which tiles fall when jokers and a color together are more than the line has room for (7.6)."""
    displays: Displays = Displays()
    """Factory displays by number of players (1.1)."""
    tiles_per_display: Annotated[int, Field(ge=1, le=MAX_TILES_PER_DISPLAY)] = 4
    """Tiles laid on each display when a round is dealt (1.1)."""
    tiles_per_color: Annotated[int, Field(ge=1, le=25)] = 20
    """Tiles of each of the five colors (1.2)."""
    floor_penalties: Annotated[tuple[Annotated[int, Field(ge=-20, le=0)], ...], Field(max_length=MAX_FLOOR_SPACES)] = (
        -1,
        -1,
        -2,
        -2,
        -2,
        -3,
        -3,
    )
    """Points of each space of the floor line, from the left (2.11)."""
    bonus: Bonus = Bonus()
    """End-of-game bonuses (5.2)."""
    rows_to_end: Annotated[int, Field(ge=1, le=5)] = 1
    """Complete rows of one player that end the game (5.1)."""
    score_clamp: bool = True
    """A score never falls below 0 by the floor line (3.5)."""
    marker_cost: Literal["floor"] | Annotated[int, Field(ge=-20, le=20)] = "floor"
    """What the starting player marker costs: its space on the floor line (2.4), or a fixed number of points (12)."""
    next_starter: Literal["holder", "rotation", "lottery"] = "holder"
    """Who starts the next round: the holder of the marker (4.5), the next seat, or a seat drawn by lot (12)."""
    starter_bonus: Annotated[int, Field(ge=-20, le=20)] = 0
    """Points given to the starter of each round when it is dealt, clamped at 0 at once: a planted effect (12)."""
    marker_on_full_floor: Literal["free", "replace_last"] = "free"
    """The marker taken onto a full floor line costs no space, or pushes the last tile to the lid (2.6)."""
    lid_refill: Literal["lazy", "eager"] = "lazy"
    """The lid is tipped into the bag when a tile is needed, or as soon as the bag is empty (4.2)."""
    no_tiles: Literal["end_game", "error"] = "end_game"
    """What happens when a round cannot be dealt at all (4.4)."""
    unclaimed_marker: Literal["keep", "rotate"] = "keep"
    """Who starts when nobody took the marker: the same player again, or the next one (4.6)."""
    max_rounds: Annotated[int, Field(ge=1, le=MAX_ROUNDS)] = 100
    """Rounds after which the game is stopped and scored as at its end (4.7)."""

    @field_validator("wall", "multipliers", "marker_cost", mode="before")
    @classmethod
    def _check_shape(cls, value: Any, info: ValidationInfo) -> Any:
        """Say in one sentence what would be right, where a field takes more than one kind of value."""
        is_rows = isinstance(value, tuple) and len(value) == 5 and all(isinstance(row, str) for row in value)
        if info.field_name == "wall" and not is_rows and value not in ("colored", "gray"):
            raise ValueError(f'write "colored", "gray", or five strings of five letters of {COLORS} and .')
        if info.field_name == "multipliers" and not is_rows:
            raise ValueError("write five strings of five digits from 1 to 9")
        is_points = isinstance(value, int) and not isinstance(value, bool) and -20 <= value <= 20
        if info.field_name == "marker_cost" and value != "floor" and not is_points:
            raise ValueError('write "floor", or a number of points from -20 to 20')
        return value

    @model_validator(mode="after")
    def _check(self) -> Rules:
        """Refuse what no game can be played by, or what a field of the engine cannot hold."""
        for row, letters in enumerate(self.layout, start=1):
            if not re.fullmatch(f"[{COLORS}.]{{5}}", letters):
                raise ValueError(
                    f"row {row} of wall = {letters!r}: write five letters of {COLORS}, or . for a free space"
                )
            printed = letters.replace(".", "")
            if len(set(printed)) < len(printed):
                raise ValueError(f"row {row} of wall = {letters!r}: a row has each color once")
        for row, digits in enumerate(self.multipliers, start=1):
            if not re.fullmatch("[1-9]{5}", digits):
                raise ValueError(f"row {row} of multipliers = {digits!r}: write five digits from 1 to 9")
        if self.joker_tiles and self.tiles_per_color < 3:
            raise ValueError(
                f"joker_tiles with tiles_per_color = {self.tiles_per_color}: jokers replace up to 2 tiles of each "
                "color, so that at least 3 are needed"
            )
        if self.gray_may_decline and not self.has_free_spaces:
            raise ValueError("gray_may_decline = true: only a wall with a free space leaves a choice")
        worst = self.max_rounds * self._worst_round() + 5 * sum(max(0, -points) for points in self._bonuses())
        if not self.score_clamp and worst > MAX_POINTS:
            raise ValueError(
                f"score_clamp = false with max_rounds = {self.max_rounds}: a score could fall to -{worst}, below the "
                f"-{MAX_POINTS} that the log can hold; lower max_rounds or the penalties"
            )
        return self

    def _worst_round(self) -> int:
        """Return the most points that one round can cost a player."""
        marker = 0 if self.marker_cost == "floor" else max(0, self.marker_cost)
        return -sum(self.floor_penalties) + marker + max(0, -self.starter_bonus)

    def _bonuses(self) -> tuple[int, int, int]:
        return self.bonus.row, self.bonus.column, self.bonus.color

    @property
    def layout(self) -> Rows:
        """The colors printed on the wall: five rows of five letters, `.` for a free space."""
        if self.wall == "colored":
            return COLORED_WALL
        return (".....",) * 5 if self.wall == "gray" else self.wall

    @property
    def has_free_spaces(self) -> bool:
        """True if some space of the wall takes more than one color."""
        return any("." in row for row in self.layout)

    def n_jokers(self, players: int) -> int:
        """Return the number of joker tiles (7.1)."""
        return (5 if players == 2 else 10) if self.joker_tiles else 0

    def n_tiles_of_color(self, players: int) -> int:
        """Return the number of tiles of each color: those that jokers replace are left out (7.1)."""
        return self.tiles_per_color - self.n_jokers(players) // 5

    def n_displays(self, players: int) -> int:
        """Return the number of displays for 2, 3 or 4 players."""
        return (self.displays.two, self.displays.three, self.displays.four)[players - MIN_PLAYERS]

    def to_toml(self) -> str:
        """Return the rules as a TOML document that `read_rules` reads back to an equal value."""
        return tomli_w.dumps(self.model_dump(by_alias=True))


def read_rules(path: str | Path) -> Rules:
    """Read rules from a TOML file; keys left out keep the printed rules.

    Raises
    ------
    InputError
        For a missing file, bad TOML, an unknown key or a value out of bounds, naming file, key and value.
    """
    return make_rules(read_toml(path), where=str(path))


def make_rules(data: dict[str, Any], *, where: str = "rules") -> Rules:
    """Build rules from plain data such as a TOML table; `where` opens the sentence of any complaint."""
    return validate(Rules, data, where=where)


def split_rule(rules: Rules, key: str) -> tuple[Any, tuple[tuple[str, Any], ...]]:
    """Return the value of one rule, named as in files, and all the others as pairs.

    >>> split_rule(Rules(), "bonus.column")[0]
    7

    Raises
    ------
    InputError
        For an unknown rule, with the nearest one.
    """
    pairs = dict(flatten_keys(rules.model_dump(by_alias=True)))
    if key not in pairs:
        raise InputError(f"{key!r} is no rule{did_you_mean(key, pairs)}")
    return pairs.pop(key), tuple(pairs.items())


VARIANTS: dict[str, Rules] = {
    "standard": Rules(),
    "gray": Rules(wall="gray"),
    "joker": Rules(joker_tiles=True),
    "gray-joker": Rules(wall="gray", joker_tiles=True),
    "crystal-mosaic": Rules(
        wall=("...K.", "W....", "..Y..", "....B", ".R..."),
        multipliers=("11121", "21111", "11211", "11112", "12111"),
        floor_penalties=(-1, 0, -1, -2, -1, -2, -3),
    ),
}
"""Named kinds of Azul: the base game, its gray side (6), the Joker Tiles promo (7), Crystal Mosaic side 1 (8)."""


def find_rules(source: str | Path, *, folder: Path = Path()) -> Rules:
    """Return the rules that a text names: a variant, or a TOML file; a `Path` is always a file.

    Names of files start from `folder`.

    >>> find_rules("gray").wall
    'gray'

    Raises
    ------
    InputError
        For a text that names neither, with the nearest variant, or a file that `read_rules` refuses.
    """
    if isinstance(source, str) and source in VARIANTS:
        return VARIANTS[source]
    path = folder / source
    # os.path, not Path: it also says no to what no file system takes
    if isinstance(source, Path) or path.suffix or Path(source).name != source or os.path.exists(path):  # noqa: PTH110
        return read_rules(path)
    raise InputError(f"rules {source!r}: neither a named variant nor a TOML file{did_you_mean(source, VARIANTS)}")
