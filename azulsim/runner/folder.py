"""The folder of a run: made new, or found to hold an earlier sitting of the very same run."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from azulsim import __version__, log, registry
from azulsim.errors import InputError
from azulsim.experiment import Plan
from azulsim.log import Manifest
from azulsim.log.differences import find_differences, find_edit
from azulsim.log.manifest import read_manifest
from azulsim.runner.luggage import hash_package

OnFailure = Literal["leave-out", "abort", "forfeit"]
"""What to do about a game that a strategy spoils: leave its deal out, stop the run, or let the strategy lose it."""


def open_folder(
    folder: Path,
    plan: Plan,
    project: Path | None,
    share: str | None = None,
    on_failure: OnFailure | None = None,
) -> Manifest:
    """Make the run folder, or find in it an earlier sitting of the very same run.

    Parameters
    ----------
    share
        Which shards it is to hold, such as `"1/4"`; if left out, what the folder says, or all.
    on_failure
        If left out, what the folder says, or `"leave-out"`.
    """
    manifest = describe(plan, project, share or "", on_failure)
    if folder.is_file() or not (folder / "manifest.json").exists():
        log.create_run(folder, manifest, plan.experiment.to_toml())
        return manifest
    earlier = read_manifest(folder)
    if on_failure is None:
        manifest = manifest.model_copy(update={"on_failure": earlier.on_failure})
    differences = find_differences(earlier, manifest)
    if share is not None and share != earlier.share:
        differences.append(f"shard: {earlier.share or 'all'} there, {share} now")
    if not differences and not earlier.finished:
        differences = find_edit(earlier, manifest)
    if differences:
        raise InputError(
            f"{folder} holds another run ({'; '.join(differences)}); undo that, or choose another folder with --out of "
            "azulsim run"
        )
    log.make_folders(folder, earlier)  # one that was deleted counts as shards to be played again
    return earlier


def describe(plan: Plan, project: Path | None, share: str = "", on_failure: OnFailure | None = None) -> Manifest:
    """Return the manifest of a plan that is about to be played."""
    experiment = plan.experiment
    return Manifest(
        azulsim=__version__,
        source=hash_package(),
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
        on_failure="forfeit" if on_failure == "forfeit" else "leave-out",
        started=now(),
    )


def now() -> str:
    """Return the time of day in UTC, as manifests give it."""
    return datetime.now(UTC).isoformat(timespec="seconds")
