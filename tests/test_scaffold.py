"""What `azulsim strategies new` writes works as it is, and nothing is ever overwritten."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from azulsim.errors import InputError
from azulsim.registry import make_strategy
from azulsim.scaffold import StrategyKind, write_strategy

SHAPES = {"score": "score", "position": "score_position", "choose": "choose", "move": "move"}


@pytest.mark.parametrize("kind", get_args(StrategyKind))
def test_every_kind_runs_at_the_fastest_speed_of_its_kind(tmp_path: Path, kind: StrategyKind) -> None:
    strategy, test = write_strategy("my_idea", kind=kind, project=tmp_path)
    assert (strategy, test) == (tmp_path / "strategies/my_idea.py", tmp_path / "tests/test_my_idea.py")
    player = make_strategy("my_idea", project=tmp_path)
    assert player.definition.shape == SHAPES[kind]
    assert player.fallback == ""
    assert "new_strategy" not in strategy.read_text() + test.read_text()


def test_its_test_passes_in_a_folder_of_ones_own(tmp_path: Path) -> None:
    write_strategy("my_idea", project=tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("no way", "write a name of letters"),
        ("../up", "write a name of letters"),
        ("_hidden", "write a name of letters"),
        ("class", "write a name of letters"),
        ("random", "a standard module of Python has this name"),
        ("greedy", r"there is one in .*greedy\.py; choose another name"),
    ],
)
def test_a_name_that_cannot_be_used(tmp_path: Path, name: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        write_strategy(name, project=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_mine.py").write_text("precious")
    with pytest.raises(InputError, match=r"test_mine\.py: exists already"):
        write_strategy("mine", project=tmp_path)
    assert not (tmp_path / "strategies").exists()
    assert (tmp_path / "tests/test_mine.py").read_text() == "precious"
