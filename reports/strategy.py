"""One strategy: what it is, how strong, where its points come from, whom it beats, how it plays, and a game of it.

Source: the table `games` of a run; `rounds` and `moves` if they were logged. The option `strategy` names it.
"""

from __future__ import annotations

from functools import partial

import pandas as pd

from azulsim import catalog, metrics
from azulsim.errors import InputError, did_you_mean
from azulsim.log import Run
from azulsim.log.read import format_count
from azulsim.notation import draw_svg
from azulsim.report import Drawing, Plot, Report, Section, Table, figures, main
from azulsim.report import shared as say
from azulsim.report.games import choose_game, read_game
from azulsim.report.style import assign_looks
from azulsim.report.words import clean, format_estimate, format_number, join_words

QUESTION = "What is this strategy, how strong is it, and how does it play?"
POINTS = ("wall_points", "row_bonus", "column_bonus", "color_bonus", "floor")


def build(run: Run, *, strategy: str = "") -> Report:
    """Build the report of a run about one of its strategies; the one with most wins if none is named."""
    ranks = say.keep_first_rules(metrics.ranks(run))
    spec = choose_spec(run, strategy, ranks)
    results = mine(metrics.strategy_results(run), spec)
    payoffs = mine(metrics.payoffs(run), spec)
    looks = {**say.make_looks(run), **assign_looks([spec])}
    sentence, numbers = answer(run, spec, say.keep_first_rules(results), ranks, say.keep_first_rules(payoffs))
    sections = [describe(run, spec)]
    if len(results):
        sections += [strength_section(run, spec, results, ranks, looks), payoffs_section(payoffs, looks)]
    sections.append(points_section(run, spec, looks))
    if metrics.has_depth(run, "rounds"):
        sections.append(wall_section(run, spec))
    if metrics.has_depth(run, "moves"):
        sections.append(traits_section(run, spec, looks))
        sections += game_section(run, spec)
    return Report(
        name="strategy",
        title=clean(spec),
        question=QUESTION,
        answer=(
            sentence,
            f"All of it holds {describe_field(run, spec)} ({say.count_deals(run)}).",
        ),
        sections=tuple(sections),
        how_to_read=(
            "Win share: 1/k for each of k winners, else 0. The fair share is one divided by the number of players.",
            "The field are the strategies of the run; pale dots are the others.",
            "A trait is counted in standard deviations of the field, from the field's mean.",
        ),
        how_computed=(
            "Strength: games between different strategies only; each sits in every seat on the same deals. All else: "
            "all games of the run in which the strategy played.",
            "The game shown is the first one whose final score is nearest to the strategy's median at that player "
            "count; its pictures are put together from the log.",
            say.HOW_INTERVALS,
            say.HOW_SMALLEST,
        ),
        limits=(*say.describe_rules_shown(run), "One game is an illustration, not evidence.", say.LIMIT_STRATEGIES,
                say.LIMIT_MANY),
        numbers=numbers,
    )  # fmt: skip


def describe_field(run: Run, spec: str) -> str:
    """Say against whom the strategy played."""
    if run.manifest.specs == (spec,):
        return "for a table at which everybody plays it"
    return f"against this field of {say.name_specs(run.manifest.specs)}"


def choose_spec(run: Run, wanted: str, ranks: pd.DataFrame) -> str:
    """Return the run's spec that is meant: in full, or by its name alone where only one has it."""
    specs = run.manifest.specs
    if not wanted:
        return str(ranks["spec"].iloc[0]) if len(ranks) else specs[0]
    found = [spec for spec in specs if spec == wanted] or [spec for spec in specs if spec.partition("(")[0] == wanted]
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(f"strategy {wanted!r}: the run has {join_words(found)}; name one in full")
    raise InputError(f"strategy {wanted!r} did not play in {run.path}{did_you_mean(wanted, specs)}")


def tabulate(name: str, title: str, frame: pd.DataFrame) -> Table:
    """Make a table of rows that are all of one strategy."""
    return Table(name, title, frame.drop(columns="spec"), say.CAPTION, {**say.LABELS, **say.TRAITS})


def mine(frame: pd.DataFrame, spec: str) -> pd.DataFrame:
    """Keep the rows of one strategy."""
    return frame[frame["spec"] == spec]


