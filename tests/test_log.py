"""The run folder: what is written comes back the same, with names; what is damaged is said in one sentence."""

from __future__ import annotations

import errno
import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fake_tables import PLIES, ROUNDS, fake_failure, fake_tables

from azulsim import log, schema
from azulsim.errors import InputError, RunError
from azulsim.log import check
from azulsim.log.check import refuse_damaged
from azulsim.log.dictionary import describe_tables
from azulsim.rules import Bonus, Rules

SPECS = ("greedy", "greedy(floor=2)", 'it\'s "odd"')
CELLS = (
    log.Cell(index=0, players=2, lineup=(SPECS[0], SPECS[2]), seatings=((0, 1), (1, 0)), deals=5),
    log.Cell(
        index=1,
        players=3,
        lineup=(SPECS[1],) * 3,
        seatings=((0, 1, 2),),
        deals=5,
        rules=Rules(bonus=Bonus(column=5)),
        factors={"players": 3, "rules.bonus.column": 5},
    ),
)
SHARDS = (log.Shard(0, 0, 3), log.Shard(0, 3, 2), log.Shard(1, 0, 5))


def make_manifest(**changes: Any) -> log.Manifest:
    values: dict[str, Any] = {
        "azulsim": "0.1.0",
        "name": "fake",
        "question": "Does it come back?",
        "seed": 7,
        "log": "moves",
        "cells": CELLS,
        "specs": SPECS,
        "shards": len(SHARDS),
        "experiment": {"name": "fake"},
    }
    return log.Manifest(**{**values, **changes})


