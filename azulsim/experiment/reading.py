"""From a file, plain data and words on the command line to an experiment."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from azulsim import catalog
from azulsim.config import flatten_keys, read_toml, show_value, validate
from azulsim.errors import InputError, blame
from azulsim.experiment.model import Experiment
from azulsim.log import locate
from azulsim.notation import parse_rules
from azulsim.rules import Rules, find_rules


def read_experiment(
    source: str | Path, *, project: Path | None = None, overrides: Sequence[str] = (), rules: str | Path | None = None
) -> Experiment:
    """Read an experiment by its name, or from a TOML file.

    Parameters
    ----------
    source
        Name of a bundled experiment or of one in the project folder, or a path, also one on an object store.
    project
        Folder to look in besides the bundled experiments; the working directory if left out.
    overrides
        Texts such as `"rules.bonus.column=5"`, applied in turn.
    rules
        The name of a variant, or a TOML file of rules, that replaces those of the experiment.

    Raises
    ------
    InputError
        One sentence naming file, key and value.
    """
    path = source if not isinstance(source, str) else _find(source, project)
    data = read_toml(path)
    with blame(str(path)):
        data = _load_rules(data, path.parent)
    if rules is not None:
        data["rules"] = _dump(find_rules(rules))
    data.setdefault("name", path.stem)
    data.setdefault("question", catalog.read_question(path.read_text(encoding="utf-8")))
    return _make_changed(data, overrides, where=str(path))


def _find(source: str, project: Path | None) -> Path:
    return locate(source) if "://" in source else catalog.find("experiments", source, project=project).path


def make_experiment(data: Mapping[str, Any], *, where: str = "experiment") -> Experiment:
    """Build an experiment from plain data such as a TOML table; `where` opens the sentence of any complaint."""
    return validate(Experiment, data, where=where)


def _make_changed(data: Mapping[str, Any], overrides: Sequence[str], *, where: str) -> Experiment:
    """Build an experiment from data and overrides; a complaint that an override brought in is put to that one."""
    complaints: list[str] = []
    for changed in [apply_overrides(data, overrides[:n]) for n in range(len(overrides) + 1)]:
        try:
            experiment = make_experiment(changed, where=where)
            complaints.append("")
        except InputError as error:
            complaints.append(str(error))
    if not complaints[-1]:
        return experiment
    first = next(n for n in range(len(complaints)) if set(complaints[n:]) == {complaints[-1]})
    reason = complaints[-1].removeprefix(f"{where}: ")
    raise InputError(f"--set {_show(overrides[first - 1])}: {reason}" if first else f"{where}: {reason}")


def apply_overrides(data: Mapping[str, Any], overrides: Iterable[str]) -> dict[str, Any]:
    """Return a copy of nested tables with `key.key=value` texts applied; a value is read as TOML, or else as text.

    A number at the end of a key means an item of a list, counted from 1; the one after the last is added.

    >>> apply_overrides({"deals": 5, "rules": {}}, ["deals=10", "rules.bonus.column=5", "log=moves"])
    {'deals': 10, 'rules': {'bonus': {'column': 5}}, 'log': 'moves'}
    >>> apply_overrides({"lineup": ["greedy", "uniform"]}, ["lineup.2=denier"])
    {'lineup': ['greedy', 'denier']}

    Raises
    ------
    InputError
        For an override that has no place in the data, or is none.
    """
    result = _copy_tables(data)
    if isinstance(result.get("grid"), Mapping):
        pairs = list(flatten_keys(result["grid"]))
        if len(dict(pairs)) == len(pairs):  # else a key stands there twice, which will be refused
            result["grid"] = dict(pairs)
    for override in overrides:
        try:
            key, value = _parse_override(override)
            _check_key(key)
            _assign(result, key, value)
            result = _load_rules(result, Path())
        except (ValueError, InputError) as error:
            raise InputError(f"--set {_show(override)}: {error}") from None
    return result


def _show(override: str) -> str:
    return override if override.isprintable() else repr(override)


def _parse_override(override: str) -> tuple[list[str], Any]:
    key, is_assigned, text = (part.strip() for part in override.partition("="))
    try:
        parts = _parse_key(key)
    except tomllib.TOMLDecodeError:
        parts = []
    if not is_assigned or not parts:
        raise ValueError("must be KEY=VALUE, such as rules.bonus.column=5")
    return parts, _parse_value(text)


def _check_key(key: list[str]) -> None:
    """Refuse a key that no experiment has, with the nearest one; rules are often written without `rules.`."""
    known = sorted(Experiment.model_fields)
    if key[0] in known:
        return
    typed = ".".join(key)
    rules = [rule for rule, _ in flatten_keys(_dump(Rules()))]
    names = {rule.rpartition(".")[2]: f"rules.{rule}" for rule in rules} | {rule: f"rules.{rule}" for rule in rules}
    names |= {name: name for name in known} | {f"rules.{rule}": f"rules.{rule}" for rule in rules}
    near = difflib.get_close_matches(typed, names, n=1)
    hint = f"did you mean {names[near[0]]!r}?" if near else f"known: {', '.join(known)}; azulsim rules show lists rules"
    raise ValueError(f"unknown key {typed!r}; {hint}")


def _parse_key(key: str) -> list[str]:
    """Split a dotted key as TOML does, quotes included."""
    parts: list[str] = []
    table: Any = tomllib.loads(f"{key} = 0") if "\n" not in key else 0
    while isinstance(table, dict):
        [(part, table)] = table.items()
        parts.append(part)
    return parts


def _parse_value(text: str) -> Any:
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (tomllib.TOMLDecodeError, RecursionError):
        if text.startswith(("[", "{")):
            raise ValueError('not a list or table of TOML; texts in it stand in quotes, as in ["greedy"]') from None
        return text
    return parsed["value"] if len(parsed) == 1 else text


def _assign(data: dict[str, Any], key: list[str], value: Any) -> None:
    """Set a key of nested tables, or an item of a list, making the tables on the way."""
    if key[0] == "grid" and len(key) > 1:  # its keys are flat
        is_item = len(key) > 2 and ".".join(key[1:-1]) in data.get("grid", {})
        key = ["grid", ".".join(key[1:-1]), key[-1]] if is_item else ["grid", ".".join(key[1:])]
    table: Any = data
    for number, part in enumerate(key[:-1]):
        if part not in table:
            table[part] = _find_printed(key[: number + 1])
        inner = table[part]
        if isinstance(inner, list | tuple) and number == len(key) - 2:
            table[part] = _replace_item(inner, key[-1], value)
            return
        if not isinstance(inner, dict):
            raise ValueError(f"{part!r} holds {show_value(inner)}, which has no keys below it")
        table = inner
    table[key[-1]] = value


def _find_printed(key: list[str]) -> Any:
    """Return the list that the printed rules have at a key, else an empty table."""
    found: Any = {"rules": _dump(Rules())}
    for part in key:
        found = found.get(part) if isinstance(found, dict) else None
    return found if isinstance(found, list | tuple) else {}


def _replace_item(items: Sequence[Any], place: str, value: Any) -> list[Any]:
    number = int(place) if place.isdecimal() else 0
    if not 1 <= number <= len(items) + 1:
        raise ValueError(
            f"{place!r} is no item of {show_value(list(items))}; write a number from 1 to {len(items) + 1}"
        )
    return [*items[: number - 1], value, *items[number:]]


def _load_rules(data: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Put rules in the place of the texts that name them, at the top and in the grid."""
    loaded = dict(data)
    if isinstance(data.get("rules"), str):
        loaded["rules"] = _dump(_read_rules(data["rules"], folder))
    grid = data.get("grid")
    if isinstance(grid, Mapping) and isinstance(grid.get("rules"), list | tuple):
        rules = [_dump(_read_rules(value, folder)) if isinstance(value, str) else value for value in grid["rules"]]
        loaded["grid"] = {**grid, "rules": rules}
    return loaded


def _read_rules(text: str, folder: Path) -> Rules:
    return parse_rules(text) if text.startswith("{") else find_rules(text, folder=folder)


def _dump(rules: Rules) -> dict[str, Any]:
    return rules.model_dump(by_alias=True)


def _copy_tables(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _copy_tables(value) if isinstance(value, Mapping) else value for key, value in table.items()}
