"""What do other rules change: outcomes under each set of rules, on common deals, against the baseline.

Source: the tables `games` and `rounds` of a run whose rules vary.
"""

from __future__ import annotations

from functools import partial

import pandas as pd

from azulsim import metrics
from azulsim.log import Run
from azulsim.metrics.whatif import MIXED, RETUNED, find_baseline, read_whatif
from azulsim.report import Plot, Report, Section, Table, figures, main
from azulsim.report import shared as say
from azulsim.report.rules import (
    ALPHA,
    count_seen,
    describe_crossings,
    describe_luck,
    describe_tuning,
    has_retuned,
    say_luck,
)
from azulsim.report.style import MARKERS, SERIES, Look
from azulsim.report.words import capitalize, format_estimate, format_number, join_words

TITLE = "What if"
QUESTION = "What do other rules change?"
PANELS = {
    "plies": "moves",
    "floor_paid": "floor loss",
    "tied": "ties",
    "ender_wins": "ender wins",
    "short_games": "short refills",
    **{f"seat_{seat}_win_share": f"seat {seat} wins" for seat in range(4)},
}
"""Words for outcomes where there is little room."""
SHORT = 18
"""Most letters of the name of a set of rules in a figure; longer ones get a letter."""
FEW = 2
"""So many sets of rules, strategies and tunings are told one by one in the answer."""
SEAT = "seat_0_win_share"


def build(run: Run) -> Report:
    """Build the report of a run."""
    differences = metrics.rule_differences(run)
    if differences.empty:
        return nothing_to_compare(run)
    names = name_rules(run)
    crossings = metrics.rule_crossings(run)
    baseline = metrics.describe_rules(find_baseline(run))
    found = describe_crossings(crossings) if len(crossings) else describe_changes(differences, baseline)
    return Report(
        name="whatif",
        title=TITLE,
        question=QUESTION,
        answer=(found, describe_reach(differences)),
        sections=(
            *((solve_section(run, crossings),) if len(crossings) else ()),
            changes_section(differences, names, baseline, is_told=len(crossings) > 0),
            luck_section(differences),
            *((tuning_section(run),) if has_retuned(differences) else ()),
            rules_section(run),
        ),
        how_to_read=(
            "A difference is the mean under the rules named minus the mean under the baseline: to the right of the "
            "dashed line there is more of it.",
            "Seen: the difference stays clear of 0 after Holm's correction for all differences of this page.",
            "Seat 0 starts round 1. Winner's score, rounds and moves are a game's; score, floor loss and bonus points "
            "are the mean of its players.",
            "Correlation: how far the two games of a deal go together. The part of the games saved says how many fewer "
            "games the same interval needed than if each set of rules had had deals of its own.",
        ),
        how_computed=(
            "All sets of rules play the same deals, and decisions are drawn from the same keys, so that the games of a "
            "deal part only where the rules make them part. A difference is paired by deal.",
            say.HOW_INTERVALS,
            "p-values are Holm's for all differences of the page together; intervals are not corrected. The interval "
            "of a correlation is Fisher's, over deals.",
            *((HOW_SOLVED,) if len(crossings) else ()),
            say.HOW_SMALLEST,
        ),
        limits=(describe_tuning(differences), say.LIMIT_STRATEGIES),
        numbers=make_numbers(differences, crossings),
    )


HOW_SOLVED = (
    "The value at which the outcome meets its target: straight lines between the values played, and as interval all "
    "values at which the outcome's interval holds the target (Fieller's method, with what the values share by common "
    "deals). Nothing is extrapolated."
)


def nothing_to_compare(run: Run) -> Report:
    """Say that the run has one set of rules only."""
    return Report(
        name="whatif",
        title=TITLE,
        question=QUESTION,
        answer=(
            "In this run no players finished games under two sets of rules, so that there is nothing to compare.",
            f"An experiment with a grid over rules can answer ({say.count_deals(run)}).",
        ),
        sections=(),
    )


# Words


def name_rules(run: Run) -> dict[str, str]:
    """Give each set of rules a name that fits a figure: what it changes, or a letter if that is long."""
    labels = list(dict.fromkeys(metrics.list_cells(run)["rules"]))
    short = {label: ", ".join(part.rpartition(".")[2] for part in label.split(", ")) for label in labels}
    if len(set(short.values())) == len(labels) and all(len(name) <= SHORT for name in short.values()):
        return short
    return {label: f"rules {chr(ord('A') + place % 26)}" for place, label in enumerate(labels)}


