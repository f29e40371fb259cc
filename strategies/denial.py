"""Denial: what a move leaves to the next player counts too."""

from typing import Any

from azulsim.strategy import Move, strategy, where
from azulsim.strategy.toolbox import has_begun, is_round_over, seat_to_move


@strategy
def denier(move: Move, *, share: float = 0.5, keep: float = 0.3) -> float:
    """Exact gain, and a share of what the move takes from the next player's best exact gain.

    Each tile that finds a place in a line counts `keep`.

    Source: the usual two-player advice to look at the other board. Bad at: three and four players, where the others
    gain as much from what it denies as it does.
    """
    return move.gain + keep * move.placed + share * move.denial


@strategy
def spoiler(move: Move) -> float:
    """Leave the next player the least it can; its own exact gain decides among equals.

    Source: denier, carried too far. Bad at: points.
    """
    return 0.01 * move.gain + move.denial


@strategy
def blocker(move: Move, position: Any, *, block: float = 0.3, keep: float = 0.3) -> float:
    """Exact gain, and `block` for each tile taken of a color that the next player has begun a line with.

    Each tile that finds a place in a line of its own counts `keep`.

    Source: a common habit at the table. Bad at: asking whether the next player could have used the tiles.
    """
    wanted = 0.0
    if not is_round_over(position) and has_begun(position, seat_to_move(position), int(move.color)):
        wanted = move.tiles
    return move.gain + keep * move.placed + block * wanted


@strategy
def center_watcher(move: Move, *, push: float = 0.15, late: float = 12.0) -> float:
    """Watch the center: early in a round leave it small; late, take what fits before it must be taken whole.

    `push` is the dislike of each tile pushed to the center, `late` the number of tiles left on the table below which
    the player takes as many tiles as it can place.

    Source: a Danish guide to Azul (docs/RULES.md, section 8b): many tiles of one color in the center tempt early and
    cost late. Bad at: asking whom the full center will hurt.
    """
    share = move.placed / (move.placed + move.missing + 1)
    eager = where(move.left < late, 0.3 * move.placed, 0.0)
    return move.gain + share - push * move.to_center + eager
