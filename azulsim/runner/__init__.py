"""Plays an experiment: shards to workers, each worker writing its own part of the run folder.

Results do not depend on the number of workers, because a shard is known by its deals and not by who plays it. Memory
does not grow with the number of games, because rows go from the worker straight to disk and only counts come back.
Whatever a strategy does to the process it plays in costs its own games and no others, because it plays in a child that
is watched.
"""

from azulsim.runner.sitting import run

__all__ = ["run"]
