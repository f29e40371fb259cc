"""The bundled searches: exact where they can be, within their budgets, blind to the future, and strong."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from azulsim.arena import Block, play_block
from azulsim.catalog import find
from azulsim.engine.core import LEDGER, deal, settle
from azulsim.engine.record import ALLOWED, GAME, MAX_LEGAL, make_template
from azulsim.engine.table import allow_all, is_allowed, list_moves, play, tile
from azulsim.registry import make_strategy
from azulsim.rules import MAX_PLAYERS, VARIANTS, Rules, Termination
from azulsim.strategy import Strategy
from azulsim.strategy.evaluation import UNIT, WEIGHTS, look_at_walls, set_weights, value_margin, value_seat
from azulsim.strategy.ranking import (
    MEMORY,
    RANKING,
    code_of,
    play_remembered,
    rank_moves,
    remember,
    take_back,
    value_of,
)
from azulsim.strategy.search import SEARCH
from azulsim.strategy.toolbox import deal_round, end_round
from azulsim.strategy.trees import TREE

Record = npt.NDArray[Any]

SEARCHES = {"alpha_beta(nodes=300)": SEARCH, "mcts(playouts=40)": TREE, "mcts(playouts=10, rounds=9, greed=0)": TREE}
SIZES = [(variant, players) for variant in VARIANTS for players in (2, 3, 4)]
WIN = 20.0


# ---- positions


def random_game(rules: Rules, players: int, seed: int) -> Iterator[Record]:
    """Yield every position of a game in which moves are chosen at random; each is a copy."""
    games, ledger = make_template(rules, players), np.zeros(MAX_PLAYERS, LEDGER)
    key, luck = np.uint64(seed), np.random.default_rng(seed)
    deal(games[0], key)
    while games["termination"][0] == 0:
        yield copy_game(games)
        codes = legal_codes(games[0])
        if play(games[0], codes[luck.integers(len(codes))]):
            tile(games[0], ledger)
            if games["termination"][0] == 0 and not deal(games[0], key):
                return


def copy_game(games: Record) -> Record:
    """A copy with its padding, so that games can be compared as bytes."""
    return games.view(np.uint8).copy().view(GAME)


def all_allowed(game: Any) -> Any:
    allowed = np.zeros(1, ALLOWED)[0]
    allow_all(game, allowed)
    return allowed


def legal_codes(game: Any, allowed: Any = None) -> list[int]:
    codes = np.empty(MAX_LEGAL, np.int16)
    n = list_moves(game, all_allowed(game) if allowed is None else allowed, codes)
    return [int(code) for code in codes[:n]]


def count_takes(games: Record) -> int:
    """The pairs of a source and a color from which a move can take."""
    return int(games["mask"][0]).bit_count() + int(games["joker_mask"][0]).bit_count()


def some_positions(rules: Rules, players: int, n: int, *, most_takes: int = 99) -> list[Record]:
    """Return positions from all over random games, with few takes left if asked for."""
    found: list[Record] = []
    for seed in range(1000):
        positions = [p for p in random_game(rules, players, seed) if 1 < count_takes(p) <= most_takes]
        found.extend(positions[seed % 3 :: 5])
        if len(found) >= n:
            return found[:n]
    raise AssertionError("too few positions")


class Player:
    """A strategy called on positions of the test's own."""

    def __init__(self, spec: str) -> None:
        self.strategy: Strategy = make_strategy(spec)
        self.memory = np.zeros(self.strategy.definition.workspace, np.uint8)

    def move(self, games: Record, allowed: Any = None, key: int = 1) -> int:
        scratch = copy_game(games)
        chosen = all_allowed(games[0]) if allowed is None else allowed
        code = self.strategy.definition(scratch[0], chosen, np.uint64(key), self.strategy.param_array, self.memory)
        assert scratch.tobytes() == games.tobytes()  # all that was played was taken back
        return int(code)

    @property
    def search(self) -> Any:
        return self.memory.view(SEARCH)[0]

    @property
    def tree(self) -> Any:
        return self.memory.view(TREE)[0]


