"""Who meets whom: line-ups by schedule, their seatings, and the places in specs that a grid fills."""

from __future__ import annotations

import heapq
import itertools
import math
import operator
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Literal

from azulsim import catalog
from azulsim.errors import InputError

Lineup = tuple[str, ...]
Seatings = tuple[tuple[int, ...], ...]
Schedule = Literal["round_robin", "gauntlet", "self_play"]


def iterate_lineups(
    specs: Sequence[str],
    players: int,
    schedule: Schedule,
    *,
    against: Sequence[str] = (),
    tables: int | None = None,
    seed: int = 0,
) -> Iterator[Lineup]:
    """Yield the line-ups of a schedule.

    Parameters
    ----------
    specs
        The strategies that meet, all different.
    players
        Players at a table, 2 to 4.
    schedule
        `"self_play"` seats each spec in all seats. `"round_robin"` takes every choice of as many specs as there are
        players; with fewer specs than players, every way to fill the table with each spec sitting at least once.
        `"gauntlet"` seats each spec among players chosen from `against` as in a round robin.
    against
        The field of a gauntlet.
    tables
        Most line-ups of a round robin; if there are more, a balanced draw of so many (see `draw_lineups`).
    seed
        Root of the luck of that draw.

    >>> list(iterate_lineups(["a", "b", "c"], 2, "round_robin"))
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    >>> list(iterate_lineups(["a", "b"], 3, "round_robin"))
    [('a', 'a', 'b'), ('a', 'b', 'b')]
    >>> list(iterate_lineups(["a", "b"], 3, "gauntlet", against=["x"]))
    [('a', 'x', 'x'), ('b', 'x', 'x')]
    """
    if schedule == "self_play":
        return ((spec,) * players for spec in specs)
    if schedule == "gauntlet":
        return _challenge(specs, against, players)
    if tables is not None and tables < math.comb(len(specs), players):
        return iter(draw_lineups(specs, players, tables, seed))
    return _choose(specs, players)


def count_full_tables(specs: int, players: int) -> int:
    """Return the number of ways to fill a table with so many specs, each sitting at least once; 0 if they are more."""
    return math.comb(players - 1, specs - 1)


def _choose(specs: Sequence[str], players: int) -> Iterator[Lineup]:
    if len(specs) >= players:
        return itertools.combinations(specs, players)
    filled = itertools.combinations_with_replacement(specs, players)
    return (lineup for lineup in filled if len(set(lineup)) == len(specs))


def _challenge(specs: Sequence[str], against: Sequence[str], players: int) -> Iterator[Lineup]:
    met = set()
    for spec in specs:
        for others in _choose(against, players - 1):
            table = tuple(sorted((spec, *others)))
            if table not in met:
                met.add(table)
                yield (spec, *others)


def draw_lineups(specs: Sequence[str], players: int, tables: int, seed: int) -> list[Lineup]:
    """Draw different line-ups by lot, so that all specs sit, and all pairs meet, about equally often.

    Each seat in turn goes to the one for whom its tables so far, plus its meetings with those who sit there already,
    are the fewest; lots decide among equals. Beyond half of all line-ups, those left out are drawn in this way. The
    order in which players sit around a table is drawn too.

    Parameters
    ----------
    specs
        All different, at least as many as players.
    players
        Players at a table.
    tables
        Number of line-ups, at most the number of choices of `players` specs.
    seed
        Root of the luck: the same seed, the same line-ups.
    """
    lots = random.Random(f"{seed} {players}")  # its random() is promised to stay the same between Python versions
    total = math.comb(len(specs), players)
    if 2 * tables <= total:
        drawn = _draw_tables(len(specs), players, tables, lots)
    else:
        left_out = set(map(frozenset, _draw_tables(len(specs), players, total - tables, lots)))
        every = itertools.combinations(range(len(specs)), players)
        drawn = [table for table in every if frozenset(table) not in left_out]
    return [tuple(specs[i] for i in sorted(table, key=lambda _: lots.random())) for table in drawn]


