"""Strategy files for workers that have none: sent as text, laid into a folder of their own by hash, and found there."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from azulsim import registry
from azulsim.registry import Spec, parse_spec

_TRAVELING = ("project", "path")
"""Where a file is found that is sent along; what belongs to an installed package must be installed everywhere."""


@dataclass(frozen=True)
class Luggage:
    """The text of a strategy's file."""

    file: str
    """The file's name, without its folder."""
    strategy: str
    """The name in it."""
    text: bytes


def pack(specs: Iterable[str], project: Path | None) -> dict[str, Luggage]:
    """Read the file of each strategy and wrapper that belongs to no installed package, by its name in the specs."""
    found = {}
    for spec in specs:
        for part, entry in zip(parse_spec(spec).parts(), registry.find_sources(spec, project=project), strict=True):
            if entry.origin in _TRAVELING:
                found[part.name] = Luggage(entry.path.name, entry.name, entry.path.read_bytes())
    return found


@cache
def hash_package() -> str:
    """Return the SHA-256 of the source of azulsim itself, as it is installed here."""
    folder = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(f"{path.relative_to(folder).as_posix()}\n".encode() + path.read_bytes())
    return digest.hexdigest()


hash_package()  # taken when the source is imported: what is played is not that of files edited since


def unpack(luggage: Mapping[str, Luggage], folder: Path) -> dict[str, str]:
    """Write files into a folder, each into one named by its hash, and return by which names they are found there."""
    names = {}
    for name, item in luggage.items():
        path = folder / hashlib.sha256(item.text).hexdigest() / item.file
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_name(f"{path.name}.{threading.get_ident()}.part")  # threads of a worker share the folder
            part.write_bytes(item.text)
            part.replace(path)
        names[name] = f"{path}:{item.strategy}"
    return names


def rename(spec: str, names: Mapping[str, str]) -> str:
    """Return a spec with its strategy and wrappers looked up by other names; those not named stay as they are."""
    return str(_rename(parse_spec(spec), names)) if names else spec


def _rename(spec: Spec, names: Mapping[str, str]) -> Spec:
    inside = None if spec.inside is None else _rename(spec.inside, names)
    return replace(spec, name=names.get(spec.name, spec.name), inside=inside)
