"""What changes from two to four players: scores, length, floor, bonuses, ties, seats, and who ends the game.

Source: the tables `games` and `rounds` of a run. Every number by player count and strategy.
"""

from __future__ import annotations

from functools import partial

import pandas as pd

from azulsim import metrics
from azulsim.log import Run
from azulsim.report import Plot, Report, Section, Table, figures, main
from azulsim.report import shared as say
from azulsim.report.sections import (
    LABELS,
    make_seats_section,
    make_standings_section,
    make_variance_section,
    plot_by_round,
)
from azulsim.report.style import assign_looks
from azulsim.report.words import format_estimate, format_number, join_words, uncapitalize

TITLE = "Player count"
QUESTION = "What changes with the number of players, and for whom?"

MAIN = ("score", "winning_margin", "rounds", "plies", "wall_points", "floor_paid", "bonus_points", "tied", "ender_wins")
COMPARED = (
    "score",
    "winning_margin",
    "rounds",
    "plies",
    "floor_paid",
    "bonus_points",
    "tied",
    "ender_wins",
    "short_games",
)
DETAILS = ("rows", "columns", "colors", "floor_loss", "marker_takes", "unfinished")


def build(run: Run) -> Report:
    """Build the report of a run."""
    lineups, which = say.choose_lineups(run)
    looks = say.make_looks(run)
    frame = metrics.summarize(run, MAIN + DETAILS, lineups=lineups)
    short = metrics.short_refills(run, lineups=lineups) if metrics.has_depth(run, "rounds") else frame.iloc[:0]
    seats = metrics.win_shares(run, lineups=lineups)
    tests = metrics.seat_tests(run, lineups=lineups)
    shown = say.keep_first_rules(pd.concat([frame, short]))
    best = say.order_specs(shown[shown["outcome"] == "score"])[0]
    changes = compare_extremes(pd.concat([frame, short]))
    players = sorted(shown["players"].unique())
    sentences, numbers = answer(shown, say.keep_first_rules(changes), best, players)
    return Report(
        name="player_count",
        title=TITLE,
        question=QUESTION,
        answer=(*sentences, f"{LIMIT} ({uncapitalize(which)}; {say.count_deals(run)})."),
        sections=(
            mechanics_section(run),
            outcomes_section(shown, pd.concat([frame, short]), changes, looks, players),
            spread_section(run, lineups, looks, players),
            make_seats_section(seats, tests, looks, best),
            *more_sections(run, lineups, looks),
        ),
        how_to_read=(
            "A dot is a mean, the bar through it its 95 % interval. Bars that do not overlap differ; bars that do may "
            "still, see the table of differences.",
            "By strategy, because what is true of a weak player need not be true of a strong one.",
            "A fair share is one divided by the number of players.",
        ),
        how_computed=(
            f"{which}.",
            say.HOW_INTERVALS,
            "Player counts do not share deals, so differences between them are of independent samples, their intervals "
            "joined by Newcombe's method.",
            "Seats: seat 0 starts round 1. The joint test compares all seats at once (Hotelling's form of Wald's test "
            "with the covariance of the seat means over deals).",
            say.HOW_SMALLEST,
        ),
        limits=(*say.describe_rules_shown(run), say.LIMIT_STRATEGIES, say.LIMIT_MANY),
        numbers=numbers,
    )


LIMIT = "Stronger or human players may differ, and the means say nothing of single games"


def compare_extremes(frame: pd.DataFrame) -> pd.DataFrame:
    """Compare the greatest player count with the least, for each strategy and outcome."""
    counts = sorted(frame["players"].unique())
    return metrics.compare_levels(frame, "players", counts[0], counts[-1])


def answer(
    frame: pd.DataFrame, changes: pd.DataFrame, best: str, players: list[int]
) -> tuple[tuple[str, ...], dict[str, object]]:
    """Say the main change for the strategy that scores most."""

    def pick(outcome: str, count: int) -> pd.Series:
        rows = frame[(frame["spec"] == best) & (frame["outcome"] == outcome) & (frame["players"] == count)]
        return rows.iloc[0]

    numbers: dict[str, object] = {"strategy": best, "players": players}
    for outcome in ("score", "plies", "floor_paid"):
        for count in players:
            numbers[f"{outcome}_{count}_players"] = say.pick_numbers(pick(outcome, count))
    if len(players) < 2:
        row = pick("score", players[0])
        return (f"At {players[0]} players {best} scores {format_estimate(row)} on average.",), numbers
    rows = changes[changes["spec"] == best].set_index("outcome")
    few, many = players[0], players[-1]
    if "score" not in rows.index:  # all games of one player count were forfeited
        return (f"{best} ended no game by the rules at {few} or at {many} players.",), numbers
    parts = [
        f"the mean score changes by {format_estimate(rows.loc['score'], signed=True)}, "
        f"from {format_estimate(pick('score', few), unit=False)} to {format_estimate(pick('score', many), unit=False)}",
        f"the game by {format_estimate(rows.loc['rounds'], signed=True)}",
        f"what it pays to the floor by {format_estimate(rows.loc['floor_paid'], signed=True)}",
    ]
    return (f"For {best}, from {few} to {many} players, {join_words(parts)}.",), numbers


