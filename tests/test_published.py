"""The heuristics of other programs against the same written again, from their descriptions alone; facts of the wall.

What is here knows a game only as a person at the table does: walls, lines and floors as letters, moves as text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from playing import play
from scipy import stats

from azulsim.engine import driver
from azulsim.engine.compiling import address_of
from azulsim.engine.driver import LIVE
from azulsim.engine.move import format_code
from azulsim.engine.record import SEAT
from azulsim.explain import explain
from azulsim.game import Game
from azulsim.registry import make_strategy
from azulsim.rules import VARIANTS, Rules
from azulsim.strategy import toolbox
from azulsim.strategy.toolbox import compiled, run_across, run_down, run_points

COLORS = "BYRKW"
PENALTIES = (1, 1, 2, 2, 2, 3, 3)


# ---- a table, read by eye


def column_for(row: int, color: str) -> int:
    """The column of a color in a row of the printed wall, both from 0."""
    return (COLORS.index(color) + row) % 5


def measure(wall: list[list[str]], row: int, column: int) -> int:
    """The points of a tile that lies on a wall."""
    runs = []
    for down, right in ((0, 1), (1, 0)):
        length = 1
        for sign in (1, -1):
            r, c = row + sign * down, column + sign * right
            while 0 <= r < 5 and 0 <= c < 5 and wall[r][c] != ".":
                length, r, c = length + 1, r + sign * down, c + sign * right
        runs.append(length)
    return sum(length for length in runs if length > 1) or 1


def tile_in_mind(game: Game, seat: int) -> tuple[int, list[list[str]]]:
    """The points and the wall of a seat if its complete lines were tiled now, from top to bottom."""
    wall, points = [list(row) for row in game.walls[seat]], 0
    for row, tiles in enumerate(game.lines[seat]):
        if len(tiles) == row + 1:
            column = column_for(row, tiles[0])
            wall[row][column] = tiles[0]
            points += measure(wall, row, column)
    return points, wall


def floor_points(fallen: int) -> int:
    """What a floor line costs."""
    return sum(PENALTIES[:fallen])


def groups(game: Game) -> dict[tuple[str, str], int]:
    """How many tiles each place holds of each color: `C` is the center, displays are `1`, `2`, ..."""
    places = {"C": game.center, **{str(i + 1): tiles for i, tiles in enumerate(game.displays)}}
    return {(place, color): tiles.count(color) for place, tiles in places.items() for color in set(tiles)}


def count_rows(game: Game, seat: int) -> int:
    """Complete rows."""
    return sum("." not in row for row in game.walls[seat])


class Take:
    """A move in plain words; `line` counts from 0, None is the floor."""

    def __init__(self, game: Game, text: str) -> None:
        self.text = text
        self.place, self.color = text[0], text[1]
        self.line = None if text[2] == "-" else int(text[2]) - 1
        self.tiles = groups(game)[self.place, self.color]
        self.before = 0 if self.line is None else len(game.lines[game.seat][self.line])
        room = 0 if self.line is None else self.line + 1 - self.before
        self.overflow = max(0, self.tiles - room)
        self.missing = max(0, room - self.tiles)
        self.is_completed = self.line is not None and self.missing == 0
        self.takes_marker = self.place == "C" and game.holder is None


def takes(game: Game) -> list[Take]:
    """All legal moves."""
    return [Take(game, text) for text in game.legal_moves()]


# ---- the heuristics, each as the set of moves it may play


def best(game: Game, value: Callable[[Game, Take], float]) -> set[str]:
    """The moves of the highest value."""
    values = {take.text: value(game, take) for take in takes(game)}
    return {text for text, worth in values.items() if worth > max(values.values()) - 1e-9}


def uniform_lines(game: Game) -> set[str]:
    into_lines = {take.text for take in takes(game) if take.line is not None}
    return into_lines or set(game.legal_moves())


def started_lines(game: Game) -> set[str]:
    return {take.text for take in takes(game) if take.before} or set(game.legal_moves())


def tidy_uniform(game: Game) -> set[str]:
    return best(game, lambda game, take: -take.overflow)


def hoarder(game: Game) -> set[str]:
    most = max(take.tiles - take.overflow for take in takes(game))
    fallen = {
        take.text: take.overflow + take.takes_marker for take in takes(game) if take.tiles - take.overflow == most
    }
    return {text for text, n in fallen.items() if n == min(fallen.values())}


def greedy(game: Game, floor: float = 1) -> set[str]:
    """What the move changes of points minus floor, worked out before and after it."""

    def change(game: Game, take: Take) -> float:
        seat, fallen = game.seat, len(game.floors[game.seat])
        before = tile_in_mind(game, seat)[0] - floor * floor_points(fallen)
        lines = [list(line) for line in game.lines[seat]]
        if take.line is not None:
            lines[take.line] += [take.color] * (take.tiles - take.overflow)
        wall, points = [list(row) for row in game.walls[seat]], 0
        for row, tiles in enumerate(lines):
            if len(tiles) == row + 1:
                wall[row][column_for(row, tiles[0])] = tiles[0]
                points += measure(wall, row, column_for(row, tiles[0]))
        return points - floor * floor_points(fallen + take.overflow + take.takes_marker) - before

    return best(game, change)


def ludometer_greedy_value(game: Game, take: Take) -> float:
    me, now = game.seat, game.round
    game.play(take.text)
    try:
        score = game.scores[me]
        if game.is_over:
            return score + 100 * all(score > other for seat, other in enumerate(game.scores) if seat != me)
        if game.round != now:
            return score
        return score + tile_in_mind(game, me)[0] - floor_points(len(game.floors[me]))
    finally:
        game.undo()


def ludometer_value(game: Game, take: Take) -> float:
    me, now = game.seat, game.round
    game.play(take.text)
    try:
        others = [seat for seat in range(game.players) if seat != me]
        rival = max(others, key=lambda seat: (game.scores[seat], count_rows(game, seat)))
        if game.is_over:
            mine, theirs = ((game.scores[seat], count_rows(game, seat)) for seat in (me, rival))
            return 200 * ((mine > theirs) - (mine < theirs)) + game.scores[me] - game.scores[rival]
        is_new_round = game.round != now
        points, wall = tile_in_mind(game, me)
        value = game.scores[me] + points - 0.6 * game.scores[rival]
        if not is_new_round:
            value -= 1.6 * floor_points(len(game.floors[me]))
            value += 1.4 * (game.holder == me)
            value -= 0.45 * max(groups(game).values())
        for row, tiles in enumerate(game.lines[me]):
            n, cap = len(tiles), row + 1
            if not 0 < n < cap:
                continue
            column = column_for(row, tiles[0])
            with_tile = [list(cells) for cells in wall]
            with_tile[row][column] = tiles[0]
            table = "".join(game.displays) + game.center
            supply = 1.0 if is_new_round else min(1.0, table.count(tiles[0]) / (cap - n))
            value += 0.85 * measure(with_tile, row, column) * (n / cap) * (0.35 + 0.65 * supply)
            if supply < 1:
                value -= 0.30 * n * (1 - supply)
        value += sum(0.35 * sum(cell != "." for cell in row) ** 2 for row in wall)
        value += sum(0.55 * sum(row[i] != "." for row in wall) ** 2 for i in range(5))
        value += sum(0.30 * sum(row.count(color) for row in wall) ** 2 for color in COLORS)
        return value
    finally:
        game.undo()


def column_color_value(game: Game, take: Take) -> float:
    fallen = len(game.floors[game.seat])
    value = floor_points(fallen) - floor_points(fallen + take.overflow + take.takes_marker)
    value += 1.5 * take.takes_marker
    if take.line is None:
        return value
    wall = [list(row) for row in game.walls[game.seat]]
    column = column_for(take.line, take.color)
    if take.is_completed:
        wall[take.line][column] = take.color
        value += measure(wall, take.line, column)
    value += {4: 5, 3: 2}.get(sum(row[column] != "." for row in wall), 0)
    return value + {4: 6, 3: 2}.get(sum(row.count(take.color) for row in wall), 0)


P = (0.0053696, 0.251656, 0.144145, 0.0812487, 0.390732, -0.165523, -0.635363, -0.519715, -0.235377)


def azulzero_value(game: Game, take: Take) -> float:
    if take.line is None:
        return P[7] + P[8] * take.tiles
    if not take.is_completed:
        return P[3] + P[4] * take.line + P[5] * take.tiles + P[6] * take.missing
    completed = P[0] + P[1] * take.line + P[2] * take.tiles
    return completed + P[7] + P[8] * take.overflow if take.overflow else completed


def azulzero_linear(game: Game) -> set[str]:
    tied = best(game, azulzero_value)
    return {max(tied, key=lambda text: (-COLORS.index(text[1]), text[0] == "C", text[0]))}


def color_first(game: Game) -> dict[str, float]:
    """The probability of each move that may be played."""
    candidates = [take for take in takes(game) if take.line is not None] or takes(game)
    colors = {take.color for take in candidates}
    chances: dict[str, float] = {}
    for color in colors:
        of_color = [take for take in candidates if take.color == color]
        preferred = [take for take in of_color if take.before] or of_color
        chances |= {take.text: 1 / len(colors) / len(preferred) for take in preferred}
    return chances


SETS: dict[str, Callable[[Game], set[str]]] = {
    "uniform": lambda game: set(game.legal_moves()),
    "uniform_lines": uniform_lines,
    "started_lines": started_lines,
    "tidy_uniform": tidy_uniform,
    "color_first": lambda game: set(color_first(game)),
    "hoarder": hoarder,
    "greedy": greedy,
    "greedy(floor=2.5)": lambda game: greedy(game, 2.5),
    "ludometer_greedy": lambda game: best(game, ludometer_greedy_value),
    "ludometer": lambda game: best(game, ludometer_value),
    "column_color": lambda game: best(game, column_color_value),
    "azulzero_linear": azulzero_linear,
}
VALUES = {
    "ludometer_greedy": ludometer_greedy_value,
    "ludometer": ludometer_value,
    "column_color": column_color_value,
    "azulzero_linear": azulzero_value,
}


# ---- the comparisons


def play_at_random(players: int, seed: int, rules: Rules | None = None) -> Iterator[Game]:
    """A game before each of its moves, which mostly go into lines."""
    rng = np.random.default_rng(seed)
    game = Game(players, seed=seed, rules=rules or Rules())
    while not game.is_over:
        yield game
        into_lines = [move for move in game.legal_moves() if not move.endswith("-")]
        game.play(str(rng.choice(into_lines if into_lines and rng.random() < 0.9 else game.legal_moves())))


@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize("name", VALUES)
def test_every_move_is_valued_as_described(name: str, players: int) -> None:
    """Scores of all moves at one speed, at the end of rounds above all; the next test looks at what is played.

    But for what all moves of one decision have in common, which `ludometer` leaves out within a round.
    """
    for ply, game in enumerate(play_at_random(players, seed=players)):
        if ply % 4 and len(groups(game)) > 2:
            continue
        theirs = {one.move: one.score for one in explain(game.position(), name).candidates}
        ours = {take.text: VALUES[name](game, take) for take in takes(game)}
        shared = 0.0
        if name == "ludometer" and len(groups(game)) > 1:
            shared = next(iter(ours.values())) - theirs[next(iter(ours))]
        assert {text: score + shared for text, score in theirs.items()} == pytest.approx(ours, abs=1e-7)


def judge_position(position: Any, seat: int) -> float:
    """What `ludometer` says within a round under any rules, but for the rival: every term of the whole position."""
    n_sources = int(position["n_displays"]) + 1
    groups = [toolbox.count_source(position, source, color) for source in range(n_sources) for color in range(5)]
    tiled = position.copy()
    value = toolbox.score_of(position, seat) + toolbox.tile_lines(tiled, seat) - 0.45 * max(groups)
    value += 1.4 * (toolbox.marker_holder(position) == seat) - 1.6 * toolbox.penalty_of(tiled, seat)
    for line in range(2, 6):
        n = toolbox.count_in_line(tiled, seat, line)
        if n > 0:
            color = toolbox.color_of_line(tiled, seat, line)
            supply = min(1.0, toolbox.count_on_table(tiled, color) / (line - n))
            value += 0.85 * toolbox.best_space(tiled, seat, line)[1] * n / line * (0.35 + 0.65 * supply)
            value -= 0.30 * n * (1 - supply)
    for i in range(5):
        value += 0.35 * toolbox.count_row(tiled, seat, i + 1) ** 2
        value += 0.55 * toolbox.count_column(tiled, seat, i + 1) ** 2
        value += 0.30 * toolbox.count_color(tiled, seat, i) ** 2
    return float(value)


@pytest.mark.parametrize("name", VARIANTS)
def test_ludometer_values_the_whole_position_under_all_rules(name: str) -> None:
    """It works out what a move changes; here is what there is after it, up to what all moves share."""
    seen = 0
    for ply, game in enumerate(play_at_random(3, seed=4, rules=VARIANTS[name])):
        if game.placing is not None or ply % 3 or len(groups(game)) == 1:
            continue
        theirs = {one.move: one.score for one in explain(game.position(), "ludometer").candidates}
        ours = {}
        for code in game._codes():
            after = game._now.record.copy()[0]
            if not toolbox.play(after, code):
                ours[format_code(int(code))] = judge_position(after, game.seat)
        shared = next(iter(ours.values())) - theirs[next(iter(ours))]
        assert {text: theirs[text] + shared for text in ours} == pytest.approx(ours, abs=1e-7)
        seen += len(ours)
    assert seen > 200


@pytest.mark.parametrize("players", [2, 4])
@pytest.mark.parametrize("name", SETS)
def test_only_moves_that_the_description_allows_are_played(name: str, players: int) -> None:
    """In games among themselves and in games against others, where other positions come up."""
    for others in (name, "greedy" if name != "greedy" else "column_color"):
        lineup = [name, *[others] * (players - 1)]
        moves = play(*lineup[: 1 if others == name else None], players=players, deals=1, seed=6).moves
        game = Game(players, seed=6)
        for row in moves:
            text = f"{row['source'] or 'C'}{COLORS[row['color']]}{row['line'] or '-'}"
            if lineup[game.seat] == name:
                assert text in SETS[name](game)
            game.play(text)
        assert game.is_over


def choose(name: str, game: Game, n: int) -> Counter[str]:
    """How often a compiled strategy chooses each move in one position, under n keys."""
    strategy = make_strategy(name)
    records, lives, codes = np.repeat(game._now.record, n), np.zeros(n, LIVE), np.zeros(n, np.int64)
    seats = np.zeros(n, SEAT)
    seats["move"], seats["params"] = strategy.address, address_of(strategy.param_array)
    lives["turn_keys"] = np.random.default_rng(game.round).integers(0, 1 << 63, lives["turn_keys"].shape)
    driver.call_slots(records, lives, np.arange(n), seats, codes)
    return Counter(format_code(int(code)) for code in codes)


@cache
def positions() -> list[Game]:
    """The positions of which the chances are compared: few legal moves and many, started lines and none."""
    games = []
    for seed in range(3):
        for ply, game in enumerate(play_at_random(2, seed=30 + seed)):
            if ply in (0, 4, 9, 25, 40):
                games.append(Game.from_position(game.position()))
    return games


@pytest.mark.parametrize("name", ["uniform", "uniform_lines", "started_lines", "tidy_uniform", "color_first"])
def test_chances_are_those_of_the_description(name: str) -> None:
    n = 4000
    for game in positions():
        allowed = SETS[name](game)
        chances = color_first(game) if name == "color_first" else dict.fromkeys(allowed, 1 / len(allowed))
        played = choose(name, game, n)
        assert set(played) <= set(chances)
        observed = [played[text] for text in chances]
        assert len(chances) == 1 or stats.chisquare(observed, [n * chance for chance in chances.values()]).pvalue > 1e-5


def test_the_heuristic_of_ludometer_beats_its_greedy_player() -> None:
    """Its source rates them far apart; here as there, seats changed on the same deals."""
    games = play("ludometer", "ludometer_greedy", deals=300, seed=8, seatings=[(0, 1), (1, 0)], depth="games").games
    shares = games["win_share"][games["spec"] == 0].reshape(-1, 2).mean(axis=1)
    assert shares.mean() - 4 * shares.std(ddof=1) / np.sqrt(len(shares)) > 0.55


# ---- exact facts of the wall


ORDERS = np.array(list(permutations(range(5))), np.int64)


@compiled(key=None)
def count_totals(orders: Any, n_rows: int, counts: Any) -> None:
    """Count the totals of all ways to fill the top rows, a tile a round in each, from top to bottom."""
    n = len(orders)
    for which in range(n**n_rows):
        wall = total = 0
        for step in range(5):
            rest = which
            for row in range(n_rows):
                column = orders[rest % n, step]
                rest //= n
                wall |= 1 << (5 * row + column)
                total += run_points(run_across(wall, row, column), run_down(wall, row, column))
        counts[total] += 1


def test_rows_filled_in_every_order_score_what_was_counted() -> None:
    """Every order of the columns in one row, the top two and the top three: counted by an independent program."""
    counts = np.zeros((4, 100), np.int64)
    for n_rows in (1, 2, 3):
        count_totals(ORDERS, n_rows, counts[n_rows])
    totals = [np.flatnonzero(row) for row in counts]
    assert counts[1][11:16].tolist() == [40, 32, 24, 8, 16]
    assert (totals[1].min(), totals[1].max()) == (11, 15)
    assert (totals[2].min(), totals[2].max()) == (29, 40)
    assert (totals[3].min(), totals[3].max()) == (47, 70)
    assert (counts[3].sum(), counts[3][47], counts[3][70]) == (1_728_000, 20, 230)
    assert counts[3] @ np.arange(100) / 1_728_000 == pytest.approx(57.168, abs=5e-4)
