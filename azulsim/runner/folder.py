"""The folder of a run: made new, or found to hold an earlier sitting of the very same run."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from azulsim import __version__, log, registry
from azulsim.config import flatten_keys
from azulsim.errors import InputError
from azulsim.experiment import Plan
from azulsim.log import Manifest
from azulsim.log.manifest import read_manifest


def open_folder(folder: Path, plan: Plan, project: Path | None) -> Manifest:
    """Make the run folder, or find in it an earlier sitting of the very same run."""
    manifest = describe(plan, project)
    if folder.is_file() or not (folder / "manifest.json").exists():
        log.create_run(folder, manifest, plan.experiment.to_toml())
        return manifest
    earlier = read_manifest(folder)
    if differences := _find_differences(earlier, manifest):
        raise InputError(f"{folder} holds another run ({'; '.join(differences)}); choose another folder with --out")
    log.make_folders(folder, earlier.log)  # one that was deleted counts as shards to be played again
    return earlier


def describe(plan: Plan, project: Path | None) -> Manifest:
    experiment = plan.experiment
    return Manifest(
        azulsim=__version__,
        name=experiment.name,
        question=experiment.question,
        seed=experiment.seed,
        log=experiment.log,
        cells=plan.cells,
        specs=plan.specs,
        shards=plan.n_shards,
        experiment=experiment.model_dump(mode="json", by_alias=True),
        sources={spec: registry.hash_sources(spec, project=project) for spec in plan.specs},
        reports=experiment.reports,
        started=now(),
    )


_NOT_PLAYED = ("experiment.question", "experiment.reports")


def _find_differences(earlier: Manifest, now: Manifest) -> list[str]:
    """Say, one text each, in what a run differs from what is asked for now; what no game depends on is left out."""
    pairs = zip(_facts(earlier), _facts(now), strict=True)
    differences = []
    for (key, old), (_, new) in pairs:
        for name in sorted({*old, *new}):
            place = f"{key}.{name}" if key else name
            if old.get(name) != new.get(name) and not place.startswith(_NOT_PLAYED):
                differences.append(_word(key, name, old.get(name), new.get(name)))
    return differences


def _facts(manifest: Manifest) -> list[tuple[str, dict[str, Any]]]:
    return [
        ("", {"azulsim": manifest.azulsim}),
        ("experiment", dict(flatten_keys(json.loads(json.dumps(manifest.experiment))))),
        ("sources", dict(manifest.sources)),
    ]


def _word(key: str, name: str, old: Any, new: Any) -> str:
    if key == "sources":
        return f"the file of {name} has changed" if old and new else f"{name} is {'new' if new else 'gone'}"
    return f"{name}: {_show(old)} there, {_show(new)} now"


def _show(value: Any) -> str:
    return "nothing" if value is None else repr(value)


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
