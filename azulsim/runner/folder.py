"""The folder of a run: made new, or found to hold an earlier sitting of the very same run."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from azulsim import __version__, log, registry
from azulsim.errors import InputError
from azulsim.experiment import Plan
from azulsim.log import Manifest
from azulsim.log.differences import find_differences
from azulsim.log.manifest import read_manifest


def open_folder(folder: Path, plan: Plan, project: Path | None, share: str | None = None) -> Manifest:
    """Make the run folder, or find in it an earlier sitting of the very same run.

    Parameters
    ----------
    share
        Which shards it is to hold, such as `"1/4"`; if left out, what the folder says, or all.
    """
    manifest = describe(plan, project, share or "")
    if folder.is_file() or not (folder / "manifest.json").exists():
        log.create_run(folder, manifest, plan.experiment.to_toml())
        return manifest
    earlier = read_manifest(folder)
    differences = find_differences(earlier, manifest)
    if share is not None and share != earlier.share:
        differences.append(f"shard: {earlier.share or 'all'} there, {share} now")
    if differences:
        raise InputError(f"{folder} holds another run ({'; '.join(differences)}); choose another folder with --out")
    log.make_folders(folder, earlier)  # one that was deleted counts as shards to be played again
    return earlier


def describe(plan: Plan, project: Path | None, share: str = "") -> Manifest:
    """Return the manifest of a plan that is about to be played."""
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
        share=share,
        experiment=experiment.model_dump(mode="json", by_alias=True),
        sources={spec: registry.hash_sources(spec, project=project) for spec in plan.specs},
        reports=experiment.reports,
        started=now(),
    )


def now() -> str:
    """Return the time of day in UTC, as manifests give it."""
    return datetime.now(UTC).isoformat(timespec="seconds")
