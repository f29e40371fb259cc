"""Says in what two runs differ: in what was asked, in what version played it, in the files of the strategies."""

from __future__ import annotations

import json
from typing import Any

from azulsim.config import flatten_keys
from azulsim.log.manifest import Manifest

_NOT_PLAYED = ("experiment.question", "experiment.reports")
_CHANGED, _OTHER = "has changed", "is another one"


def find_differences(one: Manifest, other: Manifest, words: tuple[str, str] = ("there", "now")) -> list[str]:
    """Name what differs between two runs, one text each; what no game depends on is left out.

    Parameters
    ----------
    words
        Where one value is, and where the other.
    """
    differences = []
    for key in ("", "experiment", "sources"):
        old, new = _facts(one, key), _facts(other, key)
        for name in sorted({*old, *new}):
            place = f"{key}.{name}" if key else name
            if old.get(name) != new.get(name) and not place.startswith(_NOT_PLAYED):
                differences.append(_word(key, name, old.get(name), new.get(name), words))
    return differences


def find_edit(one: Manifest, other: Manifest, words: tuple[str, str] = ("there", "now")) -> list[str]:
    """Say that two runs are played by other sources of one version of azulsim, as before and after an edit.

    It matters only where shards of both would lie side by side, since each may play and cut its games its own way.
    """
    if one.source == other.source:
        return []
    return [f"the source of azulsim {_CHANGED if words[1] == 'now' else _OTHER}"]


def _facts(manifest: Manifest, key: str) -> dict[str, Any]:
    if key == "experiment":
        return dict(flatten_keys(json.loads(json.dumps(manifest.experiment))))
    if key == "sources":
        return dict(manifest.sources)
    return {"azulsim": manifest.azulsim, "on_failure": manifest.on_failure}


def _word(key: str, name: str, old: Any, new: Any, words: tuple[str, str]) -> str:
    if key == "sources":
        if old and new:
            return f"the file of {name} {_CHANGED if words[1] == 'now' else _OTHER}"
        return f"{name}: only {words[0] if old else words[1]}"
    return f"{name}: {_show(old)} {words[0]}, {_show(new)} {words[1]}"


def _show(value: Any) -> str:
    return "nothing" if value is None else repr(value)
