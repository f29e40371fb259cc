"""The continued games of a run summed by root: every metric of them starts from two small tables.

They are made once a run, since reading all continued games takes a hundred times as long as what is asked of the sums.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal
from weakref import WeakKeyDictionary

from azulsim.errors import InputError
from azulsim.schema import OTHER, TAKE, TAKE_ONLY

if TYPE_CHECKING:
    from azulsim.log import Run

UNITS = {"win_share": "share", "margin": "points", "score": "points"}
"""What a continued game is judged by, and the unit."""
PARTS = {"value": (TAKE, OTHER), "tempo": (TAKE, TAKE_ONLY), "rest": (TAKE_ONLY, OTHER)}
"""The parts of a decision's value: each is the first arm minus the second."""

Kind = Literal["tempo", "decision"]
_summed: WeakKeyDictionary[Run, set[Kind]] = WeakKeyDictionary()


def has_probes(run: Run, kind: Kind) -> bool:
    """Tell whether the run holds a root of a kind."""
    if not run.manifest.is_probed:
        return False
    return bool(run.fetch(f"SELECT 1 FROM roots WHERE kind = '{kind}' LIMIT 1").num_rows)


def sum_starts(run: Run) -> str:
    """Return the table expressions that end in `started`: a row a tempo root and seat, joined to who plays.

    `score_others`, `score_next` and so on: the seat's mean when it starts minus that when the others do, and when the
    next one does; `starts_others`: the same for the share of continued games whose next round it starts. `n` counts
    continuations; `score_xx`, `_yy` and `_xy` are sums of squares and products about the root's means of what the seat
    ends with when it starts (x) and when others do (y). `last_round`: of the longest continued game.
    """
    _prepare(run, "tempo")
    return """
    started AS (
        SELECT played.* EXCLUDE (rounds, score, margin, win_share), tempo_sums.* EXCLUDE (game, seat),
            roots.seat = played.seat AS is_holder
        FROM tempo_sums JOIN played USING (game, seat)
        JOIN roots ON roots.game = played.game AND roots.round = tempo_sums.round AND roots.kind = 'tempo'
    )"""


def sum_decisions(run: Run, weight: str = "n_choices::DOUBLE") -> str:
    """Return the table expressions that end in `decided`: a row a decision root, of the player who decides.

    `weight` is the SQL of what all roots of a game weigh together. `score_value`, `_tempo` and `_rest` are means over
    continuations, `score_error` the standard error of the first, `score_low_loss` and `score_high_loss` what the choice
    made in the game loses, found by halves of the continuations, and by all; `n`, `_xx`, `_yy` and `_xy` as in
    `sum_starts`, for taking (x) and not taking (y).
    """
    _prepare(run, "decision")
    losses = []
    for name in UNITS:
        halves = [f"{name}_half_{half}" for half in (0, 1)]
        gains = [
            f"CASE WHEN flip * {one} > 0 THEN flip * {other} ELSE 0 * {other} END"
            for one, other in (halves, halves[::-1])
        ]
        losses += [f"(({gains[0]}) + ({gains[1]})) / 2 AS {name}_low_loss"]
        losses += [f"greatest(flip * {name}_value, 0) AS {name}_high_loss"]
    return f"""
    decision_roots AS (
        SELECT game, ply, round, seat, took, floor, space_price AS price, take_tiles AS tiles,
            sign(take_gain - other_gain)::INT AS immediate, CASE WHEN took THEN -1 ELSE 1 END AS flip,
            {weight} / count(*) OVER (PARTITION BY game) AS weight, row_number() OVER (ORDER BY game, ply) AS root
        FROM roots WHERE kind = 'decision'
    ),
    decided AS (
        SELECT played.* EXCLUDE (rounds, score, margin, win_share), r.* EXCLUDE (game, seat),
            s.* EXCLUDE (game, ply, seat), {", ".join(losses)}
        FROM decision_roots r JOIN decision_sums s USING (game, ply, seat) JOIN played USING (game, seat)
    )"""


def _prepare(run: Run, kind: Kind) -> None:
    """Let the run's connection know the sums of a kind, `tempo_sums` or `decision_sums`."""
    if not has_probes(run, kind):
        raise InputError(f"{run.path}: no {kind} was probed: the experiment needs a table [probes] with {kind} = {{}}")
    if kind not in _summed.setdefault(run, set()):
        table = run.fetch(_TEMPO_SUMS if kind == "tempo" else _DECISION_SUMS)
        run.connection.register(f"{kind}_sums", table)
        _summed[run].add(kind)


def _list_scatter(name: str) -> list[str]:
    """Return the SQL of the sums of squares and products of the columns `name_x` and `name_y` about their means."""
    x, y = f"{name}_x", f"{name}_y"
    return [
        f"round(count(*) * var_pop({x}), 9) AS {name}_xx",
        f"round(count(*) * var_pop({y}), 9) AS {name}_yy",
        f"round(count(*) * covar_pop({x}, {y}), 9) AS {name}_xy",
    ]


def _make_tempo_sums() -> str:
    numbers = {**{name: name for name in UNITS}, "starts": "(next_starter = seat)::INT"}
    sides = {"x": "arm = seat", "y": "arm <> seat", "z": "arm = (seat + 1) % players"}
    means = [
        f"avg({sql}) FILTER ({where}) AS {name}_{side}"
        for name, sql in numbers.items()
        for side, where in sides.items()
    ]
    gains = [
        f"round(avg({name}_x - {name}_{side}), 9) AS {name}_{against}"
        for name in numbers
        for side, against in (("y", "others"), ("z", "next"))
    ]
    scatter = [sql for name in UNITS for sql in _list_scatter(name)]
    return f"""
    WITH pairs AS (
        SELECT game, round, seat, continuation, max(rounds) AS last_round, {", ".join(means)}
        FROM probes JOIN (SELECT DISTINCT cell, players FROM seats) USING (cell) WHERE kind = 'tempo'
        GROUP BY game, round, seat, continuation
    )
    SELECT game, round, seat, count(*) AS n, max(last_round) AS last_round, {", ".join([*gains, *scatter])}
    FROM pairs GROUP BY game, round, seat"""


def _make_decision_sums() -> str:
    arms = [f"max({name}) FILTER (arm = {arm}) AS {name}_{arm}" for name in UNITS for arm in (OTHER, TAKE, TAKE_ONLY)]
    renamed = [f"{name}_{arm} AS {name}_{side}" for name in UNITS for side, arm in (("x", TAKE), ("y", OTHER))]
    numbers = []
    for name in UNITS:
        value = f"{name}_x - {name}_y"
        numbers += [f"round(avg({name}_{a} - {name}_{b}), 9) AS {name}_{part}" for part, (a, b) in PARTS.items()]
        numbers += [f"stddev_samp({value}) / sqrt(count(*)) AS {name}_error"]
        numbers += [
            f"round(avg({value}) FILTER (continuation % 2 = {half}), 9) AS {name}_half_{half}" for half in (0, 1)
        ]
        numbers += _list_scatter(name)
    return f"""
    WITH arms AS (
        SELECT game, ply, seat, continuation, {", ".join(arms)}
        FROM probes SEMI JOIN (FROM roots WHERE kind = 'decision') USING (game, ply, seat)
        WHERE kind = 'decision' GROUP BY game, ply, seat, continuation
    )
    SELECT game, ply, seat, count(*) AS n, {", ".join(numbers)}
    FROM (SELECT *, {", ".join(renamed)} FROM arms) GROUP BY game, ply, seat"""


_TEMPO_SUMS, _DECISION_SUMS = _make_tempo_sums(), _make_decision_sums()
