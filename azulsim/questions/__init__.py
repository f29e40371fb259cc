"""Questions asked in a few words: an experiment made, run, and read in one call."""

from azulsim.questions.marker import MarkerValue, value_marker
from azulsim.questions.ranking import Comparison, compare, format_ranking, rank
from azulsim.questions.rules import RuleComparison, whatif
from azulsim.questions.words import read_players, read_prices, read_target, read_values

__all__ = [
    "Comparison",
    "MarkerValue",
    "RuleComparison",
    "compare",
    "format_ranking",
    "rank",
    "read_players",
    "read_prices",
    "read_target",
    "read_values",
    "value_marker",
    "whatif",
]
