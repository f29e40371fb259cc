"""The benchmarks measure players that there are; what they measure is not tested."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from azulsim.registry import make_strategy

FOLDER = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The modules of the folder, each imported as when it is run there."""
    monkeypatch.syspath_prepend(FOLDER)
    import bench

    yield bench
    for path in FOLDER.glob("*.py"):
        sys.modules.pop(path.stem, None)


def test_its_players_are_found(benchmarks: Any) -> None:
    assert make_strategy(benchmarks.GREEDY_MOVE).speed == "compiled"
    assert make_strategy(benchmarks.PLAIN_COLUMNS).speed == "plain"


def test_uniform_playouts_are_played(benchmarks: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import playouts

    monkeypatch.setattr(playouts, "PLAYOUTS", 2)
    assert playouts.playout_seconds(3) > 0
