"""Strategies: one function, three speeds, the same games; what a strategy sees is the table, and nothing more."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playing import as_strategy, assert_same, begin_games, make_block, play
from reference import COLORS, LAYOUT, Reference, measure_run
from reference import Move as ReferenceMove
from scipy import stats
from test_engine import draw_as_the_engine

from azulsim import arena
from azulsim.arena import asking, make_players
from azulsim.engine import driver
from azulsim.engine.compiling import compiled
from azulsim.engine.luck import DEAL_DOMAIN, game_key, root_key
from azulsim.errors import InputError, StrategyError
from azulsim.registry import list_strategies, make_strategy
from azulsim.rules import VARIANTS, Rules
from azulsim.strategy import Definition, Move, Moves, Strategy, View, maximum, minimum, strategy, toolbox, where
from azulsim.strategy.functions import as_column

SPEEDS = ("compiled", "batched", "plain")
BUNDLED = [entry.name for entry in list_strategies() if entry.origin == "bundled"]
SCORED = [name for name in BUNDLED if make_strategy(name).definition.shape == "score"]

# ---- traps: scores whose value differs between columns, scalars and compiled code if one is careless


@strategy
def wrapping(move: Any) -> Any:
    """Far beyond int16, and beyond int32."""
    return move.gain + 50 * move.placed * move.line * move.tiles + 100_000 * move.placed * 70_000 * move.color


@strategy
def rooting(move: Any) -> Any:
    """The root of a small integer is a narrow float if the integer is narrow."""
    return np.sqrt(move.tiles) + move.placed**0.5 / 3 - 0.1 * move.overflow


@strategy
def dividing(move: Any) -> Any:
    """True division."""
    return move.gain / (1 + move.missing) + (move.placed - 7) / 3 + 1 / (move.tiles + 1)


@strategy
def flooring(move: Any) -> Any:
    """Floor division and remainder, of negative numbers and by fractions too."""
    return move.gain // 3 + move.gain % 4 - (-move.placed) // 2 + (move.penalty - 5) % 1.5 + move.left // -7


@strategy
def raising_to_powers(move: Any) -> Any:
    """Powers, whole and broken, of positive and negative numbers."""
    return move.tiles**2 - 1.5**move.overflow + move.gain**3 / 7 + 2**-move.missing + (move.left + 1) ** -1


@strategy
def counting_truths(move: Any) -> Any:
    """Comparisons as numbers: two truths are 2, not True."""
    good = (move.gain > 0) + (move.completes == 1) + (move.line > 2) * 2
    return good + 0.5 * (move.color != 3) - ((move.tiles >= 2) + (move.overflow <= 0)) * (move.marker < 1)


@strategy
def negating_truths(move: Any) -> Any:
    """Comparisons negated, subtracted, and chosen by."""
    chosen = where(move.gain > 1, 1, 0) > 0
    return -(move.overflow > 1) - (move.marker > 0) + (chosen + (move.placed > 1))


@strategy
def adding_up(move: Any) -> Any:
    """Values changed in place, as scalars may be: the fields themselves must stay as they are."""
    value = move.gain
    value += 2 * move.placed
    value -= move.overflow > 1
    other = move.placed > 1
    other += 0.5
    return value * 3 - move.gain + other


@strategy
def combining_truths(move: Any) -> Any:
    """Truths combined bit by bit."""
    return (
        ((move.gain > 0) & (move.line > 1)) * 3 + ((move.color == 2) | (move.marker == 1)) - ((move.tiles > 1) ^ True)
    )


@strategy
def tying(move: Any) -> Any:
    """Every move is as good as any other."""
    return 0


@strategy
def choosing(move: Any) -> Any:
    """The three functions that take the place of `if`, `min` and `max`."""
    best = where(move.completes > 0, move.points, move.placed / (move.placed + move.missing + 1))
    return maximum(best, 0.5) + minimum(move.across + move.down, 4) / 8 - where(move.marker > 0, 1, 0) * 2


@strategy
def wide(move: Any) -> Any:
    """Every field counts, each with a weight of its own."""
    return (
        move.source * 0.013 + move.color * 0.17 + move.line * 0.0019 + move.tiles * 0.23 + move.placed * 0.29
        - move.overflow * 0.31 - move.marker * 0.37 + move.completes * 0.41 + move.gain * 0.43 + move.points * 0.47
        - move.penalty * 0.53 + move.before * 0.059 - move.missing * 0.61 + move.column * 0.067
        + move.row_tiles * 0.71 + move.column_tiles * 0.73 + move.color_tiles * 0.79 + move.across * 0.083
        + move.down * 0.089 - move.to_center * 0.097 + move.left * 0.0101 - move.largest_left * 0.0107
        - move.floor * 0.103 + move.rival_row * move.placed * 0.107 - move.round * move.line * 0.0109
    )  # fmt: skip


TRAPS: list[Definition] = [
    wrapping,
    rooting,
    dividing,
    flooring,
    raising_to_powers,
    counting_truths,
    negating_truths,
    adding_up,
    combining_truths,
    tying,
    choosing,
    wide,
]


@pytest.fixture
def notes(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The notes written in a test, none of them known before."""
    noted: set[str] = set()
    monkeypatch.setattr(asking, "_noted", noted)
    return noted


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.name)
def test_a_score_plays_the_same_games_at_all_speeds(trap: Definition, notes: set[str]) -> None:
    options: dict[str, Any] = {"players": 3, "deals": 3, "rules": Rules(max_rounds=8)}
    compiled, batched, plain = (play(trap, speed=speed, **options) for speed in SPEEDS)
    assert len(compiled.moves) > 150
    assert_same(compiled, plain)
    assert_same(compiled, batched)
    assert notes == set(), "columns were not used"


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("name", SCORED)
def test_bundled_scores_play_the_same_games_at_all_speeds(name: str, players: int, notes: set[str]) -> None:
    compiled, batched, plain = (play(name, players=players, deals=2, speed=speed) for speed in SPEEDS)
    assert not compiled.failures
    assert_same(compiled, batched)
    assert_same(compiled, plain)
    assert notes == set()


