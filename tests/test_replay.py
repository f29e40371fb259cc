"""Verifying runs: a run that is as it was played is all well, and one changed cell anywhere is found."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import azulsim
from azulsim import cli
from azulsim.errors import InputError, RunError
from azulsim.experiment import Experiment
from azulsim.log.check import read_columns, read_failures
from azulsim.log.manifest import Commit, dump_json, read_commits, read_manifest, table_path
from azulsim.notation import Placing, parse_game
from azulsim.replay import Verification, replay_game, verify_run
from azulsim.rules import VARIANTS, Rules
from azulsim.schema import GAMES, MOVES, PROBES, ROOTS, ROUNDS, TABLES, Depth, Table, game_id

ODD = Rules(
    wall="gray",
    joker_tiles=True,
    joker_overflow="choose",
    gray_may_decline=True,
    starter_bonus=-1,
    next_starter="lottery",
    marker_cost=2,
)
QUITTER = '''"""Gives up now and then."""
from azulsim.strategy import strategy


@strategy
def quitter(view, moves, rng):
    if view.round == 2 and len(moves) % 7 == 3:
        raise ValueError("no idea")
    return 0
'''
DECLINER = '''"""Lets lines fall, or places their tiles as far left as it can."""
from azulsim.strategy import strategy


def place(spot):
    return -spot.column if spot.row % 2 else spot.column


@strategy(place=place)
def decliner(move):
    return move.gain
'''

MakeRun = Callable[..., Path]


@pytest.fixture(scope="session")
def make_run(tmp_path_factory: pytest.TempPathFactory) -> MakeRun:
    """Play an experiment once a session."""
    made: dict[str, Path] = {}
    project = tmp_path_factory.mktemp("project")
    (project / "strategies").mkdir()
    for text, made_name in ((QUITTER, "quitter"), (DECLINER, "decliner")):
        (project / "strategies" / f"{made_name}.py").write_text(text, encoding="utf-8")

    def make(rules: Rules, *, log: Depth = "moves", denial: bool = False, other: str = "uniform") -> Path:
        name = f"{len(made)}"
        key = f"{rules!r} {log} {denial} {other}"
        if key not in made:
            out = tmp_path_factory.mktemp("runs") / name
            experiment = Experiment(
                name="checked", strategies=["greedy", other], deals=4, log=log, denial=denial, rules=rules, reports=()
            )
            azulsim.run(experiment, out=out, jobs=1, progress=False, project=project)
            made[key] = out
        return made[key]

    return make


@pytest.mark.parametrize("log", ["games", "rounds", "moves"])
@pytest.mark.parametrize("rules", [*VARIANTS.values(), ODD], ids=[*VARIANTS, "odd"])
def test_what_was_played_is_all_well(make_run: MakeRun, rules: Rules, log: Depth) -> None:
    found = verify_run(make_run(rules, log=log))
    assert found.is_good, str(found)
    assert (found.n_games, found.n_disagreements) == (8, 0)
    assert f"log depth {log}" in str(found)


HOUSE_RULES = {
    "round limit": Rules(max_rounds=2),
    "no clamp, rewarding marker": Rules(score_clamp=False, marker_cost=-3, max_rounds=30),
    "no tiles": Rules(tiles_per_color=5, max_rounds=60),
    "no floor, three rows": Rules(floor_penalties=(), rows_to_end=3),
    "costly start, rotation": Rules(starter_bonus=-4, next_starter="rotation", marker_on_full_floor="replace_last"),
    "unclaimed marker rotates": Rules(starter_bonus=3, unclaimed_marker="rotate"),
    "mixed wall": Rules(tiles_per_display=10, wall=("BYRK.",) * 5, gray_may_decline=True),
    "five rows, jokers": Rules(rows_to_end=5, lid_refill="eager", joker_tiles=True, joker_overflow="keep_color"),
}


@pytest.mark.parametrize("log", ["games", "rounds", "moves"])
@pytest.mark.parametrize("rules", HOUSE_RULES.values(), ids=HOUSE_RULES)
def test_house_rules_are_all_well_at_every_depth(make_run: MakeRun, rules: Rules, log: Depth) -> None:
    found = verify_run(make_run(rules, log=log))
    assert found.is_good, str(found)


def test_placing_decisions_are_taken_from_the_log(make_run: MakeRun) -> None:
    folder = make_run(ODD, other="decliner")
    found = verify_run(folder)
    assert found.is_good, str(found)
    placed = azulsim.read_run(folder).placements(filters={"spec": "decliner"})
    assert not placed["row"].isin([1, 3, 5]).any()
    assert len(placed) > 0


def test_more_players_and_threads_are_all_well(tmp_path: Path) -> None:
    experiment = Experiment(
        name="four", lineup=["greedy", "uniform", "greedy", "uniform"], players=[4], deals=3, reports=()
    )
    azulsim.run(experiment, out=tmp_path / "four", jobs=1, progress=False)
    assert verify_run(tmp_path / "four", jobs=2).is_good


def test_a_run_with_failures_is_all_well_and_its_failures_are_checked(make_run: MakeRun, tmp_path: Path) -> None:
    folder = make_run(Rules(), other="quitter")
    assert azulsim.read_run(folder).n_failures > 0
    found = verify_run(folder)
    assert found.is_good, str(found)
    for column in ("game", "cell", "deal", "seating", "spec"):
        copy = tmp_path / column
        shutil.copytree(folder, copy)
        change_cell(copy, TABLES["failures"], column, 0)
        assert not verify_run(copy).is_good, column


# One cell is changed, and all fingerprints and lengths are made anew


def change_cell(
    folder: Path, table: Table, column: str, row: int, to: Callable[[Any, tuple[str, ...]], Any] | None = None
) -> tuple[str, Any]:
    """Change one cell of the last shard, and make its commit marker fit; return the shard and the old value."""
    manifest = read_manifest(folder)
    commit = read_commits(folder)[-1]
    path = table_path(folder, table.name, commit.shard)
    found = pq.read_table(path)
    data = found.column(column)
    values = data.to_pylist()
    old = values[row]
    known = next((c.names for c in table.columns if c.name == column), ()) or manifest.specs
    values[row] = (to or change)(old, known)
    place = found.schema.get_field_index(column)
    flat = pa.array(values, data.type.value_type) if pa.types.is_dictionary(data.type) else pa.array(values, data.type)
    pq.write_table(found.set_column(place, column, flat), path)
    refit(folder, commit, table)
    return commit.shard, old


def refit(folder: Path, commit: Commit, table: Table) -> None:
    """Make the commit marker of a shard fit its table, as somebody would who wants nobody to notice."""
    manifest = read_manifest(folder)
    path = table_path(folder, table.name, commit.shard)
    if table.name == "failures":
        rows, content = read_failures(folder, commit.shard)
        n_rows = len(rows)
    else:
        cell = manifest.cells[commit.cell]
        width = cell.rules.n_displays(cell.players) * cell.rules.tiles_per_display
        columns = read_columns(folder, table, commit.shard, specs=manifest.specs, text_width=width)
        n_rows, content = len(columns), columns.content
    part = commit.tables[table.name].model_copy(
        update={"rows": n_rows, "bytes": path.stat().st_size, "content": content}
    )
    fitting = commit.model_copy(update={"tables": {**commit.tables, table.name: part}})
    (folder / "commits" / f"{commit.shard}.json").write_bytes(dump_json(fitting))


def change(value: Any, names: tuple[str, ...]) -> Any:
    """Return another value that the column could hold."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        if value in names:
            return names[(names.index(value) + 1) % len(names)]
        return "B" + value[1:] if value[:1] != "B" else "Y" + value[1:]
    if value is None:
        return 3
    return value + 1 if value < 100 else value - 1


