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
from azulsim.report.words import capitalize, format_estimate, format_number, join_words

TITLE = "Ranking"
QUESTION = "Which strategy is best, by how much, and against whom?"

FIT_CAPTION = "Shares of meetings; z is their difference over its error; p holds for the worst of all pairs."
FITS = {"misfit": "typical miss", "p_value": "p", "observed": "seen", "implied": "as rated", "se": "error"}


def build(run: Run) -> Report:
    """Build the report of a run."""
    results = metrics.strategy_results(run)
    if results.empty:
        return nothing_to_rank(run)
    looks = say.make_looks(run)
    shown = say.keep_first_rules(results)
    shares = shown[shown["outcome"] == "win_share"]
    order = say.order_specs(shown[shown["outcome"] == "times_fair"])
    leads = metrics.leads(run)
    ranks = metrics.ranks(run)
    results = order_by_rank(results, ranks)
    cycles, nash, fits = metrics.cycles(run), metrics.nash_averages(run), metrics.rating_fits(run)
    payoffs, ratings = metrics.payoffs(run), order_by_rank(metrics.ratings(run), ranks)
    partial = list_partial(say.keep_first_rules(payoffs))
    best = say.keep_first_rules(ratings) if partial else None
    sentence, numbers = name_best(shown, say.keep_first_rules(leads), say.keep_first_rules(ranks), best, partial)
    field = f"this field of {say.name_specs(order)}, whose composition is part of the result{CAUTION * bool(partial)}"
    return Report(
        name="ranking",
        title=TITLE,
        question=QUESTION,
        answer=(
            sentence,
            f"This holds for {field}; win shares within about {smallest(shares)} percentage points of the fair one "
            f"could not have been told from it ({say.count_deals(run)}).",
        ),
        sections=(
            shares_section(results, shares, ranks, leads, looks, order),
            payoffs_section(payoffs, order, cycles, nash),
            ratings_section(ratings, fits, looks, order),
        ),
        how_to_read=(
            "Win share: 1/k for each of k winners, else 0. The fair share is one divided by the number of players.",
            "In the matrix, the row finishes ahead of the column in so many of 100 meetings at one table; ties count "
            "half. Pale cells cannot be told from 50.",
            "Rank intervals hold all at once: a strategy may have any place in its own, and those whose interval "
            "begins at 1 may be the best.",
            "Cyclic share: how much of who beats whom (squared log odds) no single number a strategy can explain. 0: "
            "strength says it all; 1: rock, paper, scissors.",
            "The mixture that none beats: if each of two people names a strategy, how often to name each so that "
            "nobody finishes ahead more often than behind. Entering a strategy twice, or a weak one, changes nothing.",
            "Elo: 0 is the mean of the field; 100 points are 64 wins in 100 games of two.",
        ),
        how_computed=(
            "Games between different strategies only; each strategy of a line-up sits in every seat on the same deals.",
            say.HOW_INTERVALS,
            "Rank intervals: all differences of win shares get one joint interval from a bootstrap of deals; a "
            "strategy ranks below those surely above it and above those surely below it.",
            "Cyclic share: the Hodge decomposition of the log odds, the part of noise subtracted.",
            "The mixture: Nash averaging (Balduzzi et al. 2018) of the log odds, the most even of several; "
            "intervals are percentiles of a bootstrap of deals.",
            "Ratings: maximum likelihood of the Plackett-Luce model with ties (Davidson-Luce) and a term for each "
            "seat, one fit a player count, covariance robust to what games of a deal share.",
            "Fit of the ratings: observed less implied share of each pair, over its error; the greatest is corrected "
            "for the number of pairs.",
            say.HOW_SMALLEST,
        ),
        limits=(
            *say.describe_rules_shown(run),
            "One number a strategy cannot show that A beats B, B beats C and C beats A; the matrix can, and the cyclic "
            "share says how much of it there is.",
            "Intervals of two strategies are not independent: they meet in the same games.",
            say.LIMIT_STRATEGIES,
            say.LIMIT_MANY,
        ),
        numbers=numbers,
    )


