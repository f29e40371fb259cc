"""What the report scripts share: which games to look at, words about the evidence, frames by player count."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from azulsim import metrics
from azulsim.log import Run
from azulsim.log.read import format_count
from azulsim.metrics import Lineups, list_cells
from azulsim.report.style import Look, assign_looks
from azulsim.report.words import agree, decimals_for, format_estimate, format_number, join_words

CAPTION = (
    "The mean with its 95 % interval, as half its width or, where it is lopsided, by its ends; hold the pointer over a "
    "number for more."
)
LABELS = {
    "score": "score",
    "winner_score": "winner's score",
    "margin": "margin",
    "winning_margin": "winner's margin",
    "win_share": "win share",
    **{f"seat_{seat}_win_share": f"win share of seat {seat}" for seat in range(4)},
    "tied": "shared first place",
    "rounds": "rounds",
    "plies": "moves in the game",
    "wall_points": "points from tiles",
    "floor_loss": "floor loss",
    "floor_paid": "floor loss, really paid",
    "bonus_points": "bonus points",
    "ender_wins": "the ender wins",
    "unfinished": "no row completed",
    "short_games": "games with a short refill",
    "short_rounds": "rounds with a short refill",
    "marker_takes": "markers taken",
    "times_fair": "times the fair share",
    "elo": "rating",
    "ahead": "finishes ahead",
    "takes": "rounds in which it takes the marker",
    "unclaimed": "rounds in which nobody does",
    "price": "price",
    "price_paid": "price, really paid",
    "space_price": "price of its space",
    "free": "cost nothing",
    "forced": "forced",
    "floor_before": "floor before",
    "tiles": "tiles with it",
    "move": "move of the round",
    "progress": "part of the round gone by",
    "change": "change of score",
    "gain": "points from tiles",
    "penalty_paid": "floor loss, really paid",
    "rows": "complete rows",
    "columns": "complete columns",
    "colors": "complete colors",
    "taken": "offers accepted",
    "cyclic": "cyclic share",
    "nash_skill": "Elo against the mixture",
    "nash_weight": "part in the mixture",
    "distance": "distance",
    "center": "moves from the center",
    "accepts": "marker accepted when offered",
    "holds": "rounds holding the marker",
    "waste": "tiles that fall",
    "fallen": "tiles fallen a round",
    "floor_moves": "moves to the floor line",
    "completes": "moves that complete a line",
    **{f"line_{k}": f"tiles to line {k}" for k in range(1, 6)},
    "open_lines": "unfinished lines at the end",
    "stranded": "tiles on unfinished lines",
    "tile_points": "points a tile on the wall",
    "ends": "ends the game",
    "denies": "moves that deny points",
    "row_bonus": "row bonus",
    "column_bonus": "column bonus",
    "color_bonus": "color bonus",
    "floor": "floor",
    "occupied": "space filled",
}
"""Words for outcomes on pages."""


def make_looks(run: Run) -> dict[str, Look]:
    """Give each strategy of a run its color and marker, in the run's order."""
    return assign_looks(run.manifest.specs)


def choose_lineups(run: Run) -> tuple[Lineups, str]:
    """Choose self-play if every player count played has it, else all games; and say which, and what it means."""
    cells = list_cells(run)
    cells = cells[cells["cell"].isin([commit.cell for commit in run.commits if commit.n_games])]
    with_self_play = set(cells.loc[cells["lineup"] == "self_play", "players"])
    if with_self_play == set(cells["players"]):
        return "self_play", "Games in which one strategy holds all seats"
    return "all", "All games, so that who else sits at the table differs between player counts"


