"""Rules inside a line of text: a variant by name, or what differs from the printed rules as an inline TOML table."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

from azulsim.errors import InputError, did_you_mean
from azulsim.notation.text import NotationError, quote, refuse_strange_letters
from azulsim.rules import VARIANTS, Rules, make_rules

_MAX_LENGTH = 2000
"""More than any rules need; keeps the TOML parser, which calls itself for each bracket, off silly input."""


def format_rules(rules: Rules) -> str:
    """Return rules on one line, without line breaks: `gray`, or `{wall="gray", bonus.column=5}`.

    >>> format_rules(Rules(tiles_per_color=19))
    '{tiles_per_color=19}'
    """
    for name, variant in VARIANTS.items():
        if variant == rules:
            return name
    changes = rules.model_dump(by_alias=True, exclude_defaults=True)
    return "{" + ", ".join(f"{key}={_format_value(value)}" for key, value in _flatten(changes)) + "}"


def parse_rules(text: str) -> Rules:
    """Read rules that `format_rules` wrote, or any inline TOML table of what differs from the printed rules.

    Raises
    ------
    NotationError
        If the text is neither the name of a variant nor a table of known keys and values.
    """
    refuse_strange_letters(text, "rules")
    if not text.startswith("{"):
        if text not in VARIANTS:
            raise NotationError(f"rules {quote(text)}: no such variant{did_you_mean(text, VARIANTS)}", text=text)
        return VARIANTS[text]
    if len(text) > _MAX_LENGTH:
        raise NotationError(f"rules: {len(text)} characters are too long; write what differs only", text=text)
    try:
        return make_rules(tomllib.loads(f"rules={text}")["rules"])
    except InputError as error:
        raise NotationError(str(error), text=text) from None
    except (ValueError, RecursionError) as error:
        raise _toml_error(text, error) from None


def _toml_error(text: str, error: Exception) -> NotationError:
    spot = re.search(r"column (\d+)", str(error))
    at = min(int(spot[1]) - 1 - len("rules="), len(text)) if spot else len(text)
    reason = re.sub(r" *\(.*\)$", "", str(error)) or "not valid"
    return NotationError(
        f"rules, character {at + 1}: no inline TOML table ({reason[:1].lower() + reason[1:]}); write, for example, "
        '{wall="gray", bonus.column=5}',
        text=text,
        at=at,
    )


def _flatten(table: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _format_value(value: Any) -> str:
    """Write a value in TOML; its strings, numbers, booleans and arrays are JSON's as long as text is plain ASCII."""
    return json.dumps(list(value) if isinstance(value, tuple) else value)


SUMMARIES = {
    "standard": "the printed rules of the base game, colored wall",
    "gray": "the gray side: any color may go to any column, no color twice in a row or column",
    "joker": "the base game with joker tiles",
    "gray-joker": "the gray side with joker tiles",
    "crystal-mosaic": "Crystal Mosaic side 1: five printed spaces count double, all others are free",
}
"""What each of `VARIANTS` is, in a line."""


def list_differences(rules: Rules) -> list[tuple[str, str, str]]:
    """Return what differs from the printed rules: key, value, and the printed value, as TOML.

    >>> list_differences(Rules(tiles_per_color=19))
    [('tiles_per_color', '19', '20')]
    """
    printed = dict(_flatten(Rules().model_dump(by_alias=True)))
    changes = _flatten(rules.model_dump(by_alias=True))
    return [(key, _format_value(value), _format_value(printed[key])) for key, value in changes if value != printed[key]]
