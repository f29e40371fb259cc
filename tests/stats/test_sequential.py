"""Looks, anytime intervals and stopping rules: formulas, and error rates measured on clustered games."""

from __future__ import annotations

import math

import numpy as np
import pytest
from stats.tournament import play

from azulsim.errors import InputError
from azulsim.stats import (
    Estimate,
    compute_anytime_radius,
    estimate_anytime,
    estimate_by_group,
    estimate_mean,
    judge_interval,
    list_looks,
)

RUNS, MOST = 2000, 1200
NOISE = math.sqrt(0.05 * 0.95 / RUNS)
"""Standard error of a rate of 5 % over the simulated runs."""


def draw_pairs(rng: np.random.Generator, skill: float) -> np.ndarray:
    """Scores of pairs: a deal in both seatings, whose games share its luck; seats are biased. (runs, deals)"""
    games = play(rng, tournaments=RUNS, deals=MOST, skills=[skill, 0.0], seat_bias=[0.3, -0.3], grain=0.25)
    return games.win_share[..., 0].mean(axis=2)


def test_looks_grow_by_half_and_end_at_the_most() -> None:
    assert list_looks(1000) == (100, 150, 225, 338, 507, 761, 1000)
    assert list_looks(100) == (100,)
    assert list_looks(99) == (99,)
    with pytest.raises(InputError, match="most = 0"):
        list_looks(0)


def test_radius_is_that_of_the_paper() -> None:
    n, alpha = 700, 0.05
    tuning = math.sqrt((-2 * math.log(alpha) + math.log(-2 * math.log(alpha) + 1)) / (MOST / 10))
    grown = n * tuning**2 + 1
    radius = 0.3 * math.sqrt(2 * grown / (n**2 * tuning**2) * math.log(math.sqrt(grown) / alpha))
    assert compute_anytime_radius(n, 0.3, most=MOST) == pytest.approx(radius)
    values = np.random.default_rng(1).normal(size=n)
    found = estimate_anytime(values, most=MOST)
    assert found.half_width == pytest.approx(compute_anytime_radius(n, values.std(ddof=1), most=MOST))
    assert found.half_width < 2 * estimate_mean(values).half_width


def test_what_never_varied_has_an_interval_only_within_bounds() -> None:
    assert not estimate_anytime(np.ones(100), most=1000).has_interval
    assert not estimate_anytime([0.3], most=1000, bounds=(0, 1)).has_interval
    found = estimate_anytime(np.ones(100), most=1000, bounds=(0, 1))
    assert found.has_interval
    assert 0.9 < found.low < 0.999
    assert found.high == 1.0


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.51, 0.6, "above"),
        (0.4, 0.49, "below"),
        (0.49, 0.51, "within"),
        (0.505, 0.51, "above"),
        (0.4, 0.51, "undecided"),
        (0.5, 0.6, "undecided"),
    ],
)
def test_verdict_is_read_off_the_interval(low: float, high: float, verdict: str) -> None:
    estimate = Estimate((low + high) / 2, low, high, se=0.01, n_clusters=9, n_rows=9)
    assert judge_interval(estimate, null=0.5, effect=0.02) == verdict
    with pytest.raises(InputError, match="effect = 0"):
        judge_interval(estimate, null=0.5, effect=0)


def stop_by_test(values: np.ndarray, *, null: float, effect: float, bounds: tuple[float, float] | None):
    for n in list_looks(MOST):
        found = estimate_anytime(values[:n], most=MOST, bounds=bounds)
        verdict = judge_interval(found, null=null, effect=effect)
        if verdict != "undecided":
            break
    return verdict, found


@pytest.mark.parametrize("kind", ["pairs", "coin", "rare", "points"])
def test_no_difference_is_found_too_rarely_to_matter(kind: str) -> None:
    rng = np.random.default_rng(7)
    if kind == "pairs":
        values, null, effect = draw_pairs(rng, 0.0), 0.5, 0.05
    elif kind == "points":
        values, null, effect = rng.exponential(size=(RUNS, MOST)), 1.0, 0.1
    else:
        null = 0.5 if kind == "coin" else 0.05
        values, effect = (rng.random((RUNS, MOST)) < null).astype(float), 0.03
    bounds = None if kind == "points" else (0.0, 1.0)
    ended = [stop_by_test(row, null=null, effect=effect, bounds=bounds) for row in values]
    assert np.mean([verdict in ("above", "below") for verdict, _ in ended]) <= 0.05 + 2 * NOISE
    assert np.mean([found.low <= null <= found.high for _, found in ended]) >= 0.95 - 2 * NOISE
    if kind == "pairs":
        assert np.mean([verdict == "within" for verdict, _ in ended]) > 0.9


def test_looking_often_at_an_interval_for_a_fixed_number_would_find_what_is_not_there() -> None:
    values = draw_pairs(np.random.default_rng(7), 0.0)
    looks = [values[:, :n] for n in list_looks(MOST)]
    t = [np.abs(seen.mean(axis=1) - 0.5) / seen.std(axis=1) * seen.shape[1] ** 0.5 for seen in looks]
    assert np.mean(np.max(t, axis=0) > 1.96) > 0.1


def test_an_effect_is_found_and_never_called_none() -> None:
    values = draw_pairs(np.random.default_rng(8), 0.3)
    mean = values.mean()
    effect = mean - 0.5
    assert 0.04 < effect < 0.07
    ended = [stop_by_test(row, null=0.5, effect=effect, bounds=(0, 1)) for row in values]
    assert np.mean([verdict == "above" for verdict, _ in ended]) > 0.9
    assert np.mean([verdict in ("within", "below") for verdict, _ in ended]) <= 0.05 + 2 * NOISE
    assert np.mean([found.low <= mean <= found.high for _, found in ended]) >= 0.95 - 2 * NOISE


@pytest.mark.parametrize(("kind", "half_width"), [("even", 0.03), ("strong", 0.02), ("rare", 0.018), ("points", 0.1)])
def test_interval_of_a_wanted_width_covers_as_it_says(kind: str, half_width: float) -> None:
    rng = np.random.default_rng(9)
    if kind in ("even", "strong"):
        values = draw_pairs(rng, {"even": 0.0, "strong": 2.0}[kind])
        mean = values.mean()
    else:
        mean = 1.0 if kind == "points" else 0.05
        values = rng.exponential(size=(RUNS, MOST)) if kind == "points" else (rng.random((RUNS, MOST)) < mean) * 1.0
    bounds = None if kind == "points" else (0.0, 1.0)
    covered, going = 0, values
    for n in list_looks(MOST):
        runs = np.repeat(np.arange(len(going)), n)
        found = estimate_by_group(going[:, :n].ravel(), runs, np.arange(going[:, :n].size), bounds=bounds)
        is_enough = (found.high - found.low) / 2 <= half_width
        covered += ((found.low <= mean) & (mean <= found.high))[is_enough].sum()
        going = going[~is_enough]
        if not len(going):
            break
    assert len(going) == 0
    assert 0.94 - 2 * NOISE <= covered / RUNS <= 0.97
