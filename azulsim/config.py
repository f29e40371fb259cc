"""TOML files and mappings -> frozen, validated values; every complaint names file, key and value."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from azulsim.errors import InputError, did_you_mean


class Frozen(BaseModel):
    """A value that cannot be changed, refuses unknown keys, and does not guess types."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, strict=True)


T = TypeVar("T", bound=BaseModel)


def read_toml(path: str | Path) -> dict[str, Any]:
    """Read a TOML file; raise `InputError` naming the file when it is missing or not TOML."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder, not a TOML file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not valid TOML: {error}") from None
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
    key = ".".join(path)
    if first["type"] == "extra_forbidden":
        return f"unknown key {key!r}{did_you_mean(path[-1], _keys(model, path[:-1]))}"
    if first["type"] == "missing":
        return f"key {key!r} is missing"
    reason = str(first["ctx"]["error"]) if first["type"] == "value_error" else first["msg"]
    reason = reason[:1].lower() + reason[1:]
    shown = first["input"]
    if isinstance(shown, Mapping | BaseModel):
        return f"{key}: {reason}" if key else reason
    return f"{key} = {shown!r}: {reason}"


def _keys(model: type[BaseModel], path: list[str]) -> list[str]:
    """List the keys that `model` knows at `path`, by the names used in files."""
    current: Any = model
    for part in path:
        names = {field.alias or name: field.annotation for name, field in current.model_fields.items()}
        current = names.get(part)
        if not (isinstance(current, type) and issubclass(current, BaseModel)):
            return []
    return [field.alias or name for name, field in current.model_fields.items()]
