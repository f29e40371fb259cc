"""Keyed luck: every draw has an address, and its value follows from the address alone.

A tile is keyed by (seed, deal, continuation, round, display, slot), a decision by (seed, deal, continuation, seating,
seat, round, that seat's own turn). Play that diverges keeps meeting the same luck as far as the bag allows, and no
strategy's draws move another's. Both kinds start from separate roots, so that a decision key tells nothing about a
deal. The mixing function is the finalizer of SplitMix64 (Steele, Lea and Flood 2014).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from azulsim.engine.compiling import compiled

DEAL_DOMAIN, DECISION_DOMAIN = 1, 2

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_M1, _M2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
_U1 = np.uint64(1)


@lru_cache(maxsize=64)
def root_key(seed: int, domain: int) -> int:
    """Return the 64-bit root of one domain of luck for a seed (any integer from 0)."""
    return int(np.random.SeedSequence(seed, spawn_key=(domain,)).generate_state(1, np.uint64)[0])


@compiled
def mix(z: Any) -> Any:
    """Mix 64 bits (SplitMix64's finalizer)."""
    z = (z ^ (z >> _S30)) * _M1
    z = (z ^ (z >> _S27)) * _M2
    return z ^ (z >> _S31)


@compiled
def derive(key: Any, index: Any) -> Any:
    """Return the key that stands at `index` (from 0) under `key`."""
    return mix(np.uint64(key) + _GOLDEN * (np.uint64(index) + _U1))


@compiled
def step_key(state: Any) -> Any:
    """Return the next state of a stream of keys: after i steps from `key` comes what `derive(key, i)` gives."""
    return state + _GOLDEN


@compiled
def next_key(state: Any) -> Any:
    """Return the key that a stream of keys gives next."""
    return mix(state + _GOLDEN)


@compiled
def below(key: Any, n: Any) -> Any:
    """Return a number of 0 .. n-1 from the upper half of a key (bias at most n / 2**32)."""
    return np.int64(((np.uint64(key) >> _S32) * np.uint64(n)) >> _S32)


@compiled
def game_key(root: Any, deal: Any, continuation: Any) -> Any:
    """Return the key of a deal and continuation under the root of a domain."""
    return derive(derive(root, deal), continuation)
