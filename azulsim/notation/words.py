"""The words that stand on every picture of a position."""

from __future__ import annotations

from collections.abc import Sequence

from azulsim.notation.position import Position
from azulsim.notation.text import NotationError


def name_seats(position: Position, names: Sequence[str]) -> list[str]:
    """Return what each seat is called: `seat 0`, or `seat 0: greedy` if names are given."""
    if names and len(names) != position.players:
        raise NotationError(f"names: there are {len(names)} for {position.players} seats")
    called = [f"seat {seat}" for seat in range(position.players)]
    return [f"{seat}: {make_printable(name)}" for seat, name in zip(called, names, strict=True)] if names else called


def make_printable(text: str) -> str:
    """Return text without letters that could steer a terminal or break a document."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def describe_turn(position: Position, names: Sequence[str]) -> str:
    """Say in one line where the game stands."""
    if position.seat is None:
        reason = position.termination.name.lower().replace("_", " ")
        return f"round {position.round}, the game is over ({reason})"
    name = names[position.seat]
    doing = "to move" if position.row is None else f"to place the tile of line {position.row}"
    return f"round {position.round}, {name} {doing}"


def describe_holder(position: Position, seat: int) -> str:
    """Say what the marker and the start of the round have to do with a seat; empty if nothing."""
    words = []
    if seat == position.starter:
        words.append("started the round")
    if seat == position.holder:
        words.append("holds the marker")
    return ", ".join(words)
