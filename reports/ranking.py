"""Which strategy is best: win shares, ratings and the pairwise matrix, by player count.

Source: the table `games` of a run; only games between different strategies count.
"""

from __future__ import annotations

from functools import partial

import pandas as pd

from azulsim import metrics
from azulsim.log import Run
from azulsim.report import Plot, Report, Section, Table, figures, main
from azulsim.report import shared as say
from azulsim.report.words import format_estimate, format_number

TITLE = "Ranking"
QUESTION = "Which strategy is best, by how much, and against whom?"
TABLE_CAPTION = "The mean and half the width of its 95 % interval; hold the pointer over a number for more."


def build(run: Run) -> Report:
    """Build the report of a run."""
    results = metrics.strategy_results(run)
    if results.empty:
        return nothing_to_rank(run)
    looks = say.make_looks(run)
    shown = say.keep_first_rules(results)
    shares = shown[shown["outcome"] == "win_share"]
    order = say.order_specs(shown[shown["outcome"] == "times_fair"])
    ratings = metrics.ratings(run)
    leads = metrics.leads(run)
    sentence, numbers = name_best(shown, say.keep_first_rules(leads))
    return Report(
        name="ranking",
        title=TITLE,
        question=QUESTION,
        answer=(
            sentence,
            f"This holds for this field of {say.name_specs(order)}, whose composition is part of the result; "
            f"differences below about {smallest(shares)} percentage points of win share could not have been seen "
            f"({say.count_deals(run)}).",
        ),
        sections=(
            shares_section(results, shares, leads, looks, order),
            payoffs_section(run, order),
            ratings_section(ratings, looks, order),
        ),
        how_to_read=(
            "Win share: 1/k for each of k winners, else 0. The fair share is one divided by the number of players.",
            "In the matrix, the row finishes ahead of the column in so many of 100 meetings at one table; ties count "
            "half. Pale cells cannot be told from 50.",
            "Elo: 0 is the mean of the field; 100 points are 64 wins in 100 games of two.",
        ),
        how_computed=(
            "Games between different strategies only; each strategy of a line-up sits in every seat on the same deals.",
            say.HOW_INTERVALS,
            "Ratings: maximum likelihood of the Plackett-Luce model with ties (Davidson-Luce) and a term for each "
            "seat, one fit a player count, covariance robust to what games of a deal share.",
            say.HOW_SMALLEST,
        ),
        limits=(
            *say.describe_rules_shown(run),
            "One number a strategy cannot show that A beats B, B beats C and C beats A; the matrix can.",
            "Intervals of two strategies are not independent: they meet in the same games.",
            say.LIMIT_STRATEGIES,
            say.LIMIT_MANY,
        ),
        numbers=numbers,
    )


def nothing_to_rank(run: Run) -> Report:
    """Say that the run cannot rank anything."""
    return Report(
        name="ranking",
        title=TITLE,
        question=QUESTION,
        answer=(
            "In this run no game was finished in which different strategies meet, so that there is nothing to rank.",
            f"An experiment with line-ups of different strategies can answer ({say.count_deals(run)}).",
        ),
        sections=(),
    )


def name_best(shown: pd.DataFrame, leads: pd.DataFrame) -> tuple[str, dict[str, object]]:
    """Name the strategy with the greatest win share at each player count."""
    parts: list[str] = []
    numbers: dict[str, object] = {}
    for players, rows in shown.groupby("players", sort=True):
        shares = rows[rows["outcome"] == "win_share"].sort_values("estimate", ascending=False, kind="stable")
        best = shares.iloc[0]
        times = rows[(rows["outcome"] == "times_fair") & (rows["spec"] == best["spec"])].iloc[0]
        lead = leads[(leads["players"] == players) & (leads["spec"] == best["spec"])].iloc[0]
        standing = f"ahead of {lead['next']}" if lead["low"] > 0 else f"not to be told from {lead['next']}"
        fair = format_number(100 / int(str(players)), 0)
        parts.append(f"{best['spec']} at {players} players, {format_estimate(best)} where {fair} is fair, {standing}")
        numbers[f"{players}_players"] = {
            "best": str(best["spec"]),
            "times_fair": times["estimate"],
            "next": str(lead["next"]),
            "lead": {name: lead[name] for name in ("estimate", "low", "high", "n_deals", "mde")},
            **{name: best[name] for name in ("estimate", "low", "high", "n_deals", "mde")},
        }
    return f"Most wins go to {'; to '.join(parts)}.", numbers


def smallest(shares: pd.DataFrame) -> str:
    """Return the greatest of the smallest detectable differences, in percentage points."""
    return format_number(100 * shares["mde"].max(), 1)


def shares_section(
    results: pd.DataFrame, shares: pd.DataFrame, leads: pd.DataFrame, looks: figures.Looks, order: list[str]
) -> Section:
    """Show win shares against the fair share."""
    panels = say.split_players(shares)
    fair = {title: 1 / int(rows["players"].iloc[0]) for title, rows in panels.items()}
    draw = partial(figures.draw_forest, panels, looks, order, references=fair, reference_name="fair share")
    return Section(
        "Win shares",
        ("All games against other strategies of the run, over all seats.",),
        (
            Plot("shares", "Win share", lambda narrow: draw(narrow=narrow), say.describe_evidence(shares)),
            Table("results", "Results", results, TABLE_CAPTION, say.LABELS),
            Table("leads", "Lead over the next in rank", leads, TABLE_CAPTION, say.LABELS, signed=True),
        ),
    )


def payoffs_section(run: Run, order: list[str]) -> Section:
    """Show who finishes ahead of whom."""
    payoffs = metrics.payoffs(run)
    shown = say.keep_first_rules(payoffs)
    draw = partial(figures.draw_matrix, say.split_players(shown), order, label="opponent")
    return Section(
        "Who beats whom",
        ("Of 100 meetings at one table, in how many the row finishes ahead of the column.",),
        (
            Plot("payoffs", "Finishes ahead, in 100 meetings", lambda narrow: draw(narrow=narrow),
                 f"Blue: more than half, brown: less, pale: cannot be told from half. {say.describe_evidence(shown)}"),
            Table("payoffs", "Finishes ahead", payoffs, TABLE_CAPTION, say.LABELS),
        ),
    )  # fmt: skip


def ratings_section(ratings: pd.DataFrame, looks: figures.Looks, order: list[str]) -> Section:
    """Show ratings with their intervals."""
    shown = say.keep_first_rules(ratings)
    panels = say.split_players(shown)
    draw = partial(figures.draw_forest, panels, looks, order, references=dict.fromkeys(panels, 0.0), signed=True)
    notes = sorted({str(note) for note in ratings["note"] if note})
    return Section(
        "Ratings",
        ("Strength on the Elo scale, against the mean of the field.",),
        (
            Plot("ratings", "Elo (0: mean of the field)", lambda narrow: draw(narrow=narrow),
                 say.describe_evidence(shown)),
            Table("ratings", "Ratings", ratings, TABLE_CAPTION, say.LABELS, signed=True),
        ),
        note=" ".join(f"{note[:1].upper()}{note[1:]}." for note in notes),
    )  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main(__name__))
