"""How strategies play: what each takes, wastes, completes and builds, when it takes the marker, and who plays alike.

Source: the tables `games`, `rounds` and `moves` of a run.
"""

from __future__ import annotations

from functools import partial

import pandas as pd

from azulsim import metrics
from azulsim.errors import InputError
from azulsim.log import Run
from azulsim.log.read import format_count
from azulsim.report import Plot, Report, Section, Table, figures, main
from azulsim.report import shared as say
from azulsim.report.words import format_number

TITLE = "How they play"
QUESTION = "How do the strategies play, and which of them play alike?"


def build(run: Run) -> Report:
    """Build the report of a run."""
    if not metrics.has_depth(run, "moves"):
        raise InputError(f'{run.path}: fingerprints needs a run with log = "moves"; this one has {run.manifest.log!r}')
    traits = metrics.fingerprints(run)
    distances = metrics.distances(run)
    shown = say.keep_first_rules(traits)
    order = order_by_likeness(say.keep_first_rules(distances), list(run.manifest.specs))
    sentence, numbers = answer(say.keep_first_rules(distances))
    return Report(
        name="fingerprints",
        title=TITLE,
        question=QUESTION,
        answer=(
            sentence,
            f"Likeness is relative to this field of {say.name_specs(order)}, and says nothing of strength "
            f"({say.count_deals(run)}).",
        ),
        sections=(
            traits_section(run, traits, shown, order),
            *(() if distances.empty else (likeness_section(distances),)),
            offers_section(run, order),
        ),
        how_to_read=(
            "A trait is what a strategy does, whatever comes of it. In the figure it is counted in standard deviations "
            "of the field: blue is more than the mean of the strategies, brown less.",
            "A distance of 1: the two differ by one standard deviation of the field in a typical trait. Two strategies "
            "drawn at random are about 1.4 apart. 0 means that they cannot be told apart.",
            "An offer of the marker is a decision in which it can be taken from a center that is not empty, and not "
            "every legal move takes it.",
        ),
        how_computed=(
            "All games of the run. A line is completed by a move if its tiles lie on the wall after the round.",
            "Distance: the root of the mean squared difference over all traits, each in standard deviations of the "
            "field. The part that noise adds to a squared difference is subtracted; the interval is that of the "
            "squared distance, over deals.",
            "The tree joins groups at the mean distance between their members (average linkage).",
            say.HOW_INTERVALS,
            say.HOW_SMALLEST,
        ),
        limits=(
            *say.describe_rules_shown(run),
            "What a strategy does depends on what the others leave it: only those that met the same field compare.",
            "All traits count the same, and some go together, so that what they share counts more.",
            say.LIMIT_STRATEGIES,
            say.LIMIT_MANY,
        ),
        numbers=numbers,
    )


def order_by_likeness(distances: pd.DataFrame, specs: list[str]) -> list[str]:
    """Order strategies so that those that play alike stand together, by the first player count."""
    if distances.empty:
        return specs
    first = distances[distances["players"] == distances["players"].min()]
    return figures.order_leaves(first)


def answer(distances: pd.DataFrame) -> tuple[str, dict[str, object]]:
    """Say who plays most alike, and who stands apart."""
    if distances.empty:
        return "One strategy alone has nobody to be like.", {}
    sentences = []
    numbers: dict[str, object] = {}
    if not distances["low"].notna().any():
        return "From so few deals nobody's play can be told from another's: no distance has an interval.", numbers
    for players, rows in distances.groupby("players", sort=True):
        near = keep_pairs(rows).sort_values("estimate", kind="stable").iloc[0]
        nearest = rows.loc[rows.groupby("spec", observed=True)["estimate"].idxmin()]
        far = nearest.sort_values("estimate", ascending=False, kind="stable").iloc[0]
        if rows["spec"].nunique() == 2:
            sentences.append(
                f"At {players} players {near['spec']} and {near['other']} are {format_distance(near)} apart"
            )
        else:
            sentences.append(
                f"At {players} players {near['spec']} and {near['other']} play most alike, {format_distance(near)} "
                f"apart; {far['spec']} stands most alone, {format_distance(far)} from {far['other']}"
            )
        for name, row in (("most alike", near), ("most alone", far)):
            who = {"spec": str(row["spec"]), "other": str(row["other"])}
            numbers[f"{name}, {players} players"] = who | say.pick_numbers(row)
    pairs = keep_pairs(distances)
    numbers["pairs"], numbers["pairs not told apart"] = len(pairs), int((~(pairs["low"] > 0)).sum())
    last = f"{numbers['pairs not told apart']} of {format_count(len(pairs), 'pair')} in all cannot be told apart"
    return f"{sentences[0]}; {last}.", numbers


