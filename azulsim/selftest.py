"""Checks of the engine and of the statistics on each other: games whose truth is known are played and judged.

What must be zero is zero to the last point; what is drawn has its law; what is planted is found, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats as law

from azulsim.arena import Block, Probes, Tables, play_block
from azulsim.errors import InputError
from azulsim.experiment.lineups import list_seatings
from azulsim.questions.text import align
from azulsim.rules import Rules
from azulsim.schema import OTHER, PROBE_KINDS, TAKE, TAKE_ONLY
from azulsim.stats import Estimate, compare_independent, compare_paired, fit_ratings
from azulsim.strategy.definition import Speed

LEAST_DEALS = 200
BATCH = 50
"""Deals of one test between two names of one strategy."""
SHARDS = 10
ALPHA = 1e-4
"""A law is refused below this p-value."""
BONUS = 5
"""Points planted for whoever starts a round."""
STRENGTH, SLACK = 5.0, 3.0
"""A planted effect must be this many standard errors great, and be met within so many."""
MIXED = ("greedy", "noisy(greedy, eps=0.3)", "uniform")


@dataclass(frozen=True)
class Check:
    """One check."""

    what: str
    expected: str
    found: str
    passed: bool


@dataclass(frozen=True)
class SelfTest:
    """What came of all checks; printing it prints a table."""

    deals: int
    seed: int
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """True if every check passed."""
        return all(check.passed for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data for JSON."""
        return {**asdict(self), "passed": self.passed}

    def __str__(self) -> str:
        rows = [["what", "expected", "found", "verdict"]]
        rows += [[c.what, c.expected, c.found, "passed" if c.passed else "FAILED"] for c in self.checks]
        failed = sum(not check.passed for check in self.checks)
        verdict = f"{failed} of {len(self.checks)} checks failed" if failed else f"all {len(self.checks)} checks passed"
        return f"{align(rows, set())}\n\n{verdict} ({self.deals:,} deals, seed {self.seed})"


def selftest(*, deals: int = 10_000, seed: int = 0, progress: Callable[[str], None] = lambda _: None) -> SelfTest:
    """Play games whose truth is known, and judge engine and statistics by them.

    Parameters
    ----------
    deals : int
        Deals of most checks; more find smaller faults.
    seed : int
        Root of all luck. Of a hundred seeds about one fails a check by chance.
    progress : callable
        Told the name of each group of checks before it begins.

    Raises
    ------
    InputError
        For fewer than 200 deals, with which a planted effect would not stand out.
    """
    if deals < LEAST_DEALS:
        raise InputError(f"deals = {deals}: must be at least {LEAST_DEALS}, or planted effects do not stand out")
    groups = {
        "dealing": _check_deals,
        "shards": _check_shards,
        "one strategy under two names": _check_names,
        "rules against themselves": _check_rules,
        "planted handicap": _check_handicap,
        "planted starter bonus": _check_bonus,
        "what must be zero": _check_zeros,
        "new names and orders": _check_order,
    }
    checks: list[Check] = []
    for name, check in groups.items():
        progress(name)
        checks += check(deals, seed)
    return SelfTest(deals, seed, tuple(checks))


def _play(
    lineup: Sequence[str],
    deals: range | int,
    seed: int,
    *,
    rules: Rules | None = None,
    seatings: Sequence[tuple[int, ...]] | None = None,
    speed: Speed | None = None,
    **more: Any,
) -> Tables:
    """Play a line-up, each player under a name of its own, in all rotations if no seatings are given."""
    deals = range(deals) if isinstance(deals, int) else deals
    names = tuple(str(player) for player in range(len(lineup)))
    block = Block(
        cell=0,
        players=len(lineup),
        rules=rules or Rules(),
        lineup=tuple(lineup),
        spec_codes=tuple(range(len(lineup))),
        seatings=tuple(seatings or list_seatings(names, "cyclic")),
        seed=seed,
        first_deal=deals.start,
        n_deals=len(deals),
    )
    return play_block(replace(block, **more), speed=speed)


def _check_deals(deals: int, seed: int) -> Iterator[Check]:
    """Compare what is dealt with drawing without replacement."""
    rounds = _play(("uniform", "uniform"), deals, seed, seatings=[(0, 1)], depth="rounds").rounds
    rounds = rounds[(rounds["seat"] == 0) & (rounds["round"] <= 5)]
    tiles = np.array([list(text) for text in rounds["displays"].astype(str)]).reshape(deals, 5, 20)
    for what, count, drawn in (
        ("blue tiles on the first display", (tiles[:, 0, :4] == "B").sum(axis=1), 4),
        ("red tiles of the first two rounds", (tiles[:, :2] == "R").sum(axis=(1, 2)), 40),
    ):
        p = _test_law(count, law.hypergeom(100, 20, drawn), drawn)
        yield Check(what, f"hypergeometric, p > {ALPHA:g}", f"p = {p:.2g}", p > ALPHA)
    wrong = sum(int(((tiles == color).sum(axis=(1, 2)) != 20).sum()) for color in "BYRKW")
    yield _expect_zero("colors not dealt 20 times in five rounds", wrong)