@strategy
def loving(move: Any, *, love: float = 0.5, fear: float = 1) -> Any:
    """A score with parameters."""
    return move.gain + love * (move.color == 0) * move.placed - fear * move.marker


def test_parameters_reach_every_speed() -> None:
    games = []
    for params in ({}, {"love": 2}, {"love": 2, "fear": -3}):
        block = make_block(["loving"], players=2, deals=3)
        played = [
            arena.play_block(block, strategies=[Strategy(loving, params, speed=speed)])
            for speed in SPEEDS  # type: ignore[arg-type]
        ]
        assert_same(played[0], played[1])
        assert_same(played[0], played[2])
        games.append(played[0].moves.tobytes())
    assert len(set(games)) == 3


@strategy
def wary(move: Any, position: Any, *, fear: float = 0.5) -> Any:
    """A score of the position: what the next player could take, and how the own wall stands."""
    seat = toolbox.mover(position)
    near = 0
    for color in range(5):
        near += toolbox.count_on_table(position, color) * toolbox.count_color(position, seat, color)
    waiting = toolbox.count_in_line(position, seat, 5) + toolbox.count_floor(position, seat)
    return move.gain + fear * near / 10 - 0.3 * waiting - (toolbox.score_of(position, seat) > 5) * move.to_center


def test_a_score_of_the_position_plays_the_same_games_compiled_and_plain() -> None:
    compiled, plain = (play(wary, players=3, deals=3, speed=speed) for speed in ("compiled", "plain"))
    assert_same(compiled, plain)


@strategy
def picking(view: Any, moves: Any, rng: Any) -> Any:
    """A plain player."""
    return rng.integers(len(moves))


@strategy(reads_only=True)
def last_move(scratch: Any, moves: Any, key: Any, params: Any, workspace: Any) -> int:
    """A compiled player."""
    return toolbox.nth_move(scratch, moves, toolbox.count_moves(scratch, moves) - 1)


