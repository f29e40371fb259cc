"""The starting player marker: what it is worth to start and to take it, and how often, when and at what price it is.

Source: the tables `games`, `rounds` and `moves` of a run, and `roots` and `probes` where the experiment has `[probes]`.
The effect of starting round 1 is causal, because seats are assigned; so is what continued games tell of later rounds,
because their arms differ in nothing else. What holders do afterwards is an association and is labelled so.
"""

from __future__ import annotations

from functools import partial

import pandas as pd

from azulsim import metrics
from azulsim.log import Run
from azulsim.report import Plot, Report, Section, Table, causal, figures, main
from azulsim.report import shared as say
from azulsim.report.causal import Part
from azulsim.report.sections import plot_by_round
from azulsim.report.words import join_words
from azulsim.stats import adjust_holm

TITLE = "The starting player marker"
QUESTION = "What is it worth to start, and when and at what price is the marker taken?"

PRICES = ("price", "price_paid", "free")
TIMES = ("move", "progress", "tiles", "floor_before", "space_price", "forced")


def build(run: Run) -> Report:
    """Build the report of a run."""
    looks = say.make_looks(run)
    order = say.order_specs(say.keep_first_rules(metrics.scores(run)))
    probed = causal.describe_probes(run, looks, order)
    observed = describe_games(run, looks, order)
    is_probed = bool(probed.sections)
    lead = probed if is_probed else observed
    return Report(
        name="marker",
        title=TITLE,
        question=QUESTION,
        answer=(lead.answer, f"{lead.limit} ({say.count_deals(run)})."),
        sections=(*probed.sections, *observed.sections),
        how_to_read=(
            "An effect says what changes because of it; an association only says what goes together.",
            "Win shares: 1/k for each of k winners. 3 percentage points are 3 more wins in 100 games.",
            *(causal.READING if is_probed else ()),
            "The price of a taking is the floor penalty with the marker minus the penalty without it, at the end of "
            "the round; really paid is what was lost after the score was kept from falling below 0.",
        ),
        how_computed=(
            *(causal.METHODS if is_probed else ()),
            "Starting round 1: the mean in seat 0 minus the mean of the other seats' means, of the same strategy over "
            "the same line-ups and deals. Every player of a line-up sits in each seat, so seats are assigned as in an "
            "experiment.",
            "The joint test compares all seats at once (Hotelling's form of Wald's test with the covariance of the "
            "seat means over deals).",
            "How early: the moves of all seats in the round are counted, from 1.",
            say.HOW_INTERVALS,
            say.HOW_SMALLEST,
        ),
        limits=(
            *say.describe_rules_shown(run),
            *(causal.LIMITS if is_probed else ()),
            "The effect of starting round 1 is not the worth of the marker in later rounds: it includes all that "
            "follows from an empty table, and it can differ in sign from what the marker is worth later.",
            "Associations mix the marker with the position it was taken in and the player who took it.",
            say.LIMIT_STRATEGIES,
            say.LIMIT_MANY,
        ),
        numbers={**probed.numbers, **observed.numbers},
    )


def describe_games(run: Run, looks: figures.Looks, order: list[str]) -> Part:
    """Say what the games themselves show: the start of round 1, prices, and what goes with holding the marker."""
    effects = metrics.starter_effects(run)
    sections = [starter_section(effects, metrics.seat_tests(run), looks)]
    said, numbers = describe_effects(say.keep_first_rules(effects), order)
    if metrics.has_depth(run, "rounds"):
        prices = metrics.takings(run, ("players", "spec"), outcomes=PRICES)
        sentence, more = describe_price(say.keep_first_rules(prices), order)
        said, numbers = said + sentence, {**numbers, **more}
        sections += [rates_section(run, looks, order)]
        if metrics.has_depth(run, "moves"):
            sections += [times_section(run, looks)]
        sections += [prices_section(run, prices, looks), afterwards_section(run, looks)]
    return Part(f"{said}.", LIMIT, numbers, tuple(sections))


LIMIT = (
    "The first is an effect, as seats are assigned, but of round 1 and for these strategies only; what taking the "
    "marker is worth in later rounds is not measured here, and what holders do afterwards is an association"
)


