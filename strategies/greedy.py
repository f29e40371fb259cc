"""Greedy play and its refinements: points by the end of this round, with one thing more in mind."""

from azulsim.strategy import Move, maximum, strategy, where


@strategy
def greedy(move: Move, *, floor: float = 1.0) -> float:
    """Play the move with the best exact change of its own round-end score; ties are broken evenly.

    Complete lines count as tiled top to bottom, the floor line with all its spaces, and nothing is clamped at 0. What
    the floor line and the marker cost counts `floor` times.

    Source: several programs. Bad at: lines that pay later, end-of-game bonuses, the next player.
    """
    return move.points - floor * move.penalty


@strategy
def frugal(move: Move, *, spill: float = 0.3, keep: float = 0.6) -> float:
    """Waste nothing: exact gain, less something for each tile that falls, more for each that finds a place.

    So it prefers takes that fit to takes that pay a little more.

    Source: advice for beginners. Bad at: choosing the lines that are worth their tiles.
    """
    return move.gain - spill * move.overflow + keep * move.placed


@strategy
def completer(move: Move, *, finish: float = 1.0, go_on: float = 0.5) -> float:
    """Finish lines: exact gain, more for a line that the move completes, something for going on with a started one.

    It keeps its lines moving, whatever their tiles will score.

    Source: advice for beginners. Bad at: long lines, which it rarely begins.
    """
    return move.gain + finish * move.completes + go_on * (move.before > 0) * move.placed / (move.missing + 1)


@strategy
def first_mover(move: Move, *, start: float = 1.0) -> float:
    """Want to go first: exact gain, and `start` points for the marker, whenever it lies in the center.

    It takes from the center as soon as that is worth its price to it.

    Source: the common belief in the first move. Bad at: knowing when the first move is worth nothing.
    """
    return move.gain + start * move.marker


@strategy
def patient(move: Move, *, trust: float = 0.4) -> float:
    """Count what an unfinished line will pay: exact gain, and a share of the points that the line's tile would score.

    The share is the part of the line that the move fills, times `trust`.

    Source: the partial credit of several programs, in its simplest form. Bad at: lines that nobody can finish, bonuses.
    """
    runs = where(move.across > 1, move.across, 0.0) + where(move.down > 1, move.down, 0.0)
    promise = where(runs > 0, runs, 1.0)
    share = where(move.completes > 0, 0.0, move.placed / maximum(move.line, 1))
    return move.gain + trust * share * promise


@strategy
def short_liner(move: Move, *, bind: float = 0.3) -> float:
    """Keep lines short: dislike every space that stays empty in the line, since it binds tiles without points.

    Source: a Danish guide to Azul (docs/RULES.md, section 8b). Bad at: columns, since it rarely fills line 5.
    """
    return move.gain + 0.2 * move.placed - bind * move.missing
