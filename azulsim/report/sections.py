"""Parts of pages that several reports show."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import pandas as pd

from azulsim import metrics
from azulsim.log import Run
from azulsim.report import figures
from azulsim.report import shared as say
from azulsim.report.model import Plot, Section, Table
from azulsim.report.words import format_p

LABELS = {
    **say.LABELS,
    "leader_wins": "the leader wins",
    "last_wins": "the last wins",
    "lead": "lead",
    "lead_changes": "changes of the lead",
    "bonus_leader_wins": "who leads before the bonuses wins",
    "runaway": "score with win share",
    "advantage": "win share minus fair share",
    "order": "at equal later starts",
    "later": "with later starts",
    "per_start": "win share with one more later start",
    "p_within": "p within the margin",
    "is_within": "within the margin",
    "fewest": "rarest color",
    "most": "commonest color",
    "unevenness": "unevenness",
    "denied": "points denied a move",
    "wanted": "tiles wanted on offer",
    "lost": "lost before the next turn",
    "lost_share": "part lost",
    "turns_later": "plays so many turns later",
    "specs": "line-up",
    "skill": "skill",
    "seat": "seat",
    "skill_seat": "skill and seat together",
    "luck": "luck",
    "decided": "decided",
    "to_tell": "deals to tell",
    "to_tell_low": "at least",
    "to_tell_high": "at most",
}
"""Words for outcomes and columns, those of `shared.LABELS` included."""


def plot_by_round(
    name: str,
    title: str,
    frame: pd.DataFrame,
    looks: figures.Looks,
    *,
    caption: str = "",
    reference: float | None = None,
    x_label: str = "round",
    **options: Any,
) -> Plot:
    """Make a figure of one outcome by round: a line a strategy, a panel a player count, rare rounds left out.

    `reference` is a value at which a dashed line stands in all panels; `options` go to `figures.draw_lines`.
    """
    shown = say.keep_common(frame)
    panels = say.split_players(shown)
    if reference is not None:
        options["references"] = dict.fromkeys(panels, reference)
    draw = partial(figures.draw_lines, panels, "round", looks, x_label=x_label, height=2.4, share_y=True, **options)
    caption = f"{caption} {say.describe_common(shown, frame)}".lstrip()
    return Plot(name, title, lambda narrow: draw(narrow=narrow), caption)


def make_seats_section(seats: pd.DataFrame, tests: pd.DataFrame, looks: figures.Looks, best: str) -> Section:
    """Show the win share of each seat against the fair share, with the joint tests."""
    shown, tested = say.keep_first_rules(seats), say.keep_first_rules(tests)
    panels = say.split_players(shown)
    fair = {title: 1 / int(rows["players"].iloc[0]) for title, rows in panels.items()}
    draw = partial(figures.draw_lines, panels, "seat", looks, references=fair, x_label="seat (0 starts)", height=2.5)
    found = [
        f"{row.players} players: {format_p(float(str(row.p_value)))}"
        for row in tested.itertuples()
        if str(row.spec) == best
    ]
    return Section(
        "Win share by seat",
        (
            "Seat 0 starts round 1, the others follow in order. Seats are assigned, so that differences between them "
            f"are effects of the seat for these strategies. Are all seats equal? For {best}, jointly: "
            f"{'; '.join(found)}.",
        ),
        (
            Plot(
                "seats",
                "Win share by seat (dashed: the fair share)",
                lambda narrow: draw(narrow=narrow),
                say.describe_evidence(shown),
            ),
            Table("seats", "Win share by seat", seats, say.CAPTION, LABELS),
            Table("seat_tests", "Joint tests that all seats are equal", tests, "A small p speaks against equal seats.",
                  {**LABELS, "outcome": "of", "statistic": "F"}),
        ),
    )  # fmt: skip


@lru_cache(maxsize=2)
def make_standings_section(run: Run, lineups: metrics.Lineups) -> Section:
    """Show how those win who lead after a round, and how often the lead changes."""
    looks = say.make_looks(run)
    standings = metrics.standings(run, lineups=lineups)
    every = say.keep_first_rules(standings).query("outcome == 'leader_wins'")
    fair = {title: 1 / int(rows["players"].iloc[0]) for title, rows in say.split_players(every).items()}
    return Section(
        "Does the leader run away?",
        (
            "Win share of whoever has most points after a round, before it is known how the game ends; games that "
            "ended with that round do not count, and several who share the lead count in parts. The nearer to the "
            "dashed fair share, the less a lead means; 100 % would be a game decided then. The lead changes when "
            "another player than before leads alone after a round.",
        ),
        (
            plot_by_round("leader", "Win share of the leader, by round (dashed: the fair share)", every, looks,
                          references=fair, x_label="after round"),
            Table("standings", "Who leads, who is last, and by how much", standings.drop(columns="fair"), say.CAPTION,
                  LABELS),
            Table("lead_changes", "Changes of the lead, and the bonuses of the end",
                  metrics.lead_changes(run, lineups=lineups), say.CAPTION, LABELS),
        ),
    )  # fmt: skip


@lru_cache(maxsize=2)
def make_variance_section(run: Run) -> Section | None:
    """Show what the outcome varies with, if line-ups of different strategies were seated in all rotations."""
    pooled = metrics.variance_shares(run)
    if pooled.empty:
        return None
    each = metrics.variance_shares(run, ("players", "lineup"))
    shown = say.keep_first_rules(each)
    if shown["specs"].nunique() > MOST_LINEUPS:
        shown = say.keep_first_rules(pooled).assign(specs="all line-ups")
    parts = {name: LABELS[name] for name in metrics.VARIANCE}
    draw = partial(figures.draw_stacks, say.split_players(shown), "specs", parts, x_label="share of the variance")
    margin = metrics.variance_shares(run, outcome="margin")
    return Section(
        "Skill, seat and luck",
        (
            "How much of the variance of win shares there would be if only one thing differed: who plays (skill), "
            "where one sits, and both together; the rest is luck, which is the tiles and the decisions made by chance. "
            "Skill is the spread of those who sat at the table: a table of equals has none, however well they play.",
        ),
        (
            Plot("variance", "Variance of the win share, by line-up", lambda narrow: draw(narrow=narrow),
                 say.describe_evidence(shown)),
            Table("variance", "Win share: all line-ups together", pooled, say.CAPTION, LABELS),
            Table("variance_margin", "Margin: all line-ups together", margin, say.CAPTION, LABELS),
            Table("variance_lineups", "Win share: each line-up", each, say.CAPTION, LABELS),
        ),
    )  # fmt: skip


MOST_LINEUPS = 24
"""With more line-ups than this, the figure shows them together."""