def mechanics_section(run: Run) -> Section:
    """Say what the rules fix by player count, before anybody plays."""
    rows = []
    first = metrics.describe_rules(run.manifest.cells[0].rules)
    for cell in run.manifest.cells:
        if metrics.describe_rules(cell.rules) == first:
            rules, players = cell.rules, cell.players
            displays = rules.n_displays(players)
            dealt, tiles = (
                displays * rules.tiles_per_display,
                5 * rules.n_tiles_of_color(players) + rules.n_jokers(players),
            )
            rows.append((players, displays, dealt, tiles, tiles / dealt))
    columns = ["players", "displays", "tiles a round", "tiles", "rounds until the bag is empty"]
    frame = pd.DataFrame(sorted(set(rows)), columns=columns)
    return Section(
        "What the rules fix",
        ("More players take more tiles a round from the same bag, so that it is refilled from the lid earlier.",),
        (Table("mechanics", "Displays, tiles, and when the bag runs out", frame),),
    )


def more_sections(run: Run, lineups: metrics.Lineups, looks: figures.Looks) -> list[Section]:
    """Show what needs a deeper log, or line-ups of different strategies."""
    sections = []
    if metrics.has_depth(run, "rounds"):
        sections += [make_standings_section(run, lineups), supply_section(run, lineups, looks)]
    sections += interaction_sections(run, lineups, looks)
    variance = make_variance_section(run)
    return [*sections, variance] if variance else sections


def supply_section(run: Run, lineups: metrics.Lineups, looks: figures.Looks) -> Section:
    """Show how unequally colors are dealt, against a draw from the full bag."""
    supply = metrics.color_scarcity(run, lineups=lineups)
    shown = say.keep_first_rules(supply)
    every = shown[(shown["outcome"] == "unevenness") & shown["expected"].notna()]
    plot = plot_by_round(
        "supply", "Unevenness of the colors dealt (dashed: a draw from the full bag)", every, looks, reference=1.0
    )
    expected = [
        f"{players} players {format_number(fewest, 2)} and {format_number(most, 2)}"
        for players, (fewest, most) in list_expected(supply).items()
    ]
    caption = f"From a full bag: {'; '.join(expected)}. " if expected else ""
    return Section(
        "Are colors scarce?",
        (
            "Until the bag is first refilled, colors are dealt by luck alone (1). Afterwards the tiles that lie on "
            "walls and pattern lines are missing: above 1 some colors are scarcer than luck makes them, below 1 they "
            "come more evenly. The table has the tiles of the rarest and of the commonest color.",
        ),
        (
            *((plot,) if len(every) else ()),
            Table("supply", "Tiles of the rarest and the commonest color when a round is dealt",
                  supply.drop(columns="expected"),
                  f"{caption}Rounds in which all displays could be filled. {say.CAPTION}", LABELS),
        ),
    )  # fmt: skip


def list_expected(supply: pd.DataFrame) -> dict[int, tuple[float, float]]:
    """Return by player count how many tiles of the rarest and the commonest color a draw from the full bag has."""
    known = say.keep_first_rules(supply).dropna(subset=["expected"]).drop_duplicates(["players", "outcome"])
    table = known.pivot_table(index="players", columns="outcome", values="expected")
    return {int(str(players)): (float(row["fewest"]), float(row["most"])) for players, row in table.iterrows()}


def interaction_sections(run: Run, lineups: metrics.Lineups, looks: figures.Looks) -> list[Section]:
    """Show how players get in each other's way, where the run can tell."""
    items: list[Plot | Table] = []
    text = []
    if metrics.has_depth(run, "moves") and run.manifest.experiment.get("denial"):
        denials = metrics.denials(run, lineups=lineups)
        shown = say.keep_first_rules(denials)
        panels = {LABELS[name]: shown[shown["outcome"] == name] for name in metrics.DENIALS}
        draw = partial(figures.draw_lines, panels, "players", looks, x_label="players", columns=2)
        text.append(
            "A move denies if the best that the next player can do is worth less after it than it would have been."
        )
        items += [
            Plot("denials", "Moves that deny the next player points, by player count",
                 lambda narrow: draw(narrow=narrow), say.describe_evidence(shown)),
            Table("denials", "Denial", denials, say.CAPTION, LABELS),
        ]  # fmt: skip
    if metrics.has_depth(run, "moves"):
        demand = metrics.denied_demand(run, lineups=lineups)
        shown = say.keep_first_rules(demand)
        panels = {LABELS[name].capitalize(): shown[shown["outcome"] == name] for name in metrics.DEMAND}
        draw_demand = partial(figures.draw_lines, panels, "players", looks, x_label="players")
        text.append(
            "Denied demand: of the tiles that a player's begun lines lack and that are still on offer after its move, "
            "those that others take before it plays again. They need not mean it, for they need tiles too."
        )
        items += [
            Plot("demand", "Tiles a player needs, and loses to the others before its next turn",
                 lambda narrow: draw_demand(narrow=narrow), f"Means over moves. {say.describe_evidence(shown)}"),
            Table("demand", "Denied demand, a move", demand, say.CAPTION, LABELS),
        ]  # fmt: skip
    effects = metrics.neighbour_effects(run)
    if len(effects):
        text.append(
            "The same players at the same tables in every order of seats: what it does to a strategy that another one "
            "plays right before it, instead of elsewhere at the table. This is an effect of the order."
        )
        items.append(
            Table("neighbours", "Playing right after another strategy, minus elsewhere", effects, say.CAPTION,
                  {**LABELS, "other": "plays before"}, signed=True)
        )  # fmt: skip
    return [Section("In each other's way", tuple(text), tuple(items))] if items else []