def describe_changes(differences: pd.DataFrame, baseline: str) -> str:
    """Say how the first outcome and the share of the seat that starts change."""
    first = str(differences["outcome"].iloc[0])
    changes = differences[differences["outcome"] == first]
    seats = differences[(differences["outcome"] == SEAT) & (first != SEAT)]
    word = say.LABELS.get(first, first)
    groups = list(changes.groupby(["rules", "spec", "tuning"], sort=False))
    if len(groups) <= FEW:
        parts = [describe_group(rows, match(seats, key), word) for key, rows in groups]
        return f"Against {baseline}, {'; '.join(parts)}{describe_wins(differences)}."
    low, high = (changes.loc[changes["estimate"].agg(end)] for end in ("idxmin", "idxmax"))
    n_seen = count_seen(seats) or "none"
    seen = f"; a change of the win share of seat 0 is seen in {n_seen} of them" if len(seats) else ""
    return (
        f"Against {baseline}, over {len(changes)} comparisons, the {word} changes by between "
        f"{describe_difference(low)} ({name_comparison(low)}) and {describe_difference(high)} "
        f"({name_comparison(high)}){seen}{describe_wins(differences)}."
    )


def describe_wins(differences: pd.DataFrame) -> str:
    """Say whose wins change most, where different strategies meet."""
    wins = differences[differences["outcome"] == "win_share"]
    if wins.empty:
        return ""
    seen = wins[wins["p_holm"] < ALPHA]
    if seen.empty:
        return "; no change is seen in the wins of any strategy"
    most = seen.loc[seen["estimate"].abs().idxmax()]
    return f"; the wins of {most['spec']} change most, by {describe_difference(most)} ({name_comparison(most)})"


def match(frame: pd.DataFrame, key: tuple[str, str, str]) -> pd.DataFrame:
    """Return the rows of one set of rules, strategy and tuning."""
    return frame[(frame[["rules", "spec", "tuning"]] == list(key)).all(axis=1)]


def describe_group(rows: pd.DataFrame, seats: pd.DataFrame, word: str) -> str:
    """Say what one set of rules changes for one strategy, at all player counts."""
    first = rows.iloc[0]
    tuned = ", re-tuned" if first["tuning"] == RETUNED else ""
    text = f"with {first['rules']} ({first['spec']}{tuned}) the {word} changes by {by_players(rows)}"
    if seats.empty:
        return text
    if not count_seen(seats):
        return f"{text}, and no difference is seen in the win share of seat 0"
    return f"{text}, and the win share of seat 0 by {by_players(seats)}"


def by_players(rows: pd.DataFrame) -> str:
    """List differences by player count."""
    return join_words(f"{describe_difference(row)} at {row['players']} players" for _, row in rows.iterrows())


KEYS = ["players", "spec", "rules", "tuning"]


def name_comparison(row: pd.Series) -> str:
    """Say which comparison a row belongs to."""
    tuned = ", re-tuned" if row["tuning"] == RETUNED else ""
    return f"{row['rules']} at {row['players']} players ({row['spec']}{tuned})"


def describe_difference(row: pd.Series) -> str:
    """Say a difference with its interval, and whether it is seen."""
    if row["se"] == 0 or pd.isna(row["se"]):
        return "exactly 0 in all games" if row["estimate"] == 0 else format_estimate(row, signed=True)
    return format_estimate(row, signed=True) + ("" if is_seen(row) else ", no difference seen")


def is_seen(row: pd.Series) -> bool:
    """Tell whether a difference stays clear of 0 after the correction."""
    return bool(row["p_holm"] < ALPHA)


def describe_reach(differences: pd.DataFrame) -> str:
    """Say what was looked at, what could not have been seen, and what common deals did for it."""
    shares = differences[differences["outcome"].str.endswith("win_share") & (differences["se"] > 0)]
    smallest = ""
    if len(shares):
        smallest = f" (smaller than {format_number(100 * shares['mde'].max(), 1)} percentage points of win share)"
    played = "play fixed and re-tuned" if has_retuned(differences) else "were not re-tuned to the rules"
    return (
        f"Of {len(differences)} differences looked at, {count_seen(differences)} are seen after Holm's correction, and "
        f"small ones could not be{smallest}; strategies {played}, and {say_luck(differences)}."
    )


# Sections


