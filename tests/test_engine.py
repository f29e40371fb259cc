"""The compiled engine against the plain reference, move by move, under random and under adversarial play."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from reference import CENTER, Move, NoTilesError, Reference, score_placement

from azulsim.engine import core, general, table
from azulsim.engine.core import LEDGER
from azulsim.engine.move import MOVE
from azulsim.engine.record import ALLOWED, KEEP_SHIFT, MAX_LEGAL, WITH_JOKERS, make_template
from azulsim.rules import COLORS, Bonus, Displays, Rules, Termination
from azulsim.schema import COLOR_NAMES

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix(z: int) -> int:
    """SplitMix64's finalizer, written again."""
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def derive(key: int, index: int) -> int:
    """The key at an index under a key."""
    return mix(key + GOLDEN * (index + 1) & MASK)


def draw_as_the_engine(deal_key: int) -> Callable[[int, int, int, Counter[str]], str]:
    """A draw for the reference with the engine's luck: a keyed uniform, inverted over the bag's color counts."""

    def draw(round_: int, display: int, slot: int, bag: Counter[str]) -> str:
        key = derive(derive(deal_key, round_ - 1), (display + 1) * 16 + slot)
        k = (key >> 32) * bag.total() >> 32
        for color in (*COLORS, "J"):
            if k < bag[color]:
                return color
            k -= bag[color]
        raise AssertionError("the bag holds fewer tiles than it counts")

    return draw


# ---- policies: a function of the reference (whose state the engine must share) and a random source

Policy = Callable[[Reference, list[Move], random.Random], Move]


def anything(game: Reference, moves: list[Move], rng: random.Random) -> Move:
    """Uniform play."""
    return rng.choice(moves)


def no_needless_floor(game: Reference, moves: list[Move], rng: random.Random) -> Move:
    """Uniform over moves into lines."""
    return rng.choice([move for move in moves if move.line] or moves)


def all_to_the_floor(game: Reference, moves: list[Move], rng: random.Random) -> Move:
    """Never ends a game by itself: ROUND_LIMIT, and floors far beyond their spaces."""
    return rng.choice([move for move in moves if not move.line])


def full_floor_first(game: Reference, moves: list[Move], rng: random.Random) -> Move:
    """Fill the own floor from displays before touching the center: the marker meets full floors."""
    displays = [move for move in moves if move.source != CENTER] or moves
    return max(
        displays, key=lambda move: (not move.line, game.table.tiles_at(move.source).count(move.color), rng.random())
    )


def hold_tiles(game: Reference, moves: list[Move], rng: random.Random) -> Move:
    """Keep as many tiles out of the bag and lid as possible, never completing a row: NO_TILES, short refills."""

    def kept(move: Move) -> tuple[bool, int, float]:
        board = game.boards[game.seat]
        taken = game.table.tiles_at(move.source).count(move.color)
        if not move.line:
            return (False, -taken, rng.random())
        would_end = taken >= board.room(move.line) and board.wall[move.line - 1].count(".") == 1
        return (
            not would_end,
            min(taken, board.room(move.line)) - 2 * max(0, taken - board.room(move.line)),
            rng.random(),
        )

    return max(moves, key=kept)


def hold_or_anything(game: Reference, moves: list[Move], rng: random.Random) -> Move:
    """Mostly hold tiles."""
    return (hold_tiles if rng.random() < 0.8 else anything)(game, moves, rng)


POLICIES: dict[str, Policy] = {
    policy.__name__: policy
    for policy in (anything, no_needless_floor, all_to_the_floor, full_floor_first, hold_tiles, hold_or_anything)
}


def random_rules(rng: random.Random) -> Rules:
    """House rules within their bounds, chosen so that bags run out and odd branches are met often."""
    spaces = rng.choice([0, 1, 3, 7, 7, 7, 12])
    return Rules(
        displays=Displays(two=rng.randint(1, 11), three=rng.randint(1, 11), four=rng.randint(1, 11)),
        tiles_per_display=rng.choice([1, 1, 2, 3, 4, 4, 4, 5, 7, 10]),
        tiles_per_color=rng.choice([1, 3, 7, 13, 20, 20, 25]),
        floor_penalties=tuple(-rng.choice([0, 1, 1, 2, 3, 20]) for _ in range(spaces)),
        bonus=Bonus(row=rng.randint(-5, 5), column=rng.randint(-10, 20), color=rng.choice([0, 10, 100, -100])),
        starter_bonus=rng.choice([0, 0, 0, 3, -2, 20, -20]),
        marker_on_full_floor=rng.choice(["free", "replace_last"]),
        lid_refill=rng.choice(["lazy", "eager"]),
        no_tiles=rng.choice(["end_game", "end_game", "error"]),
        unclaimed_marker=rng.choice(["keep", "rotate"]),
        max_rounds=rng.choice([1, 2, 5, 8, 15]),
    )


def printed_rules(rng: random.Random) -> Rules:
    """The printed rules, and the open points of the rulebook decided at random."""
    return Rules(
        lid_refill=rng.choice(["lazy", "eager"]),
        marker_on_full_floor=rng.choice(["free", "replace_last"]),
        unclaimed_marker=rng.choice(["keep", "rotate"]),
        max_rounds=rng.choice([7, 10, 12]),
    )


