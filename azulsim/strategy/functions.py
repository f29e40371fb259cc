"""The operators of a score that runs at all three speeds: on numbers, on columns, and compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import overload

__all__ = ["maximum", "minimum", "where"]


def where(condition: Any, yes: Any, no: Any) -> Any:
    """Return `yes` where the condition holds, else `no`.

    >>> where(2 > 1, 10.0, 20.0)
    10.0
    """
    if isinstance(condition, np.ndarray):
        return np.where(condition, yes, no)
    return yes if condition else no


def minimum(a: Any, b: Any) -> Any:
    """Return the smaller of two values."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.minimum(a, b)
    return a if a < b else b


def maximum(a: Any, b: Any) -> Any:
    """Return the larger of two values."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.maximum(a, b)
    return a if a > b else b


# Numba asks that an implementation repeats the annotations of its overload.
@overload(where)
def _where(condition: Any, yes: Any, no: Any) -> Any:
    def compiled_where(condition: Any, yes: Any, no: Any) -> Any:
        return float(yes) if condition else float(no)

    return compiled_where


@overload(minimum)
def _minimum(a: Any, b: Any) -> Any:
    def compiled_minimum(a: Any, b: Any) -> Any:
        return a if a < b else b

    return compiled_minimum


@overload(maximum)
def _maximum(a: Any, b: Any) -> Any:
    def compiled_maximum(a: Any, b: Any) -> Any:
        return a if a > b else b

    return compiled_maximum
