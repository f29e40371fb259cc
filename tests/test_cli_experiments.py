"""The commands about experiments: what they print, what they write, what they refuse."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from azulsim import cli, read_run
from azulsim.errors import InputError
from azulsim.experiment import read_experiment
from azulsim.scaffold import write_experiment

Command = Callable[..., tuple[int, str, str]]

SWEEP = """\
# What does noise cost?
seed = 3
deals = 2
players = [2, 3]
strategies = ["noisy({who}, eps={eps})"]
schedule = "gauntlet"
against = ["greedy"]
reports = ["ranking"]

[grid]
rules = ["standard", "gray"]
who = ["greedy", "uniform"]
eps = [0, 0.5]
"""


@pytest.fixture
def azul(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run the command in this process, in a working directory that holds one experiment."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sweep.toml").write_text(SWEEP)

    def run(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["azulsim", *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        captured = capsys.readouterr()
        return int(stop.value.code or 0), captured.out, captured.err

    return run


def test_show_says_what_will_be_played(azul: Command, tmp_path: Path) -> None:
    code, out, err = azul("experiments", "show", "sweep.toml", "--set", "seatings=full")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "sweep",
        "What does noise cost?",
        "",
        "strategies  5: greedy, noisy(greedy, eps=0), noisy(greedy, eps=0.5), noisy(uniform, eps=0), "
        "noisy(uniform, eps=0.5)",
        "line-ups    4 at 2, 4 at 3 players, gauntlet",
        "rules       standard",
        "  rules     'standard', 'gray'",
        "  who       'greedy', 'uniform'",
        "  eps       0, 0.5",
        "cells       16 cells x 2 deals, full seatings",
        "games       80 in 16 shards",
        "seed        3",
        "log         games",
        "reports     ranking",
        f"file        {tmp_path / 'sweep.toml'}",
    ]


def test_show_names_the_probes(azul: Command) -> None:
    _, out, _ = azul("experiments", "show", "sweep.toml", "--set", "probes={tempo={rounds=[2,3]},decision={}}")
    probes = "tempo (rounds [2, 3], continuations 4); decision (per_game 1, continuations 16)"
    assert f"probes      {probes}" in out.splitlines()


def test_show_as_json_holds_the_whole_experiment(azul: Command) -> None:
    code, out, _ = azul("experiments", "show", "demo", "--set", "players=[2]", "--json")
    shown = json.loads(out)
    assert code == 0
    assert (shown["name"], shown["lineups"], shown["cells"], shown["games"]) == ("demo", {"2": 10}, 10, 20_000)
    assert shown["experiment"]["rules"]["bonus"] == {"row": 2, "column": 7, "color": 10}


def test_check_says_ok_or_one_sentence(azul: Command, tmp_path: Path) -> None:
    assert azul("experiments", "check", "sweep.toml") == (0, "sweep.toml: ok, 16 cells, 80 games\n", "")
    assert json.loads(azul("experiments", "check", "sweep.toml", "--json")[1])["games"] == 80
    file = tmp_path / "sweep.toml"
    for old, new, sentence in (
        ("deals", "deels", f"{file}: unknown key 'deels'; did you mean 'deals'?"),
        ("ranking", "rnaking", "sweep.toml: reports: unknown report 'rnaking'; did you mean 'ranking'?"),
        ('"greedy"]\nreports', '"gredy"]\nreports', "sweep.toml: against: unknown strategy 'gredy'; did you mean"),
        ("[grid]", "[grid", f"{file}: not valid TOML: "),
    ):
        file.write_text(SWEEP.replace(old, new))
        code, out, err = azul("experiments", "check", "sweep.toml")
        assert (code, out) == (2, "")
        assert err.startswith(f"error: {sentence}")
        assert err.count("\n") == 1


def test_new_writes_an_experiment_that_runs(azul: Command, tmp_path: Path) -> None:
    code, out, err = azul("experiments", "new", "steep-floor")
    path = tmp_path / "experiments" / "steep-floor.toml"
    assert (code, out) == (0, f"{path}\n")
    assert "azulsim run steep-floor" in err
    assert "new-experiment" not in path.read_text()
    assert "steep-floor" in azul("experiments", "list")[1]
    code, out, _ = azul("run", "steep-floor", "--deals", "3", "--jobs", "1", "--set", "reports=[]")
    assert code == 0
    assert out.startswith("48 games, ")
    assert set(read_run("runs/steep-floor").cells) >= {"rules.marker_cost", "eps"}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../up", r"name = '\.\./up': must match pattern"),
        ("", "name = '': must match pattern"),
        ("demo", r"there is one in .*demo\.toml; choose another name"),
    ],
)
def test_a_name_that_cannot_be_used(tmp_path: Path, name: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        write_experiment(name, project=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_run_can_be_filtered_by_all_that_varies_and_be_made_again(azul: Command) -> None:
    overrides = ["--set", 'strategies=["noisy({who}, eps={eps})", "uniform.py:uniform*"]', "--set", "reports=[]"]
    overrides += ["--set", "schedule=round_robin", "--set", "against=[]", "--set", "players=[2]", "--set", "deals=1"]
    assert azul("run", "sweep.toml", "--jobs", "1", *overrides)[0] == 0
    run = read_run("runs/sweep")
    assert {"rules", "who", "eps"} <= set(run.cells)
    noisy = run.games(columns=["cell", "spec"], filters={"eps": 0.5, "who": "uniform", "rules": "gray"})
    assert set(noisy["spec"]) == {"noisy(uniform, eps=0.5)", "uniform", "uniform_lines", "uniform_no_floor"}
    assert run.cells["eps"].isna().sum() == 6, "three line-ups without noise, on both sides"
    kept = read_experiment("runs/sweep/experiment.toml")
    assert kept.strategies == ("noisy({who}, eps={eps})", "uniform", "uniform_lines", "uniform_no_floor")
    code = azul("run", "runs/sweep/experiment.toml", "--out", "again", "--jobs", "1")[0]
    assert code == 0
    assert read_run("again").hashes == run.hashes