def code_of(move: Move) -> int:
    """The engine's number of a move of the reference."""
    code = move.source << 6 | COLOR_NAMES.index(move.color) << 3 | move.line
    if move.jokers:
        code |= WITH_JOKERS
    return code if move.keep is None else code | (move.keep + 1) << KEEP_SHIFT


def most_points(game: Reference, seat: int, row: int, options: list[int]) -> int:
    """The column by which exact gain is defined on a wall with a choice: most points now, leftmost among equals."""
    board = game.boards[seat]

    def points(column: int) -> int:
        wall = [list(letters) for letters in board.wall]
        wall[row - 1][column - 1] = "J"
        return score_placement(wall, row, column)[2] * int(game.rules.multipliers[row - 1][column - 1])

    return max((column for column in options if column), key=lambda column: (points(column), -column))


class Pair:
    """One game, played by the engine and by the reference side by side, placing at random where there is a choice."""

    def __init__(self, players: int, rules: Rules, deal_key: int) -> None:
        self.rng = random.Random(deal_key)
        self.placings: list[tuple[int, int, list[int], int]] = []
        self.reference = Reference(
            players,
            rules,
            draw_as_the_engine(deal_key),
            place=self.place,
            lottery=lambda round_: (derive(derive(deal_key, round_ - 1), 0) >> 32) * players >> 32,
        )
        self.record = make_template(rules, players)
        self.state = self.record[0]
        self.deal_key = np.uint64(deal_key)
        self.ledger = np.zeros(4, LEDGER)
        self.codes = np.zeros(MAX_LEGAL, np.int16)
        self.out = np.zeros(MAX_LEGAL, MOVE)
        self.allowed = np.zeros(1, ALLOWED)
        assert core.deal(self.state, self.deal_key)
        self.check_state()

    def place(self, game: Reference, seat: int, row: int, options: list[int]) -> int:
        """Decide for the reference, and remember for the engine."""
        column = self.rng.choice(options)
        self.placings.append((seat, row, list(options), column))
        return column

    def play(self, move: Move) -> None:
        """Make a move on both sides; check what it is worth before, and the whole state after."""
        code = code_of(move)
        assert table.exact_gain(self.state, code) == self.reference.exact_gain(move, most_points)
        must_fail = False
        try:
            self.reference.play(move)
        except NoTilesError:
            must_fail = True
        if table.play(self.state, code):
            self.tile()
            if self.state["termination"] == 0:
                assert core.deal(self.state, self.deal_key) or must_fail or self.reference.is_over
            if self.state["termination"]:
                core.settle(self.state, self.ledger)
        if must_fail:
            assert self.state["termination"] == Termination.NO_TILES
            raise NoTilesError
        self.check_state()

    def tile(self) -> None:
        """Tile the engine's walls by the decisions that the reference was given."""
        if not self.state["is_general"]:
            core.tile(self.state, self.ledger)
            return
        self.ledger[:] = 0
        placings = iter(self.placings)
        for seat in range(self.reference.players):
            while full := int(self.state["full"][seat]):
                line = (full & -full).bit_length() - 1
                columns = int(general.columns_of_line(self.state, seat, line))
                column = columns.bit_length()
                if general.is_choice(self.state, columns):
                    options = [x for x in range(1, 6) if columns >> x - 1 & 1]
                    expected_seat, row, expected, column = next(placings)
                    assert (seat, line) == (expected_seat, row)
                    assert ([0] if self.state["may_decline"] else []) + options == expected
                gain = general.place_line(self.state, seat, line, column, self.ledger[seat])
                self.ledger["gain"][seat] += gain
        assert next(placings, None) is None
        self.placings.clear()
        general.finish_tiling(self.state, self.ledger)

    def legal_codes(self) -> list[int]:
        """The engine's legal moves, listed, described, counted, numbered and allowed alike."""
        table.allow_all(self.state, self.allowed[0])
        codes = self.codes[: table.list_moves(self.state, self.allowed[0], self.codes)].tolist()
        described = self.out[: table.fill_moves(self.state, self.allowed[0], self.out)]
        table.fill_denials(self.state, described)
        assert sorted(described["code"].tolist()) == sorted(codes)
        assert len(codes) == table.count_legal(self.state) == table.count_moves(self.state, self.allowed[0])
        assert all(table.is_allowed(self.state, self.allowed[0], code) for code in codes)
        some = range(sum(codes) % 5, len(codes), 5)
        assert all(table.nth_move(self.state, self.allowed[0], k) == codes[k] for k in some)
        return sorted(codes)

    def legal_moves(self) -> list[Move]:
        """The reference's legal moves, which must be the engine's."""
        moves = self.reference.legal_moves()
        assert sorted(map(code_of, moves)) == self.legal_codes()
        assert moves, "tiles are out, and there is no legal move"
        return moves

    def check_state(self) -> None:
        """Compare everything that lies on the table."""
        state, reference = self.state, self.reference
        players = reference.players
        assert state["termination"] == reference.termination
        assert state["round"] == reference.round
        assert state["score"][:players].tolist() == reference.scores()
        assert (int(state["holder"]) if state["holder"] >= 0 else None) == reference.holder
        if not reference.is_over:
            assert (state["seat"], state["starter"]) == (reference.seat, reference.starter)
            sources = [reference.table.center, *reference.table.displays]
            assert [lanes(tiles) for tiles in sources] == state["sources"][: len(sources)].tolist()
            mask = sum(1 << 12 * COLORS.index(c) + s for s, tiles in enumerate(sources) for c in set(tiles) - {"J"})
            assert state["mask"] == mask
            assert state["joker_mask"] == sum(1 << s for s, tiles in enumerate(sources) if "J" in tiles)
        on_floors = Counter(tile for board in reference.boards for tile in board.floor if tile in COLOR_NAMES)
        assert state["bag"] == lanes(reference.bag.elements())
        assert state["n_bag"] == reference.bag.total()
        assert state["lid"] == lanes((reference.lid + on_floors).elements())
        for seat, board in enumerate(reference.boards):
            spaces = {1 << 5 * r + c: board.wall[r][c] for r in range(5) for c in range(5) if board.wall[r][c] != "."}
            assert state["wall"][seat] == sum(spaces)
            if state["is_general"]:
                by_color = [sum(bit for bit, tile in spaces.items() if tile == color) for color in COLOR_NAMES]
                assert state["tiles"][seat].tolist() == by_color
            assert [state["counts"][seat] >> 4 * line & 15 for line in range(1, 6)] == [len(li) for li in board.lines]
            for line, tiles in enumerate(board.lines, start=1):
                if tiles:
                    kind = next((tile for tile in tiles if tile != "J"), "J")
                    assert COLOR_NAMES[state["colors"][seat] >> 4 * line & 15] == kind
                    assert state["line_jokers"][seat] >> 4 * line & 15 == tiles.count("J")
            assert min(state["floor"][seat], state["n_floor"]) == len(board.floor)

    def check_end(self) -> None:
        """Compare places and shares of a game that is over."""
        ends = self.ledger[: self.reference.players]
        assert ends["placement"].tolist() == self.reference.placements()
        assert ends["win_share"].tolist() == self.reference.win_shares()


