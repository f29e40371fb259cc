"""What the box says, as one frozen value: counts, penalties, bonuses and the points it leaves open.

Sections (`1.2`, `4.2`, ...) are those of docs/RULES.md. Bounds keep every value inside the packed
fields of the engine, whose buffers are unchecked: at most 127 tiles in all, 11 displays, 12 floor spaces.
"""

from __future__ import annotations

from enum import IntEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import tomli_w
from pydantic import Field

from azulsim.config import Frozen, read_toml, validate

COLORS = "BYRKW"
"""Colors in the order of the wall's first row: blue, yellow, red, black, white (1.3). A joker is `J`."""

MAX_DISPLAYS = 11
MAX_TILES_PER_DISPLAY = 10
MAX_FLOOR_SPACES = 12
MAX_ROUNDS = 500
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

    wall: Literal["colored"] = "colored"
    """Which wall is used: the coloured side (1.3)."""
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