CELLS = [(table, column.name) for table in (GAMES, ROUNDS, MOVES) for column in table.columns]


@pytest.mark.parametrize(("table", "column"), CELLS, ids=[f"{table.name}.{column}" for table, column in CELLS])
@pytest.mark.parametrize("rules", [Rules(), ODD], ids=["standard", "odd"])
def test_one_changed_cell_is_found_and_named(
    make_run: MakeRun, tmp_path: Path, rules: Rules, table: Table, column: str
) -> None:
    folder = make_run(rules, denial=True)
    n_rows = read_commits(folder)[-1].tables[table.name].rows
    rng = np.random.default_rng([len(table.columns), len(column)])
    rows = [0, n_rows - 1, int(rng.integers(n_rows))]
    for n, row in enumerate(rows):
        copy = tmp_path / str(n)
        shutil.copytree(folder, copy)
        shard, old = change_cell(copy, table, column, row)
        found = verify_run(copy)
        assert not found.is_good, (row, old)
        assert "has the fingerprint" not in str(found)
        assert {item.shard for item in found.disagreements} == {shard}
        if is_replayed(table, column):
            assert any(item.table == table.name for item in found.disagreements), str(found)
        else:
            assert_names_the_cell(found, folder, table, column, row)


def is_replayed(table: Table, column: str) -> bool:
    """Tell whether the replay plays on from a cell, so that a change may come to light in later rows too."""
    return (table.name, column) in {
        ("moves", "source"),
        ("moves", "color"),
        ("moves", "line"),
        ("moves", "jokers"),
        ("rounds", "tiled"),
    }