def order_by_rank(frame: pd.DataFrame, ranks: pd.DataFrame) -> pd.DataFrame:
    """Put the rows of a metric in the order of the ranks."""
    keys = [str(name) for name in ranks if name in ("rules", "players", "spec")]
    place = {key: at for at, key in enumerate(ranks[keys].itertuples(index=False, name=None))}
    at = pd.Series([place[key] for key in frame[keys].itertuples(index=False, name=None)], frame.index)
    return frame.loc[at.sort_values(kind="stable").index]


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


def list_partial(payoffs: pd.DataFrame) -> list[int]:
    """List the player counts at which some two strategies never met."""
    found = []
    for players, rows in payoffs.groupby("players", sort=True):
        n = len(set(rows["spec"]) | set(rows["opponent"]))
        if len(rows) < n * (n - 1):
            found.append(int(str(players)))
    return found


def name_best(
    shown: pd.DataFrame, leads: pd.DataFrame, ranks: pd.DataFrame, ratings: pd.DataFrame | None, partial: list[int]
) -> tuple[str, dict[str, object]]:
    """Name the strategy with the greatest win share at each player count, and where not all met the best rated too."""
    parts: list[str] = []
    numbers: dict[str, object] = {}
    for players, rows in shown.groupby("players", sort=True):
        shares = rows[rows["outcome"] == "win_share"].sort_values("estimate", ascending=False, kind="stable")
        best = shares.iloc[0]
        times = rows[(rows["outcome"] == "times_fair") & (rows["spec"] == best["spec"])].iloc[0]
        lead = leads[(leads["players"] == players) & (leads["spec"] == best["spec"])].iloc[0]
        rivals = ranks[(ranks["players"] == players) & (ranks["rank_low"] == 1) & (ranks["spec"] != best["spec"])]
        others = [str(spec) for spec in rivals["spec"]]
        standing = f"surely the best; {lead['next']} is next"
        if others:
            named = join_words(others) if len(others) < 3 else f"{others[0]} and {len(others) - 1} others"
            standing = f"not to be told from {named}"
        if players in partial and ratings is not None:
            rated = ratings[ratings["players"] == players].sort_values("estimate", ascending=False, kind="stable")
            first, second = (f"{row['spec']}, {format_estimate(row, signed=True)}" for _, row in rated[:2].iterrows())
            standing = f"while the ratings put {first}, before {second}"
        fair = format_number(100 / int(str(players)), 0)
        parts.append(f"{best['spec']} at {players} players, {format_estimate(best)} where {fair} is fair, {standing}")
        numbers[f"{players}_players"] = {
            "best": str(best["spec"]),
            "times_fair": times["estimate"],
            "next": str(lead["next"]),
            "may be best": [str(best["spec"]), *others],
            "lead": say.pick_numbers(lead),
            **say.pick_numbers(best),
        }
    return f"Most wins go to {'; to '.join(parts)}.", numbers


CAUTION = (
    ", and in which not every two met, so that shares were won against different opponents, for which ratings allow"
)


def smallest(shares: pd.DataFrame) -> str:
    """Return the greatest of the smallest detectable differences, in percentage points."""
    return format_number(100 * shares["mde"].max(), 1)


def shares_section(
    results: pd.DataFrame,
    shares: pd.DataFrame,
    ranks: pd.DataFrame,
    leads: pd.DataFrame,
    looks: figures.Looks,
    order: list[str],
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
            Table("results", "Results", results, say.CAPTION, say.LABELS),
            Table("ranks", "Between which places each may be", ranks,
                  "All intervals hold at once with 95 %, of places and of leads (in win share).", say.RANKS),
            Table("leads", "Lead over the next in rank", leads, say.CAPTION, say.LABELS, signed=True),
        ),
    )  # fmt: skip