def answer(
    run: Run, spec: str, results: pd.DataFrame, ranks: pd.DataFrame, payoffs: pd.DataFrame
) -> tuple[str, dict[str, object]]:
    """Say how strong it is at each player count, whom it beats most, and who beats it most."""
    numbers: dict[str, object] = {"strategy": spec}
    shares = results[results["outcome"] == "win_share"]
    if shares.empty:
        scores = say.keep_first_rules(mine(metrics.scores(run), spec))
        return f"{spec} met no other strategy in this run; alone it scores {say.join_players(scores)}.", numbers
    parts = []
    for _, row in shares.iterrows():
        players = int(row["players"])
        place = mine(ranks[ranks["players"] == players], spec).iloc[0]
        span = f"{place['rank_low']} to {place['rank_high']}"
        of = int((ranks["players"] == players).sum())
        fair = format_number(100 / players, 0)
        parts.append(
            f"{format_estimate(row)} at {players} players where {fair} is fair, place {place['rank']} of {of} ({span})"
        )
        numbers[f"win share, {players} players"] = {
            **say.pick_numbers(row),
            "place": int(place["rank"]),
            "place at best": int(place["rank_low"]),
            "place at worst": int(place["rank_high"]),
        }
    return f"{spec} wins {join_words(parts)}; {name_rivals(payoffs)}", numbers


def name_rivals(payoffs: pd.DataFrame) -> str:
    """Say who beats it most clearly at the least player count, or that nobody does."""
    rows = payoffs[payoffs["players"] == payoffs["players"].min()].sort_values("estimate", kind="stable")
    worst, players = rows.iloc[0], rows["players"].iloc[0]
    ahead, behind = int((rows["low"] > 0.5).sum()), int((rows["high"] < 0.5).sum())
    others = format_count(len(rows), "other")
    text = f"at {players} players it is clearly ahead of {ahead or 'none'} and behind {behind or 'none'} of {others}"
    if not behind:
        return f"{text}."
    return (
        f"{text}, most of all {worst['opponent']}, of which it finishes ahead in {format_estimate(worst)} of meetings."
    )


def describe(run: Run, spec: str) -> Section:
    """Say what the strategy is, in the words of its author."""
    text: list[str] = []
    note = ""
    parts = [part.strip() for part in spec.replace("(", ",").replace(")", ",").split(",")]
    names = [part for part in parts if part and "=" not in part]
    for name in names:
        try:
            entry = catalog.find("strategies", name)
        except InputError:
            text.append(f"The source of {clean(name)} is not at hand, so that its description is missing.")
            continue
        paragraphs = [" ".join(part.split()) for part in catalog.read_docstring(entry).split("\n\n")]
        text += [f"{name}: {paragraphs[0]}" if len(names) > 1 else paragraphs[0], *paragraphs[1:]]
        if len(names) == 1 and run.manifest.sources.get(spec) != catalog.source_hash(entry):
            note = f"The file of {name} is not the one that was played: its description may have changed since."
    return Section("What it is", tuple(text), note=note)


def strength_section(run: Run, spec: str, results: pd.DataFrame, ranks: pd.DataFrame, looks: figures.Looks) -> Section:
    """Show win shares by player count and seat."""
    seats = mine(metrics.win_shares(run, lineups="mixed"), spec).drop(columns="fair")
    panels = say.split_players(say.keep_first_rules(seats))
    fair = {title: 1 / int(rows["players"].iloc[0]) for title, rows in panels.items()}
    draw = partial(figures.draw_lines, panels, "seat", looks, references=fair, x_label="seat (0 starts)", height=2.3)
    return Section(
        "How strong it is",
        ("Games against other strategies. Seat 0 starts round 1.",),
        (
            Plot(
                "seats",
                "Win share by seat (dashed: the fair share)",
                lambda narrow: draw(narrow=narrow),
                say.describe_evidence(seats),
            ),
            tabulate("results", "Results", results),
            Table("ranks", "Between which places it may be", mine(ranks, spec).drop(columns="spec"),
                  "The intervals of all strategies hold at once with 95 %.", say.RANKS),
            tabulate("seats", "Win share by seat", seats),
        ),
    )  # fmt: skip


def payoffs_section(payoffs: pd.DataFrame, looks: figures.Looks) -> Section:
    """Show whom it beats and loses to."""
    shown = say.keep_first_rules(payoffs).drop(columns="spec").rename(columns={"opponent": "spec"})
    panels = say.split_players(shown)
    draw = partial(
        figures.draw_forest,
        panels,
        looks,
        say.order_specs(shown)[::-1],
        references=dict.fromkeys(panels, 0.5),
        reference_name="even",
    )
    return Section(
        "Whom it beats",
        ("Of 100 meetings at one table, in how many it finishes ahead of the other; the hardest opponents first.",),
        (
            Plot("payoffs", "Finishes ahead of", lambda narrow: draw(narrow=narrow), say.describe_evidence(shown)),
            tabulate("payoffs", "Finishes ahead", payoffs),
        ),
    )


