"""Tunes the parameters of a strategy by play: a search by CMA-ES, then a validation on deals it never saw.

    search = Search(strategy="column_builder", against=["greedy", "short_liner"], generations=50)
    print(tune(search, out="weights.toml"))

All candidates of a generation play the same deals in all seatings, so that luck moves them together; every generation
has new deals, so that no deal is learned by heart; and the deals grow, since candidates get closer to each other. What
is found is the mean of the search distribution, averaged over the last quarter of the generations: the best single
candidate would be the luckiest. See docs/TUNING.md.
"""

from __future__ import annotations

import copy
import json
import math
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
import tomli_w
from pydantic import Field

from azulsim import __version__, arena, registry
from azulsim.config import Frozen, validate
from azulsim.engine.record import SEAT, make_template
from azulsim.errors import InputError, RunError, did_you_mean, refuse_unwritable
from azulsim.experiment import list_seatings
from azulsim.jobs import count_workers
from azulsim.rules import MAX_PLAYERS, MIN_PLAYERS, Rules
from azulsim.stats import Difference, Estimate, compare_paired, estimate_mean
from azulsim.strategy import Strategy

Objective = Literal["margin", "win_share", "both"]

POINTS_PER_WIN = 50.0
"""Points of margin that weigh as much as one win in the objective `both`: about what a win is worth between equals."""
GROWTH = 4
"""The last generation plays so many times the deals of the first."""
AVERAGED_SHARE = 0.25
"""The last part of the generations, over which the mean of the search is averaged."""
SHARE_BETWEEN_LINES = 0.05
LABEL = 40
"""Letters of an opponent's spec in the table of results."""
DIGITS = 4
"""Significant digits of what is found: what is validated is what the spec says."""


class Search(Frozen):
    """A search for good parameters of one strategy: which ones, against whom, and how much play.

    In Python, lists may stand for tuples.

    >>> Search(strategy="column_builder", against=["greedy"]).objective
    'margin'
    """

    strategy: str
    """Spec of the strategy; its parameters are where the search starts."""
    against: Annotated[tuple[str, ...], Field(min_length=1)]
    """Specs of the opponents. A candidate sits with as many copies of one as there are other seats, each in turn."""
    players: Annotated[int, Field(ge=MIN_PLAYERS, le=MAX_PLAYERS)] = 2
    rules: Rules = Rules()
    seed: Annotated[int, Field(ge=0, lt=1 << 63)] = 0
    """Root of all luck, of the deals and of the search."""
    generations: Annotated[int, Field(ge=1, le=100_000)] = 100
    population: Annotated[int, Field(ge=4, le=10_000)] | None = None
    """Candidates of a generation; twice as many as CMA-ES has by default if left out, since games are noisy."""
    deals: Annotated[int, Field(ge=1, le=1_000_000)] = 100
    """Deals that each candidate plays against each opponent in the first generation; four times as many in the last."""
    validation_deals: Annotated[int, Field(ge=2, le=10_000_000)] = 5000
    """New deals on which what was found is compared with the start."""
    objective: Objective = "margin"
    """What is made large: `margin`, own score minus the best other; `win_share`; `both`, win share plus margin/50."""
    start: dict[str, Annotated[float, Field(allow_inf_nan=False)]] = Field(default_factory=dict)
    """Starting values in place of those of the spec."""
    only: tuple[str, ...] = ()
    """Parameters to search; all if left out."""
    fix: tuple[str, ...] = ()
    """Parameters to leave as they are."""
    scale: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(default_factory=dict)
    """First standard deviation of a parameter; half its starting value, and at least 0.25, if left out."""
    bounds: dict[str, tuple[float, float]] = Field(default_factory=dict)
    """Least and greatest value of a parameter."""

    def deals_of(self, generation: int) -> range:
        """Return the deals of a generation (counted from 0); they come after those of all generations before."""
        first = sum(map(self._n_deals, range(generation)))
        return range(first, first + self._n_deals(generation))

    def _n_deals(self, generation: int) -> int:
        return self.deals + self.deals * (GROWTH - 1) * generation // max(1, self.generations - 1)

    def held_out(self) -> range:
        """Return the deals of the validation: none of them is played by the search."""
        first = self.deals_of(self.generations - 1).stop
        return range(first, first + self.validation_deals)


