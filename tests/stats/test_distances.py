"""Distances between profiles: free of noise, and covered."""

from __future__ import annotations

import numpy as np
import pytest

from azulsim.errors import InputError
from azulsim.stats import estimate_distances

CLUSTERS, TRAITS = 60, 8


def draw(truth: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw means with cluster errors that traits and profiles share in part, and the influence of each cluster."""
    shape = (CLUSTERS, *truth.shape)
    noise = (
        rng.normal(size=shape) + rng.normal(size=(CLUSTERS, 1, 1)) + 0.7 * rng.normal(size=(CLUSTERS, len(truth), 1))
    )
    noise = np.exp(noise / 3)
    seen = truth + noise - np.exp((1 + 1 + 0.49) / 18)
    return seen.mean(axis=0), (seen - seen.mean(axis=0)) / CLUSTERS


def test_without_noise_it_is_the_root_mean_square_of_standardized_differences() -> None:
    means = np.array([[1.0, 10.0, 5.0], [2.0, 30.0, 5.0], [4.0, 20.0, 5.0]])
    found = estimate_distances(means, np.zeros((5, 3, 3)))
    unit = means.std(axis=0, ddof=1)
    assert found.scale == pytest.approx(unit)
    expected = np.sqrt((((means[0] - means[1])[:2] / unit[:2]) ** 2).mean())
    assert found.value[0, 1] == found.value[1, 0] == pytest.approx(expected)
    assert (found.value.diagonal() == 0).all()
    assert found.low == pytest.approx(found.value)


@pytest.mark.parametrize("distance", [0.0, 0.1, 0.3, 1.0])
def test_intervals_cover_the_true_distance_and_noise_adds_nothing(distance: float) -> None:
    rng = np.random.default_rng(7)
    truth = np.zeros((2, TRAITS))
    truth[1] = distance * np.where(np.arange(TRAITS) % 2, 1.3, -np.sqrt(2 - 1.3**2))
    hits, squares = 0, []
    n = 1000
    for _ in range(n):
        pair = estimate_distances(*draw(truth, rng), scale=np.ones(TRAITS)).get(0, 1)
        hits += pair.low <= distance <= pair.high
        squares.append(pair.value**2)
    assert hits / n > 0.93
    if distance:
        assert np.mean(squares) == pytest.approx(distance**2, rel=0.1)
    else:
        assert np.median(squares) < 0.01


def test_smallest_detectable_distance_is_found_four_times_out_of_five() -> None:
    rng = np.random.default_rng(8)
    null = estimate_distances(*draw(np.zeros((2, TRAITS)), rng), scale=np.ones(TRAITS)).get(0, 1)
    truth = np.zeros((2, TRAITS))
    truth[1] = null.mde
    found = [estimate_distances(*draw(truth, rng), scale=np.ones(TRAITS)).get(0, 1).low > 0 for _ in range(400)]
    assert 0.75 < np.mean(found) < 0.97


def test_names_permute() -> None:
    rng = np.random.default_rng(9)
    means, influence = draw(rng.normal(size=(4, TRAITS)), rng)
    order = [2, 0, 3, 1]
    found, moved = estimate_distances(means, influence), estimate_distances(means[order], influence[:, order])
    assert moved.value == pytest.approx(found.value[np.ix_(order, order)])
    assert moved.high == pytest.approx(found.high[np.ix_(order, order)])


def test_one_cluster_and_no_spread_are_said() -> None:
    one = estimate_distances(np.eye(2), np.zeros((1, 2, 2))).get(0, 1)
    assert (one.low, one.high, one.method) == (one.value, one.value, "none")
    assert one.note
    same = estimate_distances(np.ones((2, 3)), np.zeros((4, 2, 3))).get(0, 1)
    assert (same.value, same.high) == (0, 0)
    assert same.note


@pytest.mark.parametrize(
    ("means", "influence"), [(np.ones((2, 3)), np.ones((4, 3, 2))), (np.full((2, 3), np.nan), np.ones((4, 2, 3)))]
)
def test_what_does_not_fit_is_refused(means: np.ndarray, influence: np.ndarray) -> None:
    with pytest.raises(InputError, match="means"):
        estimate_distances(means, influence)
