"""A strategy in plain Python that reads columns of the legal moves: what an author in a hurry writes."""

from typing import Any

from azulsim.strategy import Moves, View, strategy


@strategy
def plain_columns(view: View, moves: Moves, rng: Any) -> int:
    """Play the first move with the best exact gain."""
    return int(moves.gain.argmax())