def write_run(folder: Path, shards: tuple[log.Shard, ...] = SHARDS, **changes: Any) -> Path:
    manifest = make_manifest(**changes)
    log.create_run(folder, manifest, "# Does it come back?\n")
    for shard in shards:
        failures = [fake_failure(1, 2, 0, SPECS[1])] if shard.cell == 1 else []
        tables = fake_tables(CELLS[shard.cell], shard, SPECS)
        log.write_shard(folder, shard, tables, failures, depth=manifest.log, specs=SPECS)
    return folder


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a whole run, in a folder whose name DuckDB would take for a pattern and a column. Not to be changed."""
    return write_run(tmp_path_factory.mktemp("log") / "a=[1]*'b")


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Path:
    return shutil.copytree(finished, tmp_path / "copy")


def all_rows(name: str) -> Any:
    parts = [fake_tables(CELLS[shard.cell], shard, SPECS)[name] for shard in SHARDS]
    fields = [column.name for column in schema.TABLES[name].columns]
    return {field: np.concatenate([part[field] for part in parts]) for field in fields}


@pytest.mark.parametrize("name", ["games", "rounds", "moves"])
def test_every_value_comes_back_in_order_with_its_type(finished: Path, name: str) -> None:
    frame = getattr(log.read_run(finished), name)()
    expected = all_rows(name)
    assert list(frame.columns) == list(expected)
    for column in schema.TABLES[name].columns:
        values = expected[column.name]
        if column.names or column.name == "spec":
            names = list(column.names or SPECS)
            assert list(frame[column.name].cat.categories) == names
            assert list(frame[column.name]) == [names[code] for code in values]
        elif column.dtype == "S":
            assert list(frame[column.name]) == [text.decode() for text in values]
        else:
            assert frame[column.name].dtype == values.dtype
            assert np.array_equal(frame[column.name], values)
    keys = frame[list(schema.TABLES[name].key)]
    assert keys.equals(keys.sort_values(list(keys), ignore_index=True))


@pytest.mark.parametrize("name", ["games", "rounds", "moves"])
def test_plain_pandas_reads_a_table_without_azulsim(finished: Path, name: str) -> None:
    frame = pd.read_parquet(finished / name)
    ours = getattr(log.read_run(finished), name)()
    assert list(frame) == list(ours)
    pd.testing.assert_frame_equal(frame, ours, check_categorical=False, check_dtype=False)


def test_what_was_not_logged_is_null(tmp_path: Path) -> None:
    tables = fake_tables(CELLS[0], SHARDS[0], SPECS)
    tables["moves"]["denial"] = schema.NOT_LOGGED
    log.create_run(tmp_path / "run", make_manifest(), "")
    log.write_shard(tmp_path / "run", SHARDS[0], tables, [], depth="moves", specs=SPECS)
    run = log.read_run(tmp_path / "run")
    assert run.moves()["denial"].isna().all()
    assert pd.read_parquet(tmp_path / "run" / "moves")["denial"].isna().all()
    assert run.sql("SELECT count(denial), count(gain) FROM moves").fetchall() == [(0, 6 * PLIES)]


def test_shape_of_a_run(finished: Path) -> None:
    run = log.read_run(finished)
    assert (run.n_games, run.n_moves, run.n_failures, run.is_complete) == (15, 15 * PLIES, 1, True)
    assert len(run.games()) == 10 * 2 + 5 * 3
    assert len(run.rounds()) == ROUNDS * (10 * 2 + 5 * 3)
    assert len(run.placements()) == len(run.rounds())
    assert run.rules(1).bonus.column == 5
    assert list(run.cells["rules.bonus.column"].dropna()) == [5]
    assert run.failures()[["cell", "deal", "spec", "message"]].values.tolist() == [
        [1, 2, SPECS[1], "ZeroDivisionError: division by zero"]
    ]
    for part in ("fake", "Does it come back?", "15 games, 90 moves, 1 failed", "complete", "seed 7", "azulsim 0.1.0"):
        assert part in repr(run)


def test_columns_and_filters_reach_every_table(finished: Path) -> None:
    run = log.read_run(finished)
    games, moves = run.games(), run.moves()
    seats = games[["game", "seat", "spec", "players", "cell", "deal", "seating"]]
    full = moves.merge(seats, on=["game", "seat"], how="left", validate="many_to_one")

    columns = ["game", "ply", "spec", "players", "cell", "deal", "seating", "tiles"]
    expected = full.assign(tiles=full["placed"] + full["overflow"])[columns]
    pd.testing.assert_frame_equal(run.moves(columns=columns), expected, check_dtype=False)
    for filters, keep in [
        ({"players": 2}, full["players"] == 2),
        ({"cell": 1, "color": ["B", "K"]}, (full["cell"] == 1) & full["color"].isin(["B", "K"])),
        ({"spec": SPECS[2]}, full["spec"] == SPECS[2]),
        ({"spec": [SPECS[0], SPECS[1]], "marker": True}, (full["spec"] != SPECS[2]) & full["marker"]),
        ({"rules.bonus.column": 5}, full["cell"] == 1),
        ({"deal": range(2), "seating": 1}, (full["deal"] < 2) & (full["seating"] == 1)),
        ({"deal": []}, full["deal"] < 0),
        ({"players": 4}, full["players"] == 4),
    ]:
        frame = run.moves(columns=["game", "ply", "gain"], filters=filters)
        pd.testing.assert_frame_equal(frame, full.loc[keep, ["game", "ply", "gain"]].reset_index(drop=True))
    assert run.failures(columns=["spec", "players"]).values.tolist() == [[SPECS[1], 3]]
    assert len(run.failures(filters={"players": 2})) == 0


def test_wrong_columns_and_filters_are_named(finished: Path) -> None:
    run = log.read_run(finished)
    with pytest.raises(InputError, match="moves has no column 'colour'; did you mean 'color'"):
        run.moves(columns=["colour"])
    with pytest.raises(InputError, match=r"no column 'rules\.bonus\.colum'; did you mean 'rules\.bonus\.column'"):
        run.rounds(filters={"rules.bonus.colum": 5})
    with pytest.raises(InputError, match="no strategy 'gredy'; did you mean 'greedy'"):
        run.games(filters={"spec": "gredy"})
    with pytest.raises(InputError, match="filters"):
        run.moves(filters={"ply": {"a": 1}})
    with pytest.raises(InputError, match="filters on moves do not fit"):
        run.moves(filters={"ply": "first"})


def test_known_columns_are_listed_once(finished: Path) -> None:
    with pytest.raises(InputError, match="no column 'zzz'; known: ") as caught:
        log.read_run(finished).moves(filters={"zzz": 1})
    listed = str(caught.value).partition("known: ")[2].split(", ")
    assert len(listed) == len(set(listed))


def test_sql_views(finished: Path) -> None:
    run = log.read_run(finished)
    query = """
        SELECT s.spec, count(*) AS n, sum(m.tiles) AS tiles
        FROM moves AS m JOIN seats AS s USING (cell, seating, seat) JOIN cells AS c USING (cell)
        WHERE c.players = 2 GROUP BY s.spec ORDER BY s.spec
    """
    frame = run.sql(query).df()
    moves = run.moves(columns=["spec", "tiles"], filters={"players": 2})
    expected = moves.groupby("spec", observed=True)["tiles"].agg(["size", "sum"])
    assert frame[["n", "tiles"]].to_numpy().tolist() == expected.to_numpy().tolist()
    assert run.sql("SELECT DISTINCT typeof(color), typeof(cell) FROM moves").fetchall() == [("VARCHAR", "USMALLINT")]
    assert run.sql("SELECT count(*) FROM failures").fetchall() == [(1,)]


@pytest.mark.parametrize("depth", ["games", "rounds"])
def test_shallower_log(tmp_path: Path, depth: schema.Depth) -> None:
    run = log.read_run(write_run(tmp_path / "run", log=depth))
    assert len(run.games()) == 35
    assert run.n_moves == 15 * PLIES
    assert not (tmp_path / "run" / "moves").exists()
    with pytest.raises(InputError, match=f'moves were not logged: the run has log = "{depth}"; .* log = "moves"'):
        run.moves()


def test_hash_is_of_content_not_of_files(finished: Path, tmp_path: Path) -> None:
    table = fake_tables(CELLS[0], SHARDS[0], SPECS)["moves"]
    digest = log.hash_table(table)
    packed = np.zeros(len(table), np.dtype([(name, table.dtype[name]) for name in table.dtype.names]))
    for name in table.dtype.names:
        packed[name] = table[name]
    assert packed.dtype.itemsize < table.dtype.itemsize, "the table is padded"
    assert log.hash_table(packed) == digest
    assert log.hash_table(table.astype(table.dtype.newbyteorder(">"))) == digest
    packed["gain"][3] += 1
    assert log.hash_table(packed) != digest
    assert log.hash_table(table[:-1]) != digest

    run = log.read_run(finished)
    shuffled = log.read_run(write_run(tmp_path / "shuffled", SHARDS[::-1]))
    assert shuffled.hashes == run.hashes
    assert set(run.hashes) == {"games", "rounds", "moves", "failures"}


def test_only_committed_shards_count(copy: Path) -> None:
    (copy / "commits" / f"{SHARDS[1].name}.json").write_text('{"shard": "torn')
    shutil.copy(copy / "commits" / f"{SHARDS[0].name}.json", copy / "commits" / "c00000-d0000000001.json")
    shutil.copy(copy / "commits" / f"{SHARDS[0].name}.json", copy / "commits" / "notes.json")
    run = log.read_run(copy)
    assert [commit.shard for commit in run.commits] == [SHARDS[0].name, SHARDS[2].name]
    assert not run.is_complete
    assert sorted(run.games()["deal"].unique()) == [0, 1, 2, 3, 4]
    assert len(run.games(filters={"cell": 0})) == 3 * 2 * 2
    assert "2 of 3 shards" in repr(run)


def damage_manifest(folder: Path, **changes: Any) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (shutil.rmtree, "no such run folder"),
        (lambda folder: (folder / "manifest.json").unlink(), "not a run folder: it has no manifest.json"),
        (lambda folder: (folder / "manifest.json").write_text("{"), r"manifest\.json: not valid JSON"),
        (lambda folder: (folder / "manifest.json").write_text('{"x": 1}'), "not the manifest of an azulsim run"),
        (lambda folder: damage_manifest(folder, format=99, azulsim="9.0"), "format = 99: made by azulsim 9.0"),
        (lambda folder: damage_manifest(folder, log="all"), r"manifest\.json: log = 'all'"),
        (
            lambda folder: damage_manifest(folder, cells=[CELLS[0].model_dump(mode="json")] * 2),
            "two cells have index 0",
        ),
        (lambda folder: shutil.rmtree(folder / "commits"), "no finished shard yet"),
        (lambda folder: next((folder / "moves").iterdir()).unlink(), r"moves/c.*\.parquet: missing"),
        (lambda folder: next((folder / "games").iterdir()).write_bytes(b"PAR1"), r"games/c.*\.parquet: has 4 bytes"),
    ],
)
def test_damage_is_one_sentence(copy: Path, damage: Any, message: str) -> None:
    damage(copy)
    with pytest.raises(InputError, match=message) as caught:
        log.read_run(copy)
    assert "\n" not in str(caught.value)


def test_scribbled_file_is_one_sentence(copy: Path) -> None:
    path = copy / "moves" / f"{SHARDS[0].name}.parquet"
    path.write_bytes(bytes(path.stat().st_size))
    with pytest.raises(InputError, match=r"moves/.*damaged: .*to play its deals again, delete") as caught:
        log.read_run(copy).moves()
    assert str(path) in str(caught.value)
    assert f"delete {copy}/commits/{SHARDS[0].name}.json, then: azulsim resume {copy}" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(log.read_run(copy).moves(filters={"cell": 1})) == 5 * PLIES, "other cells' files are not opened"


@pytest.mark.parametrize("name", ["games", "rounds", "moves", "failures"])
def test_file_with_a_damaged_middle_is_found_by_whoever_reads_it(copy: Path, name: str) -> None:
    path = copy / name / f"{SHARDS[2].name}.parquet"
    data = bytearray(path.read_bytes())
    data[4 : len(data) // 2] = b"\xff" * (len(data) // 2 - 4)  # the footer is sound: only rows cannot be read
    path.write_bytes(data)
    run = log.read_run(copy)
    complaint = f"{path}: damaged: .*delete {copy}/commits/{SHARDS[2].name}.json, then: azulsim resume {copy}"
    with pytest.raises(InputError, match=complaint):
        getattr(run, name)()
    with pytest.raises(InputError, match=complaint):
        run.fetch(f"SELECT * FROM {name}")


def test_a_changed_byte_that_parquet_readers_take_is_found_before_a_report(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_damaged(log.read_run(copy))
    path = copy / "games" / f"{SHARDS[1].name}.parquet"
    table = pq.read_table(path, partitioning=None)
    scores = table["score"].to_numpy().copy()
    scores[3] ^= 1
    at = table.column_names.index("score")
    pq.write_table(table.set_column(at, "score", pa.array(scores)), path)
    marker = copy / "commits" / f"{SHARDS[1].name}.json"
    text = json.loads(marker.read_text())
    text["tables"]["games"]["bytes"] = path.stat().st_size
    marker.write_text(json.dumps(text))
    run = log.read_run(copy)
    complaint = f"{path}: damaged: its content is not what was written; to play its deals again, delete {marker}"
    with pytest.raises(InputError, match=complaint):
        refuse_damaged(run)
    monkeypatch.setattr(check, "BYTES_CHECKED", 10)
    refuse_damaged(run)


def test_error_in_a_query_on_sound_files_is_the_one_of_duckdb(copy: Path) -> None:
    with pytest.raises(duckdb.BinderException, match="no_such_column"):
        log.read_run(copy).fetch("SELECT no_such_column FROM games")


def test_only_what_is_damaged_is_called_damaged(copy: Path) -> None:
    """Nothing is deleted and played again for want of memory or of leave to read."""
    run = log.read_run(copy)
    run.connection.execute("SET memory_limit = '1MB'")
    with pytest.raises(duckdb.OutOfMemoryException):
        run.fetch("SELECT list(hash(a.game + b.ply)) FROM moves a, moves b, moves c")
    path = sorted((copy / "moves").iterdir())[0]
    shut = path.with_name("shut")
    path.rename(shut)
    path.mkdir()  # what nobody can open as a file
    run = log.Run(copy, run.manifest, run.commits)
    with pytest.raises(InputError, match=r"moves/c\d+-d\d+\.parquet: cannot be read: Is a directory") as caught:
        run.moves()
    assert "delete" not in str(caught.value)
    path.rmdir()
    shut.rename(path)
    assert len(run.moves())


def test_names_in_a_manifest_never_become_paths_or_sql(copy: Path) -> None:
    evil = "x'); DROP VIEW games; --"
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest["specs"].append(evil)
    manifest["cells"][1]["factors"] = {f'rules.{evil}"': 1}
    (copy / "manifest.json").write_text(json.dumps(manifest))
    commit = copy / "commits" / f"{SHARDS[0].name}.json"
    commit.write_text(commit.read_text().replace('"moves": {', '"../moves": {'))
    run = log.read_run(copy)
    assert len(run.commits) == 2
    assert evil in run.games()["spec"].cat.categories
    assert len(run.games(filters={f'rules.{evil}"': 1})) == 15
    assert len(run.games(filters={"spec": evil})) == 0


def test_create_refuses_a_folder_in_use(copy: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds 'manifest\.json'"):
        log.create_run(copy, make_manifest(), "")
    (copy / "manifest.json").unlink()
    log.create_run(copy, make_manifest(), "")  # what a killed sitting leaves is no obstacle
    (copy / "manifest.json").unlink()
    (copy / "notes").write_text("mine")
    with pytest.raises(InputError, match="holds 'notes' and no run; choose another folder with --out"):
        log.create_run(copy, make_manifest(), "")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file"):
        log.create_run(tmp_path / "file", make_manifest(), "")
    with pytest.raises(InputError, match="cannot be written"):
        log.create_run(tmp_path / "file" / "below", make_manifest(), "")


@pytest.mark.parametrize(("code", "message"), [(errno.ENOSPC, "the disk is full"), (errno.EROFS, "cannot be written")])
def test_full_disk_leaves_earlier_shards(copy: Path, monkeypatch: pytest.MonkeyPatch, code: int, message: str) -> None:
    commit = copy / "commits" / f"{SHARDS[1].name}.json"
    commit.unlink()
    write_bytes = Path.write_bytes

    def fail(path: Path, data: bytes) -> int:
        if path.parent.name == "moves":
            write_bytes(path, bytes(data)[:10])
            raise OSError(code, "no")
        return write_bytes(path, data)

    monkeypatch.setattr(Path, "write_bytes", fail)
    tables = fake_tables(CELLS[0], SHARDS[1], SPECS)
    with pytest.raises(RunError, match=message):
        log.write_shard(copy, SHARDS[1], tables, [], depth="moves", specs=SPECS)
    assert not commit.exists()
    assert [item.shard for item in log.read_run(copy).commits] == [SHARDS[0].name, SHARDS[2].name]


def test_data_dictionary_lists_the_folders_that_a_run_has() -> None:
    page = describe_tables()
    stored = {name for name, table in schema.TABLES.items() if not table.is_view}
    assert {name for name in schema.TABLES if f"{name}/" in page} == stored


def test_data_dictionary_is_up_to_date() -> None:
    page = Path(__file__).parents[1] / "docs" / "DATA.md"
    assert page.read_text() == describe_tables(), "run: python -m azulsim.log.dictionary > docs/DATA.md"
