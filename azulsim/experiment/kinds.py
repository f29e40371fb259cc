"""Rules as experiments write them: by name, as a table of what differs, or varied key by key."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from azulsim.config import show_value
from azulsim.errors import InputError, did_you_mean
from azulsim.notation import format_rules, parse_rules
from azulsim.rules import VARIANTS, Rules, make_rules


def vary_rules(rules: Rules, grid: Mapping[str, tuple[Any, ...]]) -> Iterator[tuple[dict[str, Any], Rules]]:
    """Yield every combination of the rules that a grid varies, in the order of the grid, and the rules it makes.

    Raises
    ------
    ValueError
        For an unknown rule, or rules that cannot be so.
    """
    keys = [key for key in grid if is_rule(key)]
    for values in itertools.product(*(grid[key] for key in keys)):
        changes = dict(zip(keys, values, strict=True))
        yield changes, _change_rules(rules, changes)


def is_rule(key: str) -> bool:
    """Tell whether a key of a grid varies rules."""
    return key == "rules" or key.startswith("rules.")


def as_rules_text(value: Any) -> str:
    """Return rules as the one short text of them, which names a variant or what differs from the printed rules."""
    if isinstance(value, Mapping):
        return format_rules(_make_rules(value))
    if isinstance(value, str):
        try:
            return format_rules(read_rules_text(value))
        except ValueError as error:
            raise ValueError(f"rules: {value!r}: {error}") from None
    if isinstance(value, Rules):
        return format_rules(value)
    raise ValueError(f"rules: {show_value(value)} is neither the name of a variant nor a table of rules")


def read_rules_text(text: str) -> Rules:
    """Read rules that `as_rules_text` wrote; raise `ValueError` for any other text."""
    if not text.startswith("{") and text not in VARIANTS:
        raise ValueError(f"no such variant{did_you_mean(text, VARIANTS)}")
    try:
        return parse_rules(text)
    except InputError as error:
        raise ValueError(str(error)) from None


def _make_rules(data: Mapping[str, Any]) -> Rules:
    try:
        return make_rules(dict(data))
    except InputError as error:
        raise ValueError(str(error)) from None


def _change_rules(rules: Rules, changes: Mapping[str, Any]) -> Rules:
    """Return rules with some values changed; a change of `rules` itself comes first, wherever it stands."""
    if "rules" in changes:
        rules = read_rules_text(changes["rules"])
    changes = {key: value for key, value in changes.items() if key != "rules"}
    if not changes:
        return rules
    data = rules.model_dump(by_alias=True)
    for key, value in changes.items():
        *path, last = key.split(".")[1:]
        table: Any = data
        for part in path:
            known, table = table, table.get(part)
            if not isinstance(table, dict):
                raise ValueError(f"unknown key {key!r}{did_you_mean(part, known)}")
        table[last] = value
    return _make_rules(data)
