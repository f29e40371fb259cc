"""From a spec such as `connector(link=0.5)` to a strategy, and back to one canonical text."""

from __future__ import annotations

import ast
import math
from pathlib import Path

from azulsim.catalog import Entry, find, list_entries, load_module, source_hash
from azulsim.errors import InputError
from azulsim.strategy import Definition, Strategy
from azulsim.strategy.definition import Speed


def parse_spec(spec: str) -> tuple[str, dict[str, float]]:
    """Split a spec into the name (or `path/to/file.py:name`) and its parameters.

    >>> parse_spec("noisy_greedy(eps=0.1)")
    ('noisy_greedy', {'eps': 0.1})
    >>> parse_spec("ideas/mine.py:hoard_blue")
    ('ideas/mine.py:hoard_blue', {})

    Raises
    ------
    InputError
        If the text is no spec.
    """
    if not isinstance(spec, str):
        raise InputError(f"strategy {spec!r}: write it as text, such as 'greedy'")
    text = spec.strip()
    name, parenthesis, rest = text.partition("(")
    name = name.strip()
    if not name or (parenthesis and not rest.rstrip().endswith(")")):
        raise InputError(f"strategy {spec!r}: write a name, or name(parameter=number, ...)")
    if not parenthesis:
        return name, {}
    keywords = _read_keywords(rest)
    if keywords is None:
        raise InputError(f"strategy {spec!r}: write its parameters as name=number, separated by commas")
    params: dict[str, float] = {}
    for key, node in keywords:
        value = _read_number(node)
        if not math.isfinite(value):
            raise InputError(f"strategy {spec!r}: parameter {key!r} needs a finite number")
        if key in params:
            raise InputError(f"strategy {spec!r}: parameter {key!r} is given twice")
        params[key] = value
    return name, params


def _read_keywords(rest: str) -> list[tuple[str, ast.expr]] | None:
    """Return names and expressions of what stands after a call's parenthesis; None if it is anything else."""
    try:
        call = ast.parse(f"f({rest}", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
        return None
    keywords = [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg is not None]
    return keywords if len(keywords) == len(call.keywords) else None


def _read_number(node: ast.expr) -> float:
    """Return the number that an expression writes; NaN if it is none."""
    try:
        value = ast.literal_eval(node)
        return float(value) if isinstance(value, int | float) else math.nan
    except (ValueError, TypeError, OverflowError, RecursionError, MemoryError):
        return math.nan


def format_spec(name: str, params: dict[str, float]) -> str:
    """Return the canonical text of a spec: parameters in alphabetical order, whole numbers without a point.

    >>> format_spec("greedy", {"line": 2.0, "floor": 0.5})
    'greedy(floor=0.5, line=2)'
    """
    if not params:
        return name
    inside = ", ".join(f"{key}={_format_number(value)}" for key, value in sorted(params.items()))
    return f"{name}({inside})"


def _format_number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def canonical_spec(spec: str) -> str:
    """Return the one text for all ways of writing a spec; nothing is imported or looked up."""
    return format_spec(*parse_spec(spec))


def make_strategy(spec: str, *, project: Path | None = None, speed: Speed | None = None) -> Strategy:
    """Find the strategy that a spec names, import its file, and give it its parameters.

    Raises
    ------
    InputError
        For an unknown name, a file that cannot be imported, or an unknown parameter, naming each.
    """
    name, params = parse_spec(spec)
    entry = find("strategies", name, project=project)
    definition = load_definition(entry)
    cache_key = source_hash(entry) if is_bundled(entry) else None
    return Strategy(definition, params, spec=format_spec(name, params), cache_key=cache_key, speed=speed)


def load_definition(entry: Entry) -> Definition:
    """Import the file of an entry and return its definition."""
    definition = getattr(load_module(entry), entry.name, None)
    if not isinstance(definition, Definition):
        raise InputError(f"{entry.path}: {entry.name!r} is not a strategy; decorate it with @strategy of azulsim")
    return definition


def is_bundled(entry: Entry) -> bool:
    """Return True for a strategy that ships with azulsim."""
    return entry.origin == "bundled"


def list_strategies(*, project: Path | None = None) -> list[Entry]:
    """List the strategies that can be named, without importing any."""
    return list_entries("strategies", project=project)
