"""The pairwise matrix."""

from __future__ import annotations

import numpy as np
import pytest
from stats.tournament import play

from azulsim import stats
from azulsim.errors import InputError


def make_rows(seed, skills=(0.5, 0.0, -0.5, 0.0), deals=150, grain=0.5):
    """Columns (game, player, placement, deal) of one tournament with ties."""
    games = play(np.random.default_rng(seed), tournaments=1, deals=deals, skills=skills, grain=grain)
    place = games.placement[0]
    deal, rotation, player = np.indices(place.shape)
    return [column.ravel() for column in (deal * 100 + rotation, player, place, deal)]


def test_cell_is_the_clustered_mean_of_finishing_ahead():
    game, player, place, deal = make_rows(1)
    payoffs = stats.estimate_payoffs(game, player, place, deal)
    first, second = place[player == 0], place[player == 2]
    wanted = stats.estimate_mean(0.5 + 0.5 * np.sign(second - first), deal[player == 0], bounds=(0, 1))
    assert payoffs.cell(0, 2).se == pytest.approx(wanted.se)
    assert payoffs.share[0, 2] == pytest.approx(wanted.value)
    assert (payoffs.low[0, 2], payoffs.high[0, 2]) == pytest.approx((wanted.low, wanted.high))
    assert payoffs.n_clusters[0, 2] == 150
    assert payoffs.n_rows[0, 2] == 600


def test_matrix_mirrors_and_permutes():
    game, player, place, deal = make_rows(2)
    payoffs = stats.estimate_payoffs(game, player, place, deal)
    np.testing.assert_allclose(payoffs.share + payoffs.share.T, 1, rtol=1e-15)
    np.testing.assert_allclose(payoffs.low + payoffs.high.T, 1, rtol=1e-15)
    mirrored = payoffs.cell(2, 0)
    assert (mirrored.value, mirrored.low, mirrored.high) == (
        payoffs.share[2, 0],
        payoffs.low[2, 0],
        payoffs.high[2, 0],
    )
    permutation = np.array([3, 1, 0, 2])
    order = np.random.default_rng(2).permutation(len(game))
    renamed = stats.estimate_payoffs(game[order], permutation[player][order], place[order], deal[order])
    for name in ("share", "low", "high", "se"):
        matrix = getattr(renamed, name)[np.ix_(permutation, permutation)]
        np.testing.assert_allclose(matrix, getattr(payoffs, name), rtol=1e-10)


def test_lineups_that_share_deals_are_one_cluster_a_deal():
    """The same games under new game numbers and the same deals are no new evidence."""
    game, player, place, deal = make_rows(3)
    once = stats.estimate_payoffs(game, player, place, deal)
    twice = stats.estimate_payoffs(
        np.concatenate([game, game + 10**9]), *(np.tile(column, 2) for column in (player, place, deal))
    )
    np.testing.assert_allclose(twice.se, once.se, rtol=1e-12)
    np.testing.assert_array_equal(twice.n_rows, 2 * once.n_rows)


def test_never_met_and_self_play():
    payoffs = stats.estimate_payoffs([0, 0, 1, 1, 2, 2], [0, 1, 2, 2, 0, 1], [1, 2, 1, 2, 1, 2], [0, 0, 1, 1, 2, 2])
    assert payoffs.cell(0, 2).note == "never met"
    assert (payoffs.low[0, 2], payoffs.high[0, 2]) == (0, 1)
    assert payoffs.share[2, 2] == 0.5
    assert payoffs.mean.tolist() == [1.0, 0.0, 0.5]
    assert payoffs.high[0, 1] == 1
    assert payoffs.low[0, 1] < 0.4
    for name in ("share", "low", "high", "se", "mean"):
        assert np.isfinite(getattr(payoffs, name)).all()


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (([0, 0], [0, 1], [1, 2], [0, 1]), "two clusters"),
        (([0, 0], [0, 1], [1, np.nan], [0, 0]), "finite"),
        (([0], [0, 1], [1, 2], [0, 0]), "games"),
        (([0, 0], [0, -1], [1, 2], [0, 0]), "count from 0"),
    ],
)
def test_bad_input_gets_one_sentence(rows, words):
    with pytest.raises(InputError, match=words):
        stats.estimate_payoffs(*rows)


def draw_pairs(odds: np.ndarray, n_clusters: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Draw who beats whom, ten meetings a pair and cluster; return shares, influence and meetings."""
    n, meetings = len(odds), 10
    upper = np.triu(np.ones((n, n), bool), 1)
    won = rng.binomial(meetings, 1 / (1 + np.exp(-odds)), size=(n_clusters, n, n)) * upper
    share = won + (meetings - won.transpose(0, 2, 1)) * upper.T
    share = share / meetings
    mean = share.mean(axis=0)
    np.fill_diagonal(mean, 0.5)
    influence = (share - mean) / n_clusters
    influence[:, np.arange(n), np.arange(n)] = 0
    return mean, influence, np.full((n, n), meetings * n_clusters)


def test_cyclic_share_of_rock_paper_scissors_is_one() -> None:
    share = np.array([[0.5, 0.8, 0.2], [0.2, 0.5, 0.8], [0.8, 0.2, 0.5]])
    found = stats.assess_cycles(share, np.zeros((9, 3, 3)), np.full((3, 3), 1000))
    assert found.value == pytest.approx(1)
    strengths = np.array([1.0, 0.2, -0.4])
    share = 1 / (1 + np.exp(strengths - strengths[:, None]))
    found = stats.assess_cycles(share, np.zeros((9, 3, 3)), np.full((3, 3), 1e12))
    assert found.value == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("twist", [0.0, 0.25, 1.0])
def test_cyclic_share_is_covered_and_free_of_noise(twist: float) -> None:
    rng = np.random.default_rng(3)
    n = 6
    strengths = np.linspace(0.5, -0.5, n)
    transitive = strengths[:, None] - strengths
    step = (np.arange(n) - np.arange(n)[:, None]) % n
    cyclic = twist * np.sin(2 * np.pi * step / n)
    odds = transitive + cyclic
    truth = (cyclic**2).sum() / (odds**2).sum()
    found = [stats.assess_cycles(*draw_pairs(odds, 40, rng)) for _ in range(400)]
    hits = np.mean([one.low <= truth <= one.high for one in found])
    assert hits > 0.92
    assert np.mean([one.value for one in found]) == pytest.approx(truth, abs=0.02)


def test_cyclic_share_of_nothing_but_noise_is_not_told() -> None:
    rng = np.random.default_rng(4)
    found = [stats.assess_cycles(*draw_pairs(np.zeros((5, 5)), 30, rng)) for _ in range(50)]
    assert np.mean([(one.low, one.high) == (0, 1) for one in found]) > 0.4
    assert np.mean([one.high - one.low for one in found]) > 0.7


@pytest.mark.parametrize(("shape", "words"), [((2, 9), "n >= 3"), ((3, 9), "never met")])
def test_cycles_need_three_players_that_all_met(shape: tuple[int, int], words: str) -> None:
    n, clusters = shape
    with pytest.raises(InputError, match=words):
        stats.assess_cycles(np.full((n, n), 0.5), np.zeros((clusters, n, n)), np.zeros((n, n)))
