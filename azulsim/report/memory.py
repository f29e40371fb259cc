"""How often Python looks for garbage while a report is made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = (50_000, 20, 100)
"""Thresholds of `gc.set_threshold`: new objects before a look at them, looks before one at the older, and at all."""


@contextmanager
def collect_seldom() -> Iterator[None]:
    """Let Python look for reference cycles less often for a while.

    Figures are made of very many objects that live until the page is written; with the usual thresholds a fifth of
    the time of a report, and more where memory is slow, is spent on looking at them again and again.
    """
    before = gc.get_threshold()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)
