"""Which seat is best, for whom, and is the table fair enough: each seat against its fair share.

Source: the tables `games` and, for later starts, `rounds` of a run.
"""

from __future__ import annotations

import pandas as pd

from azulsim import metrics
from azulsim.errors import InputError
from azulsim.log import Run
from azulsim.log.read import format_count
from azulsim.report import Plot, Report, Section, Table, figures, main
from azulsim.report import shared as say
from azulsim.report.sections import LABELS, make_seats_section
from azulsim.report.words import format_estimate, format_number, format_p, join_words, uncapitalize

TITLE = "Seats"
QUESTION = "Which seat is best, for whom, and is the table fair enough?"


def build(run: Run, *, margin: str = str(metrics.MARGIN)) -> Report:
    """Build the report of a run; `margin` is the largest departure from the fair share that does not matter."""
    allowed = read_margin(margin)
    lineups, which = say.choose_lineups(run)
    looks = say.make_looks(run)
    seats = metrics.win_shares(run, lineups=lineups)
    tests = metrics.seat_tests(run, lineups=lineups)
    within = metrics.seat_equivalence(run, margin=allowed, lineups=lineups)
    scores = say.keep_first_rules(metrics.scores(run, lineups=lineups))
    best = say.order_specs(scores)[0]
    has_fair = lineups == "self_play"  # elsewhere a share holds strength too, so that none is fair
    sections = [make_seats_section(seats, tests, looks, best)]
    sections += [within_section(within, allowed)] if has_fair else []
    if metrics.has_depth(run, "rounds"):
        sections += parts_sections(run, lineups, looks)
    sentences, numbers = answer(
        say.keep_first_rules(seats),
        say.keep_first_rules(tests),
        say.keep_first_rules(within) if has_fair else None,
        best,
        allowed,
    )
    signs = say_signs(say.keep_first_rules(within), allowed) if has_fair else STRENGTH
    return Report(
        name="seats",
        title=TITLE,
        question=QUESTION,
        answer=(sentences, f"{signs} ({uncapitalize(which)}; {say.count_deals(run)})."),
        sections=tuple(sections),
        how_to_read=(
            "Seat 0 starts round 1, the others follow in order. The fair share is one divided by the number of "
            "players.",
            "That seats are not found to differ does not show that they are equal: for that, see which are shown to "
            "lie within the margin.",
        ),
        how_computed=(
            f"{which}. The schedule decides who sits where, so that what differs between seats is an effect of the "
            "seat.",
            "The joint test compares all seats at once (Hotelling's form of Wald's test with the covariance of the "
            "seat means over deals).",
            f"Within the margin: two one-sided tests at 5 % against {say_points(allowed)}; for all seats of a table, "
            "the greatest of their p-values.",
            "Later starts: least squares of the win share on the seat and on the number of later rounds that it starts "
            "above an equal share, errors by deal.",
            say.HOW_INTERVALS,
            say.HOW_SMALLEST,
        ),
        limits=(
            *say.describe_rules_shown(run),
            "What goes with starting later rounds is an association: who starts took the marker by choice.",
            say.LIMIT_STRATEGIES,
            say.LIMIT_MANY,
        ),
        numbers=numbers,
    )


def read_margin(text: str) -> float:
    """Return the margin as a share, or say what would be right."""
    try:
        margin = float(text)
    except ValueError:
        margin = float("nan")
    if not 0 < margin < 1:
        raise InputError(f"margin = {text!r}: must be a share between 0 and 1, such as 0.02 for 2 wins in 100 games")
    return margin


def say_points(margin: float) -> str:
    """Say a margin in percentage points."""
    return f"{format_number(100 * margin, 1 if round(100 * margin, 6) % 1 else 0)} percentage points"


STRENGTH = (
    "Different strategies met, so that the height of these shares is strength; only the differences between the seats "
    "of one strategy are the seats'"
)


