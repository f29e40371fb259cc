"""From a spec such as `noisy(greedy(floor=2), eps=0.1)` to a strategy, and back to one canonical text."""

from __future__ import annotations

import ast
import hashlib
import inspect
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from azulsim.catalog import Entry, find, list_entries, load_module, source_hash
from azulsim.errors import InputError
from azulsim.strategy import Definition, Strategy, Wrapper, strategy
from azulsim.strategy.definition import Speed
from azulsim.strategy.parameters import merge_params
from azulsim.strategy.wrapping import Wrap

MAX_DEPTH = 16
"""Parts of a spec, one inside another."""


@dataclass(frozen=True)
class Spec:
    """What the text of a spec says; its `str` is the one canonical text.

    >>> str(parse_spec("noisy( greedy, eps = .10 )"))
    'noisy(greedy, eps=0.1)'
    """

    name: str
    """The name, or `path/to/file.py:name`."""
    params: Mapping[str, float] = field(default_factory=dict)
    """The parameters that are given."""
    inside: Spec | None = None
    """The strategy inside, if this is a wrapper around it."""

    def __str__(self) -> str:
        """Write parameters in alphabetical order, whole numbers without a point."""
        inside = [] if self.inside is None else [str(self.inside)]
        parts = [*inside, *(f"{key}={_format_number(value)}" for key, value in sorted(self.params.items()))]
        return f"{self.name}({', '.join(parts)})" if parts else self.name

    def parts(self) -> Iterator[Spec]:
        """Yield this spec and what is inside it: wrappers, the outermost first, and last the strategy."""
        yield self
        if self.inside is not None:
            yield from self.inside.parts()


def parse_spec(spec: str) -> Spec:
    """Read the text of a spec: a name, or a path and a name, and in parentheses what is inside and parameters.

    >>> parse_spec("hoarder(floor=0.5)")
    Spec(name='hoarder', params={'floor': 0.5}, inside=None)
    >>> parse_spec("noisy(ideas/mine.py:hoard_blue, eps=0.1)").inside
    Spec(name='ideas/mine.py:hoard_blue', params={}, inside=None)

    Raises
    ------
    InputError
        If the text is no spec.
    """
    if not isinstance(spec, str):
        raise InputError(f"strategy {spec!r}: write it as text, such as 'greedy'")
    return _parse(spec.strip(), spec, MAX_DEPTH)


def _parse(text: str, whole: str, depth: int) -> Spec:
    name, parenthesis, rest = text.partition("(")
    name = name.strip()
    if not name or "," in name or ")" in name or (parenthesis and not rest.endswith(")")):
        raise InputError(f"strategy {whole!r}: write a name, or name(parameter=number, ...)")
    if depth == 0:
        raise InputError(f"strategy {whole!r}: more than {MAX_DEPTH} parts, one inside another")
    params: dict[str, float] = {}
    inside: Spec | None = None
    for number, part in enumerate(_split(rest[:-1], whole)):
        keyword = _KEYWORD.fullmatch(part)
        if keyword is None:
            if number > 0 or _NUMBER.fullmatch(part):
                raise InputError(f"strategy {whole!r}: write its parameters as name=number, separated by commas")
            inside = _parse(part, whole, depth - 1)
            continue
        key, value = keyword[1], _read_number(keyword[2])
        if not math.isfinite(value):
            raise InputError(f"strategy {whole!r}: parameter {key!r} needs a finite number")
        if key in params:
            raise InputError(f"strategy {whole!r}: parameter {key!r} is given twice")
        params[key] = value
    return Spec(name, params, inside)


_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE)
_KEYWORD = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)", re.DOTALL)
"""A parameter and its value; a path that begins like one is written with `./` in front."""