@strategy
def busy(scratch: Any, moves: Any, key: Any, params: Any, workspace: Any) -> int:
    """Fill arrays of many sizes, then play as `last_move`."""
    n = toolbox.count_moves(scratch, moves)
    for size in range(1, 120):
        memory = np.full(size, -size)
        n += memory[size // 2] + size
    return toolbox.nth_move(scratch, moves, n - 1)


@pytest.mark.parametrize("rules", [Rules(), VARIANTS["gray-joker"]], ids=["standard", "gray-joker"])
def test_the_arrays_of_a_compiled_player_lie_apart_from_the_game(rules: Rules) -> None:
    """The engine's own records would be overwritten if their memory were given away while they are in use."""
    assert_same(play(busy, players=2, deals=3, rules=rules), play(last_move, players=2, deals=3, rules=rules))


def test_mixed_lineups_play_the_same_games_at_all_speeds() -> None:
    lineups = [
        [Strategy(loving, speed=one), Strategy(wary, speed=two), as_strategy(picking), as_strategy(last_move)]
        for one, two in (("compiled", "compiled"), ("batched", "plain"), ("plain", "compiled"))
    ]
    seatings = [(0, 1, 2, 3), (3, 2, 1, 0)]
    first, *others = (play(*lineup, deals=3, seatings=seatings) for lineup in lineups)
    for other in others:
        assert_same(first, other)


# ---- scores that are no numbers


@strategy
def not_a_number(move: Any) -> Any:
    """NaN, now and then."""
    large = 1e308 * where(move.gain > 7, 10, 1)
    return large - large


@strategy
def infinite(move: Any) -> Any:
    """Infinite, now and then."""
    return 1e308 * where(move.gain > 7, 10, 1)


@strategy
def minus_infinite(move: Any) -> Any:
    """Minus infinity, which no comparison with a best score would notice."""
    return move.gain - 1e308 * where(move.penalty > 3, 10, 0)


@strategy
def dividing_by_zero(move: Any) -> Any:
    """One over zero, now and then; not chosen, but worked out."""
    return where(move.gain == 7, 0, 1 / (7 - move.gain))


@pytest.mark.parametrize("bad", [not_a_number, infinite, minus_infinite], ids=lambda bad: bad.name)
def test_a_score_that_is_no_number_costs_the_deal_at_all_speeds(bad: Definition) -> None:
    compiled, batched, plain = (play(bad, players=2, deals=20, speed=speed) for speed in SPEEDS)
    assert 0 < len(compiled.failures) <= 20
    assert {failure["kind"] for failure in compiled.failures} == {"not_a_number"}
    assert compiled.failures == batched.failures == plain.failures
    assert_same(compiled, batched)
    assert_same(compiled, plain)


def test_division_by_zero_costs_the_deal_at_all_speeds() -> None:
    """Whether or not the value is used: Python raises, and so do columns and compiled code."""
    results = [play(dividing_by_zero, players=2, deals=20, speed=speed) for speed in SPEEDS]
    where_failed = [[(row["game"], row["ply"], row["seat"]) for row in result.failures] for result in results]
    assert 0 < len(where_failed[0]) <= 20
    assert where_failed[0] == where_failed[1] == where_failed[2]
    assert {row["kind"] for result in results for row in result.failures} == {"raised"}
    assert {row["message"].split(":")[0] for result in results for row in result.failures} == {"ZeroDivisionError"}
    assert_same(results[0], results[1])
    assert_same(results[0], results[2])


# ---- falling back


@strategy
def not_compilable(move: Any) -> Any:
    """Text cannot be compiled, columns can be had."""
    return move.gain + len(f"{'greedy':>9}") * move.placed


@strategy
def no_columns(move: Any) -> Any:
    """An `if` compiles, but asks a whole column for one truth."""
    return move.gain if move.line > 2 else move.placed


@strategy
def neither(move: Any) -> Any:
    """Plain Python only."""
    return move.gain + 0 * len(f"{'greedy':>9}") if move.line > 2 else move.placed


def test_what_cannot_be_compiled_runs_on_columns_and_says_why(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, notes: set[str]
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from azulsim.strategy import strategy\n@strategy\ndef not_compilable(move):\n"
        "    return move.gain + len(f\"{'greedy':>9}\") * move.placed\n"
    )
    players = make_players([f"{file}:not_compilable", "greedy", f"{file}:not_compilable"])
    assert [player.speed for player in players] == ["batched", "compiled", "batched"]
    text = capsys.readouterr().err
    assert text.count("\n") == 1
    assert "not_compilable: runs batched, since it cannot be compiled: " in text
    assert len(text) > 80
    make_players([f"{file}:not_compilable"])
    assert capsys.readouterr().err == ""


def test_speeds_are_the_fastest_that_can_be() -> None:
    assert Strategy(not_compilable).speed == "batched"
    assert Strategy(no_columns).speed == "compiled"
    assert Strategy(no_columns).fallback == ""
    assert Strategy(picking).speed == "plain"
    assert Strategy(last_move).speed == "compiled"
    assert_same(play(not_compilable, players=2, speed="plain"), play(not_compilable, players=2))


def test_what_cannot_take_columns_runs_plain_and_says_why(capsys: pytest.CaptureFixture[str], notes: set[str]) -> None:
    batched = play(no_columns, players=2, speed="batched")
    text = capsys.readouterr().err
    assert text.count("\n") == 1
    assert text.startswith("azulsim: no_columns: runs plain, since it cannot take columns: ValueError: ")
    assert_same(batched, play(no_columns, players=2, speed="compiled"))
    assert_same(play(neither, players=2), play(no_columns, players=2))


@compiled(key=None)
def love_of_blue(move: Any) -> float:
    return 1.5 * move.placed if move.color == 0 else 0.0


@strategy
def by_helper(move: Any) -> float:
    return move.gain + love_of_blue(move)


def test_a_function_that_fails_on_columns_is_tried_on_them_once(
    capsys: pytest.CaptureFixture[str], notes: set[str]
) -> None:
    """Numba adds to the message of its error with every call."""
    batched = play(by_helper, players=2, speed="batched")
    text = capsys.readouterr().err
    assert text.count("\n") == 1
    assert len(text) < 200
    assert_same(batched, play(by_helper, players=2, speed="compiled"))


def test_a_compiled_move_that_cannot_be_compiled_is_an_error() -> None:
    @strategy
    def hopeless(scratch: Any, moves: Any, key: Any, params: Any, workspace: Any) -> int:
        return int(scratch.no_such_field)

    with pytest.raises(StrategyError, match=r"hopeless: cannot be compiled: .*no_such_field"):
        play(hopeless, players=2)


# ---- definitions


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def f(view): ...", r"'f': parameters \(view\) are of no known kind; write \(move\) or "),
        ("def f(): ...", "are of no known kind"),
        ("def f(move, position, extra): ...", "are of no known kind"),
        ("def f(move, *args): ...", "are of no known kind"),
        ("def f(move, *, love): ...", "parameter 'love' needs a number"),
        ("def f(move, *, love='x'): ...", "parameter 'love' needs a number"),
    ],
)
def test_a_function_of_another_shape_is_refused(source: str, message: str) -> None:
    space: dict[str, Any] = {}
    exec(source, space)
    with pytest.raises(InputError, match=message):
        strategy(space["f"])