def points_section(run: Run, spec: str, looks: figures.Looks) -> Section:
    """Show where its points come from, against the others."""
    points = metrics.point_sources(run)
    labels = {name: say.LABELS[name] for name in POINTS}
    own = mine(points, spec)
    draw = partial(
        figures.draw_against_field,
        say.split_players(say.keep_first_rules(points)),
        spec,
        labels,
        looks[spec],
        label="points a game",
    )
    return Section(
        "Where its points come from",
        ("What a game brings from tiles placed and from the three bonuses, and what the floor line takes.",),
        (
            Plot(
                "points",
                "Points a game by source (pale: the others)",
                lambda narrow: draw(narrow=narrow),
                say.describe_evidence(own),
            ),
            tabulate("points", "Points a game by source", own),
        ),
    )


def wall_section(run: Run, spec: str) -> Section:
    """Show which spaces of the wall it fills."""
    walls = mine(metrics.wall_occupancy(run), spec)
    draw = partial(figures.draw_wall, say.split_players(say.keep_first_rules(walls)))
    return Section(
        "Its wall",
        ("In how many of 100 games each space holds a tile at the end.",),
        (
            Plot(
                "wall", "Spaces filled, in 100 games", lambda narrow: draw(narrow=narrow), say.describe_evidence(walls)
            ),
            tabulate("wall", "Spaces filled at the end", walls),
        ),
    )


def traits_section(run: Run, spec: str, looks: figures.Looks) -> Section:
    """Show how it plays against the field, when it takes the marker, and who plays like it."""
    traits = metrics.fingerprints(run)
    labels = {name: say.TRAITS[name] for name in metrics.list_traits(run)}
    own = mine(traits, spec)
    items: list[Plot | Table] = []
    if len(run.manifest.specs) > 1:
        draw = partial(
            figures.draw_against_field,
            say.split_players(say.standardize(say.keep_first_rules(traits))),
            spec,
            labels,
            looks[spec],
            columns=("z", "z_low", "z_high"),
            label="standard deviations",
        )
        items.append(
            Plot(
                "traits",
                "Traits, in standard deviations from the mean of the field (pale: the others)",
                lambda narrow: draw(narrow=narrow),
                say.describe_evidence(own),
            )
        )
    by_price = metrics.marker_offers(run, ("players", "spec", "price"))
    items += [
        tabulate("traits", "Traits", own),
        tabulate("offers", "Offers of the marker accepted, by round", mine(metrics.marker_offers(run), spec)),
        tabulate("offers_by_price", "Offers of the marker accepted, by price of the space", mine(by_price, spec)),
    ]
    distances = mine(metrics.distances(run), spec).sort_values(["players", "estimate"], kind="stable")
    if len(distances):
        items.append(tabulate("distances", "Who plays like it, the nearest first", distances))
    return Section("How it plays", (), tuple(items))


def game_section(run: Run, spec: str) -> list[Section]:
    """Show a whole game, round by round, if it can be drawn from the log."""
    counts = sorted({cell.players for cell in run.manifest.cells if spec in cell.lineup and len(set(cell.lineup)) > 1})
    for players in counts:
        try:
            number = choose_game(run, spec, players)
        except InputError:  # not played yet
            continue
        try:
            game = read_game(run, number)
        except InputError as error:
            return [Section("A game", (f"No game can be drawn: {error}.",))]
        items: list[Drawing | Table] = [
            Drawing("game_end", "When the game was over", draw_svg(game.end, names=game.specs)),
            *(
                Drawing(f"game_round_{position.round}", f"As round {position.round} began",
                        draw_svg(position, names=game.specs), is_folded=True)
                for position in game.rounds
            ),
            Table("game_moves", "Every move", game.moves, "Falls: tiles that fell to the floor line. Gain: the exact "
                  "change of the player's own score at the end of the round, before it is kept from falling below 0."),
        ]  # fmt: skip
        scores = join_words(f"{name} {board.score}" for name, board in zip(game.specs, game.end.boards, strict=True))
        text = f"Game {number} of the run at {players} players: {scores} points. azulsim replay RUN --game {number}"
        return [Section("A game", (f"{text} shows it move by move.",), tuple(items))]
    return []


if __name__ == "__main__":
    raise SystemExit(main(__name__))
