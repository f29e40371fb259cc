"""What continued games tell of the starting player marker: the causal part of the page `marker`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from azulsim import metrics
from azulsim.log import Run
from azulsim.report import figures
from azulsim.report import shared as say
from azulsim.report.model import Plot, Section, Table
from azulsim.report.sections import plot_by_round
from azulsim.report.words import capitalize, format_short, join_words, uncapitalize

BY = ("players", "spec")
LIMIT = (
    "These are effects, but for these strategies: games are continued by those who play them, and better players may "
    "make more, or less, of the start"
)
READING = (
    "Tempo is what starting a round is worth, the marker paid for. The value of a decision is what taking the marker "
    "is worth when something else can be done, with all that follows; its tempo part comes of starting the next round, "
    "the rest of the tiles taken, of what others are denied, and of the price.",
)
METHODS = (
    "Tempo: at the start of a round, before it is dealt, the game is continued several times with each player as the "
    "starter, on the same deals and decisions. It is what a player ends with when it starts, minus the mean of what it "
    "ends with when each other player does, averaged over all players of all games that reach the round.",
    "Value of a decision: where the marker can be taken from a center with tiles in it and another move is possible "
    "too, the strategy's best taking move against its best other move, both best by its own score, each continued. For "
    "the tempo part the taking move is continued once more, the next round started by whoever starts it after the "
    "other.",
    "Decisions are drawn at random from those of a game and stand for all of them, so that every decision weighs the "
    "same. All roots and continuations of all games of a deal are one observation.",
    "How often taking is right: the distribution of the true values is estimated from those seen and their standard "
    "errors over continuations, and the corrected share is its part above 0; here every decision drawn weighs the "
    "same. What deciding wrong costs lies between what is found when half of the continuations choose and the other "
    "half value, and when all do both.",
)
LIMITS = (
    "Tempo is an average over games that reach the round. In a decision those moves are compared that the strategy "
    "itself holds best; another strategy would compare others.",
)
LABELS = {
    **say.LABELS,
    "floor": "floor filled before",
    "price": "price of its space",
    "took": "taken in the game",
    "immediate": "taking scores at once",
    "variant": "whose start, against whose start",
}
VARIANTS: dict[str, dict[str, Any]] = {
    "all players, against the others (primary)": {},
    "starters of the game, against the others": {"holder_only": True},
    "all players, against the next seat": {"against": "next"},
    "starters of the game, against the next seat": {"holder_only": True, "against": "next"},
}
SPLITS = {
    "round": "round",
    "tiles": "tiles that come with it (5 and more together)",
    "floor": "floor spaces filled before (4 and more together)",
    "immediate": "what taking scores at once, against the other move",
    "took": "what the strategy does in the game",
}


@dataclass(frozen=True)
class Part:
    """A part of a page: the two sentences of the answer, their numbers, and sections."""

    answer: str = ""
    limit: str = ""
    """What the answer does not cover, without a full stop: how many deals were seen follows."""
    numbers: Mapping[str, Any] = field(default_factory=dict)
    sections: tuple[Section, ...] = ()


def describe_probes(run: Run, looks: figures.Looks, order: Sequence[str]) -> Part:
    """Say what continued games tell of the marker; an empty part if the run has none.

    `order` lists the strategies; the answer is about the first of which there is something to tell.
    """
    said: list[str] = []
    numbers: dict[str, Any] = {}
    sections: list[Section] = []
    limit = LIMIT
    if metrics.has_probes(run, "tempo"):
        tempo = metrics.tempo_values(run, BY)
        best, mine = _keep_best(say.keep_first_rules(tempo), order)
        said.append(f"starting a round changes the win share of {best} by {_join_values(mine, 'win_share')}")
        numbers |= {"tempo_strategy": best, **say.list_numbers(mine, "tempo_{outcome}_{players}_players")}
        sections.append(
            _show_tempo(run, tempo, looks, f"In points it is worth {_join_values(mine, 'score')} to {best}.")
        )
    if metrics.has_probes(run, "decision"):
        values, prices = metrics.decision_values(run, BY), metrics.fair_prices(run, BY)
        shown = say.keep_first_rules(values)
        best, mine = _keep_best(shown[shown["part"] == "value"], order)
        whose = "" if best == numbers.get("tempo_strategy") else f" changes the win share of {best}"
        taken = f"taking the marker where something else can be done{whose} by"
        said.append(f"{taken} {_join_values(mine, 'win_share')}")
        numbers |= {"decision_strategy": best, **say.list_numbers(mine, "decision_{outcome}_{players}_players")}
        points = f"In points taking is worth {_join_values(mine, 'score')} to {best}."
        sections += [_show_values(run, values, looks, points), _show_judgement(run, looks)]
        if len(prices):
            sections.append(_show_prices(run, values, prices, looks))
            fair, more = _describe_prices(prices, order)
            numbers |= more
            limit = f"{fair}; {uncapitalize(LIMIT)}" if fair else LIMIT
    if sections:
        sections.append(_show_controls(run))
    answer = f"{capitalize(', and '.join(said))} (percentage points)." if said else ""
    return Part(answer, limit, numbers, tuple(sections))


def _keep_best(frame: pd.DataFrame, order: Sequence[str]) -> tuple[str, pd.DataFrame]:
    """Return the first strategy of which there are values, and its rows."""
    best = next(spec for spec in order if (frame["spec"] == spec).any())
    return best, frame[frame["spec"] == best].sort_values("players", kind="stable")


def _join_values(rows: pd.DataFrame, outcome: str) -> str:
    """Say the values of an outcome by player count: `+6 ± 4 at 2 and +5 ± 3 at 3 players`."""
    mine = rows[rows["outcome"] == outcome]
    values = [(*format_short(row, signed=True), row["players"]) for row in mine.to_dict("records")]
    parts = [f"{value} {interval or '(no interval)'} at {players}" for value, interval, players in values]
    return f"{join_words(parts)} players"


def _describe_prices(prices: pd.DataFrame, order: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """Say at what fixed price taking neither raises nor lowers the win share of the first strategy."""
    best = next((spec for spec in order if (prices["spec"] == spec).any()), None)
    rows = prices[(prices["spec"] == best) & (prices["outcome"] == "win_share")].drop_duplicates("players")
    if rows.empty:
        return "", {}
    parts = [f"{text} at {join_words(same['players'].map(str))}" for text, same in rows.groupby("text", sort=False)]
    text = f"The fixed price in points at which taking changes no win share is {join_words(parts)} players"
    return text, say.list_numbers(rows, "fair_price_{players}_players")


def _plot(name: str, title: str, draw: Callable[..., Figure], caption: str) -> Plot:
    return Plot(name, title, lambda narrow: draw(narrow=narrow), caption)


def _show_tempo(run: Run, tempo: pd.DataFrame, looks: figures.Looks, points: str) -> Section:
    """Show what it is worth to start a round; `points` says it in points."""
    by_round = metrics.tempo_values(run)
    shown = say.keep_first_rules(by_round)
    plots = []
    for outcome, title in {"win_share": "win share", "score": "score"}.items():
        plots.append(
            plot_by_round(
                f"tempo_{outcome}",
                f"What it is worth to start a round: change of the {title}",
                shown[shown["outcome"] == outcome],
                looks,
                caption="Dashed: no effect.",
                reference=0.0,
                x_label="round that is started",
                signed=True,
            )
        )
    variants = pd.concat(
        [
            (tempo if not options else metrics.tempo_values(run, BY, **options)).assign(variant=name)
            for name, options in VARIANTS.items()
        ]
    )
    keys = [name for name in ("rules", *BY) if name in variants]
    variants = variants[[*keys, "variant", *[name for name in tempo if name not in keys]]]
    variants = variants.sort_values(keys, kind="stable").reset_index(drop=True)
    return Section(
        "What it is worth to start a round (an effect)",
        (
            "At the start of each round the game goes on once with each player as the starter, on the same deals and "
            "decisions; nobody's floor line is touched. This is the worth of the start alone, the marker paid for. "
            f"{points}",
        ),
        (
            *plots,
            Table("tempo", "Tempo, over all rounds that are begun", tempo, say.CAPTION, LABELS, signed=True),
            Table("tempo_by_round", "Tempo by round", by_round, f"Rounds from 8 on are together. {say.CAPTION}", LABELS,
                  signed=True),
            Table("tempo_variants", "Other ways to ask", variants,
                  "The primary one is that of the page. At two players the next seat is the only other one.",
                  LABELS, signed=True),
        ),
    )  # fmt: skip


def _show_values(run: Run, values: pd.DataFrame, looks: figures.Looks, points: str) -> Section:
    """Show what it is worth to take the marker, and of what parts that is made; `points` says it in points."""
    shown = say.keep_first_rules(values)
    shares = shown[shown["outcome"] == "win_share"]
    panels = {
        f"{players} players, {part}": rows
        for (players, part), rows in shares.groupby(["players", "part"], sort=True, observed=True)
    }
    draw = partial(
        figures.draw_forest, panels, looks, say.order_specs(shares[shares["part"] == "value"]),
        references=dict.fromkeys(panels, 0.0), signed=True,
    )  # fmt: skip
    weights = metrics.decision_values(run, BY, weights="games")
    by_key = {key: metrics.decision_values(run, (*BY, key)) for key in SPLITS}
    rounds = say.keep_first_rules(by_key["round"])
    rounds = rounds[(rounds["part"] == "value") & (rounds["outcome"] == "win_share")]
    has_rounds = bool((say.keep_common(rounds).groupby(["players", "spec"], observed=True).size() > 1).any())
    by_round = plot_by_round(
        "decisions_by_round",
        "The same by round",
        rounds,
        looks,
        caption="Dashed: no effect.",
        reference=0.0,
        signed=True,
    )
    splits = [
        Table(f"decisions_by_{key}", f"By {words}", by_key[key][by_key[key]["part"] != "rest"],
              f"The rest is the difference of the two. {say.CAPTION}", LABELS, signed=True)
        for key, words in SPLITS.items()
    ]  # fmt: skip
    return Section(
        "What it is worth to take the marker (an effect)",
        (
            "Where the marker lies in a center with tiles, and another move is possible too, the strategy's best "
            "taking move is compared with its best other move. Value = tempo part + the rest. "
            f"{points}",
            "Where taking scores equal at once, price and tiles of the two moves are even, as far as the round goes: "
            "what is left is the start, what others are denied, and how the board stands afterwards.",
            *(
                ()
                if has_rounds
                else ("No round has decisions of enough deals to be drawn; the table by round has all.",)
            ),
        ),
        (
            _plot(
                "decisions",
                "Taking the marker instead of the best other move: change of the win share",
                draw,
                f"Dashed: no effect. {say.describe_evidence(shares)}",
            ),
            *((by_round,) if has_rounds else ()),
            Table("decisions", "Value of taking, and its parts", values, say.CAPTION, LABELS, signed=True),
            *splits,
            Table(
                "decisions_by_game",
                "The same, every game weighing the same",
                weights,
                say.CAPTION,
                LABELS,
                signed=True,
            ),
        ),
    )


def _show_judgement(run: Run, looks: figures.Looks) -> Section:
    """Show how often taking is right, and what deciding wrong costs."""
    signs, losses = metrics.decision_signs(run), metrics.decision_losses(run)
    shown = say.keep_first_rules(signs)
    shown = shown[(shown["outcome"] == "margin") & (shown["noise"] == "corrected")]
    costs = Table(
        "losses",
        "What the strategy loses by deciding as it does",
        losses,
        "Low: one half of the continuations chooses, the other values, so that noise gains nothing. High: all do both, "
        f"which noise inflates. {say.CAPTION}",
        LABELS,
        signed=True,
    )
    if shown.empty:
        reason = "Each decision is continued once. How often taking is right can be told from two continuations on."
        return Section("What deciding wrong costs", (reason,), (costs,))
    panels = say.split_players(shown)
    draw = partial(
        figures.draw_forest, panels, looks, say.order_specs(shown), references=dict.fromkeys(panels, 0.5),
        reference_name="one half",
    )  # fmt: skip
    return Section(
        "How often taking is right, and what deciding wrong costs",
        (
            "A decision is right to take where the true value of taking is above 0. Few continuations tell that value "
            "with noise only, which draws the share seen towards one half; the corrected share is freed of it.",
            "What deciding wrong costs is a mean over all such decisions, right ones included.",
        ),
        (
            _plot(
                "right",
                "Decisions in which taking is right, by the margin at the end, corrected for noise",
                draw,
                say.describe_evidence(shown),
            ),
            Table("right", "Decisions in which taking is right", signs.drop(columns="reliability"),
                  "By what the decision is judged: columns. Noise ignored: of the values as seen. Where values do not "
                  f"vary beyond their noise, nothing can be told. {say.CAPTION}", LABELS),
            costs,
        ),
    )  # fmt: skip


def _show_prices(run: Run, values: pd.DataFrame, prices: pd.DataFrame, looks: figures.Looks) -> Section:
    """Show the value of taking at each fixed price, and the price at which it is nothing."""
    costs = {
        metrics.describe_rules(cell.rules): cell.rules.marker_cost
        for cell in run.manifest.cells
        if cell.rules.marker_cost != "floor"
    }
    shown = values[(values["part"] == "value") & values["rules"].isin(list(costs))]
    shown = shown.assign(cost=shown["rules"].map(costs).astype(int))
    shares = shown[shown["outcome"] == "win_share"]
    panels = say.split_players(shares)
    draw = partial(
        figures.draw_lines, panels, "cost", looks, x_label="fixed price, points", height=2.4, signed=True,
        references=dict.fromkeys(panels, 0.0), share_y=True,
    )  # fmt: skip
    return Section(
        "The fair price",
        (
            "The same deals under rules that give the marker a fixed price, which the strategies know. The price is "
            "fair where taking the marker neither raises nor lowers what the player ends with.",
        ),
        (
            _plot(
                "fair",
                "Value of taking, by the fixed price of the marker: change of the win share",
                draw,
                f"Dashed: no effect. {say.describe_evidence(shares)}",
            ),
            Table(
                "fair_prices",
                "The price at which taking is worth nothing",
                prices.drop(columns=["estimate", "low", "high", "unit"]),
                "In points, with its 95 % interval, for each number that is to stay as it is; straight lines between "
                "the prices tried, and nothing beyond them. Whole prices change ties of simple players in steps.",
                {**LABELS, "text": "fair price, points"},
            ),
        ),
    )


def _show_controls(run: Run) -> Section:
    """Show what has to come out whatever the marker is worth."""
    controls = metrics.probe_controls(run)
    wrong = int((controls["verdict"] == "differs").sum())
    kept = [name for name in controls if name not in ("rules", "spec") or controls[name].astype(bool).any()]
    n_open = int((controls["verdict"] == "open").sum())
    verdict = "All hold." if not wrong else f"{wrong} of {len(controls)} do not hold: read the page with care."
    if n_open and not wrong:
        verdict = f"{n_open} of {len(controls)} cannot be told from so few deals, the others hold."
    return Section(
        "Controls",
        (
            "What has to come out whatever the marker is worth. Where the next round would be started by the same "
            "player anyway, or is never played, taking the marker and taking it without its start have to end the same "
            "to the point. A bonus planted for starters has to be found again. And the tempo of round 1 has to be the "
            f"effect of seat 0 in the games themselves. {verdict}",
        ),
        (
            Table(
                "controls",
                "Controls",
                controls[kept],
                "Exact: equal in every number. Agrees: as near to what is expected as chance has it, p-values "
                "corrected for the number of controls.",
                {**LABELS, "low": "found, low (95 %)", "high": "found, high (95 %)", "win_share": "win share"},
            ),
            Table(
                "alike",
                "How alike the continued games of a root are",
                metrics.arm_correlations(run, BY),
                "Correlation between the arms over the continuations of a root: about that part of the games is saved "
                "by letting all arms have the same luck. Near 0, other luck in each arm would have told as much. "
                f"{say.CAPTION}",
                LABELS,
            ),
        ),
    )