def make_ranking(players: int) -> Any:
    ranking = np.zeros(1, RANKING)[0]
    set_weights(ranking["evaluation"], WEIGHTS[players - 2])
    return ranking


# ---- exact values


def minimax(games: Record, ranking: Any, root: int) -> int:
    """The value of a position for `root`, the others playing against it: every line of play, nothing left out."""
    game = games[0]
    if count_takes(games) == 0:
        return int(value_margin(game, ranking["evaluation"], root, round(WIN * UNIT)))
    values = [minimax(play_copy(games, code), ranking, root) for code in legal_codes(game)]
    return max(values) if game["seat"] == root else min(values)


def play_copy(games: Record, code: int) -> Record:
    copy = copy_game(games)
    play(copy[0], code)
    return copy


@pytest.mark.parametrize(("variant", "players"), [("standard", 2), ("standard", 3), ("gray", 2), ("joker", 2)])
def test_a_large_budget_gives_the_value_of_full_minimax(variant: str, players: int) -> None:
    ranking, player = make_ranking(players), Player(f"alpha_beta(nodes=1000000, win={WIN})")
    for games in some_positions(VARIANTS[variant], players, 8, most_takes=3):
        player.memory[:] = 0
        root = int(games["seat"][0])
        values = {code: minimax(play_copy(games, code), ranking, root) for code in legal_codes(games[0])}
        code = player.move(games)
        assert player.search["is_pruned"] == 0
        assert player.search["value"] == max(values.values()) == values[code]


def test_values_of_games_that_end_are_their_results() -> None:
    ranking, ledger, n_ends = make_ranking(3), np.zeros(MAX_PLAYERS, LEDGER), 0
    for seed in range(60):
        *_, games = random_game(Rules(), 3, seed)
        while count_takes(games):
            play(games[0], legal_codes(games[0])[-1])
        values = [int(value_margin(games[0], ranking["evaluation"], seat, 100 * UNIT)) for seat in range(3)]
        tile(games[0], ledger)
        if games["termination"][0] == 0:
            continue
        n_ends += 1
        settle(games[0], ledger)
        scores = [int(score) for score in games["score"][0]]
        for seat in range(3):
            margin = scores[seat] - max(s for other, s in enumerate(scores[:3]) if other != seat)
            won, tied = ledger["win_share"][seat] == 1.0, 0 < ledger["win_share"][seat] < 1
            assert values[seat] == UNIT * (margin + (100 if won else 0 if tied else -100))
    assert n_ends > 10


def test_values_stay_the_same_when_the_round_is_tiled() -> None:
    ranking, ledger = make_ranking(2), np.zeros(MAX_PLAYERS, LEDGER)
    for games in some_positions(Rules(), 2, 60):
        while count_takes(games):
            play(games[0], legal_codes(games[0])[0])
        before = value_margin(games[0], ranking["evaluation"], 0, 0)
        tile(games[0], ledger)
        if games["termination"][0] == 0:
            assert value_margin(games[0], ranking["evaluation"], 0, 0) == before
            assert value_margin(games[0], ranking["evaluation"], 1, 0) == -before


@pytest.mark.parametrize(("players", "taken"), [(2, "weights"), (3, "start"), (4, "start")])
def test_weights_are_those_of_the_searches(players: int, taken: str) -> None:
    """At three and four players the search found nothing better than its start."""
    name = f"alpha_beta_{players}"
    found = tomllib.loads((find("strategies", name).path.parent / "weights" / f"{name}.toml").read_text("utf-8"))
    params = make_strategy(name).params
    assert params == found[taken] | {"nodes": params["nodes"]}
    assert list(params.values())[2:] == WEIGHTS[players - 2].tolist()
    assert found["search"]["players"] == players