def test_wrong_ways_to_make_a_strategy_are_refused() -> None:
    with pytest.raises(InputError, match="params= is for compiled moves"):

        @strategy(params={"love": 1})
        def score(move: Any) -> Any:
            return move.gain

    with pytest.raises(InputError, match="has no parameter 'lov'; did you mean 'love'"):
        Strategy(loving, {"lov": 1})
    with pytest.raises(InputError, match=r"love = inf: must be a finite number"):
        Strategy(loving, {"love": float("inf")})
    with pytest.raises(InputError, match=r"cannot run batched; .* runs compiled or plain"):
        Strategy(wary, speed="batched")


def test_a_definition_is_still_its_function() -> None:
    move = Move._make([0.0] * len(Move._fields))._replace(gain=3.0, placed=2.0)
    assert loving(move, love=2) == 7
    assert (loving.name, loving.doc, loving.defaults) == (
        "loving",
        "A score with parameters.",
        {"love": 0.5, "fear": 1},
    )


@pytest.mark.parametrize("yes", [3, 2.5])
def test_functions_do_the_same_on_numbers_and_columns(yes: float) -> None:
    numbers = [-1.0, 0.0, 2.0, 4.0, float("nan")]
    column = as_column(np.array(numbers))
    for function in (minimum, maximum):
        expected = [function(number, 2) for number in numbers]
        np.testing.assert_array_equal(function(column, 2), expected)
        np.testing.assert_array_equal(function(2, column), [function(2, number) for number in numbers])
    np.testing.assert_array_equal(where(column > 1, yes, column), [where(n > 1, yes, n) for n in numbers])
    several = where(column > 1, (yes, 1.0), (0.0, yes))
    assert [*zip(*several, strict=True)] == [where(n > 1, (yes, 1.0), (0.0, yes)) for n in numbers]


# ---- what a strategy sees


