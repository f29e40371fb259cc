"""How players get in each other's way: who sits beside whom, moves that deny, and how scarce colors are.

Frames are as in `azulsim.metrics.games`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from azulsim.metrics._estimate import contrast, estimate
from azulsim.metrics._rounds import Adder, list_places
from azulsim.metrics._tables import Lineups, Outcome, Sums, collect, require_depth
from azulsim.metrics.course import MOST_ROUNDS
from azulsim.metrics.games import BY, OUTCOMES
from azulsim.rules import COLORS, Rules
from azulsim.schema import game_id

if TYPE_CHECKING:
    from azulsim.log import Cell, Run

Array = npt.NDArray[Any]
NEIGHBOUR_OUTCOMES = ("win_share", "score")

OFFER: dict[str, Outcome] = {
    outcome.name: outcome
    for outcome in (
        Outcome("fewest", "", "tiles", "Tiles of the rarest color on the displays."),
        Outcome("most", "", "tiles", "Tiles of the commonest color on the displays."),
        Outcome(
            "unevenness", "", "times", "Squared differences from equal numbers of all colors, over what luck gives."
        ),
    )
}
"""What `color_scarcity` measures, by name."""

DENIALS: dict[str, Outcome] = {
    outcome.name: outcome
    for outcome in (
        Outcome("denies", "n_denied", "share", "Moves that cost the next player points.", per="n_known"),
        Outcome("denied", "points_denied", "points", "Points that a move costs the next player.", per="n_known"),
    )
}
"""What `denials` measures, by name."""


def neighbours(run: Run, by: Sequence[str] = BY) -> pd.DataFrame:
    """Estimate win share and score by where another strategy sits: columns `other` and `turns_later`.

    `turns_later` says how many turns after the group the other plays: 1 is the next player, players - 1 the one before.
    Only cells in which every two players of the line-up meet in all these positions equally often count
    (`seatings = "full"`): elsewhere who sits where goes with who else is at the table.
    """
    outcomes = [OUTCOMES[name] for name in NEIGHBOUR_OUTCOMES]
    return estimate(_collect_neighbours(run, by), outcomes)


def neighbour_effects(run: Run, by: Sequence[str] = BY) -> pd.DataFrame:
    """Estimate what it does to sit right after another strategy: `other` plays before the group, minus elsewhere.

    Causal, because the schedule assigns seats: the same players at the same tables on the same deals, in another
    order. See `neighbours` for the cells that count; at two players there is no order to compare.
    """
    outcomes = [OUTCOMES[name] for name in NEIGHBOUR_OUTCOMES]
    return contrast(_collect_neighbours(run, by), outcomes, "turns_later", _last_against_rest)


def _last_against_rest(levels: Sequence[object]) -> list[float]:
    """Weight the greatest level with 1 and share -1 among the others."""
    last = max(int(str(level)) for level in levels)
    return [1.0 if level == last else -1 / (len(levels) - 1) for level in levels]


def _collect_neighbours(run: Run, by: Sequence[str]) -> Sums:
    cells = [cell.index for cell in run.manifest.cells if _is_mixed_up(cell)]
    tables = f"""
    beside AS (
        SELECT a.cell, a.seating, a.seat, b.spec::VARCHAR AS other,
            (b.seat::INT - a.seat::INT + a.players) % a.players AS turns_later
        FROM seats a JOIN seats b USING (cell, seating)
        WHERE a.spec <> b.spec AND cell IN ({", ".join(map(str, cells)) or "-1"})
    ),
    meetings AS (FROM played JOIN beside USING (cell, seating, seat))"""
    extra = {"other": "other", "turns_later": "turns_later"}
    outcomes = [OUTCOMES[name] for name in NEIGHBOUR_OUTCOMES]
    sums = collect(run, outcomes, [*by, *extra], base="meetings", tables=tables, lineups="mixed", extra=extra)
    other = pd.Categorical(sums.keys["other"], categories=list(run.manifest.specs))
    return replace(sums, keys=sums.keys.assign(other=other))


def _is_mixed_up(cell: Cell) -> bool:
    """Tell whether every two players of a cell's line-up meet in all positions to each other equally often."""
    n = cell.players
    seen = np.zeros((n, n, n))
    for order in cell.seatings:
        for seat, player in enumerate(order):
            for later in range(1, n):
                seen[player, order[(seat + later) % n], later] += 1
    between = seen[~np.eye(n, dtype=bool)][:, 1:]
    return n > 2 and bool((between == between[:, :1]).all())


def denials(run: Run, by: Sequence[str] = BY, *, lineups: Lineups = "all") -> pd.DataFrame:
    """Estimate how often and by how much moves cost the next player points: the outcomes of `DENIALS`.

    The column `denial` of the moves, what is below 0 counted as 0. Needs depth `moves` and `denial = true`; without it
    all rows have no estimate.
    """
    require_depth(run, "moves", "denials")
    tables = """
    denying AS (
        SELECT game, seat, count(denial) AS n_known, count(*) FILTER (denial > 0) AS n_denied,
            sum(greatest(denial, 0)) AS points_denied
        FROM moves GROUP BY game, seat
    ),
    denied AS (FROM played JOIN denying USING (game, seat))"""
    outcomes = list(DENIALS.values())
    return estimate(collect(run, outcomes, by, lineups=lineups, base="denied", tables=tables), outcomes)


