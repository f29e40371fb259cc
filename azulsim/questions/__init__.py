"""Questions asked in a few words: an experiment made, run, and read in one call."""

from azulsim.questions.ranking import Comparison, compare, format_ranking, rank

__all__ = ["Comparison", "compare", "format_ranking", "rank"]
