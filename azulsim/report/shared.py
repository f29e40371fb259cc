"""What the report scripts share: which games to look at, words about the evidence, frames by player count."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from azulsim import metrics
from azulsim.log import Run
from azulsim.metrics import Lineups, list_cells
from azulsim.report.style import Look, assign_looks
from azulsim.report.words import decimals_for, format_number, join_words

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
    text = f"95 % intervals over {_span(frame['n_deals'].min(), frame['n_deals'].max(), 0)} deals"
    parts = []
    for unit, rows in frame[frame["mde"] > 0].groupby("unit", sort=False):
        scale, word = (100, "% points") if unit == "share" else (1, str(unit))
        low, high = rows["mde"].min() * scale, rows["mde"].max() * scale
        parts.append(f"{_span(low, high, decimals_for(low, most=3))} {word}")
    return f"{text}; smallest detectable difference {join_words(parts)}." if parts else f"{text}."


def keep_common(frame: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows that enough deals stand behind to be drawn; the others would only stretch the axes."""
    most = float(frame["n_deals"].max()) if len(frame) else 0.0
    return frame.loc[frame["n_deals"] >= min(max(FEWEST_DEALS, 0.05 * most), most)]


FEWEST_DEALS = 20
"""Points seen in fewer deals, or in fewer than 5 % of the most seen point's, are in tables only."""
RARE = "Points seen in few deals are in the table only."


def count_deals(run: Run) -> str:
    """Say how many deals and games stand behind a report: `1,000 deals a player count, 24,000 games`."""
    cells = list_cells(run).assign(deals=[cell.deals for cell in run.manifest.cells])
    deals = cells.groupby("players")["deals"].max()
    return f"{_span(deals.min(), deals.max(), 0)} deals a player count, {run.n_games:,} games"


def name_specs(specs: Sequence[str], most: int = 4) -> str:
    """Name strategies in a sentence, or count them if they are many."""
    return join_words(specs) if len(specs) <= most else f"{len(specs)} strategies"


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
