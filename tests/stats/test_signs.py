"""The share of true differences above 0: corrected for noise, covered, and silent where nothing can be told."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as law

from azulsim.errors import InputError
from azulsim.stats import SignShare, estimate_share_above

SHIFT = 0.35
GAMES, STATES = 200, 5
ROOT = np.sqrt(2)
LAWS = {
    "normal": (lambda rng, n: rng.normal(size=n), law.norm.sf(-SHIFT)),
    "skewed": (lambda rng, n: (rng.gamma(2, size=n) - 2) / ROOT, law.gamma.sf(2 - SHIFT * ROOT, 2)),
    "skewed to the left": (lambda rng, n: (2 - rng.gamma(2, size=n)) / ROOT, law.gamma.cdf(2 + SHIFT * ROOT, 2)),
    "heavy tails": (lambda rng, n: rng.standard_t(4, size=n) / ROOT, law.t.sf(-SHIFT * ROOT, 4)),
}
"""Draws with mean 0 and variance 1, to which the shift is added; and the share then above 0."""


def draw(
    name: str, rng: np.random.Generator, *, noise: float, repeats: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw states whose noise differs from state to state, seen in some continuations each."""
    truth = SHIFT + LAWS[name][0](rng, (GAMES * STATES, 1))
    sd = noise * np.sqrt(repeats) * np.exp(0.3 * rng.normal(size=truth.shape))
    seen = truth + sd * rng.normal(size=(len(truth), repeats))
    return seen.mean(axis=1), seen.std(axis=1, ddof=1) / np.sqrt(repeats), np.repeat(np.arange(GAMES), STATES)


SETTINGS = [(name, noise, repeats) for name in LAWS for noise, repeats in [(0.5, 8), (1.0, 4), (1.0, 32), (2.0, 8)]]


@pytest.mark.parametrize(("name", "noise", "repeats"), [("normal", 2.0, 8), ("skewed to the left", 1.0, 4)])
def test_noise_is_corrected_and_intervals_cover(name: str, noise: float, repeats: int) -> None:
    check_settings(name, noise, repeats, runs=80)


@pytest.mark.long
@pytest.mark.parametrize(("name", "noise", "repeats"), SETTINGS)
def test_noise_is_corrected_in_many_runs(name: str, noise: float, repeats: int) -> None:
    check_settings(name, noise, repeats, runs=400)


def check_settings(name: str, noise: float, repeats: int, *, runs: int) -> None:
    rng = np.random.default_rng(1)
    truth = LAWS[name][1]
    found = [estimate_share_above(*draw(name, rng, noise=noise, repeats=repeats), df=repeats - 1) for _ in range(runs)]
    naive = np.mean([share.naive.value for share in found])
    corrected = np.mean([share.corrected.value for share in found])
    # The shape of the density is smoothed, so that a little bias stays: at most a standard error of one run.
    assert abs(corrected - truth) < np.mean([share.corrected.se for share in found])
    assert np.mean([share.corrected.low <= truth <= share.corrected.high for share in found]) >= 0.88
    # The ceiling on width: wide intervals would cover too.
    assert np.mean([share.corrected.se for share in found]) < 0.04 * max(1.0, noise)
    if name != "skewed":  # there two errors of the naive share happen to cancel
        assert abs(naive - truth) > 2 * abs(corrected - truth)
        assert abs(naive - 0.5) < abs(truth - 0.5)
    assert np.mean([share.reliability for share in found]) == pytest.approx(1 / (1 + noise**2 * np.exp(0.18)), abs=0.03)


def test_signs_and_rows_may_be_turned_about() -> None:
    value, error, games = draw("skewed", np.random.default_rng(2), noise=1.0, repeats=8)
    one, other = estimate_share_above(value, error, games, df=7), estimate_share_above(-value, error, games, df=7)
    assert other.corrected.value == pytest.approx(1 - one.corrected.value, abs=2e-3)
    assert other.naive.value == pytest.approx(1 - one.naive.value)
    order = np.random.default_rng(3).permutation(len(value))
    mixed = estimate_share_above(value[order], error[order], games[order], df=7)
    assert mixed.corrected.value == pytest.approx(one.corrected.value, abs=1e-4)
    assert mixed.corrected.se == pytest.approx(one.corrected.se, rel=1e-2)
    scaled = estimate_share_above(10 * value, 10 * error, games, df=7)
    assert scaled.corrected.value == pytest.approx(one.corrected.value, abs=1e-3)


def test_little_noise_leaves_the_naive_share_and_exact_states_count_as_they_are() -> None:
    rng = np.random.default_rng(4)
    value = rng.normal(0.3, 1, 1000)
    found = estimate_share_above(value, np.full(1000, 0.02))
    assert found.corrected.value == pytest.approx(found.naive.value, abs=0.025)
    exact = estimate_share_above([1.0, -1.0, 0.0, 2.0], np.zeros(4))
    assert (exact.corrected.value, exact.n_exact) == (0.625, 4)
    assert "no noise" in exact.corrected.note
    error = np.where(np.arange(1000) < 500, 0.0, 1.0)
    mixed = estimate_share_above(value + error * rng.normal(size=1000), error)
    assert mixed.n_exact == 500
    assert mixed.naive.value < mixed.corrected.value < 0.7


def test_nothing_is_told_where_all_variation_is_noise() -> None:
    rng = np.random.default_rng(5)

    def ask() -> SignShare:
        return estimate_share_above(rng.normal(size=400), np.ones(400))

    silent = [ask().corrected for _ in range(40)]
    assert sum((share.low, share.high, share.method) == (0.0, 1.0, "none") for share in silent) >= 34
    assert any("noise" in share.note for share in silent)
    alone = estimate_share_above([1.0, 2.0], [1.0, 1.0], [3, 3]).corrected
    assert (alone.low, alone.high) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("errors", "df", "words"),
    [([1.0], 3, "errors"), ([1.0, -1.0], 3, "negative"), ([1.0, 1.0], 0, "df"), ([1.0, np.nan], 3, "finite")],
)
def test_bad_input_gets_one_sentence(errors: list[float], df: float, words: str) -> None:
    with pytest.raises(InputError, match=words):
        estimate_share_above([1.0, 2.0], errors, df=df)
