"""The data dictionary, written from the schema: `python -m azulsim.log.dictionary > docs/DATA.md`."""

from __future__ import annotations

from azulsim.log.read import derived_columns
from azulsim.schema import TABLES, Column, Table

_INTRODUCTION = """\
# The data dictionary

Every table of a run folder, column by column. This page is made from `azulsim/schema.py` by
`python -m azulsim.log.dictionary > docs/DATA.md`; a test checks that it is up to date.

## The run folder

| path | what it is |
|---|---|
| `manifest.json` | what was asked and how it was made: cells, line-ups, seatings, specs, seed, version, source, times |
| `experiment.toml` | the experiment with every default spelled out; `azulsim run` plays it again |
| `environment.json` | Python, machine, versions of the libraries |
| `games/ rounds/ moves/` | the tables, a parquet file a shard; as deep as the experiment's `log` says |
| `roots/ probes/` | games continued in several ways, if the experiment has `[probes]` |
| `failures/` | games that a strategy spoiled, if any; other tables lack all seatings of that deal in that cell |
| `commits/` | a marker a shard, written last: rows, bytes and content hash of its tables |

A shard is a fixed range of deals of one cell; its files are named `c<cell>-d<first deal>`, so sorted file names are
in canonical order, and so are the rows in each file. A file without a commit marker is left over from an interrupted
run and does not count.

## Reading it

With azulsim: `run = azulsim.read_run("runs/demo")`, then `run.moves(columns=[...], filters={"players": 2})` and so
on for a pandas frame, or `run.sql("select ... from moves join seats using (cell, seating, seat)")` for DuckDB.
Without: `pandas.read_parquet("runs/demo/moves")`, or any other reader of parquet. That reads every file in the folder,
also what an interrupted shard left there; so do this with finished runs in which `azulsim verify` finds no such file.

## Keys and joins

- `game` names a game in every table: `game = cell * 2**40 + deal * 2**8 + seating`. Backwards:
  `cell = game // 2**40`, `deal = game // 2**8 % 2**32`, `seating = game % 2**8`.
- `games` joins the others on `(game, seat)`: each row of `rounds`, `moves` and `placements` has exactly one row there,
  with the strategy (`spec`) in that seat.
- `rounds` joins `moves` and `placements` on `(game, round, seat)`.
- `probes` joins `roots` on `(game, kind, ply)`, and `games` on `(game, seat)` for the strategy in a seat.
- All games of one `deal` at the same player count share their luck, over all cells and seatings: the deal is the
  unit of evidence, and intervals are clustered by it.
- A `cell` is described in `manifest.json` and in `run.cells`; `run.seats` (cell, seating, seat, players, spec) tells
  who sits where.

`run.cells` and `run.seats` are DuckDB views too. Coded columns are text with the names below: categories in pandas,
strings in DuckDB, dictionaries in parquet.
"""


def describe_tables() -> str:
    """Return the data dictionary as Markdown."""
    return "\n".join([_INTRODUCTION, *(_describe_table(table) for table in TABLES.values())])


def _describe_table(table: Table) -> str:
    written = f'at `log = "{table.depth}"` and deeper'
    if table.is_probed:
        written = "where the experiment has `[probes]`"
    elif table.name == "failures":
        written = "always, if there are any"
    added = ", ".join(f"`{name}`" for name in derived_columns(table))
    lines = [
        f"## `{table.name}`\n",
        f"{table.doc} Key: `({', '.join(table.key)})`. Written {written}."
        + (f" Views and frames can also give {added}." if added else ""),
        "",
        "| column | type | what it is |",
        "|---|---|---|",
        *(
            f"| `{column.name}` | {_describe_type(column)} | {column.doc.replace('|', chr(92) + '|')} |"
            for column in table.columns
        ),
        "",
    ]
    return "\n".join(lines)


def _describe_type(column: Column) -> str:
    if column.names:
        return "one of " + " ".join(f"`{name}`" for name in column.names)
    if column.name == "spec":
        return "one of the run's specs"
    kinds = {"S": "text", "O": "text", "?": "bool", "i": "int", "u": "uint", "f": "float"}
    kind = kinds[column.dtype[0]]
    return kind if column.dtype in "SO?" else f"{kind}{8 * int(column.dtype[1:])}"


if __name__ == "__main__":
    print(describe_tables(), end="")