def expected_move(game: Reference, move: ReferenceMove) -> Move:
    """Every field of a move, worked out in the reference from the docstrings of `Move`."""
    board = game.boards[game.seat].copy()
    walls = [b.copy() for b in game.boards]
    for copy in walls:
        copy.tile_wall()
    wall = walls[game.seat].wall
    facts = game.describe_move(move)
    row = column = 0
    across = down = row_tiles = column_tiles = before = missing = points = 0
    if move.line:
        row, column = move.line, LAYOUT[move.line - 1].index(move.color) + 1
        row_tiles = sum(tile != "." for tile in wall[row - 1])
        column_tiles = sum(line[column - 1] != "." for line in wall)
        filled = [list(line) for line in wall]
        filled[row - 1][column - 1] = move.color
        across, down = (measure_run(filled, row, column, *way) for way in ((0, 1), (1, 0)))
        before = len(board.lines[move.line - 1])
        missing = move.line - before - facts.placed
    completes = int(move.line > 0 and missing == 0)
    if completes:
        after = board.copy()
        after.lines[move.line - 1] = [move.color] * move.line
        points = sum(placed[-1] for placed in after.tile_wall()[0]) - sum(p[-1] for p in board.copy().tile_wall()[0])
    gain = game.exact_gain(move)
    on_table = [game.table.center, *game.table.displays]
    taken = facts.placed + facts.overflow
    rivals = [sum(t != "." for t in line) for s, b in enumerate(walls) if s != game.seat for line in b.wall]
    return Move(
        source=move.source,
        color=COLORS.index(move.color),
        line=move.line,
        tiles=taken,
        placed=facts.placed,
        overflow=facts.overflow,
        marker=facts.marker,
        completes=completes,
        gain=gain,
        points=points,
        penalty=points - gain,
        before=before,
        missing=missing,
        column=column,
        row_tiles=row_tiles,
        column_tiles=column_tiles,
        color_tiles=sum(line.count(move.color) for line in wall),
        across=across,
        down=down,
        to_center=len(on_table[move.source]) - taken if move.source else 0,
        left=sum(map(len, on_table)) - taken,
        largest_left=count_largest_left(game, move),
        floor=facts.floor,
        rival_row=max(rivals),
        round=game.round,
        players=game.players,
        jokers=0,
        denial=game.denial(move),
    )


def count_largest_left(game: Reference, move: ReferenceMove) -> int:
    """The largest group of one color in one place, once the move has been played."""
    places = [list(game.table.center), *(list(tiles) for tiles in game.table.displays)]
    others = [tile for tile in places[move.source] if tile != move.color]
    places[move.source] = []
    places[0] += others
    return max((count for tiles in places for count in Counter(tiles).values()), default=0)


def expected_view(game: Reference) -> dict[str, Any]:
    """What a view shows, by the reference; the lid counts floor lines too."""
    on_floors = Counter(tile for board in game.boards for tile in board.floor if tile != "M")
    return {
        "players": game.players,
        "seat": game.seat,
        "round": game.round,
        "starter": game.starter,
        "marker_holder": game.holder,
        "scores": game.scores(),
        "floors": [len(board.floor) for board in game.boards],
        "walls": [["".join(row) for row in board.wall] for board in game.boards],
        "lines": [["".join(line) for line in board.lines] for board in game.boards],
        "displays": ["".join(sorted(tiles, key=COLORS.index)) for tiles in game.table.displays],
        "center": "".join(sorted(game.table.center, key=COLORS.index)),
        "bag": {color: game.bag[color] for color in COLORS},
        "lid": {color: game.lid[color] + on_floors[color] for color in COLORS},
        "rules": game.rules,
    }


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("rules", [Rules(), Rules(tiles_per_color=9, floor_penalties=(-1, -4), starter_bonus=-1)])
def test_a_strategy_sees_the_table_and_every_fact_of_every_move(players: int, rules: Rules) -> None:
    key = int(game_key(np.uint64(root_key(1, DEAL_DOMAIN)), 0, 0))
    game = Reference(players, rules, draw_as_the_engine(key))
    asked = 0

    @strategy
    def watching(view: View, moves: Moves, rng: Any) -> int:
        nonlocal asked
        asked += 1
        shown = expected_view(game)
        assert {name: getattr(view, name) for name in shown} == shown
        seen = {(int(m.source), COLORS[int(m.color)], int(m.line)): m for m in moves}
        legal = game.legal_moves()
        assert len(moves) == len(seen) == len(legal)
        for move in legal:
            assert seen[move.source, move.color, move.line] == expected_move(game, move)
        index = rng.integers(len(moves)) if rng.random() < 0.5 else int((moves.line * moves.placed).argmax())
        chosen = moves[index]
        assert moves.text(index) == f"{chosen.source or 'C'}{COLORS[chosen.color]}{chosen.line or '-'}"
        game.play((int(chosen.source), COLORS[int(chosen.color)], int(chosen.line)))
        return index

    tables = play(watching, players=players, deals=1, rules=rules)
    assert tables.failures == []
    assert game.is_over
    assert asked == game.ply


