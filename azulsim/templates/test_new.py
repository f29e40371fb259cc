"""Tests of new_strategy."""

from azulsim.testing import check_strategy


def test_new_strategy_keeps_to_the_rules():
    checked = check_strategy("new_strategy")
    assert checked.is_good, checked
