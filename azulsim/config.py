"""TOML files and mappings -> frozen, validated values; every complaint names file, key and value."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from azulsim.errors import InputError, did_you_mean


class Frozen(BaseModel):
    """A value that cannot be changed, refuses unknown keys, and does not guess types."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, strict=True)

    def __init__(self, **data: Any) -> None:
        """Build a value from its keys, where lists may stand for tuples; `InputError` says what is wrong with one."""
        lists = {key: _tuples(value) for key, value in data.items() if isinstance(value, list)}
        try:
            super().__init__(**{**data, **lists})
        except ValidationError as error:
            raise InputError(f"{type(self).__name__}: {_sentence(type(self), error)}") from None

    # Tells pydantic that this changes nothing but the words of an error, so that validation need not pass through it.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]


T = TypeVar("T", bound=BaseModel)


def read_toml(path: str | Path) -> dict[str, Any]:
    """Read a TOML file; raise `InputError` naming the file when it is missing or not TOML."""
    path = Path(path) if isinstance(path, str) else path  # one on an object store is no Path, and has its methods
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder, not a TOML file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not valid TOML: {error}") from None
    except RecursionError:
        raise InputError(f"{path}: cannot be read: too many brackets, one inside another") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def validate(model: type[T], data: Mapping[str, Any], *, where: str) -> T:
    """Build a `model` from plain data; `where` (a file, or an option) opens the sentence of any complaint."""
    try:
        return model.model_validate(_tuples(data))
    except ValidationError as error:
        raise InputError(f"{where}: {_sentence(model, error)}") from None


def _tuples(value: Any) -> Any:
    """TOML arrays become tuples: strict validation takes no list for a tuple, and frozen values hold none."""
    if isinstance(value, Mapping):
        return {key: _tuples(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(_tuples(item) for item in value)
    return value


def _sentence(model: type[BaseModel], error: ValidationError) -> str:
    first = error.errors()[0]
    path = [str(part) for part in first["loc"]]
    key = _word_key(first["loc"])
    if first["type"] == "extra_forbidden":
        return f"unknown key {key!r}{did_you_mean(path[-1], _keys(model, path[:-1]))}"
    if first["type"] == "missing":
        return f"key {key!r} is missing"
    reason = str(first["ctx"]["error"]) if first["type"] == "value_error" else _reason(first["type"], first["msg"])
    shown = first["input"]
    if isinstance(shown, Mapping | BaseModel):
        return f"{key}: {reason}" if key else reason
    return f"{key} = {show_value(shown)}: {reason}"


_REASONS = {
    "bool_type": "must be true or false",
    "dict_type": "must be a table of keys",
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "model_attributes_type": "must be a table of keys",
    "model_type": "must be a table of keys",
    "string_type": "must be a text",
    "tuple_type": "must be a list",
}


def _reason(kind: str, message: str) -> str:
    """Return pydantic's message in the words of files."""
    text = _REASONS.get(kind) or message.replace("Input should", "must").replace("String should", "must")
    return text[:1].lower() + text[1:]


def _word_key(path: tuple[int | str, ...]) -> str:
    """Join keys by dots; places in lists count from 1.

    >>> _word_key(("rules", "floor_penalties", 0))
    'rules.floor_penalties, item 1'
    """
    text = ""
    for part in path:
        text += f", item {part + 1}" if isinstance(part, int) else f".{part}" if text else part
    return text


def show_value(value: Any) -> str:
    """Return a value as a TOML file would write it, near enough for a message.

    >>> print(show_value((True, "a", 1)))
    [true, 'a', 1]
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(show_value, value))}]"
    return repr(value)


def flatten_keys(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Join nested keys by dots, so that `rules.bonus.column` may be written with or without quotes."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from flatten_keys(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _keys(model: type[BaseModel], path: list[str]) -> list[str]:
    """List the keys that `model` knows at `path`, by the names used in files."""
    current: Any = model
    for part in path:
        names = {field.alias or name: field.annotation for name, field in current.model_fields.items()}
        annotation = names.get(part)
        kinds = (annotation, *get_args(annotation))  # a table that may be left out is one of two kinds
        current = next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None)
        if current is None:
            return []
    return [field.alias or name for name, field in current.model_fields.items()]
