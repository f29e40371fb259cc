"""How balanced is it: player count, seats, strategies and luck on one page, and the marker and rules where asked for.

Puts the answers of the other reports first, then their key figures and tables; each report alone has more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from types import MappingProxyType

from azulsim import metrics
from azulsim.catalog import find, load_module
from azulsim.log import Run
from azulsim.report import Report, Section, main, make_report
from azulsim.report.words import uncapitalize

TITLE = "Balance"
QUESTION = "How balanced is the game: between player counts, seats and strategies, and between luck and skill?"

PICKS = MappingProxyType(
    {
        "player_count": ("mechanics", "outcomes", "changes", "scores_spread", "supply", "denials", "neighbours"),
        "seats": ("seats", "seat_tests", "within", "parts"),
        "ranking": ("shares", "ranks", "payoffs", "cycles"),
        "luck": ("variance", "decided", "lead", "leader", "lead_changes", "tell"),
    }
)
"""Figures and tables of each report that stand on this page."""
MOST_FIGURES = 3
"""Of a report without picks, the first figures, and the tables of the same names."""


def build(run: Run, *, margin: str = str(metrics.MARGIN)) -> Report:
    """Build the page; `margin` is the departure from the fair share that does not matter, as in the report `seats`."""
    reports = [make_report(load_module(find("reports", name)), run, options(name, margin)) for name in choose(run)]
    return Report(
        name="balance",
        title=TITLE,
        question=QUESTION,
        answer=(*(f"{report.title}: {report.answer[0]}" for report in reports), reports[0].answer[-1]),
        sections=tuple(section for report in reports for section in pick_sections(report)),
        how_to_read=join(report.how_to_read for report in reports),
        how_computed=join(report.how_computed for report in reports),
        limits=join(report.limits for report in reports),
        numbers={report.name: report.numbers for report in reports},
    )


def choose(run: Run) -> list[str]:
    """List the reports that the run can fill."""
    several_rules = metrics.list_cells(run)["rules_code"].nunique() > 1
    more = [("marker", run.manifest.is_probed), ("whatif", several_rules)]
    return [*PICKS, *(name for name, has in more if has)]


def options(name: str, margin: str) -> dict[str, str]:
    """Return what a report is told."""
    return {"margin": margin} if name == "seats" else {}


def pick_sections(report: Report) -> list[Section]:
    """Return the sections of a report that stand on this page, each with its picks only."""
    wanted = PICKS.get(report.name) or tuple(plot.name for plot in report.plots[:MOST_FIGURES])
    sections = []
    for section in report.sections:
        items = tuple(replace(item, name=f"{report.name}-{item.name}") for item in section.items if item.name in wanted)
        if items:
            sections.append(replace(section, title=f"{report.title}: {uncapitalize(section.title)}", items=items))
    return sections


def join(parts: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Return all sentences once, in order."""
    return tuple(dict.fromkeys(sentence for part in parts for sentence in part))


if __name__ == "__main__":
    raise SystemExit(main(__name__))