@dataclass(frozen=True)
class Match:
    """What the validation saw against one opponent."""

    opponent: str
    found: Estimate
    """Win share of what was found."""
    start: Estimate
    """Win share of the start on the same deals."""
    gain: Difference
    """The first minus the second, paired by deal."""
    margin: Difference
    """The same of the margin, points."""


@dataclass(frozen=True)
class Tuning:
    """What a search has found, and what it is worth; printing it says both."""

    search: Search
    spec: str
    """The strategy with the parameters found, to be pasted into `compare`."""
    start_spec: str
    weights: Mapping[str, float]
    """All parameters of what was found, in order of definition."""
    start: Mapping[str, float]
    matches: tuple[Match, ...]
    """One an opponent, on the held-out deals."""
    gain: Difference
    """Win share found minus start, over all opponents, paired by deal."""
    head_to_head: Estimate
    """Win share of what was found in one seat against the start in all others."""
    out: Path | None = None
    """The file of weights."""

    @property
    def is_improvement(self) -> bool:
        """True if the held-out games against the opponents show that what was found wins more than the start."""
        return self.gain.low > 0

    @property
    def verdict(self) -> str:
        """One sentence on what the held-out games show."""
        if self.is_improvement:
            text = f"improved: win share up by {self.gain} on deals that the search never saw"
            fair = 1 / self.search.players
            return text + (", but it loses to its start head to head" if self.head_to_head.high < fair else "")
        if self.gain.high < 0:
            return f"worse: win share {self.gain} on deals that the search never saw; keep the start"
        return (
            f"no improvement seen: win share {self.gain} on deals that the search never saw, where a gain of "
            f"{self.gain.mde:.3f} would likely have been noticed; keep the start"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what was found and its validation as plain values."""
        return {
            "spec": self.spec,
            "start_spec": self.start_spec,
            "verdict": self.verdict,
            "is_improvement": self.is_improvement,
            "weights": dict(self.weights),
            "start": dict(self.start),
            "validation": {
                "deals": self.search.validation_deals,
                "first_deal": self.search.held_out().start,
                "gain": _numbers(self.gain),
                "head_to_head": _numbers(self.head_to_head),
                "against": [
                    {
                        "opponent": match.opponent,
                        "found": _numbers(match.found),
                        "start": _numbers(match.start),
                        "gain": _numbers(match.gain),
                        "margin_gain": _numbers(match.margin),
                    }
                    for match in self.matches
                ],
            },
            "file": str(self.out) if self.out else None,
        }

    def __str__(self) -> str:
        labels = [_shorten(match.opponent) for match in self.matches]
        width = max(map(len, labels))
        fair = f"{1 / self.search.players:.3f}".lstrip("0")
        lines = [
            f"win share at {self.search.players} players on {self.search.validation_deals:,} held-out deals, all "
            f"seatings, 95 % intervals; {fair} is fair",
            *(
                f"  against {label:<{width}}  {match.found} found, {match.start} start, gain {match.gain}; "
                f"margin gain {match.margin} points"
                for label, match in zip(labels, self.matches, strict=True)
            ),
            f"  against its start: {self.head_to_head}",
            self.verdict,
            f"file: {self.out}" if self.out else "",
            "" if self.is_improvement else f"found: {self.spec}",
            f"spec: {self.spec if self.is_improvement else self.start_spec}",
        ]
        return "\n".join(line for line in lines if line)


def _shorten(spec: str) -> str:
    return spec if len(spec) <= LABEL else f"{spec[: LABEL - 3]}..."


def tune(
    search: Search,
    *,
    out: str | Path | None = None,
    jobs: int | None = None,
    project: Path | None = None,
    progress: bool = False,
    command: str = "",
) -> Tuning:
    """Search for better parameters, and validate them against the start on new deals.

    The result depends on the search alone, not on `jobs` nor on interruptions.

    Parameters
    ----------
    search
        What to search.
    out
        File to write the weights to, with where they come from. After each generation the state of the search goes to
        a file of the same name with `.part` added; the same call goes on from it, and removes it at the end.
    jobs
        Threads that play; as many as there are cores if left out. Only compiled strategies gain from more.
    project
        Folder in which strategies are looked up besides the bundled ones; the working directory if left out.
    progress
        True to say on stderr how far it has got.
    command
        The command that does it again, for the file.

    Raises
    ------
    InputError
        For a strategy without parameters, an unknown one, nothing left to search, bounds that leave the start out, or
        a file that is there already or holds another search.
    RunError
        If a strategy fails, or no searched parameter changes any game.
    """
    workers = count_workers(jobs)
    players = _Players(search, project)
    names = _list_searched(search, players.start)
    file = Path(out) if out is not None else None
    if file is not None:
        with refuse_unwritable(file):
            is_there = file.exists()
        if is_there:
            raise InputError(f"{file}: is there already; remove it or choose another file with --out")
    sources = {spec: registry.hash_sources(spec, project=project) for spec in (search.strategy, *search.against)}
    state = _State(Path(f"{file}.part") if file is not None else None, _describe_state(search, names, sources))
    try:
        with ThreadPoolExecutor(workers) as threads:
            table = _Table(search, players.opponents, threads)
            found = _search(search, players.start, names, table, state, progress)
            result = _validate(search, players, found, table, file)
    except KeyboardInterrupt as stop:
        if file is not None:
            stop.add_note(f"finished generations are kept in {file}.part; the same command goes on with them")
        raise
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_write_toml(result, names, sources, command), encoding="utf-8")
    state.remove()
    return result


class _Players:
    """The strategy that is tuned, at its start, and its opponents, all compiled."""

    def __init__(self, search: Search, project: Path | None) -> None:
        base = arena.make_players([search.strategy], project=project)[0]
        if not base.params:
            raise InputError(f"{search.strategy}: has no parameters to tune")
        for name in search.start:
            _check_name(search.strategy, "start", name, base.params)
        self.opponents = arena.make_players(search.against, project=project)
        is_general = bool(make_template(search.rules, search.players)["is_general"][0])
        for strategy in (base, *self.opponents):
            strategy.fill_seat(np.zeros(1, SEAT)[0], is_general=is_general)  # compiled now: threads must not
        self.start = vary(base, search.start)


def vary(strategy: Strategy, values: Mapping[str, float]) -> Strategy:
    """Return a strategy with other values of some parameters; what is compiled already is shared."""
    other = copy.copy(strategy)
    other.params = {**strategy.params, **values}
    other.__dict__.pop("param_array", None)
    other.spec = str(_merge_params(registry.parse_spec(strategy.spec), values))
    return other


def _merge_params(spec: registry.Spec, params: Mapping[str, float]) -> registry.Spec:
    """Return a spec with other parameters of its strategy, whatever the defaults are; wrappers stay."""
    if spec.inside is None:
        return registry.Spec(spec.name, {**spec.params, **params})
    return registry.Spec(spec.name, spec.params, _merge_params(spec.inside, params))


def _check_name(spec: str, key: str, name: str, params: Mapping[str, float]) -> None:
    if name not in params:
        raise InputError(f"{key}: {spec} has no parameter {name!r}{did_you_mean(name, params)}")


def _list_searched(search: Search, start: Strategy) -> list[str]:
    """Return the parameters to search, in order of definition."""
    for key in ("only", "fix", "scale", "bounds"):
        for name in getattr(search, key):
            _check_name(search.strategy, key, name, start.params)
    for name in {*search.only} & {*search.fix}:
        raise InputError(f"only, fix: both name {name!r}")
    names = [name for name in start.params if name in (search.only or start.params) and name not in search.fix]
    if not names:
        raise InputError(f"fix: nothing is left to search; {search.strategy} has {', '.join(start.params)}")
    for name, (low, high) in search.bounds.items():
        if not low <= start.params[name] <= high or low == high:
            raise InputError(
                f"bounds: {name} starts at {start.params[name]:g}, which must lie in {low:g} to {high:g}, a range"
            )
    return names


# Games


@dataclass(frozen=True)
class _Results:
    """Results of one strategy, one entry a game."""

    deals: npt.NDArray[np.int64]
    win_shares: npt.NDArray[np.float64]
    margins: npt.NDArray[np.float64]

    def value(self, objective: Objective) -> float:
        """Return the mean of the objective over games."""
        margin, win_share = float(self.margins.mean()), float(self.win_shares.mean())
        if objective == "both":
            return win_share + margin / POINTS_PER_WIN
        return margin if objective == "margin" else win_share


class _Table:
    """Where strategies meet opponents, on many threads."""

    def __init__(self, search: Search, opponents: Sequence[Strategy], threads: ThreadPoolExecutor) -> None:
        self._search, self._opponents, self._threads = search, opponents, threads

    def play(self, strategies: Sequence[Strategy], deals: range) -> list[list[_Results]]:
        """Return the results of each strategy against each opponent on the same deals."""
        pairs = [(strategy, opponent) for strategy in strategies for opponent in self._opponents]
        results = list(self._threads.map(lambda pair: self.meet(pair[0], pair[1], deals), pairs))
        n = len(self._opponents)
        return [results[i * n : (i + 1) * n] for i in range(len(strategies))]

    def meet(self, strategy: Strategy, opponent: Strategy, deals: range) -> _Results:
        """Return the results of a strategy in one seat, any in turn, with an opponent in all others."""
        players = self._search.players
        lineup = (strategy, *[opponent] * (players - 1))
        block = arena.Block(
            cell=0,
            players=players,
            rules=self._search.rules,
            lineup=tuple(player.spec for player in lineup),
            spec_codes=(0, *[1] * (players - 1)),
            seatings=list_seatings(("0", *["1"] * (players - 1)), "cyclic"),
            seed=self._search.seed,
            first_deal=deals.start,
            n_deals=len(deals),
        )
        tables = arena.play_block(block, strategies=lineup)
        if tables.failures:
            failure = tables.failures[0]
            raise RunError(f"{failure['spec']} failed in deal {failure['deal']}: {failure['message']}")
        games = tables.games.reshape(-1, players)
        is_own = games["spec"] == 0
        scores = games["score"].astype(np.float64)
        best_other = np.where(is_own, -np.inf, scores).max(axis=1)
        return _Results(games["deal"][:, 0].astype(np.int64), games["win_share"][is_own], scores[is_own] - best_other)


# The search


class _State:
    """The values of all candidates so far, in a file: with them a search can be repeated without playing."""

    def __init__(self, file: Path | None, header: dict[str, Any]) -> None:
        self._file = file
        self.generations: list[list[float]] = []
        if file is None:
            return
        with refuse_unwritable(file):
            is_begun = file.exists()
        if is_begun:
            self._read(file, header)
        else:
            with refuse_unwritable(file):
                file.parent.mkdir(parents=True, exist_ok=True)
                self._append(header)

    def _read(self, file: Path, header: dict[str, Any]) -> None:
        lines = []
        for line in file.read_text(encoding="utf-8").splitlines():
            try:
                lines.append(json.loads(line))
            except json.JSONDecodeError:
                break  # the line that was being written when the search was interrupted
        if not lines or lines[0] != header:
            raise InputError(f"{file} holds another search, begun and not finished; remove it or choose another --out")
        self.generations = lines[1:]
        file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")

    def add(self, values: list[float]) -> None:
        self.generations.append(values)
        self._append(values)

    def _append(self, value: Any) -> None:
        if self._file is not None:
            with self._file.open("a", encoding="utf-8") as stream:
                stream.write(f"{json.dumps(value)}\n")

    def remove(self) -> None:
        if self._file is not None:
            self._file.unlink()


def _describe_state(search: Search, names: list[str], sources: dict[str, str]) -> dict[str, Any]:
    return {
        "azulsim": __version__,
        "search": search.model_dump(mode="json", by_alias=True),
        "names": names,
        "sources": sources,
    }


def _search(
    search: Search, start: Strategy, names: list[str], table: _Table, state: _State, progress: bool
) -> dict[str, float]:
    """Return the values found of the parameters that are searched."""
    evolution = _make_evolution(search, start, names)
    means = []
    watch = _Watch(search, evolution.popsize, len(state.generations)) if progress else None
    for generation in range(search.generations):
        candidates = evolution.ask()
        if generation < len(state.generations):
            values = state.generations[generation]
        else:
            strategies = [vary(start, dict(zip(names, map(float, x), strict=True))) for x in candidates]
            played = table.play(strategies, search.deals_of(generation))
            values = [float(np.mean([result.value(search.objective) for result in results])) for results in played]
            if generation == 0 and _are_equal(played):
                raise RunError(f"{search.strategy}: {', '.join(names)} changed no game; there is nothing to search")
            state.add(values)
            if watch:
                watch.follow(generation, values, float(evolution.sigma))
        evolution.tell(candidates, [-value for value in values])
        means.append(evolution.result.xfavorite)
    last = means[-max(1, math.ceil(AVERAGED_SHARE * len(means))) :]
    return {name: round_value(value) for name, value in zip(names, np.mean(last, axis=0), strict=True)}


def _are_equal(played: Sequence[Sequence[_Results]]) -> bool:
    """Tell whether all candidates had the same results in every game."""
    return all(
        np.array_equal(first.margins, other.margins) for first, *others in zip(*played, strict=True) for other in others
    )


def round_value(value: float) -> float:
    """Return a number with as many significant digits as weights are written with."""
    return float(f"{value:.{DIGITS}g}")


def _make_evolution(search: Search, start: Strategy, names: list[str]) -> Any:
    """Return a CMA-ES whose luck is its own."""
    import cma

    rng = np.random.default_rng(search.seed)
    values = [start.params[name] for name in names]
    population = search.population or 2 * int(4 + 3 * math.log(len(names)))
    limits = start.definition.limits
    bounds = [search.bounds.get(name, limits.get(name, (None, None))) for name in names]
    options = {
        "CMA_stds": [search.scale.get(name, max(0.5 * abs(start.params[name]), 0.25)) for name in names],
        "bounds": [[low for low, _ in bounds], [high for _, high in bounds]],
        "popsize": population,
        "randn": lambda size, dimension: rng.standard_normal((size, dimension)),
        "seed": math.nan,  # else it would seed NumPy's global generator
        "verbose": -9,
    }
    return cma.CMAEvolutionStrategy(values, 1.0, options)


class _Watch:
    """Says now and then how far a search has got."""

    def __init__(self, search: Search, population: int, done: int) -> None:
        self._search, self._first, self._began = search, done, time.monotonic()
        self._next = float(done)
        deals = search.held_out().start - self._deals(0, done)
        games = population * deals * search.players * len(search.against)
        tell(
            f"tune {search.strategy}: {search.generations:,} generations of {population:,}"
            f"{f', {done:,} done already' if done else ''}, {games:,} games to play at {search.players} players, "
            f"seed {search.seed}, azulsim {__version__}"
        )

    def follow(self, generation: int, values: list[float], step: float) -> None:
        """Write a line, unless the last one was a moment ago."""
        total = self._search.generations
        if generation + 1 < max(self._next, 1) and generation + 1 < total:
            return
        self._next = generation + 1 + SHARE_BETWEEN_LINES * total
        seconds = time.monotonic() - self._began
        played, planned = (self._deals(self._first, end) for end in (generation + 1, total))
        left = seconds * (planned - played) / played
        tell(
            f"  generation {generation + 1:,}/{total:,}: {self._search.objective} {np.mean(values):.3f} on average, "
            f"{max(values):.3f} at best, step {step:.2f}; {seconds:.0f} s, {left:.0f} s left"
        )

    def _deals(self, first: int, end: int) -> int:
        return self._search.deals_of(end).start - self._search.deals_of(first).start


def tell(text: str) -> None:
    """Write a line to stderr."""
    print(text, file=sys.stderr, flush=True)


# The validation


def _validate(
    search: Search, players: _Players, found: Mapping[str, float], table: _Table, file: Path | None
) -> Tuning:
    """Compare what was found with the start, on deals that the search has not played."""
    better, start, deals = vary(players.start, found), players.start, search.held_out()
    of_better, of_start = table.play([better, start], deals)
    matches = [
        Match(
            opponent=opponent.spec,
            found=_estimate_wins([after]),
            start=_estimate_wins([before]),
            gain=_compare_wins([after], [before]),
            margin=compare_paired(after.margins, before.margins, after.deals, before.deals),
        )
        for opponent, after, before in zip(players.opponents, of_better, of_start, strict=True)
    ]
    return Tuning(
        search=search,
        spec=better.spec,
        start_spec=start.spec,
        weights=better.params,
        start=start.params,
        matches=tuple(matches),
        gain=_compare_wins(of_better, of_start),
        head_to_head=_estimate_wins([table.meet(better, start, deals)]),
        out=file,
    )


def _join(results: Iterable[_Results]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Return win shares and deals of several meetings."""
    parts = [*results]
    return np.concatenate([part.win_shares for part in parts]), np.concatenate([part.deals for part in parts])


def _estimate_wins(results: Sequence[_Results]) -> Estimate:
    win_shares, deals = _join(results)
    return estimate_mean(win_shares, deals, bounds=(0.0, 1.0))


def _compare_wins(first: Sequence[_Results], second: Sequence[_Results]) -> Difference:
    (win_shares, deals), (others, other_deals) = _join(first), _join(second)
    return compare_paired(win_shares, others, deals, other_deals, bounds=(0.0, 1.0))


# The file


def _numbers(estimate: Estimate) -> list[float]:
    """Return an estimate as value, low and high end."""
    return [round(number, 5) for number in (estimate.value, estimate.low, estimate.high)]


def _write_toml(result: Tuning, names: list[str], sources: dict[str, str], command: str) -> str:
    """Return the file of weights as text."""
    search, told = result.search, result.to_dict()
    document = {
        "spec": result.spec,
        "verdict": result.verdict,
        "weights": told["weights"],
        "start": told["start"],
        "validation": told["validation"],
        "search": {
            **search.model_dump(mode="json", by_alias=True, exclude={"rules"}, exclude_none=True),
            "searched": names,
            "deals_last": len(search.deals_of(search.generations - 1)),
            "command": command,
            "azulsim": __version__,
            "cma": _cma_version(),
            "sources": sources,
            "rules": search.rules.model_dump(mode="json", by_alias=True, exclude_defaults=True),
        },
    }
    return "".join(f"# {line}\n" for line in _HEAD) + "\n" + tomli_w.dumps(document, multiline_strings=False)


_HEAD = (
    "Weights found by azulsim tune (docs/TUNING.md).",
    "Shares and gains are [estimate, low, high] with 95 % intervals over deals; sources are SHA-256 of strategy files,",
    "rules are those that differ from the printed ones.",
)


def _cma_version() -> str:
    import cma

    return str(cma.__version__)


# From words


def make_search(
    strategy: str,
    against: Sequence[str],
    *,
    start: Iterable[str] = (),
    scale: Iterable[str] = (),
    bounds: Iterable[str] = (),
    **settings: Any,
) -> Search:
    """Make a search from words such as `name=value` and, for bounds, `name=low:high`; other settings as they are.

    Raises
    ------
    InputError
        For words of another form, naming the option, and for what `Search` refuses.
    """
    words: dict[str, dict[str, Any]] = {
        "start": {name: _read_number("--set", name, text) for name, text in _read_pairs("--set", start)},
        "scale": {name: _read_number("--scale", name, text) for name, text in _read_pairs("--scale", scale)},
        "bounds": {name: _read_range(name, text) for name, text in _read_pairs("--bounds", bounds)},
    }
    return validate(Search, {"strategy": strategy, "against": tuple(against), **words, **settings}, where="tune")


def _read_pairs(option: str, texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    for text in texts:
        name, _, value = text.partition("=")
        if not name.strip() or not value.strip():
            raise InputError(f"{option} {text!r}: write name=value")
        yield name.strip(), value.strip()


def _read_number(option: str, name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{option} {name}={text}: {text!r} is no number") from None


def _read_range(name: str, text: str) -> tuple[float, float]:
    low, colon, high = text.partition(":")
    if not colon:
        raise InputError(f"--bounds {name}={text}: write {name}=low:high")
    return _read_number("--bounds", name, low), _read_number("--bounds", name, high)
