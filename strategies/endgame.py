"""Planners of the end: when the game should end, and what the bonuses are worth until then."""

from typing import Any

from azulsim.strategy import Move, strategy, where
from azulsim.strategy.toolbox import best_rival, end_round, mover, score_of


@strategy
def end_watcher(move: Move, *, plan: float = 0.6, rush: float = 4.0) -> float:
    """Watch the end: build columns and colors while there is time, and cash in when somebody is about to end the game.

    Somebody is, when another player's wall has `rush` tiles in a row; from then on only points of this round count.

    Source: a Danish guide to Azul (docs/RULES.md, section 8b): watch who is one color from ending the game. Bad at:
    ending the game itself.
    """
    share = move.placed / (move.placed + move.missing + 1)
    building = plan * share * (1 + move.column_tiles + 0.5 * move.color_tiles)
    return move.gain + where(move.rival_row >= rush, 0.0, building)


@strategy
def bonus_chaser(move: Move, *, column: float = 7.0, color: float = 10.0) -> float:
    """Chase columns and colors: exact gain, and for each line the share that its tile is of the bonuses it leads to.

    Of a bonus, k tiles out of 5 are worth k squared out of 25, so that nearly complete ones count most.

    Source: the bonuses of the rulebook, as several programs credit them. Bad at: giving up a column or color that
    cannot be completed any more.
    """
    share = move.placed / (move.placed + move.missing + 1)
    return move.gain + share * (column * (2 * move.column_tiles + 1) + color * (2 * move.color_tiles + 1)) / 25


@strategy
def rusher(move: Move, *, haste: float = 0.3) -> float:
    """Hurry to the end: exact gain, and a liking for the fullest rows that grows with the square of their tiles.

    It completes the first row it can, whoever leads.

    Source: the advice to end a game before the others have built anything. Bad at: winning the games that it ends.
    """
    share = move.placed / (move.placed + move.missing + 1)
    return move.gain + haste * share * move.row_tiles * move.row_tiles


@strategy
def delayer(move: Move, *, wait: float = 6.0, column: float = 0.4) -> float:
    """Keep the game going: dislike completing a row by `wait` points, and build columns meanwhile.

    Once somebody else completes a row, it has no reason to wait any more and takes what it can get.

    Source: the advice that bonuses need time. Bad at: games in which it leads.
    """
    share = move.placed / (move.placed + move.missing + 1)
    ends = move.completes * (move.row_tiles == 4) * (move.rival_row < 5)
    return move.gain + column * share * (1 + move.column_tiles) - wait * ends


@strategy
def finisher(move: Move, position: Any, *, resolve: float = 12.0, keep: float = 0.6) -> float:
    """End the game when that wins it: `resolve` points for completing a row if it would lead, as many against if not.

    Both are judged by tiling all walls as they are, bonuses included. Each tile that finds a place counts `keep`.

    Source: what strong players say about the fifth tile of a row. Bad at: foreseeing what the others will still do in
    the round.
    """
    value = move.gain + keep * move.placed
    if move.completes and move.row_tiles == 4 and move.rival_row < 5:
        seat = mover(position)
        end_round(position)
        leads = score_of(position, seat) > score_of(position, best_rival(position, seat))
        value += resolve if leads else -resolve
    return value
