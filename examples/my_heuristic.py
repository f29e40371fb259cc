"""Is my idea better than greedy, and by how much? Run me: `python examples/my_heuristic.py`."""

from __future__ import annotations

import azulsim
from azulsim.strategy import Move, strategy


@strategy
def careful(move: Move, *, fear: float = 0.5) -> float:
    """Greedy, but every tile that falls to the floor hurts more than it costs."""
    return move.gain - fear * move.overflow


if __name__ == "__main__":
    ideas = [f"{__file__}:careful(fear={fear})" for fear in (0.1, 0.5, 1.0)]
    comparison = azulsim.compare([*ideas, "greedy"], deals=200, seed=1)
    print(comparison)

    # Everything is also a frame: here, what each of them pays to the floor in a game, by seat.
    games = comparison.run.games(columns=["spec", "seat", "floor_paid"])
    print(games.pivot_table("floor_paid", "spec", "seat", observed=True).round(2))
