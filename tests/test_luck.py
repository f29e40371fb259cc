"""Keyed luck: known answers, the law of the deal, and what stays the same when play differs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from playing import play
from scipy import stats
from test_engine import GOLDEN, MASK
from test_engine import derive as derive_again
from test_engine import mix as mix_again

from azulsim.engine import core
from azulsim.engine.luck import DEAL_DOMAIN, DECISION_DOMAIN, below, derive, game_key, mix, root_key
from azulsim.engine.record import make_template
from azulsim.rules import Rules
from azulsim.strategy import DecisionRng

PUBLISHED = [
    6457827717110365317,
    3203168211198807973,
    9817491932198370423,
    4593380528125082431,
    16408922859458223821,
]
"""The first outputs of SplitMix64 seeded with 1234567 (Rosetta Code, "Pseudo-random numbers/Splitmix64")."""

KEYS = st.integers(0, MASK)
ALPHA = 1e-4


# ---- known answers


def test_keys_are_the_published_splitmix64() -> None:
    """The key at index i under a seed is the seed's i-th output."""
    assert [int(derive(np.uint64(1234567), i)) for i in range(5)] == PUBLISHED
    state = 1234567
    for value in PUBLISHED:
        state = state + GOLDEN & MASK
        assert int(mix(np.uint64(state))) == value


def test_decision_rng_is_the_published_splitmix64() -> None:
    rng = DecisionRng(1234567)
    assert [rng._next() for _ in range(5)] == PUBLISHED


@given(KEYS, st.integers(0, 1 << 32), st.integers(1, 1 << 20))
def test_luck_is_as_written_again_in_plain_python(key: int, index: int, n: int) -> None:
    assert int(mix(np.uint64(key))) == mix_again(key)
    assert int(derive(np.uint64(key), index)) == derive_again(key, index)
    assert int(below(np.uint64(key), n)) == (key >> 32) * n >> 32
    assert int(game_key(np.uint64(key), index, 3)) == derive_again(derive_again(key, index), 3)


@pytest.mark.parametrize("n", [1, 2, 5, 20, 99, 180])
def test_below_is_uniform(n: int) -> None:
    draws = [int(below(np.uint64(derive(np.uint64(5), i)), n)) for i in range(200 * n)]
    counts = np.bincount(draws, minlength=n)
    assert len(counts) == n
    assert n == 1 or stats.chisquare(counts).pvalue > ALPHA


def test_decision_rng_draws_from_its_ranges() -> None:
    rng = DecisionRng(9)
    assert stats.kstest([rng.random() for _ in range(5000)], "uniform").pvalue > ALPHA
    assert stats.chisquare(np.bincount([rng.integers(7) for _ in range(7000)], minlength=7)).pvalue > ALPHA
    assert {rng.choice("BYR") for _ in range(100)} == set("BYR")
    with pytest.raises(ValueError, match=r"integers\(0\)"):
        rng.integers(0)
    assert DecisionRng(9).numpy().integers(1 << 62) == DecisionRng(9).numpy().integers(1 << 62)
    assert DecisionRng(9).numpy().integers(1 << 62) != DecisionRng(10).numpy().integers(1 << 62)


# ---- the law of the deal


def deal_many(n: int, bag: tuple[int, ...], lid: tuple[int, ...], rules: Rules, seed: int) -> npt.NDArray[np.int64]:
    """Deal a round n times; return int64[n, displays, colors]."""
    template = make_template(rules, 2)
    template["bag"] = sum(count << 8 * color for color, count in enumerate(bag))
    template["lid"] = sum(count << 8 * color for color, count in enumerate(lid))
    template["n_bag"] = sum(bag)
    root = np.uint64(root_key(seed, DEAL_DOMAIN))
    games, sources = template.copy(), np.empty((n, rules.n_displays(2)), np.int64)
    for i in range(n):
        games[:] = template
        assert core.deal(games[0], np.uint64(game_key(root, i, 0)))
        sources[i] = games[0]["sources"][1 : 1 + sources.shape[1]]
    return np.stack([sources >> 8 * color & 255 for color in range(5)], axis=2)


def assert_hypergeometric(counts: npt.NDArray[Any], total: int, marked: int, drawn: int) -> None:
    """Chi-square of counts against the law of drawing without replacement, rare outcomes put together."""
    law = stats.hypergeom(total, marked, drawn)
    support = np.arange(drawn + 1)
    expected = law.pmf(support) * len(counts)
    observed = np.bincount(counts, minlength=drawn + 1).astype(float)
    assert observed[expected == 0].sum() == 0
    common = expected >= 10
    expected = np.append(expected[common], expected[~common].sum())
    observed = np.append(observed[common], observed[~common].sum())
    keep = expected > 0
    if keep.sum() > 1:
        assert stats.chisquare(observed[keep], expected[keep] * observed.sum() / expected[keep].sum()).pvalue > ALPHA


def test_dealing_draws_without_replacement() -> None:
    dealt = deal_many(20_000, (20,) * 5, (0,) * 5, Rules(), seed=11)
    assert (dealt.sum(axis=2) == 4).all()
    for color in range(5):
        assert_hypergeometric(dealt[:, 0, color], 100, 20, 4)
        assert_hypergeometric(dealt[:, 4, color], 100, 20, 4)
        assert_hypergeometric(dealt[:, [0, 4], color].sum(axis=1), 100, 20, 8)
        assert_hypergeometric(dealt[:, :, color].sum(axis=1), 100, 20, 20)