def payoffs_section(payoffs: pd.DataFrame, order: list[str], cycles: pd.DataFrame, nash: pd.DataFrame) -> Section:
    """Show who finishes ahead of whom."""
    shown = say.keep_first_rules(payoffs)
    draw = partial(figures.draw_matrix, say.split_players(shown), order, label="opponent")
    return Section(
        "Who beats whom",
        ("Of 100 meetings at one table, in how many the row finishes ahead of the column.",
         *describe_cycles(cycles), *describe_mixture(nash)),
        (
            Plot("payoffs", "Finishes ahead, in 100 meetings", lambda narrow: draw(narrow=narrow),
                 f"Blue: more than half, brown: less (in full from 85 and 15 on), pale: cannot be told from half. "
                 f"{say.describe_evidence(shown)}"),
            Table("payoffs", "Finishes ahead", payoffs, say.CAPTION, say.LABELS),
            *((Table("cycles", "Cyclic share", cycles, say.CAPTION, say.LABELS),) if len(cycles) else ()),
            *((Table("nash", "Against the mixture that none beats", nash, say.CAPTION, say.LABELS),) if len(nash)
              else ()),
        ),
    )  # fmt: skip


def describe_cycles(cycles: pd.DataFrame) -> tuple[str, ...]:
    """Say how much of who beats whom is cyclic, if three strategies or more all met."""
    shown = say.keep_first_rules(cycles)
    shown = shown[shown["low"].notna()]
    if shown.empty:
        return ()
    parts = [f"{format_estimate(row)} at {row['players']} players" for _, row in shown.iterrows()]
    return (f"The cyclic share, which no single number a strategy explains, is {join_words(parts)}.",)


def describe_mixture(nash: pd.DataFrame) -> tuple[str, ...]:
    """Say which strategies make up the mixture that none beats."""
    shown = say.keep_first_rules(nash)
    weights = shown[(shown["outcome"] == "nash_weight") & (shown["estimate"] > 0.005) & (shown["n_deals"] > 1)]
    parts = []
    for players, rows in weights.groupby("players", sort=True):
        rows = rows.sort_values("estimate", ascending=False, kind="stable")
        named = [f"{format_estimate(row)} {row['spec']}" for _, row in rows.iterrows()]
        if rows["estimate"].iloc[0] > 0.995 and not rows["low"].iloc[0] <= 0.995:
            named = [f"{rows['spec'].iloc[0]} alone"]
        parts.append(f"{join_words(named)} at {players} players")
    return (f"The mixture that no strategy of the field beats: {'; '.join(parts)}.",) if parts else ()


def describe_fits(fits: pd.DataFrame) -> str:
    """Say in one sentence whether the ratings fit."""
    shown = say.keep_first_rules(fits)
    poor = shown[shown["p_value"] < 0.05]
    if len(poor):
        parts = [
            f"{row['spec']} finishes ahead of {row['opponent']} in {format_number(100 * row['observed'], 1)} of 100 "
            f"meetings where the ratings say {format_number(100 * row['implied'], 1)} (+/- "
            f"{format_number(100 * 1.96 * row['se'], 1)}), and pairs are off by "
            f"{format_number(100 * row['misfit'], 1)} as a rule, at {row['players']} players"
            for _, row in poor.iterrows()
        ]
        return f"The ratings do not fit everywhere: {'; '.join(parts)}."
    tested = shown[shown["note"] == ""]
    if tested.empty:
        return f"Whether the ratings fit cannot be told: {'; '.join(sorted(set(shown['note'])))}."
    return "The ratings fit: no pair finishes otherwise than they say, as far as these games can tell."


def ratings_section(ratings: pd.DataFrame, fits: pd.DataFrame, looks: figures.Looks, order: list[str]) -> Section:
    """Show ratings with their intervals."""
    shown = say.keep_first_rules(ratings)
    panels = say.split_players(shown)
    draw = partial(figures.draw_forest, panels, looks, order, references=dict.fromkeys(panels, 0.0), signed=True)
    notes = sorted({str(note) for note in ratings["note"] if note})
    return Section(
        "Ratings",
        ("Strength on the Elo scale, against the mean of the field.", describe_fits(fits)),
        (
            Plot("ratings", "Elo (0: mean of the field)", lambda narrow: draw(narrow=narrow),
                 say.describe_evidence(shown)),
            Table("ratings", "Ratings", ratings, say.CAPTION, say.LABELS, signed=True),
            Table("fits", "Do the ratings fit? The pair they miss most", fits, FIT_CAPTION, FITS),
        ),
        note=" ".join(f"{capitalize(note)}." for note in notes),
    )  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main(__name__))
