"""Four tactics from a Danish guide to Azul, each made a player by adding it to exact gain.

Source: the guide's advice (RULES 8b): connect a row and a column with one tile; beware of long lines that bind space
without points; watch the center, where many tiles of one color are tempting early and costly late; watch who is one
color from ending the game. Bad at: whatever the other three would have told it.
"""

from azulsim.strategy import Move, strategy, where


@strategy
def connector(move: Move, *, link: float = 0.4) -> float:
    """Connect: prefer spaces whose tile would lengthen a row and a column at once.

    The link counts by the share of the line that the move fills, so that a distant promise weighs little.
    """
    share = move.placed / (move.placed + move.missing + 1)
    return move.gain + link * share * (
        move.across + move.down + where(move.across > 1, 1, 0) * where(move.down > 1, 2, 0)
    )


@strategy
def short_liner(move: Move, *, bind: float = 0.3) -> float:
    """Keep lines short: dislike every space that stays empty in the line, since it binds tiles without points.

    Rarely fills line 5, and so rarely sees a column through.
    """
    return move.gain + 0.2 * move.placed - bind * move.missing


@strategy
def center_watcher(move: Move, *, push: float = 0.15, late: float = 12.0) -> float:
    """Watch the center: early in a round leave it small; late, take what fits before it must be taken whole.

    `push` is the dislike of each tile pushed to the center, `late` the number of tiles left on the table below which
    the player takes as many tiles as it can place.
    """
    share = move.placed / (move.placed + move.missing + 1)
    eager = where(move.left < late, 0.3 * move.placed, 0.0)
    return move.gain + share - push * move.to_center + eager


@strategy
def end_watcher(move: Move, *, plan: float = 0.6, rush: float = 4.0) -> float:
    """Watch the end: build columns and colors while there is time, and cash in when somebody is about to end the game.

    Somebody is, when another player's wall has `rush` tiles in a row; from then on only points of this round count.
    """
    share = move.placed / (move.placed + move.missing + 1)
    building = plan * share * (1 + move.column_tiles + 0.5 * move.color_tiles)
    return move.gain + where(move.rival_row >= rush, 0.0, building)
