"""Statistics: arrays in, frozen results out; knows nothing of Azul, and what it gives is always finite.

Methods, assumptions and how each is checked: docs/METHODS.md.
"""

from azulsim.stats.crossing import Crossing, estimate_crossing
from azulsim.stats.distances import Distances, estimate_distances
from azulsim.stats.hypotheses import (
    Equivalence,
    JointTest,
    adjust_fdr,
    adjust_holm,
    assess_equal_means,
    assess_equivalence,
    compute_power,
    plan_clusters,
)
from azulsim.stats.intervals import (
    Difference,
    Estimate,
    Estimates,
    compare_independent,
    compare_paired,
    estimate_by_group,
    estimate_mean,
    estimate_proportion,
    estimate_ratio,
    estimate_ratio_by_group,
)
from azulsim.stats.nash import NashAverages, estimate_nash, solve_nash
from azulsim.stats.pairs import ELO_SCALE, PairSummary, summarize_pairs, to_elo
from azulsim.stats.payoff import Payoffs, assess_cycles, estimate_payoffs
from azulsim.stats.ratings import RatingFit, Ratings, assess_fit, fit_ratings
from azulsim.stats.resample import Ranks, draw_cluster_weights, estimate_quantiles, estimate_ranks
from azulsim.stats.sequential import (
    Verdict,
    compute_anytime_radius,
    estimate_anytime,
    judge_interval,
    list_looks,
)
from azulsim.stats.signs import SignShare, estimate_share_above
from azulsim.stats.variance import (
    Separation,
    VarianceShares,
    estimate_known_shares,
    estimate_separation,
    estimate_variance_shares,
)

__all__ = [
    "ELO_SCALE",
    "Crossing",
    "Difference",
    "Distances",
    "Equivalence",
    "Estimate",
    "Estimates",
    "JointTest",
    "NashAverages",
    "PairSummary",
    "Payoffs",
    "Ranks",
    "RatingFit",
    "Ratings",
    "Separation",
    "SignShare",
    "VarianceShares",
    "Verdict",
    "adjust_fdr",
    "adjust_holm",
    "assess_cycles",
    "assess_equal_means",
    "assess_equivalence",
    "assess_fit",
    "compare_independent",
    "compare_paired",
    "compute_anytime_radius",
    "compute_power",
    "draw_cluster_weights",
    "estimate_anytime",
    "estimate_by_group",
    "estimate_crossing",
    "estimate_distances",
    "estimate_known_shares",
    "estimate_mean",
    "estimate_nash",
    "estimate_payoffs",
    "estimate_proportion",
    "estimate_quantiles",
    "estimate_ranks",
    "estimate_ratio",
    "estimate_ratio_by_group",
    "estimate_separation",
    "estimate_share_above",
    "estimate_variance_shares",
    "fit_ratings",
    "judge_interval",
    "list_looks",
    "plan_clusters",
    "solve_nash",
    "summarize_pairs",
    "to_elo",
]
