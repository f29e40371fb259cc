"""Every kind of rules against the plain reference, move by move: gray and mixed walls, jokers, house rules."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from test_engine import play_pair, random_rules

from azulsim.rules import COLORED_WALL, COLORS, VARIANTS, Rules


def random_wall(rng: random.Random) -> tuple[str, ...]:
    """A wall with some free spaces, some printed ones, in any arrangement that rules allow."""
    share = rng.choice([0.0, 0.2, 0.5, 0.9])
    rows = []
    for _ in range(5):
        letters = rng.sample(COLORS, 5)
        rows.append("".join("." if rng.random() < share else letter for letter in letters))
    return tuple(rows)


def any_rules(rng: random.Random) -> Rules:
    """House rules of all kinds together, on any wall."""
    rules = random_rules(rng)
    wall = rng.choice(["gray", COLORED_WALL, random_wall(rng), random_wall(rng), VARIANTS["crystal-mosaic"].layout])
    is_free = wall == "gray" or any("." in row for row in wall)
    has_jokers = rules.tiles_per_color >= 3 and rng.random() < 0.6
    is_clamped = rng.random() < 0.7
    values = rules.model_dump() | {
        "wall": wall,
        "multipliers": tuple("".join(rng.choice("1112359") for _ in range(5)) for _ in range(5))
        if rng.random() < 0.5
        else ("11111",) * 5,
        "gray_may_decline": is_free and rng.random() < 0.4,
        "joker_tiles": has_jokers,
        "joker_overflow": rng.choice(["keep_jokers", "keep_color", "choose"]),
        "rows_to_end": rng.choice([1, 1, 2, 3, 5]),
        "score_clamp": is_clamped,
        "marker_cost": rng.choice(["floor", "floor", 0, 2, -3, 20]),
        "next_starter": rng.choice(["holder", "rotation", "lottery"]),
    }
    return Rules.model_validate(values)


def variant(name: str) -> object:
    """A maker of one variant's rules, cut short now and then so that games that never end are few."""

    def make(rng: random.Random) -> Rules:
        rules = VARIANTS[name]
        changes = {"max_rounds": rng.choice([8, 15])}
        if rules.joker_tiles:
            changes["joker_overflow"] = rng.choice(["keep_jokers", "keep_color", "choose"])
        if rules.has_free_spaces:
            changes["gray_may_decline"] = rng.random() < 0.2
        return Rules.model_validate(rules.model_dump() | changes)

    return make


NUMBERS_OF_GAMES = {"standard": 10, "gray": 30, "joker": 30, "gray-joker": 40, "crystal-mosaic": 30}

RARE_BRANCHES = {
    "gray": {"unplaceable_line", "declined_line", "forced_column", "chosen_column"},
    "joker": {"joker_placed", "joker_only_line", "mixed_overflow", "joker_overflow_fell", "overflow_chosen"},
    "gray-joker": {"unplaceable_line", "chosen_column", "joker_placed", "joker_only_line"},
    "crystal-mosaic": {"unplaceable_line", "forced_column", "chosen_column", "multiplied"},
    "standard": {"row_completed"},
}


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("name", VARIANTS)
def test_engine_is_the_reference_in_every_variant(name: str, players: int) -> None:
    branches: Counter[str] = Counter()
    for number in range(NUMBERS_OF_GAMES[name]):
        branches += play_pair(players, number, variant(name))  # type: ignore[arg-type]
    assert {branch for branch in RARE_BRANCHES[name] if not branches[branch]} == set()


HOUSE_BRANCHES = {
    "unplaceable_line",
    "declined_line",
    "forced_column",
    "chosen_column",
    "joker_placed",
    "joker_only_line",
    "mixed_overflow",
    "joker_overflow_fell",
    "only_jokers_stayed",
    "overflow_chosen",
    "color_joins_jokers",
    "multiplied",
    "lottery",
    "rotation",
    "fixed_price",
    "unclamped_negative",
    "no_tiles",
    "round_limit",
}


@pytest.mark.parametrize("players", [2, 3, 4])
def test_engine_is_the_reference_under_any_house_rules(players: int) -> None:
    branches: Counter[str] = Counter()
    for number in range(100):
        branches += play_pair(players, number, any_rules)
    assert {branch for branch in HOUSE_BRANCHES if not branches[branch]} == set()


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("name", [*VARIANTS, "any"])
def test_engine_is_the_reference_in_many_games_of_every_variant(name: str, players: int, part: int) -> None:
    branches: Counter[str] = Counter()
    make = any_rules if name == "any" else variant(name)
    for number in range(200 * part, 200 * (part + 1)):
        branches += play_pair(players, number, make)  # type: ignore[arg-type]
    print(f"\n{name}, {players} players: {dict(sorted(branches.items()))}")
    wanted = HOUSE_BRANCHES if name == "any" else RARE_BRANCHES[name]
    assert {branch for branch in wanted if not branches[branch]} == set()