def changes_section(differences: pd.DataFrame, names: dict[str, str], baseline: str, *, is_told: bool) -> Section:
    """Show all differences: a figure a strategy, and the tables; told in words too, if the answer is another."""
    plots = []
    for place, (spec, rows) in enumerate(split_specs(differences).items()):
        drawn = label_rows(rows, names)
        never = drawn.groupby("outcome", sort=False)["estimate"].agg(lambda found: (found == 0).all())
        same = [PANELS.get(outcome, say.LABELS.get(outcome, outcome)) for outcome in never[never].index]
        drawn = drawn[~drawn["outcome"].map(never)]
        if drawn.empty:
            continue
        looks = {
            str(label): Look(SERIES[int(part["players"].iloc[0]) - 2], mark(part), "-")
            for label, part in drawn.groupby("spec", sort=False)
        }
        panels = {
            PANELS.get(str(outcome), say.LABELS.get(str(outcome), str(outcome))): part
            for outcome, part in drawn.groupby("outcome", sort=False)
        }
        draw = partial(
            figures.draw_forest, panels, looks, list(looks), references=dict.fromkeys(panels, 0.0), signed=True
        )
        plots.append(
            Plot(
                f"changes{'' if place == 0 else f'_{place + 1}'}",
                f"Changes against {baseline}: {spec}",
                lambda narrow, draw=draw: draw(narrow=narrow),
                f"{describe_names(names, rows)}{f'The same in all games: {join_words(same)}. ' if same else ''}A color "
                f"is a number of players. {say.describe_evidence(rows)}",
            )
        )
    return Section(
        "What changes",
        (
            *((describe_changes(differences, baseline),) if is_told else ()),
            f"Each panel is one outcome; to the right of the dashed line there is more of it than under {baseline}."
            if plots
            else "In no game did other rules change anything that is looked at.",
        ),
        (
            *plots,
            Table(
                "differences",
                "Differences",
                drop_constant(differences[[*KEYS, "outcome", "unit", "estimate", "low", "high", "se", "n", "n_deals",
                                           "mde", "note"]]),
                f"The rules named minus {baseline}. {say.CAPTION}",
                say.LABELS,
                signed=True,
            ),
            Table(
                "details",
                "Every difference, with its test and what common deals did",
                drop_constant(differences.drop(columns=["se", "n", "note"]).rename(columns={"estimate": "difference"})),
                "Shares are from 0 to 1. p (Holm): corrected for all rows of this table. Saved: the part of the games "
                "that common deals saved against independent play.",
                {**say.LABELS, "baseline": baseline, "changed": "with these rules", "p_value": "p",
                 "p_holm": "p (Holm)", "correlation_low": "its low", "correlation_high": "its high"},
            ),
        ),
    )  # fmt: skip


