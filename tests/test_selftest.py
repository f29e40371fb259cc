"""The self test: it passes, says so, and finds faults that are put in."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from azulsim import selftest as module
from azulsim.errors import InputError
from azulsim.selftest import Check, SelfTest, selftest


@pytest.fixture(scope="module")
def found() -> SelfTest:
    return selftest(deals=2000, seed=1)


def test_every_check_passes(found: SelfTest) -> None:
    assert [check.what for check in found.checks if not check.passed] == []
    assert len(found.checks) >= 19
    assert "all 19 checks passed (2,000 deals, seed 1)" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["passed"] is True


def test_errors_that_are_too_small_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """With errors of one third, two names of one strategy seem to differ."""

    def boast(first: Any, second: Any, *_: Any, **options: Any) -> Any:
        honest = compare(first, second, *_, **options)
        return replace(honest, se=honest.se / 3, p_value=honest.p_value**3)

    compare = module.compare_paired
    monkeypatch.setattr(module, "compare_paired", boast)
    failed = [check.what for check in module._check_names(2000, 1) if not check.passed]
    assert len(failed) == 2


def test_a_bonus_that_is_not_paid_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stingy(module.Rules):
        """Rules that pay nobody for starting."""

        def __init__(self, **options: Any) -> None:
            super().__init__(**{**options, "starter_bonus": 0})

    monkeypatch.setattr(module, "Rules", Stingy)
    assert not any(check.passed for check in module._check_bonus(400, 1))


def test_play_that_hangs_on_the_cell_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    play = module._play
    monkeypatch.setattr(module, "_play", lambda *a, cell=0, **k: play(*a[:2], a[2] + cell, **k))
    assert not any(check.passed for check in module._check_rules(400, 1))


def test_too_few_deals_are_refused_and_failures_are_counted() -> None:
    with pytest.raises(InputError, match="at least 200"):
        selftest(deals=100)
    text = str(SelfTest(200, 0, (Check("a", "0", "1", passed=False), Check("b", "0", "0", passed=True))))
    assert "FAILED" in text
    assert "1 of 2 checks failed" in text


def test_the_command_prints_the_table_and_ends_with_0() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "azulsim", "selftest", "--deals", "400", "--json"], capture_output=True, text=True
    )
    answer = json.loads(done.stdout)
    assert done.returncode == (0 if answer["passed"] else 1)
    assert answer["passed"]
    assert "checking: dealing" in done.stderr
    few = subprocess.run([sys.executable, "-m", "azulsim", "selftest", "--deals", "10"], capture_output=True, text=True)
    assert few.returncode == 2
    assert "at least 200" in few.stderr


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
def test_it_passes_at_many_seeds(seed: int) -> None:
    failed = [check for check in selftest(deals=20_000, seed=seed).checks if not check.passed]
    assert failed == []
