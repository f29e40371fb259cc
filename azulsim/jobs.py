"""How many workers play side by side."""

from __future__ import annotations

import os

from azulsim.errors import InputError

MAX_JOBS = 1024
"""More threads than this are refused by some systems, and no machine gains from them."""


def count_workers(jobs: int | None) -> int:
    """Return the number of workers that was asked for; one for each core if none was.

    Raises
    ------
    InputError
        If it is no whole number from 1 to `MAX_JOBS`.
    """
    if jobs is None:
        return min(os.cpu_count() or 1, MAX_JOBS)
    if type(jobs) is not int or not 1 <= jobs <= MAX_JOBS:
        raise InputError(f"jobs = {jobs!r}: must be a whole number from 1 to {MAX_JOBS}")
    return jobs
