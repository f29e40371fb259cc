"""Compiling: the cache may be damaged or unwritable and costs time only; nothing reads beyond its buffers."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from azulsim.engine import compiling
from azulsim.engine.compiling import CACHE_VARIABLE, cache_folder, source_hash

ROOT = Path(__file__).parents[1]
GAME = "import azulsim; print(azulsim.play('greedy', 'uniform', seed=7).outcome.scores)"
COMPILING = "azulsim: compiling the engine and its strategies"


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process of its own."""
    env = {name: value for name, value in os.environ.items() if name != "AZULSIM_QUIET"} | environment
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=env, cwd=ROOT, check=False, timeout=300
    )


def test_sources_name_the_cache() -> None:
    assert cache_folder().name == source_hash()
    assert len(source_hash()) == 20


def test_another_source_starts_another_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An edit of any compiled source changes the hash that names the folder."""
    before = compiling.source_hash.__wrapped__()
    engine = tmp_path / "azulsim" / "engine"
    engine.mkdir(parents=True)
    for name in ("rules.py", "schema.py"):
        (tmp_path / "azulsim" / name).write_text("")
    (engine / "core.py").write_text("a = 1\n")
    monkeypatch.setattr(compiling, "__file__", str(engine / "compiling.py"))
    first = compiling.source_hash.__wrapped__()
    (engine / "core.py").write_text("a = 2\n")
    assert len({before, first, compiling.source_hash.__wrapped__()}) == 3


@pytest.mark.long
def test_a_kept_cache_is_used_and_a_damaged_one_costs_a_compilation(tmp_path: Path) -> None:
    cache = {CACHE_VARIABLE: str(tmp_path)}
    fresh = run(GAME, **cache)
    assert fresh.returncode == 0, fresh.stderr
    assert fresh.stderr.count(COMPILING) == 1
    again = run(GAME, **cache)
    assert (again.returncode, again.stdout, again.stderr) == (0, fresh.stdout, "")
    files = sorted(tmp_path.glob("*/*"))
    assert len(files) > 20
    for damage in (lambda data: b"garbage", lambda data: b"", lambda data: data[: len(data) // 2]):
        for file in files:
            file.write_bytes(damage(file.read_bytes()))
        damaged = run(GAME, **cache)
        assert (damaged.returncode, damaged.stdout) == (0, fresh.stdout), damaged.stderr
        assert damaged.stderr.count(COMPILING) == 1
        assert damaged.stderr.count("\n") == 1
        mended = run(GAME, **cache)
        assert (mended.returncode, mended.stdout, mended.stderr) == (0, fresh.stdout, "")


@pytest.mark.long
def test_a_cache_is_shared_by_processes_that_start_at_once(tmp_path: Path) -> None:
    """All find it empty: each plays the same game, and what they leave behind is of use to the next."""
    cache = {CACHE_VARIABLE: str(tmp_path)}
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: run(GAME, **cache), range(4)))
    assert [one.returncode for one in done] == [0] * 4, done
    assert len({one.stdout for one in done}) == 1
    later = run(GAME, **cache)
    assert (later.returncode, later.stdout, later.stderr) == (0, done[0].stdout, "")


@pytest.mark.long
def test_a_cache_that_cannot_be_written_costs_a_note(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    done = run(GAME, **{CACHE_VARIABLE: str(blocked)})
    assert done.returncode == 0, done.stderr
    assert done.stdout == run(GAME).stdout
    lines = done.stderr.splitlines()
    assert sum("cannot be kept in" in line for line in lines) == 1
    assert len(lines) == 2


@pytest.mark.long
def test_nothing_reads_or_writes_beyond_its_buffers(tmp_path: Path) -> None:
    """The reference comparisons once more with every index checked."""
    env = {**os.environ, "NUMBA_BOUNDSCHECK": "1", CACHE_VARIABLE: str(tmp_path)}
    tests = ["tests/test_engine.py", "tests/test_arena.py", "tests/test_invariants.py", "tests/test_game.py"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-m", "not long", "-p", "no:cacheprovider", *tests],
        capture_output=True,
        text=True,
        env=env,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