def _draw_tables(n: int, players: int, tables: int, lots: random.Random) -> list[tuple[int, ...]]:
    sat = [0] * n
    met = [[0] * n for _ in range(n)]
    drawn: dict[frozenset[int], tuple[int, ...]] = {}

    def complete(table: tuple[int, ...], load: list[int]) -> tuple[int, ...] | None:
        """Fill the table up to one that is not drawn yet, trying first those with the least load."""
        if len(table) == players:
            return None if frozenset(table) in drawn else table
        others = [(load[i], lot[i], i) for i in range(n) if i not in table]
        heapq.heapify(others)
        while others:
            i = heapq.heappop(others)[-1]
            if found := complete((*table, i), list(map(operator.add, load, met[i]))):
                return found
        return None

    for _ in range(tables):
        lot = [lots.random() for _ in range(n)]
        table = complete((), sat)
        assert table is not None, "fewer tables are drawn than there are"
        drawn[frozenset(table)] = table
        for i in table:
            sat[i] += 1
        for i, j in itertools.permutations(table, 2):
            met[i][j] += 1
    return list(drawn.values())


def list_seatings(lineup: Lineup, kind: str) -> Seatings:
    """List the distinct seatings of a line-up: for each, the player (place in `lineup`) of each seat.

    `cyclic` are the rotations, `full` all orders; two that seat the same specs alike are one.

    >>> list_seatings(("a", "b", "c"), "cyclic")
    ((0, 1, 2), (1, 2, 0), (2, 0, 1))
    >>> list_seatings(("a", "a"), "full")
    ((0, 1),)
    """
    n = len(lineup)
    rotations = (tuple((seat + turn) % n for seat in range(n)) for turn in range(n))
    orders = rotations if kind == "cyclic" else itertools.permutations(range(n))
    distinct: dict[Lineup, tuple[int, ...]] = {}
    for order in orders:
        distinct.setdefault(tuple(lineup[player] for player in order), order)
    return tuple(distinct.values())


# Places in specs

_PLACE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


def find_places(specs: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the places in specs, each once.

    >>> find_places(["noisy({who}, eps={eps})", "{who}"])
    ('who', 'eps')
    """
    return tuple(dict.fromkeys(name for spec in specs for name in _PLACE.findall(spec)))


def fill_places(spec: str, values: Mapping[str, Any]) -> str:
    """Put values into the places of a spec.

    >>> fill_places("noisy(greedy, eps={eps})", {"eps": 0.1})
    'noisy(greedy, eps=0.1)'
    """
    return _PLACE.sub(lambda place: str(values[place[1]]), spec)


def vary_places(specs: Sequence[str], grid: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Yield every combination of values for the places that stand in specs, in the order of the grid."""
    places = set(find_places(specs))
    names = [name for name in grid if name in places]
    return (dict(zip(names, values, strict=True)) for values in itertools.product(*(grid[name] for name in names)))


# Patterns


def is_pattern(spec: str) -> bool:
    """Return True for text that stands for several bundled strategies, or takes some out."""
    return "*" in spec or spec.startswith("!")


def expand_patterns(specs: Sequence[str]) -> tuple[str, ...]:
    """Replace patterns by the names of the bundled strategies that they match, sorted, each once.

    `"*"` matches every name, `"builders.py:*"` all of one file; `"!uniform*"` takes out what stands before it.

    Raises
    ------
    InputError
        For a pattern that matches nothing.
    """
    if not any(map(is_pattern, specs)):
        return tuple(specs)
    bundled = [
        entry for entry in catalog.list_entries("strategies") if entry.origin == "bundled" and not entry.is_wrapper
    ]
    expanded: list[str] = []
    for spec in specs:
        pattern = spec.removeprefix("!")
        matching = [
            entry.name
            for entry in bundled
            if fnmatchcase(f"{entry.path.name}:{entry.name}" if ":" in pattern else entry.name, pattern)
        ]
        if not is_pattern(spec):
            expanded.append(spec)
        elif not matching:
            raise InputError(f"no bundled strategy matches {spec!r}; azulsim strategies list shows all")
        elif spec.startswith("!"):
            expanded = [name for name in expanded if name not in matching]
        else:
            expanded += [name for name in matching if name not in expanded]
    return tuple(expanded)
