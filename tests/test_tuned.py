"""The tuned players: their weights are those that the search found, and they win what they promise."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from playing import assert_same, play

from azulsim.catalog import find
from azulsim.registry import make_strategy, parse_spec
from azulsim.rules import VARIANTS
from azulsim.tune import Search, tune

WEIGHTS = find("strategies", "tuned").path.parent / "weights"
PLAYERS = (2, 3, 4)
WIN_SHARE = {2: 0.75, 3: 1.8 / 3, 4: 2.2 / 4}
"""Least win share of one of them against greedy in all other seats."""


def read_weights(players: int) -> dict[str, Any]:
    return tomllib.loads(Path(WEIGHTS / f"tuned_{players}.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("players", PLAYERS)
def test_defaults_are_the_weights_that_were_found(players: int) -> None:
    found, name = read_weights(players), f"tuned_{players}"
    assert found["weights"] == make_strategy(name).definition.defaults
    assert found["verdict"].startswith("improved")
    assert parse_spec(found["search"]["strategy"]).name == name
    assert found["search"]["players"] == players
    assert found["search"]["rules"] == {}


@pytest.mark.parametrize("players", PLAYERS)
def test_tuned_plays_as_the_player_made_for_the_table(players: int) -> None:
    for variant in ("standard", "gray-joker"):
        tables = [
            play(name, players=players, deals=3, rules=VARIANTS[variant]) for name in ("tuned", f"tuned_{players}")
        ]
        assert_same(*tables)


@pytest.mark.parametrize("variant", ["standard", "joker"])
@pytest.mark.parametrize("name", ["tuned_2", "tuned"])
def test_all_speeds_play_the_same_games(name: str, variant: str) -> None:
    speeds = [make_strategy(name, speed=speed) for speed in ("compiled", "batched", "plain")]
    compiled, batched, plain = (play(one, players=2, deals=2, rules=VARIANTS[variant]) for one in speeds)
    assert_same(compiled, batched)
    assert_same(compiled, plain)


def win_share_against_greedy(players: int, variant: str, deals: int) -> Any:
    """Return the estimate of a search that is over before it begins."""
    search = Search(
        strategy=f"tuned_{players}",
        against=["greedy"],
        players=players,
        rules=VARIANTS[variant],
        generations=1,
        population=4,
        deals=1,
        validation_deals=deals,
    )
    return tune(search).matches[0].start


@pytest.mark.parametrize("players", PLAYERS)
def test_they_beat_greedy_by_what_they_promise(players: int) -> None:
    assert win_share_against_greedy(players, "standard", 1000).low > WIN_SHARE[players]


@pytest.mark.parametrize("variant", [name for name in VARIANTS if name != "standard"])
def test_under_other_rules_they_beat_greedy_too(variant: str) -> None:
    assert win_share_against_greedy(2, variant, 400).low > 0.5
