"""How much is luck, how much skill, when is the game decided, and how many games tell two players apart.

Source: the tables `games`, `rounds` and, where games were continued from tempo roots, `probes` of a run.
"""

from __future__ import annotations

import pandas as pd

from azulsim import metrics
from azulsim.log import Run
from azulsim.report import Report, Section, Table, figures, main
from azulsim.report import shared as say
from azulsim.report.sections import LABELS, make_standings_section, make_variance_section, plot_by_round
from azulsim.report.words import capitalize, format_number, uncapitalize

TITLE = "Luck and skill"
QUESTION = "How much is luck, when is the game decided, and how many games tell two players apart?"


def build(run: Run) -> Report:
    """Build the report of a run."""
    lineups, which = say.choose_lineups(run)
    looks = say.make_looks(run)
    best = say.order_specs(say.keep_first_rules(metrics.scores(run, lineups=lineups)))[0]
    sections = [section] if (section := make_variance_section(run)) else []
    sentences, numbers = describe_skill(run)
    if metrics.has_depth(run, "rounds"):
        decided = metrics.decided_by_round(run, lineups=lineups)
        lead = metrics.decided_by_lead(run, lineups=lineups)
        said, more = describe_decided(say.keep_first_rules(lead), best)
        sentences, numbers = [*sentences, *said], {**numbers, **more}
        sections += [decided_section(decided, looks)] if len(decided) else []
        sections += [lead_section(lead, looks), make_standings_section(run, lineups)]
    if section := tell_section(run):
        sections.append(section)
    return Report(
        name="luck",
        title=TITLE,
        question=QUESTION,
        answer=(
            f"{capitalize('; '.join(sentences))}." if sentences else explain_silence(run),
            f"{LIMIT} ({say.count_deals(run)}).",
        ),
        sections=tuple(sections) or (Section("Nothing to tell", (NOTHING,)),),
        how_to_read=(
            "Shares of variance add up to 100 %. Skill of 40 % does not mean that the better wins 40 % of games; it is "
            "the part of the spread of outcomes that would be left if tiles and seats were equal for all.",
            "Explained by the lead: 0 % if the lead after a round says nothing of the end, 100 % if it says all.",
            "Deals to tell: after so many deals, each played in all seatings, the better of the two leads with a "
            "chance of 95 %; with fewer, the better often trails.",
        ),
        how_computed=(
            "Variance: the part that each thing explains alone, from expected mean squares over deals, players and "
            "seats, freed of the noise of finitely many deals; intervals by the jackknife over deals.",
            f"The course of games: {uncapitalize(which)}. Explained by the lead: the squared correlation of a "
            "player's lead (own score minus the best other) after the round with its win share, or final margin, in "
            "games that go on after the round. The lead is one number of a position, so that at least so much is "
            "decided.",
            "Decided when a round begins, where games were continued: one minus the variance between continuations of "
            "one position, over the variance of all; one-way random effects.",
            "Deals to tell: (1.645 sd / mean) squared of how often one finishes ahead of the other on a deal.",
            say.HOW_INTERVALS,
            say.HOW_SMALLEST,
        ),
        limits=(
            *say.describe_rules_shown(run),
            "Tiles and decisions made by chance are not told apart: a run plays each deal once in each seating.",
            "The lead after a round is an association with the end, not a cause of it: between unequal players it "
            "holds their strength too.",
            say.LIMIT_STRATEGIES,
            say.LIMIT_MANY,
        ),
        numbers=numbers,
    )


LIMIT = (
    "Shares of skill hold for the players who sat at the table, and a field of more unequal players has more of it; "
    "nothing here says how much luck there is between people"
)
NOTHING = "Play strategies against each other, or log rounds."