def keep_pairs(distances: pd.DataFrame) -> pd.DataFrame:
    """Keep each pair once."""
    return distances[distances["spec"].cat.codes < distances["other"].cat.codes]


def format_distance(row: pd.Series) -> str:
    """Say a distance with its interval, or that it has none."""
    value, low, high = (format_number(float(row[key]), 2) for key in ("estimate", "low", "high"))
    return f"{value} ({low} to {high})" if row["low"] >= 0 else f"{value} (no interval)"


def traits_section(run: Run, traits: pd.DataFrame, shown: pd.DataFrame, order: list[str]) -> Section:
    """Show all traits of all strategies."""
    labels = {name: say.TRAITS[name] for name in metrics.list_traits(run)}
    panels = say.split_players(say.standardize(shown))
    draw = partial(figures.draw_profiles, panels, order, labels)
    missing = () if "denies" in labels else ("Denial was not logged (denial = true would), so that it is left out.",)
    return Section(
        "Fingerprints",
        ("Strategies that play alike stand together.", *missing),
        (
            Plot(
                "traits",
                "Traits, in standard deviations of the field",
                lambda narrow: draw(narrow=narrow),
                f"Blue: more than the mean of the strategies; brown: less. {say.describe_evidence(shown)}",
            ),
            *(
                Table(name, title, traits[traits["outcome"].isin(names)], say.CAPTION, {**say.LABELS, **say.TRAITS})
                for name, title, names in TRAIT_TABLES
            ),
        ),
    )


TRAIT_TABLES = (
    ("takes", "What it takes and wastes", ("center", "tiles", "accepts", "holds", "waste", "fallen", "floor_moves")),
    ("fills", "What it fills", ("completes", *(f"line_{k}" for k in range(1, 6)), "open_lines", "stranded")),
    ("builds", "What it builds", ("tile_points", "rows", "columns", "colors", "ends", "denies")),
)


def likeness_section(distances: pd.DataFrame) -> Section:
    """Show who plays like whom."""
    shown = say.keep_first_rules(distances)
    draw = partial(figures.draw_tree, say.split_players(shown), label="distance")
    keys = [name for name in ("rules", "players", "spec") if name in distances]
    nearest = distances.loc[distances.groupby(keys, observed=True, sort=False)["estimate"].idxmin()]
    return Section(
        "Who plays alike",
        ("Two names of the same play are 0 apart, but for what cannot be seen: the interval says how far at most.",),
        (
            Plot(
                "tree",
                "Strategies by likeness of their fingerprints",
                lambda narrow: draw(narrow=narrow),
                "Joined at the mean distance between the members; dotted where nothing across a joint can be told from "
                f"0. {say.describe_evidence(shown)}",
            ),
            Table("nearest", "The nearest other strategy", nearest, say.CAPTION, say.LABELS),
            Table("distances", "All distances", keep_pairs(distances), say.CAPTION, say.LABELS),
        ),
    )


def offers_section(run: Run, order: list[str]) -> Section:
    """Show how often the marker is taken when it can be, by round and by price."""
    by_round = metrics.marker_offers(run)
    by_price = metrics.marker_offers(run, ("players", "spec", "price"))
    every = say.keep_first_rules(by_round)
    shown = say.keep_common(every)
    draw = partial(figures.draw_rows, say.split_players(shown), "round", order, label="round")
    plot = Plot(
        "offers",
        "Share of offers of the marker that are accepted, by round",
        lambda narrow: draw(narrow=narrow),
        f"Rounds from 8 on are together. {say.describe_common(shown, every)}",
    )
    return Section(
        "The marker: offers and prices",
        ("How often the marker is accepted when it is on offer, by round, and by the points of its floor space.",),
        (
            *((plot,) if len(shown) else ()),
            Table("offers", "Offers accepted, by round", by_round, say.CAPTION, say.LABELS),
            Table("offers_by_price", "Offers accepted, by price of the space", by_price, say.CAPTION, say.LABELS),
        ),
    )


if __name__ == "__main__":
    raise SystemExit(main(__name__))
