"""Nash averaging: known games, copies that change nothing, and intervals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from azulsim.errors import InputError
from azulsim.stats import estimate_nash, solve_nash

ROCK = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])


def test_rock_paper_scissors_is_played_evenly() -> None:
    np.testing.assert_allclose(solve_nash(ROCK), 1 / 3, atol=1e-8)
    uneven = np.array([[0.0, -1.0, 3.0], [1.0, 0.0, -2.0], [-3.0, 2.0, 0.0]])
    np.testing.assert_allclose(solve_nash(uneven), np.array([2, 3, 1]) / 6, atol=1e-8)


def test_the_best_of_a_chain_has_all_the_weight() -> None:
    strength = np.array([0.3, 1.0, -0.5, 0.9])
    np.testing.assert_allclose(solve_nash(strength[:, None] - strength), [0, 1, 0, 0], atol=1e-8)


def test_copies_share_one_weight_and_change_no_skill() -> None:
    games = np.array([[0.0, -1.0, 3.0, 0.5], [1.0, 0.0, -2.0, 2.0], [-3.0, 2.0, 0.0, 0.1], [-0.5, -2.0, -0.1, 0.0]])
    once = solve_nash(games)
    players = [0, 1, 1, 1, 2, 3, 3]
    more = solve_nash(games[np.ix_(players, players)])
    np.testing.assert_allclose(more[1:4], once[1] / 3, atol=1e-6)
    np.testing.assert_allclose([more[0], more[4]], once[[0, 2]], atol=1e-6)
    np.testing.assert_allclose(games[np.ix_(players, players)] @ more, (games @ once)[players], atol=1e-6)


def test_of_many_equilibria_the_most_even_is_taken() -> None:
    np.testing.assert_allclose(solve_nash(np.zeros((4, 4))), 0.25)
    # Two equal players above two weak ones: the equal ones share.
    strength = np.array([1.0, 0.0, 1.0, -2.0])
    np.testing.assert_allclose(solve_nash(strength[:, None] - strength), [0.5, 0, 0.5, 0], atol=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_nobody_gains_against_it_and_names_permute(seed: int) -> None:
    rng = np.random.default_rng(seed)
    half = np.triu(rng.normal(size=(7, 7)), 1)
    games = half - half.T
    p = solve_nash(games)
    assert p.sum() == pytest.approx(1)
    assert (games @ p).max() < 1e-7
    order = rng.permutation(7)
    np.testing.assert_allclose(solve_nash(games[np.ix_(order, order)]), p[order], atol=1e-7)


def draw_meetings(
    odds: np.ndarray, rng: np.random.Generator, *, deals: int, games: int = 4
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw pairwise results; games of a deal lean towards the same player."""
    n = len(odds)
    chance = special.expit(odds + 0.7 * np.triu(rng.normal(size=(deals, n, n)), 1))
    wins = np.triu(rng.binomial(games, np.triu(chance)) / games, 1)
    seen = wins + np.tril(1 - np.swapaxes(wins, 1, 2), -1) + np.eye(n) / 2
    share = seen.mean(axis=0)
    return share, (seen - share) / deals, np.full((n, n), deals * games)


@pytest.mark.parametrize("kind", ["chain", "cyclic"])
def test_intervals_cover(kind: str) -> None:
    check_coverage(kind, runs=24, least=0.79)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["chain", "cyclic"])
def test_intervals_cover_in_many_runs(kind: str) -> None:
    check_coverage(kind, runs=300, least=0.90)


def check_coverage(kind: str, *, runs: int, least: float) -> None:
    rng = np.random.default_rng(3)
    strength = np.array([1.0, 0.2, 0.0, -0.6])
    odds = strength[:, None] - strength
    if kind == "cyclic":
        odds[:3, :3] = 0.8 * ROCK
    # What the average over deals of a leaning makes of the odds.
    grid, mass = np.polynomial.hermite_e.hermegauss(41)
    seen = special.logit((special.expit(odds[..., None] + 0.7 * grid) * mass).sum(axis=-1) / mass.sum())
    seen = (seen - seen.T) / 2
    mixture = solve_nash(seen)
    skill, hits, names, widths = seen @ mixture, [], [], []
    for seed in range(runs):
        found = estimate_nash(*draw_meetings(odds, rng, deals=150), rng=seed, n_boot=200)
        slack = 1e-6
        hits.append((found.skill.low <= skill + slack) & (skill - slack <= found.skill.high))
        names.append((found.weight.low <= mixture + slack) & (mixture - slack <= found.weight.high))
        widths.append(found.skill.se[3])
        assert found.weight.value.sum() == pytest.approx(1)
        assert found.skill.high.max() <= 1e-6
    assert np.mean(hits, axis=0).min() >= least
    assert np.mean(names, axis=0).min() >= least
    assert np.mean(widths) < 0.25


def test_a_copy_in_the_data_changes_no_skill() -> None:
    share, influence, meetings = draw_meetings(ROCK, np.random.default_rng(4), deals=60)
    more = [0, 1, 1, 2]
    share_more, influence_more = share[np.ix_(more, more)], influence[:, more][:, :, more]
    one = estimate_nash(share, influence, meetings, rng=1, n_boot=50)
    two = estimate_nash(share_more, influence_more, np.full((4, 4), meetings[0, 1]), rng=1, n_boot=50)
    np.testing.assert_allclose(two.skill.value, one.skill.value[more], atol=1e-6)
    np.testing.assert_allclose(two.weight.value[1:3].sum(), one.weight.value[1], atol=1e-6)


def test_a_pair_that_always_ended_one_way_still_has_an_interval() -> None:
    share, influence, meetings = draw_meetings(np.zeros((3, 3)), np.random.default_rng(5), deals=100)
    share, influence = share.copy(), influence.copy()
    share[2, :2], share[:2, 2] = 0.0, 1.0
    influence[:, 2], influence[:, :, 2] = 0.0, 0.0
    loser = estimate_nash(share, influence, meetings, rng=1).skill[2]
    assert special.expit(loser.high) > 0.01  # of 100 deals that all were lost
    assert loser.low <= loser.value < loser.high


def test_one_cluster_and_bad_input() -> None:
    alone = estimate_nash(np.array([[0.5, 0.8], [0.2, 0.5]]), np.zeros((1, 2, 2)), np.full((2, 2), 10), rng=1)
    assert not alone.skill[0].has_interval
    assert alone.weight.value[0] == pytest.approx(1)
    with pytest.raises(InputError, match="antisymmetric"):
        solve_nash(np.ones((2, 2)))
    with pytest.raises(InputError, match="square"):
        solve_nash(np.ones((2, 3)))
    with pytest.raises(InputError, match="never met"):
        estimate_nash(np.full((2, 2), 0.5), np.zeros((3, 2, 2)), np.zeros((2, 2)), rng=1)
