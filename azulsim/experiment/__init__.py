"""A question as a value: TOML or Python in, a plan of cells and shards out.

    experiment = read_experiment("marker-value", overrides=["deals=200"])
    plan = experiment.plan()
    plan.cells      # what a game can be: players x rules x line-up
    plan.shards()   # fixed ranges of deals, named by identity

The keys are described one by one in docs/EXPERIMENTS.md.
"""

from azulsim.experiment.lineups import draw_lineups, iterate_lineups, list_seatings
from azulsim.experiment.model import Experiment
from azulsim.experiment.plan import LEAST_MOVES_PER_SHARD, MOVES_PER_GAME, Plan
from azulsim.experiment.reading import apply_overrides, make_experiment, read_experiment
from azulsim.experiment.stopping import Precision, Stop, Test

__all__ = [
    "LEAST_MOVES_PER_SHARD",
    "MOVES_PER_GAME",
    "Experiment",
    "Plan",
    "Precision",
    "Stop",
    "Test",
    "apply_overrides",
    "draw_lineups",
    "iterate_lineups",
    "list_seatings",
    "make_experiment",
    "read_experiment",
]