@pytest.mark.parametrize("players", [2, 3, 4])
def test_alpha_beta_plays_as_the_one_made_for_the_table(players: int) -> None:
    picking, made = Player("alpha_beta(nodes=200)"), Player(f"alpha_beta_{players}(nodes=200)")
    for games in some_positions(Rules(), players, 12):
        assert picking.move(games) == made.move(games)
        assert picking.search["value"] == made.search["value"]


# ---- moves ranked and taken back


@pytest.mark.parametrize("variant", VARIANTS)
def test_taking_a_move_back_restores_the_game(variant: str) -> None:
    memory = np.zeros(1, MEMORY)[0]
    for games in some_positions(VARIANTS[variant], 3, 20):
        before = games.tobytes()
        for code in legal_codes(games[0]):
            remember(games[0], memory)
            play_remembered(games[0], memory, code)
            assert games.tobytes() != before
            take_back(games[0], memory)
            assert games.tobytes() == before


@pytest.mark.parametrize("variant", VARIANTS)
def test_ranked_moves_are_all_moves_but_doubles_with_their_values(variant: str) -> None:
    ranking, stack = make_ranking(2), np.zeros(MAX_LEGAL, np.int64)
    for games in some_positions(VARIANTS[variant], 2, 30):
        game = games[0]
        seat = int(game["seat"])
        ranked = stack[: rank_moves(game, ranking, all_allowed(game), stack, 0)]
        values = {int(code_of(r)): int(value_of(r)) for r in ranked}
        outcomes = set()
        for code in legal_codes(game):
            after = play_copy(games, code)
            longest, is_ending = look_at_walls(game, ranking["evaluation"], seat)
            value, _ = value_seat(after[0], ranking["evaluation"], seat, longest, is_ending)
            assert values.get(code, value) == value
            outcomes.add(as_set(after))
        assert len(values) == len(ranked)
        assert {as_set(play_copy(games, code)) for code in values} == outcomes


def as_set(games: Record) -> bytes:
    """A game as bytes in which it does not matter which display holds what."""
    copy = copy_game(games)
    copy["sources"][0, 1:].sort()
    copy["mask"] &= 0x0001001001001001
    copy["joker_mask"] &= 1
    return copy.tobytes()


# ---- what a search may not do


@pytest.mark.parametrize("spec", SEARCHES)
@pytest.mark.parametrize(("variant", "players"), [("standard", 2), ("standard", 4), ("gray-joker", 3)])
def test_only_allowed_moves_are_chosen(spec: str, variant: str, players: int) -> None:
    player = Player(spec)
    for number, games in enumerate(some_positions(VARIANTS[variant], players, 12)):
        allowed = all_allowed(games[0])
        color = [c for c in range(5) if int(games["mask"][0]) >> 12 * c & 0xFFF][number % 2 - 1]
        sources = int(games["mask"][0]) & 0xFFF << 12 * color
        allowed["mask"] = sources & -sources if number % 3 else sources
        allowed["joker_mask"] = 0
        if number % 2:
            allowed["open"] &= 0x010101010101  # floor lines alone
        assert is_allowed(games[0], allowed, player.move(games, allowed))


@pytest.mark.parametrize("spec", SEARCHES)
def test_moves_follow_from_position_and_key_alone(spec: str) -> None:
    used = Player(spec)
    for games in some_positions(Rules(), 2, 15):
        assert used.move(games, key=5) == Player(spec).move(games, key=5)


@pytest.mark.parametrize("spec", SEARCHES)
def test_the_future_has_no_influence(spec: str) -> None:
    """Two games are dealt alike until round 2 and unlike from then on."""
    first, second = (play_rounds(Player(spec), last_key) for last_key in (7, 8))
    assert first[:2] == second[:2]
    assert first[2] != second[2]


