"""The starting player marker: how often, when and at what price it is taken, and what goes with holding it.

Frames are as in `azulsim.metrics.games`. Only `starter_effects` is causal: seats are assigned, so who starts
round 1 is too. What holders do afterwards is an association: strong positions and strong players may take the
marker more often, or less.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from azulsim.metrics._estimate import contrast, estimate, number_outcomes
from azulsim.metrics._tables import Lineups, Outcome, choose_by_cell, collect, require_depth
from azulsim.metrics.games import BY, OUTCOMES
from azulsim.rules import MAX_ROUNDS

if TYPE_CHECKING:
    from azulsim.log import Run

TAKINGS: dict[str, Outcome] = {
    outcome.name: outcome
    for outcome in (
        Outcome(
            "price", "marker_price", "points", "Penalty with the marker minus without it, at the end of the round."
        ),
        Outcome("price_paid", "marker_price_paid", "points", "The same, of points really lost after the clamp at 0."),
        Outcome("space_price", "space_price", "points", "Penalty of the floor space the marker was laid on."),
        Outcome("free", "(marker_price_paid = 0)::INT", "share", "Takings that cost nothing in the end."),
        Outcome("forced", "forced::INT", "share", "Takings in which every legal move took the marker."),
        Outcome("floor_before", "floor_before", "spaces", "Floor spaces occupied before the taking move."),
        Outcome("tiles", "tiles", "tiles", "Tiles that came with the marker."),
        Outcome("move", "move", "moves", "Move of the round with which it was taken, counted from 1."),
        Outcome("progress", "progress", "share", "Part of the round's moves made before the taking: 0 first, 1 last."),
    )
}
"""The outcomes of a taking that `takings` knows, by name."""


def starter_effects(run: Run, by: Sequence[str] = BY, *, lineups: Lineups = "all") -> pd.DataFrame:
    """Estimate what starting round 1 does: seat 0 minus the mean of the other seats, in score, margin and win share.

    Causal: seats are assigned by the schedule, and every player of a line-up sits in each seat on the same deals.
    Includes all that follows from starting (who takes the marker later, for one), for these strategies.
    """
    outcomes = [OUTCOMES[name] for name in ("score", "margin", "win_share")]
    sums = collect(run, outcomes, [*by, "seat"], lineups=lineups)
    # A group that never sat in seat 0 has no effect to speak of; neither has one that only sat there.
    return contrast(sums, outcomes, "seat", lambda seats: _first_against_rest(seats, 0))


def marker_rates(run: Run, by: Sequence[str] = BY, *, lineups: Lineups = "all") -> pd.DataFrame:
    """Estimate the share of rounds in which a seat takes the marker, beside an equal share (column `fair`).

    Outcomes: `takes` (of all rounds), `unclaimed` (rounds in which nobody took it). Needs depth `rounds`.
    """
    require_depth(run, "rounds", "marker_rates")
    outcomes = [
        Outcome("takes", "is_holder::INT", "share", "Rounds in which the seat took the marker."),
        Outcome("unclaimed", "(holder < 0)::INT", "share", "Rounds in which nobody took the marker."),
    ]
    frame = estimate(collect(run, outcomes, by, lineups=lineups, base="round_rows", tables=_ROUND_ROWS), outcomes)
    if "players" in frame:
        frame["fair"] = (1 / frame["players"]).where(frame["outcome"] == "takes")
    return frame


def takings(
    run: Run,
    by: Sequence[str] = (*BY, "round"),
    *,
    outcomes: Sequence[str] = tuple(TAKINGS),
    lineups: Lineups = "all",
    most: int = 8,
) -> pd.DataFrame:
    """Estimate when and at what price the marker is taken: means of `TAKINGS` over takings, by the taker.

    `by` may also name `round` (all rounds from `most` on are together in the row `most`). The outcomes `price`,
    `price_paid` and `free` need a log of depth `rounds`, the others `moves`.
    """
    chosen = [TAKINGS[name] for name in outcomes]
    cheap = {"price", "price_paid", "free"}
    if not {*outcomes} <= cheap:
        require_depth(run, "moves", "takings")
    require_depth(run, "rounds", "takings")
    with_moves = not {*outcomes} <= cheap
    sums = collect(
        run,
        chosen,
        by,
        lineups=lineups,
        base="takings",
        tables=_takings_sql(run, with_moves=with_moves),
        extra={"round": f"least(round, {int(most)})"},
    )
    return estimate(sums, chosen)


def marker_offers(
    run: Run, by: Sequence[str] = (*BY, "round"), *, lineups: Lineups = "all", most: int = 8
) -> pd.DataFrame:
    """Estimate how often the marker is taken when it can be: outcome `taken`, the share of offers that are accepted.

    An offer is a decision in which the marker lies in a center that is not empty, and not every legal move takes it.
    `by` may also name `round` (all from `most` on are together in the row `most`) and `price`, the points of the floor
    space on which the marker would lie. Needs depth `moves`.
    """
    require_depth(run, "moves", "marker_offers")
    extra = {"round": f"least(round, {int(most)})", "price": "price"}
    keys = [name for name in by if name in extra]
    tables = f"""{offers_sql(run, keys)},
    offered AS (
        SELECT played.* EXCLUDE (rounds), offers.* EXCLUDE (game, seat) FROM offers JOIN played USING (game, seat)
    )"""
    sums = collect(run, [OFFERED], by, lineups=lineups, base="offered", tables=tables, extra=extra)
    return estimate(sums, [OFFERED])


OFFERED = Outcome("taken", "n_taken", "share", "Offers of the marker that are accepted.", per="n_offers")


def taking_moves(run: Run, by: Sequence[str] = BY, *, lineups: Lineups = "all", most: int = 20) -> pd.DataFrame:
    """Estimate how early in the round the marker is taken: share of takings by move of the round (column `move`).

    The moves of all seats count, from 1; all from `most` on are together in the row `most`. Needs depth `moves`.
    """
    require_depth(run, "moves", "taking_moves")
    outcomes = [
        Outcome(str(k), f"(least(move, {int(most)}) = {k})::INT", "share", f"Takings with move {k} of the round.")
        for k in range(1, most + 1)
    ]
    sums = collect(run, outcomes, by, lineups=lineups, base="takings", tables=_takings_sql(run, with_moves=True))
    frame = estimate(sums, outcomes)
    frame = number_outcomes(frame, "move")
    if frame.empty:
        return frame
    latest = int(frame.loc[frame["estimate"] > 0, "move"].max())
    kept: pd.DataFrame = frame.loc[frame["move"] <= latest].reset_index(drop=True)
    return kept


def holder_associations(
    run: Run, by: Sequence[str] = (*BY, "round"), *, lineups: Lineups = "all", most: int = 8
) -> pd.DataFrame:
    """Estimate how those who took the marker in a round end the game, against the same group when it did not.

    Outcomes `win_share`, `margin` and `score` at the end of the game: takers minus others. Association, not
    effect: positions in which the marker is taken differ in more than the marker. Needs depth `rounds`.
    """
    require_depth(run, "rounds", "holder_associations")
    outcomes = [OUTCOMES[name] for name in ("win_share", "margin", "score")]
    return _contrast_rounds(run, outcomes, by, "is_holder", where="holder >= 0", lineups=lineups, most=most)


def next_round_associations(
    run: Run, by: Sequence[str] = (*BY, "round"), *, lineups: Lineups = "all", most: int = 8
) -> pd.DataFrame:
    """Estimate what starters of rounds 2 and later score in that round, against the same group when not starting.

    Outcomes: `gain` (points of tiles placed), `penalty_paid` (points lost to the floor) and `change` (of the
    score). Association: these starters chose to take the marker the round before. Needs depth `rounds`.
    """
    require_depth(run, "rounds", "next_round_associations")
    outcomes = [
        Outcome("change", "gain - penalty_paid", "points", "Change of the score in the round."),
        Outcome("gain", "gain", "points", "Points scored by tiles placed in the round."),
        Outcome("penalty_paid", "penalty_paid", "points", "Points lost to the floor in the round, after the clamp."),
    ]
    return _contrast_rounds(run, outcomes, by, "is_starter", where="round >= 2", lineups=lineups, most=most)


def _contrast_rounds(
    run: Run, outcomes: Sequence[Outcome], by: Sequence[str], flag: str, *, where: str, lineups: Lineups, most: int
) -> pd.DataFrame:
    """Estimate the rows of rounds in which `flag` holds minus the others, within the groups."""
    extra = {"round": f"least(round, {int(most)})", flag: flag}
    sums = collect(
        run, outcomes, [*by, flag], lineups=lineups, where=where, extra=extra, base="round_rows", tables=_ROUND_ROWS
    )
    return contrast(sums, outcomes, flag, lambda levels: _first_against_rest(levels, True))


def _first_against_rest(levels: Sequence[object], first: object) -> list[float]:
    """Weight the level `first` with 1 and share -1 among the others; all NaN if it is missing."""
    if first not in levels:
        return [float("nan")] * len(levels)
    return [1.0 if level == first else -1 / (len(levels) - 1) for level in levels]


_ROUND_ROWS = """
    round_rows AS (
        SELECT played.* EXCLUDE (rounds), r.* EXCLUDE (game, seat, cell, deal, seating),
            r.holder = r.seat AS is_holder, r.starter = r.seat AS is_starter
        FROM rounds r JOIN played USING (game, seat)
    )"""


def _space_price_sql(run: Run, floor: str) -> str:
    """Return the SQL of what the marker costs on the floor space after `floor` occupied ones."""
    prices = {}
    for cell in run.manifest.cells:
        cost, penalties = cell.rules.marker_cost, [-points for points in cell.rules.floor_penalties]
        on_floor = f"coalesce(({penalties})[{floor} + 1], 0)" if penalties else "0"
        prices[cell.index] = on_floor if cost == "floor" else str(cost)
    return choose_by_cell(prices)


def offers_sql(run: Run, keys: Sequence[str]) -> str:
    """Return the table expressions that end in `offers`: `n_offers` and `n_taken` a game, seat and further `keys`.

    A center is no longer empty when a display was left with other colors; the marker lies there until it is taken.
    """
    dealt = choose_by_cell({cell.index: str(cell.rules.tiles_per_display) for cell in run.manifest.cells})
    chosen = "".join(f", {name}" for name in keys)
    price = f", {_space_price_sql(run, 'floor')} AS price" if "price" in keys else ""
    # One key in place of two: with two, DuckDB takes the moves for the smaller side, and holds them all in memory.
    key = f"(game::HUGEINT * {MAX_ROUNDS + 1} + round)"
    return f"""
    short_rounds AS (SELECT {key} AS short_key, displays FROM rounds WHERE seat = 0 AND is_short),
    forced_rounds AS (SELECT {key} AS forced_key FROM rounds WHERE forced),
    opened AS (
        SELECT {key} AS open_key, min(ply) FILTER (marker) AS taken, min(ply) FILTER (source > 0 AND tiles < CASE
            WHEN displays IS NULL THEN {dealt}
            ELSE length(replace(substr(displays, (source::INT - 1) * {dealt} + 1, {dealt}), '.', '')) END) AS opened
        FROM moves LEFT JOIN short_rounds ON {key} = short_key GROUP BY open_key
    ),
    decided AS (SELECT opened.*, forced_key FROM opened LEFT JOIN forced_rounds ON open_key = forced_key),
    offers AS (
        SELECT game, seat{chosen}, count(*) AS n_offers, count(*) FILTER (marker) AS n_taken
        FROM (
            SELECT game, seat, round, marker{price} FROM moves JOIN decided ON {key} = open_key
            WHERE ply > opened AND (taken IS NULL OR ply <= taken) AND NOT (marker AND forced_key IS NOT NULL)
        )
        GROUP BY game, seat{chosen}
    )"""


def _takings_sql(run: Run, *, with_moves: bool) -> str:
    """Return the table expressions that end in `takings`: a row a round in which the marker was taken."""
    if not with_moves:
        return """
    takings AS (
        SELECT played.*, r.round, r.marker_price, r.marker_price_paid
        FROM rounds r JOIN played USING (game, seat) WHERE r.holder = r.seat
    )"""
    return f"""
    round_moves AS (
        SELECT game, round, min(ply) AS first_ply, max(ply) AS last_ply,
            min(ply) FILTER (marker) AS taking_ply,
            max(floor) FILTER (marker) AS floor_before, max(placed + overflow) FILTER (marker) AS tiles
        FROM moves GROUP BY game, round
    ),
    takings AS (
        SELECT played.*, r.round, r.marker_price, r.marker_price_paid, r.forced, floor_before, tiles,
            taking_ply - first_ply + 1 AS move,
            (taking_ply - first_ply) / nullif(last_ply - first_ply, 0)::DOUBLE AS progress,
            {_space_price_sql(run, "floor_before")} AS space_price
        FROM rounds r JOIN played USING (game, seat) JOIN round_moves m ON m.game = r.game AND m.round = r.round
        WHERE r.holder = r.seat
    )"""
