"""The one family of errors: every message is one sentence that says what, where, and what would be right."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


class AzulsimError(Exception):
    """Root of all errors that azulsim raises on purpose; its text is one sentence for a person."""


class InputError(AzulsimError):
    """Something a person typed or wrote cannot be used (exit code 2)."""


class RunError(AzulsimError):
    """A run or a check was begun and failed (exit code 1)."""


class StrategyError(RunError):
    """A strategy raised, or answered with something that is not a legal move."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest known name, else the list of known names.

    >>> did_you_mean("gredy", ["greedy", "uniform"])
    "; did you mean 'greedy'?"
    >>> did_you_mean("zzz", ["greedy", "uniform"])
    '; known: greedy, uniform'
    """
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; known: {', '.join(names)}" if names else ""


@contextmanager
def refuse_unwritable(path: str | Path) -> Iterator[None]:
    """Turn what the system says of a file or folder that a person named into an `InputError`."""
    try:
        yield
    except (OSError, ValueError) as error:  # a name may hold what no file system takes
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise InputError(f"{path}: cannot be written: {reason}") from None


@contextmanager
def blame(place: str) -> Iterator[None]:
    """Open the sentence of any `InputError` with a place, such as a file and a key."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{place}: {error}") from error
