"""Shares of variance: exact identities, planted components covered, what is known by round, deals to separate."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as oracle

from azulsim import stats
from azulsim.errors import InputError

SKILL, SEAT = np.array([-1.0, 0.0, 0.3, 0.7]), np.array([0.4, -0.4, 0.2, -0.2])
SD = {"deal": 0.8, "deal x seat": 0.6, "deal x skill": 0.7, "rest": 0.5, "decisions": 0.9}


def play_table(rng: np.random.Generator, *, deals: int, repeats: int, skill: float = 1.0, seat: float = 1.0):
    """Draw a table with planted components; the luck of seats is skewed."""
    n = len(SKILL)
    table = skill * SKILL[:, None] + seat * SEAT + SD["deal"] * rng.normal(size=(deals, 1, 1))
    table = table + SD["deal x seat"] * (rng.standard_exponential((deals, 1, n)) - 1)
    table = table + SD["deal x skill"] * rng.normal(size=(deals, n, 1)) + SD["rest"] * rng.normal(size=(deals, n, n))
    return (table[..., None] + SD["decisions"] * rng.normal(size=(deals, n, n, repeats)))[:, None]


def expect(*, repeats: int, skill: float = 1.0, seat: float = 1.0) -> np.ndarray:
    """Return the true shares: independent draws at each seat have a mean over seats, which belongs to the deal."""
    n, v = len(SKILL), {name: sd**2 for name, sd in SD.items()}
    if repeats == 1:
        v |= {"rest": v["rest"] + v["decisions"], "decisions": 0.0}
    inner = 1 - 1 / n
    parts = [
        (skill * SKILL).var(),
        (seat * SEAT).var(),
        0.0,
        v["deal"] + (v["deal x seat"] + v["deal x skill"]) / n + v["rest"] / n**2,
        (v["deal x seat"] + v["rest"] / n) * inner,
        (v["deal x skill"] + v["rest"] / n) * inner,
        v["rest"] * inner**2,
        v["decisions"],
    ]
    return np.array(parts) / sum(parts)


@pytest.mark.parametrize(
    ("deals", "repeats", "skill", "seat"), [(100, 3, 1.0, 1.0), (100, 1, 0.3, 0.0), (40, 2, 0.0, 0.0)]
)
def test_planted_components_are_covered_and_free_of_bias(deals: int, repeats: int, skill: float, seat: float) -> None:
    rng = np.random.default_rng(1)
    truth = expect(repeats=repeats, skill=skill, seat=seat)
    found = [
        stats.estimate_variance_shares(play_table(rng, deals=deals, repeats=repeats, skill=skill, seat=seat))
        for _ in range(300)
    ]
    hits = np.mean([(f.share.low <= truth + 1e-12) & (truth - 1e-12 <= f.share.high) for f in found], axis=0)
    values = np.array([f.share.value for f in found])
    # Shares with heavy-tailed squares come out at .92; the count of 300 runs errs by .013.
    assert hits.min() >= 0.88
    assert hits.mean() >= 0.93
    assert np.abs(values.mean(axis=0) - truth).max() < 0.006
    errors = np.mean([f.share.se for f in found], axis=0)
    large = truth > 0.03  # what is cut off at 0 varies less
    np.testing.assert_allclose(errors[large], values.std(axis=0)[large], rtol=0.2)
    assert np.mean([f.luck.low <= truth[3:].sum() <= f.luck.high for f in found]) >= 0.91


def test_components_add_up_to_the_variance_of_one_outcome_and_names_do_not_matter() -> None:
    rng = np.random.default_rng(2)
    table = play_table(rng, deals=30, repeats=2) + 5
    found = stats.estimate_variance_shares(table)
    # E y^2, less E y y' over pairs of different deals, which is the squared mean.
    means = table.mean(axis=(1, 2, 3, 4))
    squared_mean = (means.sum() ** 2 - (means**2).sum()) / (30 * 29)
    assert found.total == pytest.approx((table**2).mean() - squared_mean)
    assert found.get("decisions").value * found.total == pytest.approx(table.var(axis=-1, ddof=1).mean())
    moved = 3 * table[rng.permutation(30)][:, :, rng.permutation(4)][:, :, :, rng.permutation(4)]
    np.testing.assert_allclose(stats.estimate_variance_shares(moved).share.value, found.share.value, atol=1e-12)
    both = stats.estimate_variance_shares(np.concatenate([table, table], axis=1))
    np.testing.assert_allclose(both.share.se, found.share.se, atol=1e-12)


def test_pure_causes_get_the_whole() -> None:
    rng = np.random.default_rng(3)
    luck = np.broadcast_to(rng.normal(size=(20, 1, 1, 1)), (20, 1, 2, 2))
    skill = np.broadcast_to(np.array([0.0, 1.0])[None, None, :, None], (20, 1, 2, 2))
    assert stats.estimate_variance_shares(luck).get("deal").value == pytest.approx(1)
    only = stats.estimate_variance_shares(skill)
    assert only.get("skill").value == pytest.approx(1)
    assert only.luck.value == pytest.approx(0)
    assert "not repeated" in only.note
    fixed = stats.estimate_variance_shares(np.repeat(play_table(rng, deals=20, repeats=1), 3, axis=-1))
    assert fixed.get("decisions").value == 0
    assert not fixed.note


def continue_roots(rng: np.random.Generator, known: float, *, deals: int, repeats: int, wins: bool):
    """Draw two games a deal, alike by half; `known` of the variance lies between roots."""
    root = np.sqrt(0.5) * rng.normal(size=(deals, 1, 1)) + np.sqrt(0.5) * rng.normal(size=(deals, 2, 1))
    y = np.sqrt(known) * root + np.sqrt(1 - known) * rng.normal(size=(deals, 2, repeats))
    roots = np.broadcast_to(np.arange(2 * deals).reshape(deals, 2, 1), y.shape).ravel()
    return ((y > 0) * 1.0 if wins else y).ravel(), roots, roots // 2


@pytest.mark.parametrize(
    ("known", "deals", "repeats", "wins"),
    [(0.0, 60, 8, False), (0.1, 60, 8, True), (0.5, 200, 4, False), (0.9, 60, 8, True), (0.99, 60, 8, False)],
)
def test_known_share_is_covered_and_free_of_bias(known: float, deals: int, repeats: int, wins: bool) -> None:
    check_known_share(known, deals, repeats, wins, runs=200, least=0.91)


@pytest.mark.long
@pytest.mark.parametrize("known", [0.05, 0.3, 0.7, 0.95])
@pytest.mark.parametrize("wins", [False, True])
def test_known_share_is_covered_in_many_runs(known: float, wins: bool) -> None:
    check_known_share(known, 150, 6, wins, runs=2000, least=0.935)


def check_known_share(known: float, deals: int, repeats: int, wins: bool, *, runs: int, least: float) -> None:
    rng = np.random.default_rng(4)
    truth = 2 / np.pi * np.arcsin(known) if wins else known
    found = []
    for _ in range(runs):
        y, roots, clusters = continue_roots(rng, known, deals=deals, repeats=repeats, wins=wins)
        found.append(stats.estimate_known_shares(y, np.zeros(len(y), int), roots, clusters)[0])
    assert np.mean([f.low <= truth <= f.high for f in found]) >= least
    assert np.mean([f.value for f in found]) == pytest.approx(truth, abs=0.012)
    assert np.mean([f.se for f in found]) < 0.05


def test_known_share_is_that_of_one_way_analysis_of_variance() -> None:
    rng = np.random.default_rng(5)
    y, roots, clusters = continue_roots(rng, 0.4, deals=20, repeats=5, wins=False)
    f = oracle.f_oneway(*y.reshape(40, 5)).statistic
    rounds = np.zeros(len(y), int)
    found = stats.estimate_known_shares(y, rounds, roots, clusters)[0]
    assert found.value == pytest.approx((f - 1) / (f - 1 + 5))
    # Two rounds at once, rows shuffled, the second round decided.
    decided = np.repeat(rng.normal(size=40), 5)
    order = rng.permutation(2 * len(y))
    both = stats.estimate_known_shares(
        np.r_[y, decided][order],
        np.r_[rounds, rounds + 1][order],
        np.r_[roots, roots + 1000][order],
        np.r_[clusters, clusters][order],
    )
    assert both.value == pytest.approx([found.value, 1.0])
    assert both.se[0] == pytest.approx(found.se)
    assert "no continuation" in both.note[1]
    never = stats.estimate_known_shares(np.ones(len(y)), rounds, roots, clusters)[0]
    assert (never.low, never.high, never.has_interval) == (0.0, 1.0, False)


@pytest.mark.parametrize(("deals", "strength"), [(100, 0.3), (400, 0.1), (1000, 0.05)])
def test_deals_to_separate_are_covered(deals: int, strength: float) -> None:
    rng = np.random.default_rng(6)
    truth = (1.6448536 / strength) ** 2
    found = [stats.estimate_separation(rng.standard_exponential(deals) - 1 + strength) for _ in range(500)]
    assert 0.93 <= np.mean([f.low <= truth and (f.high is None or truth <= f.high) for f in found]) <= 0.99
    assert np.median([f.value for f in found]) == pytest.approx(truth, rel=0.15)


def test_so_many_deals_do_separate_with_the_stated_chance() -> None:
    rng = np.random.default_rng(7)
    pilot = stats.estimate_separation(rng.normal(0.25, 1.0, 20_000))
    means = rng.normal(0.25, 1.0, (4000, round(pilot.value))).mean(axis=1)
    assert np.mean(means > 0) == pytest.approx(0.95, abs=0.015)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: stats.estimate_variance_shares(np.ones((5, 1, 2, 2))), "never varied"),
        (lambda: stats.estimate_variance_shares(np.ones((5, 2, 2))), "wanted"),
        (lambda: stats.estimate_variance_shares(np.full((5, 1, 2, 2), np.nan)), "finite"),
        (lambda: stats.estimate_known_shares([1.0, 2.0], [0, 1], [0, 0], [0, 0]), "two rounds"),
        (lambda: stats.estimate_known_shares([1.0, 2.0], [0, 0], [0, 1], [0, 0]), "one continuation"),
        (lambda: stats.estimate_separation([1.0, 1.0, 1.0]), "three"),
    ],
)
def test_bad_input_gets_one_sentence(call, words) -> None:
    with pytest.raises(InputError, match=words):
        call()