def lanes(tiles: object) -> int:
    """A word of color lanes."""
    return sum(1 << 8 * COLOR_NAMES.index(tile) for tile in tiles)  # type: ignore[attr-defined]


def play_pair(players: int, number: int, make_rules: Callable[[random.Random], Rules] | None = None) -> Counter[str]:
    """Play one game, number by number another one, and count the branches it met."""
    rng = random.Random(f"pair-{players}-{number}")
    is_adversarial = number % 2 == 1
    make_rules = make_rules or (random_rules if number % 4 in (2, 3) else printed_rules)
    names = list(POLICIES)[2:] if is_adversarial else list(POLICIES)[:2]
    one_for_all = rng.random() < 0.5
    policies = [POLICIES[rng.choice(names)] for _ in range(players)]
    if one_for_all:
        policies = [policies[0]] * players
    pair = Pair(players, make_rules(rng), rng.getrandbits(64))
    branches: Counter[str] = Counter()
    try:
        while not pair.reference.is_over:
            moves = pair.legal_moves()
            move = policies[pair.reference.seat](pair.reference, moves, rng)
            if rng.random() < 0.05:
                denial = pair.reference.denial(move, most_points)
                assert table.denial(pair.state, code_of(move)) == denial
                assert pair.out["denial"][pair.out["code"].tolist().index(code_of(move))] == denial
            pair.play(move)
        pair.check_end()
    except NoTilesError:
        branches["no_tiles_error"] += 1
    return branches + pair.reference.count_branches()


RARE_BRANCHES = (
    "row_completed",
    "round_limit",
    "no_tiles",
    "no_tiles_error",
    "marker_on_full_floor",
    "unclaimed_marker",
    "floor_overflow",
    "clamped",
    "short_refill",
    "tipped_mid_display",
    "tipped_between_displays",
    "tipped_eagerly",
)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_engine_is_the_reference(players: int) -> None:
    """A few hundred games, half of them adversarial, agree in every state; every rare branch is met."""
    branches: Counter[str] = Counter()
    for number in range(120):
        branches += play_pair(players, number)
    assert {name: branches[name] for name in RARE_BRANCHES if branches[name] == 0} == {}


@pytest.mark.long
@pytest.mark.parametrize("part", range(20))
@pytest.mark.parametrize("players", [2, 3, 4])
def test_engine_is_the_reference_in_many_games(players: int, part: int) -> None:
    """20,000 games at each player count; run with -s to see how often each branch was met."""
    branches: Counter[str] = Counter()
    for number in range(1000 * part, 1000 * (part + 1)):
        branches += play_pair(players, number)
    print(f"\n{players} players, games {1000 * part} to {1000 * part + 999}: {dict(sorted(branches.items()))}")
    assert {name: branches[name] for name in RARE_BRANCHES if branches[name] == 0} == {}
