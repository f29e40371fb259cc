"""The public kit for people who test strategies, rules or engines of their own."""

from azulsim.testing.perft import count_sequences
from azulsim.testing.strategies import Check, Checked, check_strategy

__all__ = ["Check", "Checked", "check_strategy", "count_sequences"]