def color_scarcity(
    run: Run, by: Sequence[str] = BY, *, lineups: Lineups = "all", most: int = MOST_ROUNDS
) -> pd.DataFrame:
    """Estimate how unequally colors are dealt in each round, beside what a draw from the full bag gives.

    Outcomes of `OFFER`, over rounds in which all displays could be filled; the column `expected` is the mean under the
    hypergeometric law of a draw from all tiles. Until the bag is first refilled that law holds exactly, whatever the
    players do; later, the tiles on walls and pattern lines are missing, and the difference is what players did to the
    supply. Rules with jokers have no expectation here. Needs depth `rounds`.

    Returns
    -------
    DataFrame
        A row a group, `round` and outcome.
    """
    require_depth(run, "rounds", "color_scarcity")
    names = [name for name in by if name != "seat"]
    places = list_places(run, ("players", *names), lineups)
    adder = Adder(most + 1)
    chosen: dict[tuple[int, Rules], list[Cell]] = {}
    for cell in run.manifest.cells:
        if places.group[places.first[cell.index]] >= 0:
            chosen.setdefault((cell.players, cell.rules), []).append(cell)
    expected: dict[int, tuple[float, ...]] = {}
    for (players, rules), cells in chosen.items():
        law = expect_offer(rules, players)
        index, seating, deal, number, counts = _count_colors(run, cells, rules, most)
        if not len(counts):
            continue
        group = places.group[places.first[index] + seating * players + np.arange(players)[:, None]]
        expected |= dict.fromkeys(np.unique(group).tolist(), law)
        squares = ((counts - counts.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
        ones = np.ones(group.shape)
        columns = (
            counts.min(axis=1),
            counts.max(axis=1),
            squares / law[3] if np.isfinite(law[3]) else np.zeros(len(deal)),
        )
        totals = [ones * column for column in columns]
        adder.add(group, (players << 32) + deal, [ones], totals, number)
    outcomes = list(OFFER.values())
    sums = adder.finish(places, list(OFFER), "round")
    frame = estimate(sums, outcomes)
    laws = pd.DataFrame(
        [(group, name, value) for group, law in expected.items() for name, value in zip(OFFER, law, strict=False)],
        columns=["group", "outcome", "expected"],
    )
    keys = places.keys.assign(group=np.arange(len(places.keys)))
    frame = frame.merge(keys, on=list(places.keys), how="left").merge(laws, on=["group", "outcome"], how="left")
    return frame.drop(columns="group")


def _count_colors(run: Run, cells: Sequence[Cell], rules: Rules, most: int) -> tuple[Array, Array, Array, Array, Array]:
    """Return, for each full deal, cell, seating, deal, round and the number of tiles of each color, (rows, 5)."""
    width = rules.n_displays(cells[0].players) * rules.tiles_per_display
    numbers = [cell.index for cell in cells]
    chosen = f"cell IN ({', '.join(map(str, numbers))})"
    table = run.fetch(f"""
        SELECT cell::BIGINT AS cell, seating::BIGINT AS seating, deal::BIGINT AS deal, round::BIGINT AS round, displays
        FROM rounds WHERE seat = 0 AND NOT is_short AND round <= {int(most)} AND {chosen}
            AND game BETWEEN {game_id(min(numbers), 0, 0)} AND {game_id(max(numbers) + 1, 0, 0)}""")
    cell, seating, deal, number = (table.column(name).to_numpy() for name in ("cell", "seating", "deal", "round"))
    pieces = [np.zeros(0, np.uint8)]
    for piece in table.column("displays").chunks:
        fixed = piece.cast(pa.binary()).cast(pa.binary(width))
        pieces.append(np.frombuffer(fixed.buffers()[1], np.uint8, width * len(fixed), width * fixed.offset))
    letters = np.concatenate(pieces).reshape(-1, width)
    counts = np.stack([(letters == ord(color)).sum(axis=1) for color in COLORS], axis=1)
    return cell, seating, deal, number, counts


@lru_cache
def expect_offer(rules: Rules, players: int) -> tuple[float, float, float, float]:
    """Return what a draw from all tiles gives on average when a round is dealt.

    Tiles of the rarest and of the commonest color, the unevenness (1), and the squared differences it is measured by;
    all NaN with jokers, or if there are not tiles enough.
    """
    n, each = rules.n_displays(players) * rules.tiles_per_display, rules.n_tiles_of_color(players)
    if rules.joker_tiles or n > each * len(COLORS):
        return (float("nan"),) * 4
    ways = [comb(each, k) for k in range(min(n, each) + 1)]
    total = comb(each * len(COLORS), n)

    def count(low: int, high: int) -> int:
        """Return the number of draws in which each color has from `low` to `high` tiles."""
        sums = {0: 1}
        for _ in COLORS:
            after: dict[int, int] = {}
            for drawn, number in sums.items():
                for k in range(low, min(high, n - drawn, len(ways) - 1) + 1):
                    after[drawn + k] = after.get(drawn + k, 0) + number * ways[k]
            sums = after
        return sums.get(n, 0)

    # The mean of a count is the sum of the chances that it reaches 1, 2, ...
    fewest = sum(count(k, n) / total for k in range(1, n // len(COLORS) + 1))
    most = sum(1 - count(0, k) / total for k in range(n))
    share, size = 1 / len(COLORS), each * len(COLORS)
    squares = len(COLORS) * n * share * (1 - share) * (size - n) / (size - 1)
    return fewest, most, 1.0, squares
