"""The run folder and its parquet tables: the only room that writes or reads them.

    RUN/manifest.json           what was asked and how it was made; the only place with time stamps
    RUN/experiment.toml         the experiment, with every default spelled out
    RUN/environment.json        Python, machine and versions of the libraries
    RUN/games/<shard>.parquet   likewise rounds, moves, placements (by log depth) and failures (if there are any)
    RUN/commits/<shard>.json    written last: the rows, bytes and content hash of the shard's tables

A shard counts only when its commit marker is there and the files it names are as long as it says. Reading
executes nothing: no pickle, no plugin, and no name from a file ever becomes a path.
"""

from azulsim.log.manifest import Cell, CellEvidence, Commit, Manifest, OutcomeName, Shard, Stopped
from azulsim.log.merge import merge_runs
from azulsim.log.outcomes import BOUNDS, read_outcome, sum_outcome
from azulsim.log.read import Run, read_run
from azulsim.log.status import Status, read_status
from azulsim.log.store import locate
from azulsim.log.write import create_run, hash_table, make_folders, mark_shard, write_manifest, write_shard

__all__ = [
    "BOUNDS",
    "Cell",
    "CellEvidence",
    "Commit",
    "Manifest",
    "OutcomeName",
    "Run",
    "Shard",
    "Status",
    "Stopped",
    "create_run",
    "hash_table",
    "locate",
    "make_folders",
    "mark_shard",
    "merge_runs",
    "read_outcome",
    "read_run",
    "read_status",
    "sum_outcome",
    "write_manifest",
    "write_shard",
]
