"""Which of these strategies is better: `compare` lets them play on common deals, and ranks them."""

from __future__ import annotations

import math
import shlex
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from azulsim import metrics
from azulsim.errors import InputError, RunError
from azulsim.experiment import Experiment
from azulsim.log import Run
from azulsim.questions.text import align, choose_rules, format_share, name_run, to_records, write_page
from azulsim.rules import Rules
from azulsim.runner import run as play_experiment
from azulsim.stats import Estimate


@dataclass(frozen=True)
class Comparison:
    """Strategies ranked by their play on common deals; printing it prints the table."""

    ranking: pd.DataFrame
    """A row a strategy, best first: `rank`, `spec`, then `win_share`, `times_fair`, `elo`, `score` and `lead` (win
    share minus that of the next strategy, NaN for the last), each with `_low` and `_high` (95 %, over deals), the
    smallest `lead` that a test would have seen four times out of five (`lead_mde`), `n_deals`, `n_games`."""
    payoffs: pd.DataFrame
    """A row an ordered pair: `spec`, `opponent`, and the share of meetings in which `spec` finishes ahead (ties count
    half), as `estimate`, `low`, `high`, `se`, `n`, `n_deals`, `mde`."""
    run: Run
    """The games behind it."""
    again: str
    """The command that does it again."""
    page: Path | None = None
    """The page of its ranking report, if one was asked for."""

    @property
    def smallest_lead(self) -> float:
        """Smallest difference in win share, between any two neighbors of the ranking, that this could have seen."""
        return float(self.ranking["lead_mde"].max())

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values for JSON; what is not a number becomes None."""
        return {
            "ranking": to_records(self.ranking),
            "payoffs": to_records(self.payoffs.drop(columns=["outcome", "unit"])),
            "smallest_lead": self.smallest_lead if math.isfinite(self.smallest_lead) else None,
            "run": str(self.run.path),
            "page": str(self.page) if self.page else None,
            "again": self.again,
        }

    def __str__(self) -> str:
        parts = [format_ranking(self.ranking)]
        if len(self.ranking) > 2:
            parts.append("how often the row finishes ahead of the column, ties counting half")
            parts.append(_format_payoffs(self.ranking, self.payoffs))
        last = [f"smallest lead this could have seen: {format_share(self.smallest_lead)} of a win"]
        if self.page:
            last.append(f"page: {self.page}")
        return "\n\n".join([*parts, "\n".join([*last, f"again: {self.again}"])])


def compare(
    specs: Sequence[str],
    *,
    players: int = 2,
    deals: int = 1000,
    seed: int = 0,
    seatings: Literal["cyclic", "full"] = "cyclic",
    rules: Rules | str | Path | None = None,
    jobs: int | None = None,
    timeout: float = 60.0,
    out: str | Path | None = None,
    project: Path | None = None,
    progress: bool = False,
    page: bool = False,
) -> Comparison:
    """Let strategies play each other on common deals, every choice of `players` of them, and rank them.

    Parameters
    ----------
    specs
        Two strategies or more, such as `"greedy"`, `"connector(link=0.5)"` or `"my.py:mine"`.
    players
        Players at the table, 2 to 4. With fewer strategies than players, some sit more than once.
    deals
        Deals that every line-up plays, in each of its seatings.
    seed
        Root of all luck; the same seed, the same games.
    seatings
        `"cyclic"`: every rotation of a line-up; `"full"`: every order.
    rules
        Rules, the name of a variant, or a TOML file of them; the printed rules if left out.
    jobs
        Worker processes; all cores if left out.
    timeout
        Seconds that a game may take, unless all its strategies are bundled.
    out
        The run folder; `runs/compare-<time>` if left out.
    project
        Folder in which strategies are looked up besides the bundled ones; the working directory if left out.
    progress
        True to say on stderr how far it has got.
    page
        True to build the page of the ranking report in the run folder.

    Raises
    ------
    InputError
        For fewer than two strategies, or one that is unknown or named twice.
    RunError
        If the run fails, or no game could be finished.
    """
    if isinstance(specs, str) or len(specs) < 2:
        raise InputError(f"compare {specs!r}: needs two strategies or more, such as greedy uniform")
    experiment = Experiment(
        name=name_run("compare"),
        question=f"Which is better at {players} players: {', '.join(specs)}?",
        strategies=tuple(specs),
        players=(players,),
        deals=deals,
        seed=seed,
        seatings=seatings,
        rules=choose_rules(rules),
        reports=("ranking",),
    )
    run = play_experiment(
        experiment, out=out, jobs=jobs, timeout=timeout, progress=progress, project=project, where="compare"
    )
    return Comparison(
        ranking=rank(run),
        payoffs=metrics.payoffs(run, by=("spec",)),
        run=run,
        again=_again(experiment, run, rules, project),
        page=write_page(run, "ranking") if page else None,
    )


def rank(run: Run) -> pd.DataFrame:
    """Rank the strategies of a run at one player count; return the frame of `Comparison.ranking`."""
    results = metrics.strategy_results(run, by=("spec",))
    if results.empty:
        raise RunError(f"{run.path}: no game between different strategies was finished; see {run.path / 'failures'}")
    results = pd.concat([results, metrics.ratings(run)])
    estimates = {name: part.set_index("spec") for name, part in results.groupby("outcome", sort=False)}
    order = estimates["win_share"]["estimate"].sort_values(ascending=False, kind="stable").index
    ranking = pd.DataFrame({"rank": range(1, len(order) + 1), "spec": list(order)})
    for name in ("win_share", "times_fair", "elo", "score"):
        part = estimates[name].loc[order]
        ranking[[name, f"{name}_low", f"{name}_high"]] = part[["estimate", "low", "high"]].to_numpy(float)
    ranking["elo_note"] = estimates["elo"].loc[order]["note"].fillna("").astype(str).to_numpy()
    leads = metrics.leads(run).set_index("spec").reindex(order)
    for name, of in (("lead", "estimate"), ("lead_low", "low"), ("lead_high", "high"), ("lead_mde", "mde")):
        ranking[name] = leads[of].to_numpy(float)
    win_share = estimates["win_share"].loc[order]
    ranking["n_deals"], ranking["n_games"] = win_share["n_deals"].to_numpy(), win_share["n"].to_numpy()
    return ranking


def _again(experiment: Experiment, run: Run, rules: Rules | str | Path | None, project: Path | None) -> str:
    if isinstance(rules, Rules):
        return shlex.join(["azulsim", "run", str(run.path / "experiment.toml")])
    words = ["azulsim", "compare", *experiment.strategies]
    words += ["--players", str(experiment.players[0]), "--deals", str(experiment.deals), "--seed", str(experiment.seed)]
    words += ["--seatings", experiment.seatings] if experiment.seatings != "cyclic" else []
    words += ["--rules", str(rules)] if rules is not None else []
    words += ["--project", str(project)] if project is not None else []
    return shlex.join(words)


# Tables in plain text


def format_ranking(ranking: pd.DataFrame) -> str:
    """Return a ranking as a table in plain text, every number with its interval, and what is to be known of it."""
    head = ["rank", "strategy", "win share (95 %)", "lead on next", "x fair", "Elo (95 %)", "score", "deals"]
    rows = [head]
    labels = _label(list(ranking["spec"]))
    for place, row in enumerate(ranking.to_dict("records")):
        rows.append(
            [
                str(row["rank"]),
                labels[place],
                _format_interval(row, "win_share"),
                _format_interval(row, "lead") if place < len(ranking) - 1 else "",
                f"{row['times_fair']:.2f}",
                _format_interval(row, "elo", signed=True) + ("*" if row["elo_note"] else ""),
                f"{row['score']:.1f}",
                f"{row['n_deals']:,}",
            ]
        )
    notes = sorted({note for note in ranking["elo_note"] if note})
    table = align(rows, right={4, 6, 7})
    return "\n\n".join([table, *(["\n".join(f"* Elo: {note}" for note in notes)] if notes else [])])


def _format_payoffs(ranking: pd.DataFrame, payoffs: pd.DataFrame) -> str:
    share = payoffs.set_index(["spec", "opponent"])["estimate"].to_dict()
    specs = list(ranking["spec"])
    rows = [["", "", *map(str, ranking["rank"])]]
    for number, label, spec in zip(ranking["rank"], _label(specs), specs, strict=True):
        cells = ["-" if other == spec else format_share(share.get((spec, other), math.nan)) for other in specs]
        rows.append([str(number), label, *cells])
    return align(rows, right=set(range(2, len(specs) + 2)))


def _format_interval(row: Mapping[Hashable, Any], name: str, *, signed: bool = False) -> str:
    value, low, high = row[name], row[f"{name}_low"], row[f"{name}_high"]
    if not math.isfinite(low):
        return f"{value:+.0f}" if signed else format_share(value)
    if signed:
        return f"{value:+.0f} +/- {(high - low) / 2:.0f}"
    return str(Estimate(value, low, high, se=0.0, n_clusters=0, n_rows=0))


def _label(specs: Sequence[str]) -> list[str]:
    """Leave out the folders of specs such as `ideas/mine.py:hoarder`, if they can be told apart without."""
    short = [spec.rpartition("/")[2] for spec in specs]
    return short if len(set(short)) == len(specs) else list(specs)