def assert_names_the_cell(found: Verification, folder: Path, table: Table, column: str, row: int) -> None:
    rows = azulsim.read_run(folder)
    frame = {"games": rows.games, "rounds": rows.rounds, "moves": rows.moves}[table.name]()
    key = {name: int(frame[name].iloc[row]) for name in table.key}
    named = [item for item in found.disagreements if item.column]
    assert [(item.table, dict(item.key), item.column) for item in named] == [(table.name, key, column)], str(found)
    assert f"{column} is" in str(found)


# Probes


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Depth, Rules], Path]:
    """Play an experiment with probes once a module."""

    @cache
    def make(log: Depth, rules: Rules) -> Path:
        experiment = Experiment(
            name="probed",
            grid={"players": [2, 3], "lineup": [["greedy"], ["noisy(greedy, eps=0.3)"]]},
            deals=4,
            log=log,
            rules=rules,
            probes={"tempo": {"continuations": 2}, "decision": {"per_game": 2, "continuations": 2}},
        )
        out = tmp_path_factory.mktemp("probed") / "run"
        return azulsim.run(experiment, out=out, jobs=1, progress=False).path

    return make


@pytest.mark.parametrize("log", ["games", "rounds", "moves"])
@pytest.mark.parametrize(
    "rules",
    [Rules(), ODD, Rules(max_rounds=2, next_starter="lottery", marker_cost=2), Rules(tiles_per_color=5, max_rounds=60)],
    ids=["standard", "odd", "lottery", "few tiles"],
)
def test_what_was_probed_is_all_well(probed: Callable[[Depth, Rules], Path], rules: Rules, log: Depth) -> None:
    found = verify_run(probed(log, rules))
    assert found.is_good, str(found)
    assert "of probes: every root" in str(found)


LIKED = {f"{arm}_{name}" for arm in ("take", "other") for name in ("color", "line", "tiles", "gain")} | {"other_source"}
"""What the strategy liked best in a root, which only its limits hold."""


@pytest.mark.parametrize("table", [ROOTS, PROBES], ids=["roots", "probes"])
@pytest.mark.parametrize("kind", ["decision", "tempo"])
def test_one_changed_cell_of_a_probe_is_found(
    probed: Callable[[Depth, Rules], Path], tmp_path: Path, table: Table, kind: str
) -> None:
    folder = probed("moves", Rules())
    commit = read_commits(folder)[-1]
    kinds = pq.read_table(table_path(folder, table.name, commit.shard)).column("kind").to_pylist()
    row = kinds.index(kind) + 1
    missed = set()
    for column in (column.name for column in table.columns):
        copy = tmp_path / column
        shutil.copytree(folder, copy)
        change_cell(copy, table, column, row)
        found = verify_run(copy)
        assert "has the fingerprint" not in str(found)
        assert all(item.table in ("roots", "probes") for item in found.disagreements)
        missed |= {column} if found.is_good else set()
    assert missed <= (LIKED if (table, kind) == (ROOTS, "decision") else set())


