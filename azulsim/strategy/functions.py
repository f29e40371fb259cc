"""The operators of a score that runs at all three speeds: on numbers, on columns, and compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types
from numba.extending import overload

__all__ = ["maximum", "minimum", "where"]


class Column(np.ndarray[Any, np.dtype[Any]]):
    """A column that counts as numbers do: truths add up, and `+=` makes a new value.

    With plain arrays `(a > 1) + (b > 1)` would be "one of them" instead of 2, and `value = move.gain; value += 1` would
    change the gains themselves.
    """

    def __array_ufunc__(self, ufunc: np.ufunc, method: Any, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        """Compute with plain arrays, into a new one; truths become 0 and 1."""
        plain = [np.asarray(value) if isinstance(value, Column) else value for value in inputs]
        return as_column(getattr(ufunc, method)(*plain, **kwargs))


def as_column(values: Any) -> Any:
    """Return an array as a `Column`; anything else as it is."""
    if not isinstance(values, np.ndarray):
        return values
    numbers: npt.NDArray[Any] = values.astype(np.int64) if values.dtype == np.bool_ else values
    return numbers.view(Column)


def where(condition: Any, yes: Any, no: Any) -> Any:
    """Return `yes` where the condition holds, else `no`: numbers, or tuples of as many decimal fractions.

    >>> where(2 > 1, 10.0, 20.0)
    10.0
    """
    if isinstance(yes, tuple):
        return tuple(where(condition, *values) for values in zip(yes, no, strict=True))
    if isinstance(condition, np.ndarray):
        return as_column(np.where(condition, yes, no))
    return yes if condition else no


def minimum(a: Any, b: Any) -> Any:
    """Return the smaller of two values."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return where(a < b, a, b)
    return a if a < b else b


def maximum(a: Any, b: Any) -> Any:
    """Return the larger of two values."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return where(a > b, a, b)
    return a if a > b else b


# Numba asks that an implementation repeats the annotations of its overload.
@overload(where)
def _where(condition: Any, yes: Any, no: Any) -> Any:
    def compiled_where(condition: Any, yes: Any, no: Any) -> Any:
        return float(yes) if condition else float(no)

    def choose(condition: Any, yes: Any, no: Any) -> Any:
        return yes if condition else no

    return choose if isinstance(yes, types.BaseTuple) else compiled_where


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
