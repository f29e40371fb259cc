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
from azulsim.report.style import assign_looks
from azulsim.report.words import format_estimate, format_p, join_words

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
        answer=(*sentences, f"{which}; {say.count_deals(run)}. {LIMIT}"),
        sections=(
            outcomes_section(shown, pd.concat([frame, short]), changes, looks, players),
            spread_section(run, lineups, looks, players),
            seats_section(seats, tests, looks, best),
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


LIMIT = "Stronger or human players may differ, and the means say nothing of single games."


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
            row = pick(outcome, count)
            numbers[f"{outcome}_{count}_players"] = {name: row[name] for name in ("estimate", "low", "high", "n_deals")}
    if len(players) < 2:
        row = pick("score", players[0])
        return (f"At {players[0]} players {best} scores {format_estimate(row)} on average.",), numbers
    rows = changes[changes["spec"] == best].set_index("outcome")
    few, many = players[0], players[-1]
    parts = [
        f"the mean score changes by {format_estimate(rows.loc['score'], signed=True)}, "
        f"from {format_estimate(pick('score', few), unit=False)} to {format_estimate(pick('score', many), unit=False)}",
        f"the game by {format_estimate(rows.loc['rounds'], signed=True)}",
        f"what it pays to the floor by {format_estimate(rows.loc['floor_paid'], signed=True)}",
    ]
    return (f"For {best}, from {few} to {many} players, {join_words(parts)}.",), numbers


def outcomes_section(
    shown: pd.DataFrame, frame: pd.DataFrame, changes: pd.DataFrame, looks: figures.Looks, players: list[int]
) -> Section:
    """Show all means by player count and strategy."""
    has_short = (shown["outcome"] == "short_games").any()
    # Nine panels: ties give way to short refills, which are logged from depth `rounds` on.
    wanted = [name for name in MAIN if name != "tied"] + ["short_games"] if has_short else list(MAIN)
    panels = {say.LABELS[name].capitalize(): shown[shown["outcome"] == name] for name in wanted}
    draw = partial(figures.draw_lines, panels, "players", looks, x_label="players")
    tables = [
        Table(name, title, frame[frame["outcome"].isin(outcomes)], TABLE_CAPTION, say.LABELS)
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
                "Positive: more with more players. " + TABLE_CAPTION,
                say.LABELS,
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
TABLE_CAPTION = "The mean and half the width of its 95 % interval; hold the pointer over a number for more."


def spread_section(run: Run, lineups: metrics.Lineups, looks: figures.Looks, players: list[int]) -> Section:
    """Show distributions: scores by strategy, rounds by player count."""
    scores = say.keep_first_rules(metrics.score_distribution(run, lineups=lineups))
    rounds = say.keep_first_rules(metrics.game_length_distribution(run, lineups=lineups))
    names = {count: f"{count} players" for count in players}
    scores = scores.assign(series=scores["players"].map(names))
    by_spec = {str(spec): rows for spec, rows in scores.groupby("spec", observed=True, sort=False)}
    player_looks = assign_looks(names.values())
    draw_scores = partial(
        figures.draw_distribution, by_spec, "score", player_looks, width=5, name="series", x_label="final score"
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
            Table("rounds_spread", "Rounds of a game", rounds.rename(columns={"rounds": "in rounds"}), TABLE_CAPTION),
        ),
    )


def seats_section(seats: pd.DataFrame, tests: pd.DataFrame, looks: figures.Looks, best: str) -> Section:
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
        "Seats",
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
            Table("seats", "Win share by seat", seats, TABLE_CAPTION, say.LABELS),
            Table("seat_tests", "Joint tests that all seats are equal", tests, "A small p speaks against equal seats.",
                  {**say.LABELS, "outcome": "of", "statistic": "F"}),
        ),
    )  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main(__name__))
