"""Writes the first version of what people add: a file that works, to be changed."""

from __future__ import annotations

import keyword
import sys
from importlib import resources
from pathlib import Path
from typing import Literal, get_args

from azulsim.catalog import Kind, list_entries
from azulsim.errors import InputError, refuse_unwritable
from azulsim.experiment import make_experiment

StrategyKind = Literal["score", "position", "choose", "move"]
"""Templates of strategies: see docs/STRATEGIES.md, "Four kinds"."""


def write_strategy(name: str, *, kind: StrategyKind = "score", project: Path | None = None) -> tuple[Path, Path]:
    """Write a strategy that plays, and a test that passes, both to be changed; return their paths.

    Parameters
    ----------
    name : str
        The strategy's name, and that of its file.
    kind : str
        What it is given: `"score"` (a move), `"position"` (and the position after it), `"choose"` (any Python), or
        `"move"` (compiled code).
    project : Path, optional
        Folder in which `strategies/` and `tests/` are made; the working directory if left out.

    Raises
    ------
    InputError
        For a name that cannot be used or is taken, or a file that exists.
    """
    if kind not in get_args(StrategyKind):
        raise InputError(f"kind {kind!r}: write one of {', '.join(get_args(StrategyKind))}")
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise InputError(f"strategy {name!r}: write a name of letters, digits and _, such as hoard_blue")
    if name in sys.stdlib_module_names:
        raise InputError(f"strategy {name!r}: a standard module of Python has this name; choose another")
    folder = project or Path.cwd()
    _refuse_taken("strategies", f"strategy {name!r}", name, project)
    strategy, test = folder / "strategies" / f"{name}.py", folder / "tests" / f"test_{name}.py"
    _write({strategy: f"{kind}.py", test: "test_new.py"}, "new_strategy", name)
    return strategy, test


def write_experiment(name: str, *, project: Path | None = None) -> Path:
    """Write an experiment that runs, to be changed; return its path.

    Parameters
    ----------
    name : str
        The experiment's name, and that of its file.
    project : Path, optional
        Folder in which `experiments/` is made; the working directory if left out.

    Raises
    ------
    InputError
        For a name that cannot be used or is taken, or a file that exists.
    """
    make_experiment({"name": name, "lineup": ["greedy"]}, where="new experiment")  # complains of a name that cannot be
    _refuse_taken("experiments", f"experiment {name!r}", name, project)
    path = (project or Path.cwd()) / "experiments" / f"{name}.toml"
    _write({path: "experiment.toml"}, "new-experiment", name)
    return path


def _refuse_taken(kind: Kind, what: str, name: str, project: Path | None) -> None:
    if taken := [entry for entry in list_entries(kind, project=project) if entry.name == name]:
        raise InputError(f"{what}: there is one in {taken[0].path}; choose another name")


def _write(templates: dict[Path, str], placeholder: str, name: str) -> None:
    """Write files from templates in which a placeholder gives way to a name; nothing if one is there already."""
    for path in templates:
        with refuse_unwritable(path):
            is_there = path.exists()
        if is_there:
            raise InputError(f"{path}: exists already, and is not overwritten")
    for path, template in templates.items():
        text = resources.files("azulsim.templates").joinpath(template).read_text(encoding="utf-8")
        with refuse_unwritable(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace(placeholder, name), encoding="utf-8")
