"""From the tables of a run to sums per deal: DuckDB scans the rows, only small arrays leave it.

No text of the run (spec, name) ever becomes part of a query: groups are formed by value, and cells, rules and
kinds of line-up go in as integers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import duckdb
import numpy as np
import numpy.typing as npt
import pandas as pd
from pydantic import BaseModel

from azulsim import schema
from azulsim.errors import InputError, did_you_mean
from azulsim.log.outcomes import FINISHED
from azulsim.rules import Rules

if TYPE_CHECKING:
    from azulsim.log import Run

Lineups = Literal["all", "self_play", "mixed"]
KEYS = ("rules", "players", "lineup", "cell", "spec", "seat")
"""What a metric can be taken by. `lineup` is `self_play` (one strategy in all seats) or `mixed`."""

LINEUP_KINDS = ["self_play", "mixed"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Outcome:
    """A number per row of a table: its name, the SQL expression that gives it (NULL = not counted), and its unit."""

    name: str
    sql: str
    unit: str
    doc: str
    per: str = ""
    """SQL of how many observations `sql` is the sum of, where a row holds several; their mean is estimated."""


@dataclass(frozen=True)
class Sums:
    """Sums of outcomes by group and deal: what all estimates of a metric are made from.

    Attributes
    ----------
    keys
        A row a group, sorted (strategies in the run's order): the values of the columns it was taken by.
    outcomes
        Names of the outcomes, in the order of the columns of `count` and `total`.
    group, deal
        Shape (rows,): which group, and which deal (unique across player counts); sorted by both.
    count, total
        Shape (rows, outcomes): how many observations the deal gave, and their sum.
    """

    keys: pd.DataFrame
    outcomes: tuple[str, ...]
    group: Array
    deal: Array
    count: Array
    total: Array


def list_cells(run: Run) -> pd.DataFrame:
    """List the cells of a run: `cell`, `players`, `lineup` (its kind), `specs`, `rules` in few words, `rules_code`."""
    rows = []
    codes: dict[str, int] = {}
    for cell in run.manifest.cells:
        label = describe_rules(cell.rules)
        kind = "self_play" if len(set(cell.lineup)) == 1 else "mixed"
        rows.append((cell.index, cell.players, kind, tuple(cell.lineup), label, codes.setdefault(label, len(codes))))
    return pd.DataFrame(rows, columns=["cell", "players", "lineup", "specs", "rules", "rules_code"])


def describe_rules(rules: Rules) -> str:
    """Say how rules differ from the printed ones, `standard` if they do not.

    >>> describe_rules(Rules(max_rounds=9))
    'max_rounds=9'
    """
    return ", ".join(_differences(rules, Rules(), "")) or "standard"


def _differences(value: BaseModel, usual: BaseModel, prefix: str) -> list[str]:
    found = []
    for name, field in type(value).model_fields.items():
        mine, theirs, label = getattr(value, name), getattr(usual, name), prefix + (field.alias or name)
        if isinstance(mine, BaseModel):
            found += _differences(mine, theirs, f"{label}.")
        elif mine != theirs:
            found.append(f"{label}={list(mine) if isinstance(mine, tuple) else mine}")
    return found


def require_depth(run: Run, depth: schema.Depth, what: str) -> None:
    """Raise `InputError` if the run's log does not go down to `depth`."""
    if not has_depth(run, depth):
        raise InputError(f"{what} needs a log of depth {depth!r}, and this run has log = {run.manifest.log!r}")


def has_depth(run: Run, depth: schema.Depth) -> bool:
    """Tell whether the run's log goes down to `depth`."""
    return schema.DEPTHS.index(run.manifest.log) >= schema.DEPTHS.index(depth)


def prepare_played(run: Run) -> None:
    """Make the table `played` in the connection of a run, once: a row a game and seat, with derived columns.

    It has all columns of `games` and `rules_code`, `is_mixed`, `margin` (own score minus the best other),
    `is_tied` (the first place of the game is shared) and `ender_share` (win share of those who ended the game). Of a
    forfeited game only the win share and the place are there, so that nothing else of it is counted anywhere.
    """
    if run.fetch("SELECT 1 FROM duckdb_tables() WHERE table_name = 'played'").num_rows:
        return
    cells = list_cells(run)
    rules = choose_by_cell(dict(zip(cells["cell"], cells["rules_code"].map(str), strict=True)))
    mixed = choose_by_cell(dict(zip(cells["cell"], (cells["lineup"] == "mixed").map(str), strict=True)))
    whole = f"CASE WHEN {FINISHED if run.n_forfeits else 'true'}"
    counted = ", ".join(f"{whole} THEN {name} END AS {name}" for name in _COUNTED)
    query = f"""
    CREATE TEMP TABLE played AS
    WITH per_game AS (
        SELECT game, max(score, 2) AS best, bool_or(win_share > 0 AND win_share < 1) AS is_tied,
            sum(win_share) FILTER (is_ender) AS ender_share
        FROM games GROUP BY game
    )
    SELECT games.* REPLACE ({counted}), {whole} THEN is_tied END AS is_tied, ender_share,
        {whole} THEN score - CASE WHEN score = best[1] THEN best[2] ELSE best[1] END END AS margin,
        {rules} AS rules_code, {mixed} AS is_mixed
    FROM games JOIN per_game USING (game)"""
    try:
        run.connection.execute(query).fetchall()
    except duckdb.Error as error:
        raise run.find_damage() or error from None


_KEPT = {*schema.GAMES.key, "cell", "deal", "seating", "players", "spec", "placement", "win_share", "termination"}
_COUNTED = [column.name for column in schema.GAMES.columns if column.name not in _KEPT]


def choose_by_cell(values: Mapping[int, str]) -> str:
    """Return the SQL of a value that depends on the column `cell`, from the SQL of the value of each cell."""
    cells: dict[str, list[str]] = {}
    for cell, value in values.items():
        cells.setdefault(value, []).append(str(int(cell)))
    usual = max(cells, key=lambda value: len(cells[value]))
    rest = [f"WHEN cell IN ({', '.join(found)}) THEN {value}" for value, found in cells.items() if value != usual]
    return f"CASE {' '.join(rest)} ELSE {usual} END" if rest else usual


def check_keys(run: Run, by: Sequence[str], extra: Sequence[str] = ()) -> list[str]:
    """Return the columns of the groups: `rules` first if there are several, then `by`, of `KEYS` and `extra`."""
    names = list(dict.fromkeys([*(["rules"] if list_cells(run)["rules_code"].nunique() > 1 else []), *by]))
    for name in names:
        if name not in KEYS and name not in extra:
            raise InputError(f"by = {name!r}: not a column to group by{did_you_mean(name, [*KEYS, *extra])}")
    if not names:
        raise InputError("by and outcomes: at least one of each is needed")
    return names


_KEY_SQL = {"rules": "rules_code", "lineup": "CASE WHEN is_mixed THEN 1 ELSE 0 END", "spec": "spec::VARCHAR"}
_LINEUP_SQL = {"all": "true", "self_play": "NOT is_mixed", "mixed": "is_mixed"}


def collect(
    run: Run,
    outcomes: Sequence[Outcome],
    by: Sequence[str],
    *,
    lineups: Lineups = "all",
    where: str = "true",
    base: str = "played",
    tables: str = "",
    extra: Mapping[str, str] | None = None,
) -> Sums:
    """Sum outcomes by group and deal.

    `by` names the columns that form the groups, among `KEYS` and the names in `extra`; `rules` is added in front
    by itself when the run has more than one set of rules, so that no average ever mixes them. `lineups` chooses
    the games. The rest is SQL: which rows (`where`) of which table (`base`), further common table expressions
    (`tables`), and further keys by name as expressions (`extra`).
    """
    further = tuple((extra or {}).items())
    return _collect(run, tuple(outcomes), tuple(by), lineups, where, base, tables, further)


@lru_cache(maxsize=8)
def _collect(
    run: Run,
    outcomes: tuple[Outcome, ...],
    by: tuple[str, ...],
    lineups: Lineups,
    where: str,
    base: str,
    tables: str,
    further: tuple[tuple[str, str], ...],
) -> Sums:
    """Sum as `collect` does; kept for a while, because reports ask for the same sums again."""
    extra = dict(further)
    cells = list_cells(run)
    names = check_keys(run, by, tuple(extra))
    if not outcomes:
        raise InputError("by and outcomes: at least one of each is needed")
    keys = [f'{extra.get(name, _KEY_SQL.get(name, name))} AS "k_{name}"' for name in names]
    sums = [
        f"{f'sum(({o.per})::DOUBLE)' if o.per else f'count({o.sql})'} AS n{i}, sum(({o.sql})::DOUBLE) AS t{i}"
        for i, o in enumerate(outcomes)
    ]
    lists = ", ".join(f"list(n{i}), list(t{i})" for i in range(len(outcomes)))
    groups = ", ".join(f'"k_{name}"' for name in names)
    # A deal is shared by all games of its number at one player count, whatever the line-up or the rules.
    query = f"""
    WITH {tables + "," if tables else ""}
    sums AS (
        SELECT {", ".join(keys)}, (players::BIGINT << 32) + deal AS block, {", ".join(sums)}
        FROM {base} WHERE ({_LINEUP_SQL[lineups]}) AND ({where}) GROUP BY ALL
    )
    SELECT {groups}, list(block), {lists} FROM sums GROUP BY {groups} ORDER BY {groups}"""
    prepare_played(run)
    table = run.fetch(query).combine_chunks()
    frame = pd.DataFrame({name: table.column(i).to_pylist() for i, name in enumerate(names)})
    sizes, blocks = _flatten(table, len(names))
    frame = _name_keys(frame, cells, run.manifest.specs).sort_values(list(names), kind="stable")
    place = np.empty(len(frame), np.int64)
    place[frame.index] = np.arange(len(frame))
    group = np.repeat(place, sizes)
    # Floating sums arrive in the order of threads: sort, and drop the last digits, so that results never differ.
    order = np.lexsort((blocks, group))
    columns = [_flatten(table, len(names) + 1 + i)[1][order] for i in range(2 * len(outcomes))]
    return Sums(
        keys=frame.reset_index(drop=True),
        outcomes=tuple(outcome.name for outcome in outcomes),
        group=group[order],
        deal=blocks[order],
        count=np.stack([np.nan_to_num(column.astype(np.float64)) for column in columns[0::2]], axis=1),
        total=np.stack([np.nan_to_num(column.astype(np.float64)).round(9) for column in columns[1::2]], axis=1),
    )


def _flatten(table: Any, index: int) -> tuple[Array, Array]:
    """Return the lengths and the joined values of a column of lists."""
    column = table.column(index).combine_chunks()
    if hasattr(column, "chunks"):  # a chunked array of no chunks
        return np.zeros(0, np.int64), np.zeros(0)
    return column.value_lengths().to_numpy(zero_copy_only=False), column.flatten().to_numpy(zero_copy_only=False)


def _name_keys(frame: pd.DataFrame, cells: pd.DataFrame, specs: Sequence[str]) -> pd.DataFrame:
    """Put the words for codes, and small integers for the numbers that came from the database."""
    if "rules" in frame:
        label = dict(zip(cells["rules_code"], cells["rules"], strict=True))
        frame["rules"] = pd.Categorical([label[code] for code in frame["rules"]], categories=list(label.values()))
    if "lineup" in frame:
        frame["lineup"] = pd.Categorical(np.where(frame["lineup"] == 1, "mixed", "self_play"), LINEUP_KINDS)
    if "spec" in frame:
        frame["spec"] = pd.Categorical(frame["spec"], categories=list(specs))
    return frame
