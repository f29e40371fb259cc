"""What is typed on the command line about rules, read into values."""

from __future__ import annotations

import tomllib
from typing import Any, Literal

from azulsim.errors import InputError


def read_values(text: str) -> list[Any]:
    """Read values set apart by commas, each as TOML or else as text.

    >>> read_values("floor, 0, 1"), read_values("[-1, -1], [0, 0]")
    (['floor', 0, 1], [[-1, -1], [0, 0]])
    """
    if (whole := _read_toml(text)) is not None:
        return whole
    return [(_read_toml(part) or [part.strip()])[0] for part in text.split(",") if part.strip()]


def _read_toml(text: str) -> list[Any] | None:
    try:
        table = tomllib.loads(f"values = [{text}]")
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    return list(table["values"]) if len(table) == 1 else None


def read_target(text: str) -> float | Literal["fair"]:
    """Read what an outcome is to be: a number, or `fair`."""
    if text == "fair":
        return "fair"
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--target {text!r}: write a number, or fair") from None


def read_players(text: str) -> list[int]:
    """Read player counts set apart by commas.

    >>> read_players("2,3")
    [2, 3]
    """
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() for word in words):
        raise InputError(f"--players {text!r}: write numbers from 2 to 4, such as 2,3")
    return [int(word) for word in words]


def read_prices(text: str) -> list[int]:
    """Read whole prices set apart by commas; none if there is no text.

    >>> read_prices("0, 1,2"), read_prices("")
    ([0, 1, 2], [])
    """
    values = read_values(text)
    if not all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        raise InputError(f"--prices {text!r}: write whole numbers, such as 0,1,2,3")
    return values