def test_moves_are_a_sequence_of_moves_with_columns() -> None:
    @strategy
    def looking(view: View, moves: Moves, rng: Any) -> int:
        assert list(moves) == [moves[i] for i in range(len(moves))] == moves[:]
        assert moves[-1] == moves[len(moves) - 1]
        for name in Move._fields:
            column = getattr(moves, name)
            assert column.dtype == np.int64
            assert column.tolist() == [getattr(move, name) for move in moves]
        with pytest.raises(AttributeError, match="no field 'gian'"):
            moves.gian  # noqa: B018
        with pytest.raises(IndexError):
            moves[len(moves)]
        return 0

    assert play(looking, players=2, deals=1).failures == []


@pytest.mark.parametrize("name", [*BUNDLED, "wary"])
def test_choices_do_not_depend_on_the_coming_tiles(name: str) -> None:
    """The same table and decision under other keys of the deal, that is other coming tiles: the same choice."""
    player = as_strategy(wary if name == "wary" else name)
    n = 30
    choices = []
    for future in range(3):
        games, lives, seat = begin_games(player, n)
        lives["deal_key"] = np.random.default_rng(future).integers(0, 1 << 63, n)
        codes = np.zeros(n, np.int64)
        driver.call_slots(games, lives, np.arange(n), np.repeat(seat, n), codes)
        choices.append(codes.tolist())
    assert choices[0] == choices[1] == choices[2]
    assert len(set(choices[0])) > 3


# ---- ties


def test_ties_are_broken_evenly_and_by_key() -> None:
    """A constant score plays each legal move of one position as often as any other."""
    player = as_strategy(tying)
    n = 20_000
    games, lives, seat = begin_games(player, 1)
    games, lives = np.repeat(games, n), np.repeat(lives, n)
    lives["turn_keys"] = np.random.default_rng(5).integers(0, 1 << 63, (n, 4))
    codes = np.zeros(n, np.int64)
    driver.call_slots(games, lives, np.arange(n), np.repeat(seat, n), codes)
    counts = Counter(codes.tolist())
    sources = [int(games[0]["mask"]) >> 12 * color & 0xFFF for color in range(5)]
    assert len(counts) == 6 * sum(bits.bit_count() for bits in sources)
    assert stats.chisquare(list(counts.values())).pvalue > 1e-4


# ---- the toolbox


def test_questions_about_a_position_are_answered_as_the_view_does() -> None:
    @strategy
    def asking(view: View, moves: Moves, rng: Any) -> int:
        position = view._game
        assert toolbox.count_players(position) == view.players
        assert toolbox.seat_to_move(position) == view.seat
        assert toolbox.mover(position) == (view.seat - 1) % view.players
        assert toolbox.is_marker_in_center(position) == (view.marker_holder is None)
        assert toolbox.marker_holder(position) == (-1 if view.marker_holder is None else view.marker_holder)
        for color, letter in enumerate(COLORS):
            assert toolbox.count_in_bag(position, color) == view.bag[letter]
            assert toolbox.count_in_lid(position, color) == view.lid[letter]
            sources = [view.center, *view.displays]
            assert [toolbox.count_source(position, s, color) for s in range(len(sources))] == [
                tiles.count(letter) for tiles in sources
            ]
            assert toolbox.count_on_table(position, color) == "".join(sources).count(letter)
        for seat in range(view.players):
            wall = view.walls[seat]
            assert toolbox.score_of(position, seat) == view.scores[seat]
            assert toolbox.count_floor(position, seat) == view.floors[seat]
            for i in range(1, 6):
                tiles = view.lines[seat][i - 1]
                assert toolbox.count_in_line(position, seat, i) == len(tiles)
                assert toolbox.color_of_line(position, seat, i) == (COLORS.index(tiles[0]) if tiles else -1)
                assert toolbox.count_row(position, seat, i) == 5 - wall[i - 1].count(".")
                assert toolbox.count_column(position, seat, i) == sum(row[i - 1] != "." for row in wall)
                assert toolbox.count_color(position, seat, i - 1) == "".join(wall).count(COLORS[i - 1])
                for j in range(1, 6):
                    assert toolbox.has_tile(position, seat, i, j) == (wall[i - 1][j - 1] != ".")
        return int((moves.line * moves.placed).argmax())

    tables = play(asking, players=3, deals=2)
    assert tables.failures == []
    assert tables.games["wall_points"].min() > 0


def test_all_of_the_toolbox_is_there_and_documented() -> None:
    for name in toolbox.__all__:
        assert getattr(toolbox, name).__doc__, name