def play_rounds(player: Player, last_key: int) -> list[list[int]]:
    """Play three rounds, the last dealt under a key of its own; return the moves of each."""
    games, ledger, rounds = make_template(Rules(), 2), np.zeros(MAX_PLAYERS, LEDGER), []
    for key in (6, 6, last_key):
        deal(games[0], np.uint64(key))
        codes = []
        while count_takes(games):
            codes.append(player.move(games, key=len(codes)))
            play(games[0], codes[-1])
        tile(games[0], ledger)
        rounds.append(codes)
    return rounds


def test_budgets_are_kept() -> None:
    games = some_positions(Rules(), 2, 1)[0]
    for nodes in (1, 2, 50, 3000):
        player = Player(f"alpha_beta(nodes={nodes})")
        assert player.move(games) in legal_codes(games[0])
        assert player.search["nodes"] <= nodes + 1
        assert player.search["is_stopped"]
    for playouts in (1, 2, 300):
        player = Player(f"mcts(playouts={playouts})")
        assert player.move(games) in legal_codes(games[0])
        tree = player.tree
        assert tree["playouts"] == playouts
        assert tree["edges"]["visits"][: tree["nodes"][0]["n"]].sum() == playouts


def test_playouts_draw_their_luck_from_the_key() -> None:
    games = some_positions(Rules(), 2, 1)[0]
    rewards = []
    for key in (1, 2, 1):
        player = Player("mcts(playouts=50, rounds=9, greed=0)")
        player.move(games, key=key)
        rewards.append(player.tree["edges"]["reward"].sum())
    assert rewards[0] == rewards[2] != rewards[1]


def test_rounds_can_be_dealt_under_a_key_of_ones_own() -> None:
    games = some_positions(Rules(), 2, 1)[0]
    while count_takes(games):
        play(games[0], legal_codes(games[0])[0])
    assert not end_round(games[0])
    dealt = [copy_game(games) for _ in range(3)]
    for after, key in zip(dealt, (1, 2, 1), strict=True):
        assert deal_round(after[0], np.uint64(key))
        assert after["round"][0] == games["round"][0] + 1
    assert dealt[0].tobytes() == dealt[2].tobytes() != dealt[1].tobytes()
    games["bag"] = games["lid"] = games["n_bag"] = 0
    assert not deal_round(games[0], np.uint64(1))
    assert games["termination"][0] == Termination.NO_TILES


# ---- whole games


def play_cell(lineup: tuple[str, ...], n_deals: int, rules: Rules | None = None) -> Any:
    players = len(lineup)
    seatings = tuple(tuple((seat + turn) % players for seat in range(players)) for turn in range(players))
    block = Block(0, players, rules or Rules(), lineup, tuple(range(players)), seatings, 3, 0, n_deals)
    return play_block(block)


@pytest.mark.parametrize(("variant", "players"), SIZES)
def test_searches_play_under_all_rules(variant: str, players: int) -> None:
    lineup = ("alpha_beta(nodes=60)", "mcts(playouts=8)", "mcts(playouts=2, rounds=2, greed=0.5)", "greedy")[:players]
    tables = play_cell(lineup, 1, VARIANTS[variant])
    assert not tables.failures
    assert len(tables.games) == players * players


@pytest.mark.parametrize("spec", ["alpha_beta(nodes=500)", "mcts(playouts=100)"])
def test_a_shallow_search_beats_greedy(spec: str) -> None:
    games = play_cell((spec, "greedy"), 40).games.reshape(40, 2, 2)
    win_share = (games["win_share"][:, 0, 0].mean() + games["win_share"][:, 1, 1].mean()) / 2
    assert win_share > 0.85


def test_more_nodes_are_stronger() -> None:
    games = play_cell(("alpha_beta(nodes=4000)", "alpha_beta(nodes=250)"), 40).games.reshape(40, 2, 2)
    win_share = (games["win_share"][:, 0, 0].mean() + games["win_share"][:, 1, 1].mean()) / 2
    assert win_share > 0.65
