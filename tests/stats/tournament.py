"""Synthetic tournaments with known causes: the arrays that coverage is counted on.

Players have a latent skill; each deal adds luck for each (deal, seat), and a leaning of each deal towards each
player, both shared by all games of the deal; each decision adds noise; seats carry a bias. The order of the sums is
the outcome.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Tournaments:
    """Many tournaments at once; arrays are indexed (tournament, deal, rotation, player)."""

    total: np.ndarray
    """The latent sums, as scores."""
    win_share: np.ndarray
    placement: np.ndarray
    seat: np.ndarray
    """Seat of each player in each rotation, (rotation, player)."""

    def clusters(self) -> np.ndarray:
        """A cluster id a (tournament, deal), in the shape of (tournament, deal, rotation)."""
        n, deals, rotations, _ = self.total.shape
        return np.broadcast_to(np.arange(n * deals).reshape(n, deals, 1), (n, deals, rotations))

    def groups(self) -> np.ndarray:
        n, deals, rotations, _ = self.total.shape
        return np.broadcast_to(np.arange(n).reshape(n, 1, 1), (n, deals, rotations))


def play(
    rng,
    *,
    tournaments,
    deals,
    skills,
    seat_bias=None,
    seat_luck=1.0,
    leaning=0.5,
    decision=1.0,
    deal_luck=2.0,
    grain=0.0,
    rotations=None,
):
    """Play all cyclic rotations of one line-up; `grain` rounds the sums, so that ties happen."""
    skills = np.asarray(skills, float)
    n = len(skills)
    rotations = n if rotations is None else rotations
    bias = np.zeros(n) if seat_bias is None else np.asarray(seat_bias, float)
    seat = (np.arange(n)[None, :] + np.arange(rotations)[:, None]) % n
    size = (tournaments, deals)
    total = decision * rng.standard_normal((*size, rotations, n))
    total += (seat_luck * rng.standard_normal((*size, n)))[:, :, seat]
    total += leaning * rng.standard_normal((*size, 1, n)) + deal_luck * rng.standard_normal((*size, 1, 1))
    total += skills + bias[seat]
    if grain:
        total = np.round(total / grain) * grain
    return Tournaments(total, *order(total), seat)


def order(total):
    """Win share and placement (1 is best, ties share a place) along the last axis."""
    best = total == total.max(axis=-1, keepdims=True)
    ahead = (total[..., None, :] > total[..., :, None]).sum(axis=-1)
    return best / best.sum(axis=-1, keepdims=True), ahead + 1
