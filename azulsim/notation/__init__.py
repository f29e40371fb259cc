"""Positions, moves and whole games as text, both ways, and as pictures; docs/NOTATION.md describes the text.

Plain frozen values without an engine: what is legal and what follows, `azulsim.Game` knows.
"""

from __future__ import annotations

from azulsim.notation.games import format_game, parse_game
from azulsim.notation.line import format_position, parse_position
from azulsim.notation.moves import (
    Move,
    Placing,
    format_move,
    format_placing,
    parse_decision,
    parse_move,
    parse_placing,
)
from azulsim.notation.position import Board, Luck, Position, Supply
from azulsim.notation.record import GameRecord, Round
from azulsim.notation.rules_text import format_rules, parse_rules
from azulsim.notation.svg import draw_svg
from azulsim.notation.terminal import draw_text
from azulsim.notation.text import MARKER, TILES, NotationError

__all__ = [
    "MARKER",
    "TILES",
    "Board",
    "GameRecord",
    "Luck",
    "Move",
    "NotationError",
    "Placing",
    "Position",
    "Round",
    "Supply",
    "draw_svg",
    "draw_text",
    "format_game",
    "format_move",
    "format_placing",
    "format_position",
    "format_rules",
    "parse_decision",
    "parse_game",
    "parse_move",
    "parse_placing",
    "parse_position",
    "parse_rules",
]