def test_dealing_from_an_uneven_bag_draws_without_replacement() -> None:
    bag = (1, 12, 0, 7, 3)
    dealt = deal_many(20_000, bag, (0,) * 5, Rules(), seed=12)
    for color, count in enumerate(bag):
        assert_hypergeometric(dealt[:, :, color].sum(axis=1), 23, count, 20)
        assert_hypergeometric(dealt[:, 2, color], 23, count, 4)


@pytest.mark.parametrize("refill", ["lazy", "eager"])
def test_after_the_lid_is_tipped_the_law_goes_on(refill: Any) -> None:
    """Three tiles in the bag are dealt first, whatever they are; the other seventeen come from the lid."""
    bag, lid = (2, 0, 1, 0, 0), (10, 4, 7, 0, 9)
    dealt = deal_many(20_000, bag, lid, Rules(lid_refill=refill), seed=13)
    for color, count in enumerate(lid):
        assert_hypergeometric(dealt[:, :, color].sum(axis=1) - bag[color], 30, count, 17)
        assert_hypergeometric(dealt[:, 3, color], 30, count, 4)


def test_each_pair_of_slots_is_unrelated() -> None:
    """Colors of the only tile on two displays: all 25 pairs as often as the law says."""
    dealt = deal_many(20_000, (20,) * 5, (0,) * 5, Rules(tiles_per_display=1), seed=14).argmax(axis=2)
    for one, other in ((0, 1), (0, 4), (2, 3)):
        observed = np.zeros((5, 5))
        np.add.at(observed, (dealt[:, one], dealt[:, other]), 1)
        expected = np.full((5, 5), 20 * 20 / (100 * 99.0))
        np.fill_diagonal(expected, 20 * 19 / (100 * 99.0))
        assert stats.chisquare(observed.ravel(), expected.ravel() * 20_000).pvalue > ALPHA


# ---- what is unrelated, and what stays the same


def test_deals_and_decisions_have_nothing_in_common() -> None:
    roots = [np.uint64(root_key(3, domain)) for domain in (DEAL_DOMAIN, DECISION_DOMAIN)]
    deals, decisions = (np.array([game_key(root, i, 0) for i in range(20_000)], np.uint64) for root in roots)
    assert len(np.unique(np.concatenate([deals, decisions]))) == 40_000
    for left, right in ((deals, decisions), (deals[1:], deals[:-1]), (deals[1:], decisions[:-1])):
        agreeing = np.bitwise_count(left ^ right)
        assert abs(agreeing.mean() - 32) < 4 * 4 / len(left) ** 0.5
        correlation = np.corrcoef(left.astype(float), right.astype(float))[0, 1]
        assert abs(correlation) < 4 / len(left) ** 0.5


@given(st.integers(0, 1 << 70))
def test_every_seed_has_two_roots_of_its_own(seed: int) -> None:
    roots = {root_key(seed, DEAL_DOMAIN), root_key(seed, DECISION_DOMAIN), root_key(seed + 1, DEAL_DOMAIN)}
    assert len(roots) == 3


def displays(*lineup: str, rounds: int, **options: Any) -> dict[int, list[bytes]]:
    """What was dealt in each deal's first rounds, by deal; the same in all its seatings."""
    table = play(*lineup, depth="rounds", **options).rounds
    table = table[(table["seat"] == 0) & (table["round"] <= rounds)]
    dealt: dict[int, list[bytes]] = {}
    for game in np.unique(table["game"]).tolist():
        rows = table[table["game"] == game]["displays"].tolist()
        assert dealt.setdefault(game >> 8 & 0xFFFFFFFF, rows) == rows
    return dealt


def test_two_players_meet_the_same_five_rounds_whatever_they_play() -> None:
    options: dict[str, Any] = {"rounds": 5, "deals": 20, "seatings": [(0, 1), (1, 0)]}
    dealt = displays("greedy", "uniform", **options)
    assert all(len(rows) == 5 for rows in dealt.values())
    assert displays("uniform", "hoarder", **options) == dealt
    assert displays("greedy", "uniform", cell=9, **options) == dealt


@pytest.mark.parametrize("players", [3, 4])
def test_more_players_meet_the_same_rounds_until_the_bag_is_empty(players: int) -> None:
    rounds = 100 // (4 * Rules().n_displays(players))
    seatings = [range(players), range(players)[::-1]]
    lineups = (["greedy", "uniform", "hoarder", "greedy"], ["uniform", "greedy", "greedy", "hoarder"])
    one, other = (displays(*lineup[:players], rounds=rounds, deals=10, seatings=seatings) for lineup in lineups)
    assert one == other


def test_another_deal_and_another_seed_deal_other_tiles() -> None:
    dealt = displays("greedy", "uniform", rounds=1, deals=200)
    assert len({rows[0] for rows in dealt.values()}) == 200
    other = displays("greedy", "uniform", rounds=1, deals=200, seed=2)
    assert not {rows[0] for rows in dealt.values()} & {rows[0] for rows in other.values()}


def test_the_last_deal_there_can_be_is_dealt() -> None:
    last = (1 << 32) - 1
    assert play("greedy", "uniform", deals=1, first=last).games["deal"].tolist() == [last, last]