def explain_silence(run: Run) -> str:
    """Say why the run tells nothing of luck: what was not played or not logged, or too few deals."""
    mixed = [cell for cell in run.manifest.cells if len(set(cell.lineup)) > 1]
    if any(len(cell.seatings) >= cell.players for cell in mixed) or metrics.has_depth(run, "rounds"):
        return "From so few deals nothing can be told of luck: no share of the variance has an interval."
    met = "none of its mixed line-ups was rotated through the seats" if mixed else "no different strategies met in it"
    return f"This run can tell nothing of luck, since it has no log by round, and {met}."


def describe_skill(run: Run) -> tuple[list[str], dict[str, object]]:
    """Say how much of the win share varies with who plays."""
    shares = say.keep_first_rules(metrics.variance_shares(run))
    skill = shares[(shares["outcome"] == "skill") & shares["low"].notna()]
    if skill.empty:
        return [], {}
    text = f"Who plays explains {say.join_players(skill)} of the variance of wins between the strategies that met"
    return [text], say.list_numbers(shares, "{outcome}_{players}_players")


def describe_decided(lead: pd.DataFrame, best: str) -> tuple[list[str], dict[str, object]]:
    """Say how much the lead after round 2 explains between equals."""
    rows = lead[(lead["spec"] == best) & (lead["round"] == ROUND) & (lead["outcome"] == "win_share")]
    rows = rows[rows["low"].notna()]
    if rows.empty:
        return [], {}
    text = f"for {best}, the lead after round {ROUND} explains {say.join_players(rows)} of who wins in the end"
    return [text], say.list_numbers(rows, f"explained_by_lead_{ROUND}_{{players}}_players")


ROUND = 2


def lead_section(lead: pd.DataFrame, looks: figures.Looks) -> Section:
    """Show how much the lead after each round explains of the outcome."""
    every = say.keep_first_rules(lead).query("outcome == 'win_share'")
    return Section(
        "How much the lead explains",
        (
            "Part of the variance of win shares that goes with the lead after a round. A lead is only one number of a "
            "position, whose tiles and walls say more, so that at least so much is decided by then.",
        ),
        (
            plot_by_round("lead", "Explained by the lead, by round", every, looks, x_label="after round",
                          from_zero=True),
            Table("lead", "Explained by the lead: of the win share and of the margin",
                  lead[lead["outcome"] != "runaway"], say.CAPTION, {**LABELS, "win_share": "win share"}),
            Table("runaway", "Correlation of the score after a round with the win share",
                  lead[lead["outcome"] == "runaway"], say.CAPTION, LABELS),
        ),
        is_association=True,
    )  # fmt: skip


def decided_section(decided: pd.DataFrame, looks: figures.Looks) -> Section:
    """Show how much is decided when each round begins, from continued games."""
    plot = plot_by_round(
        "decided", "Share of the win share that is decided", say.keep_first_rules(decided), looks,
        x_label="when round ... begins", from_zero=True,
    )  # fmt: skip
    return Section(
        "When it is decided",
        (
            "The same positions were played on again and again with new tiles and new decisions. What then still "
            "varies is not decided yet. Of games that are still being played.",
        ),
        (
            plot,
            Table("decided", "Part of the win share that is decided when a round begins", decided, say.CAPTION,
                  LABELS),
        ),
    )  # fmt: skip


def tell_section(run: Run) -> Section | None:
    """Show how many deals tell two strategies apart, if different ones met."""
    frame = metrics.games_to_tell(run)
    if frame.empty:
        return None
    shown = say.keep_first_rules(frame).sort_values("to_tell", ascending=False, kind="stable")
    closest = [
        f"{row['spec']} and {row['opponent']} at {row['players']} players: {format_number(row['games'], 0)} games"
        for _, row in shown.drop_duplicates("players").sort_values("players").iterrows()
    ]
    return Section(
        "Telling two players apart",
        (
            "The better of two does not always win; after how many deals does it lead with a chance of 95 %? The pairs "
            f"that take longest: {'; '.join(closest)}. A deal is played in all seatings, and counts as one.",
        ),
        (
            Table("tell", "Deals until the better leads", frame, "The better stands first. " + say.CAPTION, LABELS),
        ),
    )  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main(__name__))