def outcomes_section(
    shown: pd.DataFrame, frame: pd.DataFrame, changes: pd.DataFrame, looks: figures.Looks, players: list[int]
) -> Section:
    """Show all means by player count and strategy."""
    has_short = (shown["outcome"] == "short_games").any()
    # Nine panels: ties give way to short refills, which are logged from depth `rounds` on.
    wanted = [name for name in MAIN if name != "tied"] + ["short_games"] if has_short else list(MAIN)
    panels = {LABELS[name].capitalize(): shown[shown["outcome"] == name] for name in wanted}
    draw = partial(figures.draw_lines, panels, "players", looks, x_label="players")
    tables = [
        Table(name, title, frame[frame["outcome"].isin(outcomes)], say.CAPTION, LABELS)
        for name, title, outcomes in TABLES
    ]
    items: list[Plot | Table] = [
        Plot(
            "outcomes",
            "Means by player count",
            lambda narrow: draw(narrow=narrow),
            say.describe_evidence(shown[shown["outcome"].isin(wanted)]),
        ),
        *tables[:2],
    ]
    if len(players) > 1:
        items.append(
            Table(
                "changes",
                f"Differences: {players[-1]} players minus {players[0]}",
                changes[changes["outcome"].isin(COMPARED)],
                "Positive: more with more players. " + say.CAPTION,
                LABELS,
                signed=True,
            )
        )
    items.append(tables[2])
    return Section(
        "What changes",
        (
            "Each panel is one outcome, each line a strategy. Scores and losses are a player's, rounds and moves a "
            "game's; a short refill is a round in which some display could not be filled.",
        ),
        tuple(items),
    )


TABLES = (
    (
        "scores",
        "Scores and where they come from",
        ("score", "winning_margin", "wall_points", "floor_paid", "bonus_points"),
    ),
    ("games", "Length and endings", ("rounds", "plies", "tied", "ender_wins", "short_games", "short_rounds")),
    ("details", "Walls, floor and marker", DETAILS),
)


def spread_section(run: Run, lineups: metrics.Lineups, looks: figures.Looks, players: list[int]) -> Section:
    """Show distributions: scores by strategy, rounds and margins by player count."""
    scores = say.keep_first_rules(metrics.score_distribution(run, lineups=lineups))
    rounds = say.keep_first_rules(metrics.game_length_distribution(run, lineups=lineups))
    names = {count: f"{count} players" for count in players}
    scores = scores.assign(series=scores["players"].map(names))
    by_spec = {str(spec): rows for spec, rows in scores.groupby("spec", observed=True, sort=False)}
    player_looks = assign_looks(names.values())
    draw_scores = partial(
        figures.draw_distribution, by_spec, "score", player_looks, width=5, name="series", x_label="final score"
    )
    margins = say.keep_first_rules(metrics.margin_distribution(run, lineups=lineups))
    draw_margins = partial(
        figures.draw_distribution, say.split_players(margins), "margin", looks, width=5, x_label="winner's margin"
    )
    draw_rounds = partial(figures.draw_distribution, say.split_players(rounds), "rounds", looks, x_label="rounds")
    return Section(
        "Not only means",
        ("How scores and the length of games are spread.",),
        (
            Plot(
                "scores_spread",
                "Final scores of a strategy, by player count",
                lambda narrow: draw_scores(narrow=narrow),
                f"Share of final scores in bins of 5 points. {say.describe_evidence(scores)}",
            ),
            Plot(
                "rounds_spread",
                "Rounds of a game",
                lambda narrow: draw_rounds(narrow=narrow),
                f"Share of games; those of 12 rounds and more are together. {say.describe_evidence(rounds)}",
            ),
            Plot(
                "margins_spread",
                "Margins of winners",
                lambda narrow: draw_margins(narrow=narrow),
                f"Share of games, in bins of 5 points. {say.describe_evidence(margins)}",
            ),
            Table("rounds_spread", "Rounds of a game", rounds.rename(columns={"rounds": "in rounds"}), say.CAPTION),
        ),
    )


if __name__ == "__main__":
    raise SystemExit(main(__name__))