def _test_law(count: npt.NDArray[np.int64], expected_law: Any, most: int) -> float:
    """Return the p-value of the chi-square test of counts against a law, rare outcomes put together."""
    expected = expected_law.pmf(np.arange(most + 1)) * len(count)
    seen = np.bincount(count, minlength=most + 1).astype(float)
    common = expected >= 10
    groups = np.array([np.append(column[common], column[~common].sum()) for column in (seen, expected)])
    groups = groups[:, groups[1] > 1e-6]
    return float(law.chisquare(groups[0], groups[1] * groups[0].sum() / groups[1].sum()).pvalue)


def _check_shards(deals: int, seed: int) -> Iterator[Check]:
    """Compare scores between ranges of deals."""
    games = _play(("greedy", "greedy"), deals, seed, seatings=[(0, 1)]).games
    scores = games["score"][games["seat"] == 0]
    quarter = np.searchsorted(np.quantile(scores, [0.25, 0.5, 0.75]), scores)
    shard = np.arange(deals) * SHARDS // deals
    p = float(law.chi2_contingency(np.bincount(shard * 4 + quarter, minlength=SHARDS * 4).reshape(SHARDS, 4)).pvalue)
    yield Check(f"scores in {SHARDS} ranges of deals", f"alike, p > {ALPHA:g}", f"p = {p:.2g}", p > ALPHA)


