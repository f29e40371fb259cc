"""What is the starting player marker worth: `value_marker` continues games in several ways from the same positions."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from azulsim import metrics
from azulsim.experiment import make_experiment
from azulsim.log import Run
from azulsim.notation import format_rules
from azulsim.questions.text import align, choose_rules, name_run, to_records, write_page
from azulsim.report.words import format_short
from azulsim.rules import Rules
from azulsim.runner import run as play_experiment

BY = ("players", "spec")
PROBES = {
    "tempo": {"rounds": "all", "continuations": 4},
    "decision": {"per_game": 1, "continuations": 16},
}
"""What is asked of each game."""


@dataclass(frozen=True)
class MarkerValue:
    """What starting and taking are worth, by player count and strategy; printing it prints the table."""

    tempo: pd.DataFrame
    """The frame of `azulsim.metrics.tempo_values`, over all rounds: what it is worth to start one."""
    decisions: pd.DataFrame
    """That of `decision_values`: what it is worth to take the marker where something else can be done."""
    signs: pd.DataFrame
    """That of `decision_signs`: in how many of these decisions taking is right."""
    prices: pd.DataFrame
    """That of `fair_prices`; empty unless prices were asked for."""
    controls: pd.DataFrame
    """That of `probe_controls`: what has to come out whatever the marker is worth."""
    run: Run
    """The games behind it."""
    again: str
    """The command that does it again."""
    page: Path | None = None
    """Its page, if one was asked for."""

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values for JSON; what is not a number becomes None."""
        return {
            **{name: to_records(getattr(self, name)) for name in ("tempo", "decisions", "signs", "prices", "controls")},
            "run": str(self.run.path),
            "page": str(self.page) if self.page else None,
            "again": self.again,
        }

    def __str__(self) -> str:
        parts = [_format_values(self), _format_prices(self.prices), _describe_controls(self.controls)]
        last = [f"page: {self.page}"] if self.page else []
        return "\n\n".join([*filter(None, parts), "\n".join([*last, f"again: {self.again}"])])


def value_marker(
    specs: Sequence[str],
    *,
    players: Sequence[int] = (2,),
    deals: int = 200,
    seed: int = 0,
    prices: Sequence[int] = (),
    rules: Rules | str | Path | None = None,
    jobs: int | None = None,
    out: str | Path | None = None,
    project: Path | None = None,
    progress: bool = False,
    page: bool = False,
) -> MarkerValue:
    """Estimate what starting a round and taking the marker are worth, for players of one strategy in all seats.

    Parameters
    ----------
    specs
        Strategies; each plays in all seats, and continues the games.
    players
        Player counts.
    deals
        Deals that each strategy plays; every game is continued some hundred times.
    seed
        Root of all luck; the same seed, the same games.
    prices
        Fixed prices of the marker under which the same deals are played too, to find the fair one between them.
    rules
        Rules, the name of a variant, or a TOML file of them; the printed rules if left out.
    jobs
        Workers; all cores if left out.
    out
        The run folder; `runs/marker-<time>` if left out.
    project
        Folder in which strategies are looked up besides the bundled ones; the working directory if left out.
    progress
        True to say on stderr how far it has got.
    page
        True to build the page of the marker report in the run folder.

    Raises
    ------
    InputError
        For an unknown strategy, and for what an `Experiment` refuses.
    RunError
        If the run fails.
    """
    played = choose_rules(rules)
    data = {
        "name": name_run("marker"),
        "question": f"What is the starting player marker worth to {', '.join(specs)}?",
        "strategies": tuple(specs),
        "schedule": "self_play",
        "players": tuple(players),
        "deals": deals,
        "seed": seed,
        "log": "rounds",
        "rules": format_rules(played),
        "probes": PROBES,
        "reports": ("marker",),
    }
    if prices:
        data["grid"] = {"rules.marker_cost": (played.marker_cost, *(p for p in prices if p != played.marker_cost))}
    experiment = make_experiment(data, where="marker")
    run = play_experiment(experiment, out=out, jobs=jobs, progress=progress, project=project, where="marker")
    words = ["azulsim", "marker", *specs, "--players", ",".join(map(str, players))]
    words += ["--deals", str(deals), "--seed", str(seed)]
    words += ["--prices", ",".join(map(str, prices))] if prices else []
    words += ["--rules", str(rules)] if rules is not None else []
    words += ["--project", str(project)] if project is not None else []
    if isinstance(rules, Rules):
        words = ["azulsim", "run", str(run.path / "experiment.toml")]
    return MarkerValue(
        tempo=metrics.tempo_values(run, BY),
        decisions=metrics.decision_values(run, BY),
        signs=metrics.decision_signs(run, BY),
        prices=metrics.fair_prices(run, BY),
        controls=metrics.probe_controls(run),
        run=run,
        again=shlex.join(words),
        page=write_page(run, "marker") if page else None,
    )


# Words


def _format_values(answer: MarkerValue) -> str:
    """Return a table in plain text: a row a player count and strategy, differences with half of their intervals."""
    keys = [name for name in ("rules", *BY) if name in answer.tempo]
    shares = {"start": answer.tempo, "take": answer.decisions.query("part == 'value'")}
    shares["of which tempo"] = answer.decisions.query("part == 'tempo'")
    right = answer.signs.query("noise == 'corrected' and outcome == 'margin'").set_index(keys)
    head = [f"{name}: {what}" for name in shares for what in ("win share", "points")]
    rows = [[*("strategy" if key == "spec" else key for key in keys), *head, "taking is right", "deals"]]
    for values, part in answer.tempo.groupby(keys, observed=True, sort=False):
        cells = [str(value) for value in values]
        for frame in shares.values():
            by_outcome = frame.set_index([*keys, "outcome"])
            cells += [_format(by_outcome, (*values, outcome), signed=True) for outcome in ("win_share", "score")]
        cells += [_format(right, values), f"{part['n_deals'].max():,}"]
        rows.append(cells)
    notes = (
        "start: what a player gains by starting a round, against another player starting it; take: by taking the\n"
        "marker where something else can be done. Win shares in percentage points; ± half a 95 % interval."
    )
    return f"{align(rows, right=set(range(len(keys), len(rows[0]))))}\n\n{notes}"


def _format(frame: pd.DataFrame, key: Any, *, signed: bool = False) -> str:
    if key not in frame.index:
        return "-"
    value, interval = format_short(frame.loc[key], signed=signed)
    unit = "" if signed else " %"
    return f"{value} {interval}{unit}" if interval.startswith("±") else f"{value}{unit} {interval}".strip()


def _format_prices(prices: pd.DataFrame) -> str:
    rows = prices[prices["outcome"] == "win_share"]
    if rows.empty:
        return ""
    lines = [f"  {row['spec']}, {row['players']} players: {row['text']}" for _, row in rows.iterrows()]
    return "\n".join(["fixed price, in points, at which taking changes no win share:", *lines])


def _describe_controls(controls: pd.DataFrame) -> str:
    by_verdict = {verdict: list(dict.fromkeys(rows["control"])) for verdict, rows in controls.groupby("verdict")}
    n_held = int(controls["verdict"].isin(["exact", "agrees"]).sum())
    parts = [f"controls: {n_held} of {len(controls)} hold"]
    for verdict, words in {"differs": "not", "open": "not to be told from so few deals"}.items():
        parts += [f"{words}: {', '.join(by_verdict[verdict])}"] if verdict in by_verdict else []
    return "; ".join(parts)