def describe_effects(effects: pd.DataFrame, order: list[str]) -> tuple[str, dict[str, object]]:
    """Say what starting round 1 does for the strategy that scores most."""
    shares = effects[effects["outcome"] == "win_share"]
    names = [name for name in order if (shares["spec"] == name).any()]
    if not names:
        return "No strategy sat both in seat 0 and in another seat, so that nothing can be said of starting", {}
    best = names[0]
    rows = shares[shares["spec"] == best]
    numbers = {"strategy": best, **say.list_numbers(rows, "starter_win_share_{players}_players")}
    return f"Starting round 1 changes the win share of {best} by {say.join_players(rows, signed=True)}", numbers


def describe_price(prices: pd.DataFrame, order: list[str]) -> tuple[str, dict[str, object]]:
    """Say what taking the marker costs the same strategy."""
    rows = prices[(prices["outcome"] == "price_paid") & (prices["spec"] == order[0]) & (prices["n"] > 0)]
    if rows.empty:
        return "", {}
    text = f"; taking the marker costs {order[0]} {say.join_players(rows, unit=False)}, in points really lost"
    return text, say.list_numbers(rows, "price_paid_{players}_players")


def starter_section(effects: pd.DataFrame, tests: pd.DataFrame, looks: figures.Looks) -> Section:
    """Show the effect of starting round 1, by strategy and player count."""
    shown = say.keep_first_rules(effects)
    shares = shown[shown["outcome"] == "win_share"]
    panels = say.split_players(shares)
    draw = partial(
        figures.draw_forest,
        panels,
        looks,
        say.order_specs(shares),
        references=dict.fromkeys(panels, 0.0),
        signed=True,
    )
    tested = say.keep_first_rules(tests)
    differ: list[bool] = (adjust_holm(tested["p_value"].to_numpy()) < SMALL_P).tolist() if len(tested) else []
    rows = zip(tested.itertuples(), differ, strict=True)
    found = [f"{row.spec} ({row.players} players)" for row, is_clear in rows if is_clear]
    verdict = f"in {len(found)} of {len(tested)} cases at 5 %, after Holm's correction for their number"
    if found and len(found) <= 6:
        verdict += f": {join_words(found)}"
    plot = Plot(
        "starter",
        "Starting round 1: change of the win share",
        lambda narrow: draw(narrow=narrow),
        f"Seat 0 minus the mean of the other seats; dashed: no effect. {say.describe_evidence(shares)}",
    )
    return Section(
        "Starting round 1 (an effect)",
        (
            "Seat 0 starts round 1. The schedule decides who sits there, not the game, so the difference between seat "
            "0 and the others is the effect of starting, whatever else the strategies do.",
            f"Compared jointly, the seats of a strategy differ {verdict}.",
        ),
        (
            *((plot,) if len(shares) else ()),
            Table("starter", "Starting round 1: seat 0 minus the mean of the others", effects, say.CAPTION,
                  say.LABELS, signed=True),
            Table("seat_tests", "Joint tests that all seats win equally often", tests,
                  "A small p speaks against equal seats.", {**say.LABELS, "outcome": "of", "statistic": "F"}),
        ),
    )  # fmt: skip


SMALL_P = 0.05


def rates_section(run: Run, looks: figures.Looks, order: list[str]) -> Section:
    """Show who takes the marker, in games between different strategies."""
    rates = metrics.marker_rates(run, lineups="mixed")
    shown = say.keep_first_rules(rates)
    takes = shown[shown["outcome"] == "takes"]
    table = Table("rates", "How often the marker is taken", metrics.marker_rates(run), say.CAPTION, say.LABELS)
    if takes.empty:
        text = "Every line-up of this run has one strategy in all seats, so each takes its equal share of the markers."
        return Section("How often it is taken", (text,), (table,))
    panels = say.split_players(takes)
    fair = {title: 1 / int(rows["players"].iloc[0]) for title, rows in panels.items()}
    draw = partial(figures.draw_forest, panels, looks, order, references=fair, reference_name="equal share")
    plot = Plot(
        "rates",
        "Share of rounds in which a strategy takes the marker, against other strategies",
        lambda narrow: draw(narrow=narrow),
        f"Games between different strategies. {say.describe_evidence(takes)}",
    )
    text = "In self-play all take it equally often; between different strategies it shows who goes for it."
    return Section("How often it is taken", (text,), (plot, table))


