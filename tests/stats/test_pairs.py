"""The pentanomial of game pairs."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from azulsim import stats
from azulsim.errors import InputError


def test_pentanomial_formulas():
    counts = np.array([20, 60, 150, 90, 40])
    scores = np.repeat([0, 0.25, 0.5, 0.75, 1], counts)
    summary = stats.summarize_pairs(scores)
    share = counts / counts.sum()
    mean = share @ [0, 0.25, 0.5, 0.75, 1]
    variance = share @ (np.array([0, 0.25, 0.5, 0.75, 1]) - mean) ** 2
    assert summary.counts == tuple(counts)
    assert summary.elo == pytest.approx(-400 * math.log10(1 / mean - 1))
    assert summary.normalized_elo == pytest.approx((mean - 0.5) / math.sqrt(2 * variance) * 800 / math.log(10))
    assert summary.score.se == pytest.approx(math.sqrt(variance / 359))
    assert 0.99 < summary.superiority < 1
    assert summary.elo_low < summary.elo < summary.elo_high
    assert summary.note == ""


def test_sides_mirror():
    scores = np.random.default_rng(1).choice([0, 0.25, 0.5, 0.75, 1], 100, p=[0.1, 0.1, 0.3, 0.2, 0.3])
    one, two = stats.summarize_pairs(scores), stats.summarize_pairs(1 - scores)
    assert (two.elo, two.elo_low, two.elo_high) == pytest.approx((-one.elo, -one.elo_high, -one.elo_low))
    assert two.superiority == pytest.approx(1 - one.superiority)
    assert two.normalized_elo == pytest.approx(-one.normalized_elo)


@pytest.mark.parametrize("score", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("n", [1, 50])
def test_one_sided_records_stay_finite(score, n):
    summary = stats.summarize_pairs([score] * n)
    for field in dataclasses.fields(summary):
        value = getattr(summary, field.name)
        if isinstance(value, float):
            assert math.isfinite(value), field.name
    assert summary.note
    assert summary.elo_low <= summary.elo <= summary.elo_high
    assert np.sign(summary.elo) == np.sign(score - 0.5)
    assert (summary.superiority > 0.5) == (score > 0.5)


def test_rounded_thirds_are_refused():
    with pytest.raises(InputError, match="pair score"):
        stats.summarize_pairs([0.5, 0.33])


def test_elo_of_the_ends_is_refused():
    with pytest.raises(InputError, match="no bound"):
        stats.to_elo(np.array([0.5, 1.0]))
    assert stats.to_elo(10 / 11) == pytest.approx(400)