def _check_names(deals: int, seed: int) -> Iterator[Check]:
    """Test one strategy against itself under another name, in many small tournaments."""
    p_values = []
    for players in (2, 3, 4):
        games = _play(("greedy",) * players, deals // BATCH * BATCH, seed).games
        one, two = (games[games["spec"] == name] for name in (0, 1))
        for batch in range(deals // BATCH):
            inside = slice(batch * BATCH * players, (batch + 1) * BATCH * players)
            sides = [(side["score"][inside].astype(float), side["deal"][inside]) for side in (one, two)]
            p_values.append(compare_paired(sides[0][0], sides[1][0], sides[0][1], sides[1][1]).p_value)
    n = len(p_values)
    low, high = (int(law.binom.ppf(tail, n, 0.05)) for tail in (0.001, 0.999))
    rejected = sum(p < 0.05 for p in p_values)
    what = "greedy against itself under another name"
    yield Check(
        f"{what}: told apart at 5 %",
        f"{low} to {high} of {n} tests",
        f"{rejected} ({100 * rejected / n:.1f} %)",
        low <= rejected <= high,
    )
    p = float(law.kstest(p_values, "uniform").pvalue)
    yield Check(f"{what}: p-values", "uniform, p > 0.001", f"p = {p:.2g}", p > 0.001)


def _check_rules(deals: int, seed: int) -> Iterator[Check]:
    """Play the same rules twice, as two cells of an experiment."""
    for players in (2, 4):
        lineup = (*MIXED, "greedy")[:players]
        sides = [_play(lineup, deals // 10, seed, rules=Rules(), cell=cell).games for cell in (0, 1)]
        yield _expect_zero(f"rules against themselves, {players} players: scores that differ", _count_gaps(*sides))


def _count_gaps(one: npt.NDArray[Any], two: npt.NDArray[Any]) -> int:
    """Count the rows that differ in anything but the game's number, its cell, and the name of the strategy."""
    names = [name for name in one.dtype.names or () if name not in ("game", "cell", "spec", "seating")]
    return len(one) + len(two) if len(one) != len(two) else int((one[names] != two[names]).sum())


def _check_handicap(deals: int, seed: int) -> Iterator[Check]:
    """Let the second of two equals play at random, and thus lose, in one half of the deals."""
    half = deals // 2
    parts = [
        _play(("greedy", other), part, seed).games
        for other, part in (("greedy", range(half)), ("uniform", range(half, 2 * half)))
    ]
    games = np.concatenate(parts)
    one, two = (games[games["spec"] == name] for name in (0, 1))
    found = compare_paired(one["win_share"], two["win_share"], one["deal"], two["deal"], bounds=(0.0, 1.0))
    yield _expect_effect("handicap: losing half of the deals, in win share", 0.5, found, 1 / np.sqrt(2 * half))


def _expect_effect(what: str, truth: float, found: Estimate, ceiling: float) -> Check:
    """Judge a planted effect: met within 3 standard errors, which are small enough to see it and not hidden."""
    met = abs(found.value - truth) <= SLACK * found.se and STRENGTH * found.se <= truth and found.se <= ceiling
    return Check(what, f"{truth:g}, error at most {ceiling:.2g}", f"{found.value:.3f}, error {found.se:.2g}", bool(met))


def _check_bonus(deals: int, seed: int) -> Iterator[Check]:
    """Give points to who starts; what starting the last round is worth must grow by as much."""
    rules = {bonus: Rules(max_rounds=3, score_clamp=False, starter_bonus=bonus) for bonus in (0, BONUS)}
    size = deals // 4
    probes = Probes(rounds=(3,), tempo_continuations=2)

    def value_start(bonus: int, part: range) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """Return what starting the last round is worth to each player of each game, in points, and the deal."""
        rows = _play(("greedy", "greedy"), part, seed, rules=rules[bonus], seatings=[(0, 1)], probes=probes).probes
        score = rows["score"].astype(np.float64).reshape(size, 2, probes.tempo_continuations, 2).mean(axis=2)
        gain = np.stack([score[:, seat, seat] - score[:, 1 - seat, seat] for seat in (0, 1)], axis=1)
        return gain.ravel(), np.repeat(np.arange(part.start, part.stop), 2)

    plain, deal = value_start(0, range(size))
    paid, _ = value_start(BONUS, range(size))
    yield _expect_zero(
        f"starter bonus of {BONUS}, same deals: starts not worth {BONUS} more",
        int((np.abs(paid - plain - BONUS) > 1e-9).sum()),
    )
    apart, deal_apart = value_start(BONUS, range(size, 2 * size))
    found = compare_independent(apart, plain, deal_apart, deal)
    yield _expect_effect(f"starter bonus of {BONUS}, other deals: points more", BONUS, found, 40 / np.sqrt(2 * size))


def _check_zeros(deals: int, seed: int) -> Iterator[Check]:
    """Compare taking the marker with taking it but not starting, where that cannot matter."""
    probes = Probes(per_game=2, decision_continuations=2)
    for what, rules in (("starter by rotation", Rules(next_starter="rotation")), ("last round", Rules(max_rounds=2))):
        for players in (2, 3):
            seatings = [tuple(range(players))]
            lineup = ("greedy",) * players
            rows = _play(lineup, deals // 10, seed, rules=rules, seatings=seatings, probes=probes).probes
            rows = rows[rows["kind"] == PROBE_KINDS.index("decision")]
            arms = [rows[rows["arm"] == arm] for arm in (OTHER, TAKE, TAKE_ONLY)]
            ends = np.full(len(arms[1]), True) if what == "starter by rotation" else arms[1]["next_starter"] < 0
            gaps = int((arms[1][ends]["score"] != arms[2][ends]["score"]).sum())
            found = f"{gaps} of {int(ends.sum())}"
            name = f"{what}, {players} players: ends changed by who took the marker"
            yield Check(name, "0", found, gaps == 0 and bool(ends.any()))


def _check_order(deals: int, seed: int) -> Iterator[Check]:
    """Name the players otherwise, order rows otherwise, and play the slow way: nothing may change."""
    few = deals // 10
    seatings = list_seatings(MIXED, "cyclic")
    plain = _play(MIXED, few, seed, seatings=seatings)
    moved = (2, 0, 1)
    named = _play([MIXED[player] for player in moved], few, seed,
                  seatings=[tuple(moved.index(player) for player in seating) for seating in seatings])  # fmt: skip
    yield _expect_zero("players in another order: results that differ", _count_gaps(plain.games, named.games))
    fast, slow = (_play(MIXED[:2], 10, seed, speed=speed).games for speed in ("compiled", "plain"))
    yield _expect_zero("plain in place of compiled play: results that differ", _count_gaps(fast, slow))
    shuffled = plain.games[np.random.default_rng(seed).permutation(len(plain.games))]
    one, two = (
        fit_ratings(rows["game"], rows["spec"], rows["placement"], rows["deal"], seats=rows["seat"])
        for rows in (plain.games, shuffled)
    )
    yield _expect_zero("rows shuffled: bits of ratings that differ", int((one.theta != two.theta).sum()))
    renamed = fit_ratings(
        *(shuffled["game"], np.array(moved)[shuffled["spec"]], shuffled["placement"], shuffled["deal"]),
        seats=shuffled["seat"],
    )
    gap = float(np.abs(renamed.theta[list(moved)] - one.theta).max())
    yield Check("strategies renamed: ratings", "the same, renamed", f"apart by {gap:.0e}", gap < 1e-6)


def _expect_zero(what: str, found: int) -> Check:
    return Check(what, "0", f"{found:,}", found == 0)