def keep_first_rules(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows of the first set of rules, for figures and answers; the column `rules` goes."""
    if "rules" not in frame:
        return frame
    return frame[frame["rules"] == frame["rules"].iloc[0]].drop(columns="rules") if len(frame) else frame


def describe_rules_shown(run: Run) -> tuple[str, ...]:
    """Say which rules answer and figures are about, if the run has several sets."""
    labels = list(dict.fromkeys(list_cells(run)["rules"]))
    if len(labels) < 2:
        return () if labels == ["standard"] else (f"The rules differ from the printed ones: {labels[0]}.",)
    return (f"The run has {len(labels)} sets of rules. Answer and figures are about the first ({labels[0]}), the "
            "tables about all.",)  # fmt: skip


RANKS = {
    **{"rank": "place", "rank_low": "at best", "rank_high": "at worst"},
    **{"lead": "ahead of the best other by", "lead_low": "at least", "lead_high": "at most"},
}
"""Headings for the columns of `metrics.ranks`."""
TRAITS = {**{name: LABELS[name] for name in metrics.FINGERPRINT}, "tiles": "tiles taken a move"}
"""Words for the traits of a fingerprint."""


def standardize(frame: pd.DataFrame) -> pd.DataFrame:
    """Add `z`, `z_low`, `z_high` to traits: estimate and ends in standard deviations of the field from its mean."""
    groups = frame.groupby(["players", "outcome"], sort=False)["estimate"]
    mean, spread = groups.transform("mean"), groups.transform("std")
    spread = spread.where(spread > 0)
    names = {"z": "estimate", "z_low": "low", "z_high": "high"}
    return frame.assign(**{to: (frame[name] - mean) / spread for to, name in names.items()})


def split_players(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Split a frame by player count, with titles such as `2 players`."""
    return {f"{players} players": rows for players, rows in frame.groupby("players", sort=True)}


def order_specs(frame: pd.DataFrame) -> list[str]:
    """Order strategies by their mean estimate over player counts, the greatest first."""
    means = frame.groupby(frame["spec"].astype(str), sort=False)["estimate"].mean()
    return [str(name) for name in means.sort_values(ascending=False, kind="stable").index]


def describe_evidence(frame: pd.DataFrame) -> str:
    """Say what a figure was seen from: interval, deals, and the smallest difference it could have shown."""
    frame = frame[frame["n_deals"] > 0]
    if not frame["low"].notna().any():
        return "No intervals: for those it takes more deals."
    text = f"95 % intervals over {_count(frame['n_deals'], 'deal')}"
    parts = []
    for unit, rows in frame[frame["mde"] > 0].groupby("unit", sort=False):
        scale, word = (100, "% points") if unit == "share" else (1, str(unit))
        low, high = rows["mde"].min() * scale, rows["mde"].max() * scale
        span = _span(low, high, decimals_for(low, most=3))
        parts.append(f"{span} {agree(span, word)}")
    return f"{text}; smallest detectable difference {join_words(parts)}." if parts else f"{text}."


def keep_common(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows that enough deals stand behind to be drawn; the others would only stretch the axes."""
    return frame.loc[frame["n_deals"] >= max(_find_fewest(frame), 1)]


def describe_common(shown: pd.DataFrame, frame: pd.DataFrame) -> str:
    """Say how many points of a frame are not among those shown, and what these were seen from."""
    frame = frame[frame["n_deals"] > 0]
    n = len(frame) - len(shown)
    left_out = (
        f"{format_count(n, 'point')} of {len(frame)}, seen in fewer than {format_count(_find_fewest(frame), 'deal')}, "
        f"{'is' if n == 1 else 'are'} in the table only. "
    )
    return f"{left_out if n else ''}{describe_evidence(shown)}"


def _find_fewest(frame: pd.DataFrame) -> int:
    most = int(frame["n_deals"].max()) if len(frame) else 0
    return min(max(FEWEST_DEALS, math.ceil(COMMON * most)), most)


FEWEST_DEALS, COMMON = 20, 0.1
"""Points seen in fewer deals, or in less than this part of the deals of the most seen point, are in tables only: their
intervals would be three times as wide."""


def count_deals(run: Run) -> str:
    """Say how many deals and games stand behind a report: `1,000 deals a player count, 24,000 games`."""
    query = "SELECT count(DISTINCT deal) AS deals FROM games GROUP BY players"
    deals = run.fetch(query).column("deals").to_pylist()
    return f"{_count(deals, 'deal')} a player count, {format_count(run.n_games, 'game')}"


def count_deals_of_cells(run: Run) -> dict[str, str]:
    """Say by player count how many deals each cell has played, and of how many if the run is not finished."""
    played = {cell.index: 0 for cell in run.manifest.cells}
    for commit in run.commits:
        played[commit.cell] += commit.n_games // len(run.manifest.cells[commit.cell].seatings)
    told = {}
    for players in sorted({cell.players for cell in run.manifest.cells}):
        cells = [cell for cell in run.manifest.cells if cell.players == players]
        text = _list_range([played[cell.index] for cell in cells])
        planned = f" of {_list_range([cell.deals for cell in cells])}"
        told[f"{players} players"] = text if run.is_complete else text + planned
    return told


NUMBERS = ("estimate", "low", "high", "n_deals", "mde")


def pick_numbers(row: Any) -> dict[str, Any]:
    """Return the numbers of a row of a metric that go with an answer."""
    return {name: row[name] for name in NUMBERS if name in row}


def list_numbers(frame: pd.DataFrame, name: str) -> dict[str, Any]:
    """Return the numbers of each row under a name made from its columns, such as `score_{players}_players`."""
    return {
        name.format_map({str(key): value for key, value in row.items()}): pick_numbers(row)
        for row in frame.to_dict("records")
    }


def join_players(rows: pd.DataFrame, **options: bool) -> str:
    """Say estimates by player count, `1 (0 to 2) at 2 and 3 (2 to 4) at 3 players`; options as `format_estimate`."""
    parts = [f"{format_estimate(row, **options)} at {row['players']}" for row in rows.to_dict("records")]
    return f"{join_words(parts)} players"


def name_specs(specs: Sequence[str], most: int = 4) -> str:
    """Name strategies in a sentence, or count them if they are many."""
    return join_words(specs) if len(specs) <= most else f"{len(specs)} strategies"


def _count(numbers: Iterable[int], word: str) -> str:
    """Say the least and the greatest of some numbers of things: `1 deal`, `9 to 12 deals`."""
    return f"{_list_range(numbers)} {word}{'' if max(numbers) == 1 else 's'}"


def _list_range(numbers: Iterable[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _span(low: float, high: float, decimals: int) -> str:
    first, last = format_number(float(low), decimals), format_number(float(high), decimals)
    return first if first == last else f"{first} to {last}"


HOW_INTERVALS = (
    "One observation is one deal: all games that share it, over seatings and line-ups, count together. The standard "
    "error is that of the ratio of sums over deals (cluster-robust), the interval Student's t at 95 %; for shares "
    "carried by few deals a wider exact-type interval."
)
HOW_SMALLEST = (
    "Smallest detectable difference: what a two-sided test at 5 % would have found with a chance of 80 %, about 2.8 "
    "standard errors."
)
LIMIT_STRATEGIES = (
    "All numbers hold for these strategies. They are not how people play, nor perfect play; stronger strategies may "
    "change size and sign."
)
LIMIT_MANY = (
    "A page of many intervals will show some differences by chance: one interval in twenty misses its value. The "
    "intervals are not corrected for the number of things looked at."
)
