"""The public kit finds what each strategy below does wrong, and nothing wrong with the good ones."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from test_cli import Command, Done, azul

from azulsim.errors import InputError
from azulsim.testing import Checked, check_strategy

__all__ = ["azul"]

HEAD = "import random\nfrom azulsim.strategy import strategy\nfrom azulsim.strategy.toolbox import nth_move, play\n"

BAD = {
    "cheat": (
        "legal moves only", "illegal_move",
        "@strategy\ndef cheat(scratch, moves, key, params, workspace):\n    return 7\n",
    ),
    "crash": (
        "legal moves only", "raised: KeyError: 'no' .2 players, standard rules, deal 0, ply",
        "@strategy\ndef crash(view, moves, rng):\n    return {}['no'] if view.round == 2 else 0\n",
    ),
    "dicer": (
        "same key, same move", "the second time",
        "@strategy\ndef dicer(view, moves, rng):\n    return random.randrange(len(moves))\n",
    ),
    "counter": (
        "same key, same move", "the second time",
        "seen = []\n@strategy\ndef counter(view, moves, rng):\n    seen.append(1)\n    return len(seen) % len(moves)\n",
    ),
    "rememberer": (
        "same in a new process", "plays other moves in another process",
        "seen = {}\n@strategy\ndef rememberer(view, moves, rng):\n"
        "    return seen.setdefault((tuple(view.displays), view.center, view.seat), len(seen)) % len(moves)\n",
    ),
    "hasher": (
        "same in a new process", "plays other moves in another process",
        "@strategy\ndef hasher(view, moves, rng):\n    return hash(view.center) % len(moves)\n",
    ),
    "spoiler": (
        "changes nothing it is shown|legal moves only", "on a copy, although it says reads_only|illegal_move",
        "@strategy(reads_only=True)\ndef spoiler(scratch, moves, key, params, workspace):\n"
        "    scratch.score[0] += 1\n    return nth_move(scratch, moves, 0)\n",
    ),
    "twofold": (
        "same game at all speeds", "at the speed batched",
        "@strategy\ndef twofold(move):\n    return move.gain + 0.1 * (hasattr(move.gain, 'sum') and move.line)\n",
    ),
}  # fmt: skip


def check(tmp_path: Path, text: str, name: str) -> Checked:
    file = tmp_path / "faulty.py"
    file.write_text(HEAD + text)
    return check_strategy(f"{file}:{name}", deals=2)


@pytest.mark.parametrize("name", [name for name in BAD if name != "twofold"])
def test_each_fault_is_found_and_named(tmp_path: Path, name: str) -> None:
    question, reason, text = BAD[name]
    checked = check(tmp_path, text, name)
    assert not checked.is_good
    faults = [one for one in checked.checks if not one.is_good]
    assert re.fullmatch(question, faults[0].name), checked
    assert re.search(reason, faults[0].detail), checked


@pytest.mark.parametrize("spec", ["row_builder(love=1)", "uniform", "noisy(marker_never(greedy), eps=0.3)"])
def test_good_strategies_are_found_good(spec: str) -> None:
    checked = check_strategy(spec, deals=1)
    assert checked.is_good, checked
    assert re.search(r"compiled [\d.]+[kM] \([\d.]+[kM]? to [\d.]+[kM]?\)", str(checked))


def test_a_slow_fallback_is_a_fault_that_says_why(tmp_path: Path) -> None:
    text = "@strategy\ndef slow(move):\n    return {'gain': move.gain, 1: 2}['gain']\n"
    checked = check(tmp_path, text, "slow")
    assert [one.name for one in checked.checks if not one.is_good] == ["runs as fast as it could"]
    assert "since it cannot be compiled" in str(checked)


def test_an_unknown_strategy_is_bad_input() -> None:
    with pytest.raises(InputError, match="unknown strategy 'gredy'"):
        check_strategy("gredy")


@pytest.mark.parametrize("deals", [0, 10_001, 1.5])
def test_number_of_deals_is_bounded(deals: Any) -> None:
    with pytest.raises(InputError, match=f"deals = {deals}: must be a whole number from 1 to 10000"):
        check_strategy("greedy", deals=deals)


def test_the_commands(azul: Command, tmp_path: Path) -> None:
    made = azul("strategies", "new", "hoard_blue", "--kind", "choose")
    assert (made.code, made.out.split()) == (
        0,
        [str(tmp_path / p) for p in ("strategies/hoard_blue.py", "tests/test_hoard_blue.py")],
    )
    assert "azulsim strategies check hoard_blue" in made.err
    assert azul("strategies", "new", "hoard_blue").code == 2
    checked = azul("strategies", "check", "hoard_blue", "--deals", "1", "--json")
    assert checked.code == 0
    assert json.loads(checked.out)["good"] is True
    shown: Done = azul("strategies", "show", "noisy(hoard_blue(patience=3), eps=0.5)")
    assert shown.code == 0
    assert "eps = 0.5" in shown.out
    assert "patience = 3" in shown.out
    assert "Source: where the idea comes from" in shown.out
    parts = json.loads(azul("strategies", "show", "noisy(greedy)", "--json").out)
    assert [part["kind"] for part in parts] == ["wrapper", "score(move)"]
    assert azul("strategies", "show", "noisy(greedy, no=1)").code == 2
    (tmp_path / "strategies/hoard_blue.py").write_text(
        HEAD + "@strategy\ndef hoard_blue(view, moves, rng):\n    return -1\n"
    )
    bad = azul("strategies", "check", "hoard_blue", "--deals", "1")
    assert bad.code == 1
    assert "BAD" in bad.out
    assert "noisy(...)" in azul("strategies", "list").out
