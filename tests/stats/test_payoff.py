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