def times_section(run: Run, looks: figures.Looks) -> Section:
    """Show how early in the round the marker is taken, and with what."""
    moves = say.keep_first_rules(metrics.taking_moves(run))
    times = metrics.takings(run, outcomes=TIMES)
    panels = say.split_players(moves)
    draw = partial(
        figures.draw_lines, panels, "move", looks, x_label="move of the round", bars=False, height=2.3, share_y=True,
        from_zero=True,
    )  # fmt: skip
    return Section(
        "When it is taken",
        (
            "The first to take from the center takes the marker. Forced means that every legal move took it. The floor "
            "before is what the taker had on the floor line already; tiles are those that came with it.",
        ),
        (
            Plot(
                "moves",
                "Share of takings by move of the round",
                lambda narrow: draw(narrow=narrow),
                f"Moves of all seats, from 1; those from 20 on are together. {say.describe_evidence(moves)}",
            ),
            Table("times", "Takings by round", times, f"Rounds from 8 on are together. {say.CAPTION}", say.LABELS),
        ),
    )


def prices_section(run: Run, prices: pd.DataFrame, looks: figures.Looks) -> Section:
    """Show the price of a taking, by round."""
    by_round = metrics.takings(run, outcomes=PRICES)
    every = say.keep_first_rules(by_round).query("outcome == 'price_paid'")
    return Section(
        "At what price",
        ("The marker lies on the floor line, costs its space and shifts what falls later to dearer spaces.",),
        (
            plot_by_round(
                "prices",
                "Points really paid for the marker, by round",
                every,
                looks,
                caption="Means over takings.",
                from_zero=True,
            ),
            Table("prices", "Price of a taking", prices, say.CAPTION, say.LABELS),
            Table("prices_by_round", "Price of a taking, by round", by_round, say.CAPTION, say.LABELS),
        ),
    )


def afterwards_section(run: Run, looks: figures.Looks) -> Section:
    """Show what goes with holding the marker."""
    holders = metrics.holder_associations(run)
    later = metrics.next_round_associations(run)
    shown = say.keep_first_rules(holders)
    every = shown[shown["outcome"] == "win_share"]
    beside = compare_with_effects(run)
    return Section(
        "What holders do afterwards",
        (
            "Win share of those who took the marker in a round minus that of the same strategy when it did not; and "
            "what starters of later rounds score in that round, against the same strategy when it does not start.",
        ),
        (
            plot_by_round(
                "holders", "Win share of takers minus others, by round", every, looks, caption="Association.",
                reference=0.0, x_label="round in which it was taken", signed=True,
            ),
            Table("holders", "Takers minus others, at the end of the game", holders, say.CAPTION,
                  say.LABELS, signed=True),
            *((Table("beside", "Effects, and what association makes of them", beside, BESIDE, say.LABELS, signed=True),)
              if len(beside) else ()),
            Table("next_round", "Starters of a later round minus others, in that round", later, say.CAPTION,
                  say.LABELS, signed=True),
        ),
        note="These are not effects. Whoever takes the marker differs in position, and often in strength, from those "
        "who do not; the difference holds both.",
        is_association=True,
    )  # fmt: skip


BESIDE = (
    "Starting a round and deciding to take are effects, from continued games; takers minus others is what anybody can "
    f"read from the games, and mixes the marker with all else. {say.CAPTION}"
)


def compare_with_effects(run: Run) -> pd.DataFrame:
    """Put the effects beside the association over all rounds; an empty frame if there are no probes."""
    by = ("players", "spec")
    parts = {}
    if metrics.has_probes(run, "tempo"):
        parts["starting a round: effect"] = metrics.tempo_values(run, by)
    if metrics.has_probes(run, "decision"):
        values = metrics.decision_values(run, by)
        parts["deciding to take: effect"] = values[values["part"] == "value"].drop(columns="part")
    if not parts:
        return pd.DataFrame()
    parts["takers minus others: association"] = metrics.holder_associations(run, by)
    keys = [name for name in ("rules", *by) if name in parts["takers minus others: association"]]
    frame = pd.concat([part.assign(what=what) for what, part in parts.items()]).sort_values(keys, kind="stable")
    return frame[[*keys, "what", *[name for name in frame if name not in (*keys, "what")]]].reset_index(drop=True)


if __name__ == "__main__":
    raise SystemExit(main(__name__))