def split_specs(differences: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Split differences by who plays; the win shares of strategies that meet go with all line-ups."""
    who = differences["spec"].where(differences["outcome"] != "win_share", MIXED)
    return {str(spec): rows for spec, rows in differences.groupby(who, sort=False)}


def label_rows(rows: pd.DataFrame, names: dict[str, str]) -> pd.DataFrame:
    """Put what a figure calls each comparison into the column `spec`; strategies' win shares become outcomes."""
    several, tuned = rows["rules"].nunique() > 1, has_retuned(rows)
    labels = [
        f"{row.players} {'pl.' if several else 'players'}"
        + (f", {names[str(row.rules)]}" if several else "")
        + (f", {row.tuning}" if tuned else "")
        for row in rows.itertuples()
    ]
    is_strategy = rows["outcome"] == "win_share"
    outcomes = rows["outcome"].where(~is_strategy, "wins of " + rows["spec"].astype(str))
    return rows.assign(spec=labels, outcome=outcomes)


def mark(rows: pd.DataFrame) -> str:
    """Return the marker of a comparison: another for re-tuned strategies."""
    return MARKERS[int((rows["tuning"] == RETUNED).any())]


def describe_names(names: dict[str, str], rows: pd.DataFrame) -> str:
    """Say what the letters of rules in a figure stand for, if there are any."""
    used = [str(label) for label in dict.fromkeys(rows["rules"])]
    if len(used) < 2 or not any(names[label].startswith("rules ") for label in used):
        return ""
    return f"{'; '.join(f'{names[label]}: {label}' for label in used)}. "


def drop_constant(frame: pd.DataFrame) -> pd.DataFrame:
    """Leave out the columns `spec`, `rules` and `tuning` where they tell nothing apart."""
    same = [name for name in ("spec", "rules", "tuning") if frame[name].nunique() == 1]
    return frame.drop(columns=same)


def luck_section(differences: pd.DataFrame) -> Section:
    """Say what the common deals did for the comparisons, by player count and strategy."""
    known = differences.dropna(subset=["correlation"])
    groups = known.groupby(["players", "spec", "rules", "tuning"], sort=False)
    rows = [
        (*keys, part["correlation"].median(), part["correlation"].min(), part["correlation"].max(),
         100 * part["saved"].median(), len(part))
        for keys, part in groups
    ]  # fmt: skip
    columns = ["players", "spec", "rules", "tuning", "correlation", "least", "greatest", "games saved, %", "outcomes"]
    return Section(
        "What the common deals did",
        (describe_luck(differences), "Each correlation has its interval in the table of every difference."),
        (
            Table(
                "luck",
                "Correlation of the games of a deal, median over outcomes",
                drop_constant(pd.DataFrame(rows, columns=columns)),
                "Outcomes that never varied are left out.",
            ),
        ),
    )


def solve_section(run: Run, crossings: pd.DataFrame) -> Section:
    """Show the outcome over the values of the rule, and where it meets its target."""
    responses = metrics.rule_responses(run)
    if (responses["value"] % 1 == 0).all():
        responses = responses.astype({"value": int})
    first = crossings.iloc[0]
    word = say.LABELS.get(first["outcome"], first["outcome"])
    heading = capitalize(word)
    responses = responses.assign(spec=responses["spec"] + responses["rules"].map(
        lambda rules: "" if rules == "standard" else f" ({rules})"))  # fmt: skip
    panels = say.split_players(responses)
    looks = figures_looks(responses)
    targets = {f"{players} players": float(rows["target"].iloc[0]) for players, rows in crossings.groupby("players")}
    draw = partial(figures.draw_lines, panels, "value", looks, references=targets, x_label=first["key"], height=2.5)
    table = crossings.drop(columns=["key", "outcome", "unit", "least", "greatest"]).rename(
        columns={"estimate": first["key"]}
    )
    several = table["crossings"].map(len) > 1
    table["crossings"] = table["crossings"].map(lambda met: ", ".join(format_number(value, 2) for value in met))
    table = table if several.any() else table.drop(columns="crossings")
    return Section(
        f"Where the {word} meets its target",
        (describe_crossings(crossings),),
        (
            Plot("response", f"{heading} over {first['key']} (dashed: the target)",
                 lambda narrow: draw(narrow=narrow), say.describe_evidence(responses)),
            Table("crossings", f"The {first['key']} at which the target is met", table,
                  "Between the values played; an open end means that the truth may lie beyond them, two that this run "
                  "does not determine the value.",
                  {"is_open_below": "open below", "is_open_above": "open above", "tried_from": "tried from",
                   "tried_to": "to", "crossings": "means meet it at"}),
            Table("responses", f"{heading} at each value", responses.drop(columns="rules"), say.CAPTION, say.LABELS),
        ),
    )  # fmt: skip


def figures_looks(frame: pd.DataFrame) -> dict[str, Look]:
    """Give each strategy of a frame its look."""
    names = list(dict.fromkeys(frame["spec"]))
    return {name: Look(SERIES[i % len(SERIES)], MARKERS[i % len(MARKERS)], "-") for i, name in enumerate(names)}


def tuning_section(run: Run) -> Section:
    """Show which strategies were re-tuned, and to what."""
    rows = [(each["players"], each["rules"], each["spec"], each["plays"]) for each in read_whatif(run)["retuned"]]
    frame = pd.DataFrame(rows, columns=["players", "rules", "spec", "plays"])
    return Section(
        "Fixed and re-tuned",
        (
            "A re-tuned strategy was tuned to the rules under which it plays, against copies of itself as it was, by a "
            "short search, and shown better on deals that the search never saw. Where nothing better was found, it "
            "plays as it is. A longer search may find more.",
        ),
        (Table("retuned", "What was found", frame, labels={"plays": "re-tuned to these rules"}),),
    )


def rules_section(run: Run) -> Section:
    """Show the outcomes under each set of rules, and whether all seats are equal."""
    tests = metrics.seat_tests(run, lineups="self_play")
    return Section(
        "Under each set of rules",
        ("Means of all games, not differences.",),
        (
            Table("outcomes", "Outcomes", drop_constant(metrics.rule_outcomes(run)), say.CAPTION, say.LABELS),
            *((Table("seat_tests", "Joint tests that all seats are equal", tests,
                     "One strategy in all seats. A small p speaks against equal seats.",
                     {**say.LABELS, "outcome": "of", "statistic": "F"}),) if len(tests) else ()),
        ),
    )  # fmt: skip


def make_numbers(differences: pd.DataFrame, crossings: pd.DataFrame) -> dict[str, object]:
    """Return the numbers of the answer by name."""
    known = differences.dropna(subset=["correlation"])
    numbers: dict[str, object] = {
        "differences": len(differences),
        "seen": count_seen(differences),
        "correlation, median": known["correlation"].median(),
        "games saved, median": known["saved"].median(),
    }
    for row in crossings.to_dict("records"):
        name = f"{row['key']} for {row['outcome']}, {row['players']} players, {row['spec']}, {row['rules']}"
        numbers[name] = {
            key: row[key]
            for key in ("estimate", "low", "high", "is_open_below", "is_open_above", "crossings", "target", "note")
        }
    return numbers


if __name__ == "__main__":
    raise SystemExit(main(__name__))