def _split(text: str, whole: str) -> list[str]:
    """Split what stands in parentheses at the commas that are not in inner ones; a last comma is allowed."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if depth < 0:
            break
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    parts = [part.strip() for part in parts]
    if parts[-1] == "":
        parts.pop()
    if depth != 0 or "" in parts:
        raise InputError(f"strategy {whole!r}: write a name, or name(parameter=number, ...)")
    return parts


def _read_number(text: str) -> float:
    """Return the number that a text writes; NaN if it is none."""
    try:
        value = ast.literal_eval(text)
        return float(value) if isinstance(value, int | float) else math.nan
    except (ValueError, TypeError, OverflowError, SyntaxError, RecursionError, MemoryError):
        return math.nan


def _format_number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def canonical_spec(spec: str) -> str:
    """Return the one text for all ways of writing a spec; nothing is imported or looked up."""
    return str(parse_spec(spec))


def make_strategy(spec: str, *, project: Path | None = None, speed: Speed | None = None) -> Strategy:
    """Find the strategy that a spec names, import its file, and give it its parameters and wrappers.

    Its own `spec` is one text for all specs with the same parameters: a strategy says those that are not its defaults,
    a wrapper all.

    Raises
    ------
    InputError
        For an unknown name, a file that cannot be imported, or an unknown parameter, naming each.
    """
    parsed = parse_spec(spec)
    text = str(parsed)
    *outer, last = parsed.parts()
    wraps = []
    for part in outer:
        entry = find("strategies", part.name, project=project)
        wrapper = load_definition(entry)
        if not isinstance(wrapper, Wrapper):
            raise InputError(f"{text}: {entry.name!r} is no wrapper, so that no strategy can stand inside it")
        wraps.append(Wrap(wrapper, part.params, spec=text, cache_key=_cache_key(entry)))
    entry = find("strategies", last.name, project=project)
    definition = load_definition(entry)
    if isinstance(definition, Wrapper):
        example = Spec(last.name, last.params, Spec("greedy"))
        raise InputError(f"{text}: {entry.name!r} is a wrapper; put a strategy inside, as in {example}")
    params = merge_params(text, definition, last.params)
    settled = Spec(last.name, {key: value for key, value in params.items() if value != definition.defaults[key]})
    for part, wrap in zip(reversed(outer), reversed(wraps), strict=True):
        settled = Spec(part.name, wrap.params, settled)
    return Strategy(definition, params, spec=str(settled), cache_key=_cache_key(entry), speed=speed, wraps=wraps)


def hold(strategy: Strategy, name: str) -> Strategy:
    """Return a strategy with a bundled wrapper around it, at its default parameters."""
    return strategy.hold(_find_wrap(name))


@cache
def _find_wrap(name: str) -> Wrap:
    entry = next(entry for entry in list_entries("strategies") if entry.name == name and is_bundled(entry))
    wrapper = load_definition(entry)
    assert isinstance(wrapper, Wrapper), name
    return Wrap(wrapper, {}, spec=name, cache_key=_cache_key(entry))


def _cache_key(entry: Entry) -> str | None:
    return source_hash(entry) if is_bundled(entry) else None


def find_sources(spec: str, *, project: Path | None = None) -> list[Entry]:
    """Find the files of a spec, those of its wrappers first, importing none."""
    return [find("strategies", part.name, project=project) for part in parse_spec(spec).parts()]


def hash_sources(spec: str, *, project: Path | None = None) -> str:
    """Return the SHA-256 of the file that holds a strategy; with wrappers, that of the hashes of all its files."""
    hashes = [source_hash(entry) for entry in find_sources(spec, project=project)]
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()


def identify(spec: str, *, project: Path | None = None) -> str:
    """Return one text for all specs of the same strategy of the same file, by whatever path or name it is called."""
    identity = ""
    for part, entry in zip(parse_spec(spec).parts(), find_sources(spec, project=project), strict=True):
        identity += f"{Spec(f'{entry.path.resolve()}:{entry.name}', part.params)} "
    return identity


def load_definition(entry: Entry) -> Definition | Wrapper:
    """Import the file of an entry and return what it defines."""
    definition = getattr(load_module(entry), entry.name, None)
    if inspect.isfunction(definition):  # named by its path, it needs no decorator
        return strategy(definition)
    if not isinstance(definition, Definition | Wrapper):
        raise InputError(f"{entry.path}: {entry.name!r} is not a strategy; decorate it with @strategy of azulsim")
    return definition


_KINDS = {
    "score": "score(move)",
    "score_position": "score(move, position)",
    "choose": "choose(view, moves, rng)",
    "move": "compiled move",
}


def _describe_kind(definition: Definition | Wrapper) -> str:
    if isinstance(definition, Wrapper):
        return "wrapper"
    return "score(move, position, notes)" if definition.prepare else _KINDS[definition.shape]


def describe(spec: str, *, project: Path | None = None) -> list[dict[str, Any]]:
    """Say what the parts of a spec are, wrappers first: `spec`, `doc`, `about`, `kind`, `parameters`, `path`.

    Raises
    ------
    InputError
        For an unknown name, a file that cannot be imported, or an unknown parameter.
    """
    described = []
    for part in parse_spec(spec).parts():
        entry = find("strategies", part.name, project=project)
        definition = load_definition(entry)
        described.append(
            {
                "spec": str(Spec(part.name, part.params)),
                "doc": definition.doc,
                "about": inspect.getdoc(inspect.getmodule(definition.function)) or "",
                "kind": _describe_kind(definition),
                "limits": {name: list(limits) for name, limits in definition.limits.items()},
                "parameters": merge_params(str(part), definition, part.params),
                "path": str(entry.path),
            }
        )
    return described


def is_bundled(entry: Entry) -> bool:
    """Return True for a strategy that ships with azulsim."""
    return entry.origin == "bundled"


def list_strategies(*, project: Path | None = None) -> list[Entry]:
    """List the strategies that can be named, without importing any."""
    return [entry for entry in list_entries("strategies", project=project) if not entry.is_wrapper]


def list_wrappers(*, project: Path | None = None) -> list[Entry]:
    """List the wrappers that can be named, without importing any."""
    return [entry for entry in list_entries("strategies", project=project) if entry.is_wrapper]
