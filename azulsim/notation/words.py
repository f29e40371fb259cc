"""The words that stand on every picture of a position."""

from __future__ import annotations

from collections.abc import Sequence

from azulsim.notation.position import Position
from azulsim.notation.text import NotationError


def name_seats(position: Position, names: Sequence[str], width: int = 0) -> list[str]:
    """Return what each seat is called: `seat 0`, or `seat 0: greedy` if names are given.

    Long names are cut to `width`, if there is one; those that differ still do.
    """
    if names and len(names) != position.players:
        raise NotationError(f"names: there are {len(names)} for {position.players} seats")
    called = [f"seat {seat}" for seat in range(position.players)]
    shown = list(map(make_printable, names))
    if width:
        shown = cut_names(shown, width - len("seat 0: "))
    return [f"{seat}: {name}" for seat, name in zip(called, shown, strict=True)] if names else called


def cut_names(names: Sequence[str], width: int, mark: str = "~") -> list[str]:
    """Cut long names at the end, or in the middle if different ones would look the same; a mark stands for what is cut.

    >>> cut_names(["color_builder", "greedy"], 8)
    ['color_b~', 'greedy']
    >>> cut_names(["alpha_beta_2", "alpha_beta_3", "greedy"], 8)
    ['alpha_~2', 'alpha_~3', 'greedy']
    """
    different = list(dict.fromkeys(names))
    ends = [[name[len(name) - length :] for name in different] for length in range(width - 1)]
    for tails in [*ends, list(map(str, range(len(different))))]:
        found = {name: _cut(name, width, mark + tail) for name, tail in zip(different, tails, strict=True)}
        if len(set(found.values())) == len(different):
            break
    return [found[name] for name in names]


def _cut(name: str, width: int, tail: str) -> str:
    return name if len(name) <= width else name[: width - len(tail)] + tail


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