@pytest.mark.parametrize(("column", "value"), [("other_tiles", 5), ("take_line", 6), ("other_source", 0)])
def test_limits_of_what_was_liked_best_are_checked(
    probed: Callable[[Depth, Rules], Path], tmp_path: Path, column: str, value: int
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(probed("games", Rules()), copy)
    change_cell(copy, ROOTS, column, 0, lambda old, names: value)
    (found,) = verify_run(copy).disagreements
    assert (found.table, found.column, found.logged) == ("roots", column, value)


@pytest.mark.parametrize("table", [ROOTS, PROBES], ids=["roots", "probes"])
def test_a_row_of_probes_left_out_is_found(
    probed: Callable[[Depth, Rules], Path], tmp_path: Path, table: Table
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(probed("moves", Rules()), copy)
    commit = read_commits(copy)[0]
    path = table_path(copy, table.name, commit.shard)
    rows = pq.read_table(path)
    for gone in (0, 5, len(rows) - 1):
        pq.write_table(pa.concat_tables([rows.slice(0, gone), rows.slice(gone + 1)]), path)
        refit(copy, commit, table)
        assert not verify_run(copy).is_good


@pytest.mark.parametrize("table", [GAMES, ROUNDS, MOVES], ids=lambda table: table.name)
@pytest.mark.parametrize("row", [0, 7, -1])
def test_a_row_left_out_or_doubled_is_found(make_run: MakeRun, tmp_path: Path, table: Table, row: int) -> None:
    for n, take in enumerate(("left out", "doubled")):
        copy = tmp_path / str(n)
        shutil.copytree(make_run(Rules()), copy)
        commit = read_commits(copy)[-1]
        path = table_path(copy, table.name, commit.shard)
        rows = pq.read_table(path)
        at = row % len(rows)
        parts = [rows.slice(0, at), rows.slice(at + (take == "left out"))]
        if take == "doubled":
            parts.insert(1, rows.slice(at, 1))
        pq.write_table(pa.concat_tables(parts), path)
        refit(copy, commit, table)
        found = verify_run(copy)
        assert not found.is_good, take
        assert any(item.table == table.name for item in found.disagreements), str(found)


def test_an_empty_cell_is_found(make_run: MakeRun, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(make_run(Rules()), copy)
    commit = read_commits(copy)[-1]
    path = table_path(copy, "moves", commit.shard)
    rows = pq.read_table(path)
    values = rows.column("overflow").to_pylist()
    hole = values.index(0)
    values[hole] = None
    place = rows.schema.get_field_index("overflow")
    pq.write_table(rows.set_column(place, "overflow", pa.array(values, pa.uint8())), path)
    refit(copy, commit, MOVES)
    found = verify_run(copy)
    assert [(item.column, item.logged, item.replayed) for item in found.disagreements] == [("overflow", None, 0)]


EMPTIED = [
    ("games", "games", "marker_takes"),
    ("games", "games", "colors"),
    ("games", "games", "win_share"),
    ("rounds", "games", "marker_takes"),
    ("rounds", "rounds", "tiled"),
    ("rounds", "rounds", "marker_price"),
    ("rounds", "rounds", "lid"),
    ("rounds", "rounds", "is_short"),
]


@pytest.mark.parametrize("is_refitted", [True, False])
@pytest.mark.parametrize(("log", "name", "column"), EMPTIED, ids=[" ".join(words) for words in EMPTIED])
def test_an_empty_cell_in_place_of_a_0_is_found_where_nothing_is_replayed(
    make_run: MakeRun, tmp_path: Path, log: Depth, name: str, column: str, is_refitted: bool
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(make_run(Rules(), log=log), copy)
    commit = read_commits(copy)[-1]
    path = table_path(copy, name, commit.shard)
    rows = pq.read_table(path)
    data = rows.column(column)
    values = data.to_pylist()
    values[values.index(0)] = None
    pq.write_table(rows.set_column(rows.schema.get_field_index(column), column, pa.array(values, data.type)), path)
    if is_refitted:
        refit(copy, commit, TABLES[name])
    found = verify_run(copy)
    named = [(item.table, item.column, item.logged) for item in found.disagreements if item.column]
    assert (name, column, None) in named, str(found)
    assert ("has the fingerprint" in str(found)) == (not is_refitted)


# What is told without replaying


def test_changed_bytes_are_found_by_the_fingerprint(make_run: MakeRun, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(make_run(Rules()), copy)
    commit = read_commits(copy)[-1]
    change_cell(copy, GAMES, "wall_points", 0)
    (copy / "commits" / f"{commit.shard}.json").write_bytes(dump_json(commit))
    assert "has the fingerprint" in str(verify_run(copy))


def test_missing_and_foreign_files_are_named(make_run: MakeRun, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(make_run(Rules()), copy)
    commit = read_commits(copy)[-1]
    path = table_path(copy, "rounds", commit.shard)
    path.write_bytes(b"no parquet at all")
    assert str(path) in str(verify_run(copy))
    path.unlink()
    assert str(path) in str(verify_run(copy))
    (copy / "commits" / f"{commit.shard}.json").write_text("{")
    found = verify_run(copy)
    assert "damaged" in str(found)
    assert not found.is_good


def test_where_nothing_was_checked_nothing_is_well(make_run: MakeRun, tmp_path: Path) -> None:
    finished, begun = tmp_path / "finished", tmp_path / "begun"
    for copy in (finished, begun):
        shutil.copytree(make_run(Rules()), copy)
        shutil.rmtree(copy / "commits")
    found = verify_run(finished)
    assert not found.is_good
    assert "the run was finished, but of 1 shard 1 have no commit marker" in str(found)
    assert "4 disagreements; 0 games" in str(found)  # and three tables that nothing vouches for
    take_back_the_end(begun)
    found = verify_run(begun)
    assert (found.is_good, found.n_disagreements) == (False, 0)
    assert "nothing to check" in str(found)
    assert "all well" not in str(found)
    assert f"go on with: azulsim resume {begun}" in str(found)


def take_back_the_end(folder: Path, *, shards: int = 1) -> None:
    """Make a manifest one of a run that is still to be finished."""
    unfinished = read_manifest(folder).model_copy(update={"finished": "", "shards": shards})
    (folder / "manifest.json").write_bytes(dump_json(unfinished))


def test_an_unfinished_run_may_be_all_well_and_says_how_to_go_on(make_run: MakeRun, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(make_run(Rules()), copy)
    assert verify_run(copy).gap == ""
    take_back_the_end(copy, shards=2)
    found = verify_run(copy)
    assert found.is_good
    assert "all well; 8 games\n1 of 2 shards: the run is not finished; go on with: azulsim resume" in str(found)


def test_a_table_without_a_commit_marker_is_named(make_run: MakeRun, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(make_run(Rules()), copy)
    path = table_path(copy, "games", read_commits(copy)[0].shard)
    shutil.copy(path, path.with_name("c00000-d0000000099.parquet"))
    (copy / "games" / ".hidden").touch()
    found = verify_run(copy)
    assert [(item.table, item.shard) for item in found.disagreements] == [("games", "c00000-d0000000099.parquet")]
    assert "1 disagreement; 8 games" in str(found)
    take_back_the_end(copy, shards=2)
    found = verify_run(copy)
    assert found.is_good
    assert found.leftovers == ("games/c00000-d0000000099.parquet",)
    assert "1 file without a commit marker" in str(found)
    assert found.leftovers[0] in str(found)


def test_counts_of_the_commit_marker_are_checked(make_run: MakeRun, tmp_path: Path) -> None:
    for name in ("n_games", "n_moves", "n_failures"):
        copy = tmp_path / name
        shutil.copytree(make_run(Rules()), copy)
        commit = read_commits(copy)[-1]
        wrong = commit.model_copy(update={name: getattr(commit, name) + 1})
        (copy / "commits" / f"{commit.shard}.json").write_bytes(dump_json(wrong))
        assert name in str(verify_run(copy))


def test_the_sums_of_the_commit_marker_are_checked(make_run: MakeRun, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(make_run(Rules()), copy)
    commit = read_commits(copy)[-1]
    assert commit.outcome is not None
    n, total, squares = commit.outcome
    for wrong in ((n + 1, total, squares), (n, total + 1e-6, squares), (n, total, squares - 1e-6)):
        marker = commit.model_copy(update={"outcome": wrong})
        (copy / "commits" / f"{commit.shard}.json").write_bytes(dump_json(marker))
        assert "number, sum and sum of squares of win_share are" in str(verify_run(copy))


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("games", "game"),
        ("games", "deal"),
        ("games", "seating"),
        ("games", "cell"),
        ("games", "spec"),
        ("games", "seat"),
        ("games", "score"),
        ("games", "rows"),
        ("games", "placement"),
        ("games", "win_share"),
        ("games", "wall_points"),
        ("games", "floor_paid"),
        ("games", "bonus_points"),
        ("games", "is_ender"),
        ("games", "termination"),
    ],
)
def test_games_alone_are_held_against_themselves(make_run: MakeRun, tmp_path: Path, table: str, column: str) -> None:
    shutil.copytree(make_run(Rules(), log="games"), tmp_path / "copy")
    change_cell(tmp_path / "copy", TABLES[table], column, 3)
    assert not verify_run(tmp_path / "copy").is_good


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("rounds", "game"),
        ("rounds", "round"),
        ("rounds", "seat"),
        ("rounds", "starter"),
        ("rounds", "holder"),
        ("rounds", "score_before"),
        ("rounds", "gain"),
        ("rounds", "tiled"),
        ("rounds", "floor"),
        ("rounds", "penalty"),
        ("rounds", "penalty_paid"),
        ("games", "floor_loss"),
        ("games", "marker_takes"),
        ("games", "columns"),
        ("games", "colors"),
    ],
)
def test_rounds_are_held_against_one_another(make_run: MakeRun, tmp_path: Path, table: str, column: str) -> None:
    shutil.copytree(make_run(Rules(), log="rounds"), tmp_path / "copy")
    change_cell(tmp_path / "copy", TABLES[table], column, 4)
    assert not verify_run(tmp_path / "copy").is_good


def test_what_is_no_run_is_said_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such run folder"):
        verify_run(tmp_path / "nowhere")
    with pytest.raises(InputError, match="jobs = 0: must be a whole number from 1 to"):
        verify_run(tmp_path, jobs=0)


# One game


@pytest.mark.parametrize("rules", [Rules(), ODD], ids=["standard", "odd"])
def test_a_replayed_game_is_the_logged_one(make_run: MakeRun, rules: Rules) -> None:
    folder = make_run(rules, denial=True)
    game = game_id(0, 3, 1)
    found = replay_game(folder, game)
    run = azulsim.read_run(folder)
    games, moves = run.games(filters={"game": game}), run.moves(filters={"game": game})
    assert list(found.record.scores) == games["score"].tolist()
    assert list(found.record.placements) == games["placement"].tolist()
    assert list(found.record.players) == games["spec"].tolist()
    taken = [move for move in found.record.moves if not isinstance(move, Placing)]
    assert [move.source for move in taken] == moves["source"].tolist()
    assert [move.line for move in taken] == moves["line"].tolist()
    assert len(found.positions) == games["rounds"].iloc[0] + 1
    assert found.positions[-1].is_over
    assert parse_game(str(found.record)) == found.record
    drawn = found.draw()
    for move in map(str, found.record.moves):
        assert f"  {move}\n" in drawn
    for position in found.positions[:-1]:
        assert str(position) in drawn


@pytest.mark.parametrize(
    ("game", "nearest"),
    [(game_id(0, 4, 0), game_id(0, 3, 0)), (game_id(0, 2, 9), game_id(0, 2, 1)), (game_id(7, 1, 0), game_id(0, 1, 0))],
)
def test_an_unknown_game_is_answered_with_the_nearest(make_run: MakeRun, game: int, nearest: int) -> None:
    with pytest.raises(InputError, match=f"no game {game} .*the nearest is {nearest} "):
        replay_game(make_run(Rules()), game)


def test_games_that_cannot_be_shown_are_refused_in_a_sentence(make_run: MakeRun, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="moves were not logged"):
        replay_game(make_run(Rules(), log="rounds"), 0)
    folder = make_run(Rules(), other="quitter")
    failed = azulsim.read_run(folder).failures().iloc[0]
    what = rf"{failed['spec']} \(seat \d\) failed at ply {failed['ply']}: {failed['kind']}: "
    with pytest.raises(InputError, match=f"game {failed['game']} failed, so that it is not in the log: {what}"):
        replay_game(folder, int(failed["game"]))
    copy = tmp_path / "copy"
    shutil.copytree(make_run(Rules()), copy)
    change_cell(copy, MOVES, "color", -1)
    with pytest.raises(RunError, match="azulsim verify"):
        replay_game(copy, game_id(0, 3, 1))


# The command line


def run_command(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["azulsim", *map(str, words)])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    return int(stop.value.code or 0)


def test_verify_says_all_well_or_exits_1(
    make_run: MakeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(make_run(Rules()), copy)
    assert run_command(monkeypatch, "verify", copy, "--jobs", 1) == 0
    assert "all well; 8 games" in capsys.readouterr().out
    change_cell(copy, MOVES, "gain", 5)
    assert run_command(monkeypatch, "verify", copy, "--jobs", 1, "--json") == 1
    answer = json.loads(capsys.readouterr().out)
    assert (answer["ok"], answer["n_disagreements"]) == (False, 1)
    assert answer["disagreements"][0]["key"] == {"game": 0, "ply": 5}
    assert run_command(monkeypatch, "verify", tmp_path / "missing") == 2


def test_replay_shows_and_writes_a_game(
    make_run: MakeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "game.txt"
    assert run_command(monkeypatch, "replay", make_run(Rules()), "--game", game_id(0, 2, 1), "--text", file) == 0
    shown = capsys.readouterr().out
    assert "round 1, seat 0: uniform to move" in shown
    assert "\x1b" not in shown
    assert parse_game(file.read_text(encoding="utf-8")) == replay_game(make_run(Rules()), game_id(0, 2, 1)).record
    assert run_command(monkeypatch, "replay", make_run(Rules()), "--game", 99) == 2
    assert "the nearest is" in capsys.readouterr().err