def answer(
    seats: pd.DataFrame, tests: pd.DataFrame, within: pd.DataFrame | None, best: str, margin: float
) -> tuple[str, dict[str, object]]:
    """Say which seat wins most and least for the strategy that scores most; `within` if there is a fair share."""
    numbers: dict[str, object] = {"strategy": best, "margin": margin}
    parts = []
    for players, rows in seats[seats["spec"] == best].groupby("players", sort=True):
        mine = tests[(tests["players"] == players) & (tests["spec"] == best)]
        p = float(mine["p_value"].iloc[0])
        ordered = rows.sort_values("estimate", ascending=False, kind="stable")
        first, last = ordered.iloc[0], ordered.iloc[-1]
        fair = format_number(100 / int(str(players)), 0 if 100 % int(str(players)) == 0 else 1)
        text = f"at {players} players seat {first['seat']} wins {format_estimate(first)}"
        if players != 2 or within is None:
            text += f" and seat {last['seat']} {format_estimate(last)}"
        fairly = "" if within is None else f", where {fair} is fair"
        parts.append(f"{text}{fairly} ({format_p(p)} in a test that all are equal)")
        numbers |= say.list_numbers(rows, "seat_{seat}_{players}_players")
        numbers[f"p_equal_{players}_players"] = p
        if within is not None:
            close = within[(within["players"] == players) & (within["spec"] == best)]
            numbers[f"p_within_{players}_players"] = float(close["p_within"].max())
    whose = f"For {best}" if within is not None else f"For {best}, against other strategies"
    return f"{whose}, {'; '.join(parts)}.", numbers


def say_signs(within: pd.DataFrame, margin: float) -> str:
    """Say for how many strategies starting helps or hurts, and how many tables are fair within the margin."""
    first = within[within["seat"] == 0]
    helps, hurts = int((first["low"] > 0).sum()), int((first["high"] < 0).sum())
    tables = within.groupby(["players", "spec"], observed=True)["is_within"].all()
    return (
        f"Of {format_count(len(first), 'table')} of one strategy and player count, seat 0 wins more than its share in "
        f"{helps} and less in {hurts}; all seats are shown to be within {say_points(margin)} of it in "
        f"{int(tables.sum())} of {len(tables)}"
    )


def within_section(within: pd.DataFrame, margin: float) -> Section:
    """Show which seats are close enough to the fair share."""
    shown = say.keep_first_rules(within)
    tables = shown.groupby(["players", "spec"], observed=True)["p_within"].max()
    fair = [f"{spec} ({players} players)" for (players, spec), p in tables.items() if p < 0.05]
    verdict = f"Shown for all seats of {join_words(fair)}." if fair else "Shown for all seats of no table."
    if len(fair) > MOST_NAMED:
        verdict = f"Shown for all seats of {len(fair)} of {len(tables)} tables."
    return Section(
        f"Fair within {say_points(margin)}?",
        (
            "A departure from the fair share this small is taken not to matter (--margin states another). A seat is "
            "within the margin if its departure is shown to be smaller, on both sides, with an error of 5 %; otherwise "
            f"it is larger, or the run too short to tell. {verdict}",
        ),
        (
            Table("within", "Win share minus fair share", within, say.CAPTION, LABELS, signed=True),
        ),
    )  # fmt: skip


MOST_NAMED = 6


def parts_sections(run: Run, lineups: metrics.Lineups, looks: figures.Looks) -> list[Section]:
    """Show what the seat has of starting order, and what goes with starting later rounds."""
    parts = metrics.seat_parts(run, lineups=lineups)
    if parts.empty:
        return []
    slopes = metrics.later_starts(run, lineups=lineups)
    shown = say.keep_first_rules(parts)
    panels = {
        f"{title}: {LABELS[outcome]}": rows[rows["outcome"] == outcome]
        for title, rows in say.split_players(shown).items()
        for outcome in ("order", "later")
    }

    def draw(narrow: bool) -> figures.Figure:
        return figures.draw_lines(
            panels, "seat", looks, narrow=narrow, references=dict.fromkeys(panels, 0.0), x_label="seat (0 starts)",
            columns=2, signed=True, share_y=True,
        )  # fmt: skip

    return [
        Section(
            "Starting order, and starting again later",
            (
                "A seat may win because of the order of the first round, or because it comes to start more of the "
                "later rounds. Left: win share minus fair share at an equal number of later starts. Right: what goes "
                "with the later starts that the seat has more, or less, than the others. The two add up to the "
                "advantage.",
            ),
            (
                Plot("parts", "Win share minus fair share, in two parts", draw, say.describe_evidence(shown)),
                Table("parts", "Advantage of each seat, in two parts", parts, say.CAPTION, LABELS, signed=True),
                Table("per_start", "Win share that goes with one more later start", slopes, say.CAPTION, LABELS,
                      signed=True),
            ),
            note="The split is not causal: who starts a later round took the marker, and those who take it differ from "
            "those who do not. The marker report says what starting is worth.",
            is_association=True,
        )
    ]  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main(__name__))
