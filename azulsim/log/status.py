"""Says how far a run is, from its folder alone: no strategy is imported, and nothing is written."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from azulsim.log.manifest import find_gaps, read_commits, read_manifest
from azulsim.log.read import Run, describe_gap, format_count
from azulsim.log.store import locate


@dataclass(frozen=True)
class Status:
    """How far a run is; printing it prints a short table."""

    run: Run
    """The run, with its sound shards only."""
    damaged: tuple[str, ...]
    """What is wrong with each shard that has a commit marker and does not count, as one of its files is not sound."""

    @property
    def is_complete(self) -> bool:
        """True if the folder holds all shards that it is there for."""
        return len(self.run.commits) == self.run.manifest.n_own_shards

    @property
    def n_planned_games(self) -> int:
        """Number of games of the whole experiment."""
        return sum(cell.deals * len(cell.seatings) for cell in self.run.manifest.cells)

    @property
    def seconds(self) -> float:
        """Time that workers spent on the shards that are there, all workers together."""
        return sum(commit.seconds for commit in self.run.commits)

    @property
    def next_step(self) -> str:
        """What to do next, with the command."""
        manifest, path = self.run.manifest, self.run.path
        if not self.run.is_complete:
            return describe_gap(manifest, len(self.run.commits), str(path))
        done = "complete" if manifest.finished else "complete, but for its time of finish: azulsim resume puts it down"
        return f"{done}; read it with: azulsim report {path}"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data for JSON."""
        run, manifest = self.run, self.run.manifest
        return {
            "run": str(run.path),
            "name": manifest.name,
            "question": manifest.question,
            "azulsim": manifest.azulsim,
            "seed": manifest.seed,
            "log": manifest.log,
            "strategies": list(manifest.specs),
            "cells": len(manifest.cells),
            "share": manifest.share or None,
            "shards": len(run.commits),
            "shards_of_folder": manifest.n_own_shards,
            "shards_planned": manifest.shards,
            "damaged": list(self.damaged),
            "games": run.n_games,
            "games_planned": self.n_planned_games,
            "moves": run.n_moves,
            "failures": self._count_failures(),
            "deals_left_out": run.n_deals_left_out,
            "doubts": list(run.doubts),
            "stopped": manifest.stopped.model_dump(mode="json") if manifest.stopped else None,
            "started": manifest.started,
            "finished": manifest.finished or None,
            "worker_seconds": round(self.seconds, 3),
            "complete": run.is_complete,
            "next": self.next_step,
        }

    def _count_failures(self) -> list[dict[str, Any]]:
        if not self.run.n_failures:
            return []
        frame = self.run.failures(columns=["spec", "kind"])
        counts = Counter(zip(frame["spec"], frame["kind"], strict=True))
        return [{"spec": spec, "kind": kind, "games": n} for (spec, kind), n in sorted(counts.items())]

    def __str__(self) -> str:
        run, manifest = self.run, self.run.manifest
        share = f", share {manifest.share}" if manifest.share else ""
        done = len(run.commits)
        of_all = f" (of {manifest.shards:,})" if manifest.share else ""
        planned = f"{format_count(manifest.n_own_shards, 'shard')}{of_all}"
        cells = format_count(len(manifest.cells), "cell")
        workers = f"; {format_count(manifest.jobs, 'worker')}" if manifest.jobs else ""
        spent = f"{self.seconds:,.1f} s of work{workers}"
        ended = "finished" if self.is_complete else "was finished, and has lost shards since:"
        times = [f"begun {manifest.started}", *([f"{ended} {manifest.finished}"] if manifest.finished else [])]
        rows = [
            ("run", f"{run.path}{share}"),
            ("question", manifest.question),
            ("plan", f"{cells}, {self.n_planned_games:,} games; log {manifest.log}"),
            ("made by", f"seed {manifest.seed}, azulsim {manifest.azulsim}"),
            ("strategies", ", ".join(manifest.specs)),
            ("there", f"{done:,} of {planned}: {run.n_games:,} games, {run.n_moves:,} moves"),
            ("time", f"{', '.join(times)}; {spent}"),
            *(("damaged", text) for text in self.damaged),
            ("failures", run.describe_failures() or "none"),
            ("doubts", run.describe_doubts()),
            ("evidence", run.describe_stop()),
            ("state", self.next_step),
        ]
        return "\n".join(f"{name:11} {text}" for name, text in rows if text)


def read_status(path: str | Path) -> Status:
    """Read how far a run is.

    Raises
    ------
    InputError
        If there is no such folder, it is no run folder, or its manifest is damaged.
    """
    folder = locate(path)
    manifest = read_manifest(folder)
    commits = read_commits(folder)
    gaps = find_gaps(folder, commits)
    sound = [commit for commit in commits if commit.shard not in gaps]
    return Status(Run(folder, manifest, sound), tuple(gaps.values()))
