"""What do other rules change: `whatif` lets the same players play under each set of rules, on common deals."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from azulsim import metrics, registry
from azulsim.config import show_value
from azulsim.errors import InputError
from azulsim.experiment import Experiment, apply_overrides, make_experiment
from azulsim.experiment.kinds import vary_rules
from azulsim.log import Run
from azulsim.log.read import format_count
from azulsim.metrics.whatif import RETUNED, find_baseline
from azulsim.notation import format_rules
from azulsim.questions.text import align, choose_rules, name_run, to_records, write_page
from azulsim.rules import Rules, make_rules
from azulsim.runner import run as play_experiment
from azulsim.tune import Search, Tuning, tune

GENERATIONS, SEARCH_DEALS, VALIDATION_DEALS = 30, 40, 2000
"""Size of a search with `retune`: seconds for a compiled strategy, so that a question ends in minutes."""


@dataclass(frozen=True)
class RuleComparison:
    """What other rules change; printing it prints the table."""

    differences: pd.DataFrame
    """The frame of `azulsim.metrics.rule_differences`."""
    outcomes: pd.DataFrame
    """That of `rule_outcomes`: the means under each set of rules."""
    crossings: pd.DataFrame
    """That of `rule_crossings`: the value of the rule that was solved for; empty if none was."""
    tunings: tuple[Tuning, ...]
    """The searches for re-tuned strategies; none if none were asked for."""
    run: Run
    """The games behind it."""
    again: str
    """The command that does it again."""
    page: Path | None = None
    """Its page, if one was asked for."""

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values for JSON; what is not a number becomes None."""
        from azulsim.report.rules import count_seen

        return {
            "differences": to_records(self.differences),
            "outcomes": to_records(self.outcomes),
            "crossings": to_records(self.crossings),
            "tunings": [
                {**tuning.to_dict(), "players": tuning.search.players, "rules": format_rules(tuning.search.rules)}
                for tuning in self.tunings
            ],
            "looked_at": len(self.differences),
            "seen": count_seen(self.differences),
            "run": str(self.run.path),
            "page": str(self.page) if self.page else None,
            "again": self.again,
        }

    def __str__(self) -> str:
        from azulsim.report.rules import describe_crossings

        parts = [
            _format_differences(self),
            describe_crossings(self.crossings) if len(self.crossings) else "",
            "\n".join(_remarks(self)),
        ]
        return "\n\n".join(filter(None, parts))


def whatif(
    changes: Sequence[str] = (),
    *,
    rules: Sequence[Rules | str | Path] = (),
    vary: str | None = None,
    solve: str | None = None,
    values: Sequence[Any] = (),
    target: float | Literal["fair"] = "fair",
    baseline: Rules | str | Path | None = None,
    outcomes: Sequence[str] = (),
    strategies: Sequence[str] = ("tuned",),
    players: Sequence[int] = (2,),
    deals: int = 4000,
    seed: int = 0,
    retune: bool = False,
    jobs: int | None = None,
    out: str | Path | None = None,
    project: Path | None = None,
    progress: bool = False,
    page: bool = False,
) -> RuleComparison:
    """Let the same players play under two or more sets of rules on common deals, and say what differs.

    Parameters
    ----------
    changes
        What one alternative changes of the baseline, such as `"rules.bonus.column=5"`; all changes together.
    rules
        Further alternatives: rules, names of variants, or TOML files.
    vary, solve
        A rule, such as `"rules.starter_bonus"`, of which each of `values` is an alternative. With `solve`, the value at
        which the outcome named (or the win share of seat 0) reaches `target` is looked for between them.
    values
        The values of that rule.
    target
        What the outcome is to be: a number, or `"fair"`, one divided by the number of players.
    baseline
        The rules that all others are held against; the printed ones if left out.
    outcomes
        Names of `azulsim.metrics.RULE_OUTCOMES`; all if left out. `solve` looks at one.
    strategies
        Specs; each plays in all seats.
    players
        Player counts.
    deals
        Deals that are played under each set of rules.
    seed
        Root of all luck; the same seed, the same games.
    retune
        True to play strategies tuned to each set of rules too, where they have parameters. The search is short.
    jobs
        Workers; all cores if left out.
    out
        The run folder; `runs/whatif-<time>` if left out.
    project
        Folder in which strategies are looked up besides the bundled ones; the working directory if left out.
    progress
        True to say on stderr how far it has got.
    page
        True to build the page of the report `whatif` in the run folder.

    Raises
    ------
    InputError
        For no alternative, one that changes nothing, and what an `Experiment` refuses.
    RunError
        If the run fails.
    """
    standard = choose_rules(baseline)
    kinds = _list_rules(standard, changes, rules, vary or solve, values)
    if vary and solve:
        raise InputError(f"vary and solve: {vary} and {solve}: give one of them")
    named = list(outcomes or (["seat_0_win_share"] if solve else []))
    if solve and len(named) != 1:
        raise InputError(f"solve: looks at one outcome, and {len(named)} are named: {', '.join(named)}")
    details: dict[str, Any] = {"baseline": format_rules(standard), "outcomes": named}
    if solve:
        details["solve"] = {"key": _full_key(solve), "outcome": named[0], "target": target}
    data = {
        "name": name_run("whatif"),
        "question": f"What changes against {metrics.describe_rules(standard)} with "
        f"{'; '.join(metrics.describe_rules(kind) for kind in kinds[1:])}?",
        "strategies": tuple(strategies),
        "schedule": "self_play",
        "players": tuple(players),
        "deals": deals,
        "seed": seed,
        "log": "rounds" if not named or any("short" in name for name in named) else "games",
        "grid": {"rules": tuple(map(format_rules, kinds))},
        "whatif": details,
        "reports": ("whatif",),
    }
    experiment = make_experiment(data, where="whatif")
    experiment.plan(project=project, where="whatif")
    tunings = _tune(experiment, kinds, jobs, project, progress) if retune else ()
    retuned = [_describe_retuned(spec, tuning) for spec, tuning in tunings if tuning.is_improvement]
    if retuned:
        experiment = make_experiment({**data, "whatif": {**details, "retuned": retuned}}, where="whatif")
    run = play_experiment(experiment, out=out, jobs=jobs, progress=progress, project=project, where="whatif")
    is_typed = not any(isinstance(each, Rules) for each in (baseline, *rules))
    words = _repeat(experiment, changes, rules, vary, values, baseline, retune, project) if is_typed else None
    return RuleComparison(
        differences=metrics.rule_differences(run),
        outcomes=metrics.rule_outcomes(run),
        crossings=metrics.rule_crossings(run),
        tunings=tuple(tuning for _, tuning in tunings),
        run=run,
        again=shlex.join(words or ["azulsim", "run", str(run.path / "experiment.toml")]),
        page=write_page(run, "whatif") if page else None,
    )


# The rules


def _full_key(key: str) -> str:
    return key if key.startswith("rules.") else f"rules.{key}"


def _list_rules(
    standard: Rules,
    changes: Sequence[str],
    rules: Sequence[Rules | str | Path],
    key: str | None,
    values: Sequence[Any],
) -> list[Rules]:
    """Return the baseline and all alternatives, each once."""
    if bool(key) != bool(values):
        raise InputError("values: a rule to vary or to solve for, and its values, need each other")
    found = [standard]
    if changes:
        found.append(_change(standard, [_complete(change) for change in changes]))
    found += map(choose_rules, rules)
    for place, kind in enumerate(found):
        if kind in found[:place]:
            raise InputError(f"whatif: two sets of rules are the same: {metrics.describe_rules(kind)}")
    try:
        varied = [kind for _, kind in vary_rules(standard, {_full_key(key): tuple(values)})] if key else []
    except ValueError as error:
        raise InputError(f"{key}: {error}") from None
    found += [kind for kind in varied if kind not in found]
    if len(found) < 2:
        raise InputError("whatif: names no other rules; write, for example, --set rules.bonus.column=5")
    return found


def _complete(change: str) -> str:
    """Put `rules.` in front of a change that leaves it out."""
    return change if change.startswith("rules") else f"rules.{change}"


def _change(rules: Rules, changes: Iterable[str]) -> Rules:
    changes = list(changes)
    data = apply_overrides({"rules": rules.model_dump(by_alias=True)}, changes)
    return make_rules(data["rules"], where=f"--set {' --set '.join(changes)}")


# Re-tuned strategies


def _tune(
    experiment: Experiment, kinds: Sequence[Rules], jobs: int | None, project: Path | None, progress: bool
) -> list[tuple[str, Tuning]]:
    """Tune each strategy that can be to each set of rules at each player count, on deals that nobody else plays."""
    found = []
    for players in experiment.player_counts():
        for spec in experiment.strategies:
            if (start := _find_tunable(spec, players, project)) is None:
                continue
            for rules in kinds:
                search = Search(
                    strategy=start,
                    against=(start,),
                    players=players,
                    rules=rules,
                    seed=(experiment.seed + 1) % (1 << 63),
                    generations=GENERATIONS,
                    deals=SEARCH_DEALS,
                    validation_deals=VALIDATION_DEALS,
                )
                found.append((spec, tune(search, jobs=jobs, project=project, progress=progress)))
    if not found:
        raise InputError(f"retune: {', '.join(experiment.strategies)}: have no parameters to tune")
    return found


def _find_tunable(spec: str, players: int, project: Path | None) -> str | None:
    """Return the spec with parameters behind a strategy: itself, or the one made for this number of players."""
    if registry.make_strategy(spec, project=project).params:
        return spec
    try:
        special = registry.make_strategy(f"{spec}_{players}", project=project)
    except InputError:
        return None
    return special.spec if special.params else None


def _describe_retuned(spec: str, tuning: Tuning) -> dict[str, Any]:
    search = tuning.search
    return {"players": search.players, "rules": format_rules(search.rules), "spec": spec, "plays": tuning.spec}


# Words


def _repeat(
    experiment: Experiment,
    changes: Sequence[str],
    rules: Sequence[Rules | str | Path],
    vary: str | None,
    values: Sequence[Any],
    baseline: Rules | str | Path | None,
    retune: bool,
    project: Path | None,
) -> list[str]:
    """Return the words of the command that asks the same again."""
    words = ["azulsim", "whatif"]
    words += [word for change in changes for word in ("--set", change)]
    words += [word for each in rules for word in ("--rules", str(each))]
    whatif = experiment.whatif
    if whatif and whatif.solve:
        words += ["--solve", whatif.solve.key, "--target", str(whatif.solve.target)]
    elif vary:
        words += ["--vary", vary]
    shown = [value if isinstance(value, str) else show_value(value) for value in values]
    words += ["--values", ",".join(shown)] if values else []
    words += [word for name in (whatif.outcomes if whatif else ()) for word in ("--outcome", name)]
    words += ["--baseline", str(baseline)] if baseline is not None else []
    words += [word for spec in experiment.strategies for word in ("--strategy", spec)]
    words += ["--players", ",".join(map(str, experiment.player_counts()))]
    words += ["--deals", str(experiment.deals), "--seed", str(experiment.seed)]
    words += ["--retune"] if retune else []
    words += ["--project", str(project)] if project is not None else []
    return words


def _format_differences(answer: RuleComparison) -> str:
    """Return the differences as a table in plain text, a heading above it."""
    from azulsim.report.rules import ALPHA
    from azulsim.report.shared import LABELS

    frame, run = answer.differences, answer.run
    standard = metrics.describe_rules(find_baseline(run))
    labels, specs = list(dict.fromkeys(frame["rules"])), list(dict.fromkeys(frame["spec"]))
    is_one = len(labels) == 1
    keys = {"players": True, "strategy": len(specs) > 1, "rules": not is_one, "play": RETUNED in set(frame["tuning"])}
    head = [key for key, is_shown in keys.items() if is_shown]
    head += ["outcome", standard, labels[0] if is_one else "with these", "difference (95 %)", "seen from", ""]
    rows = [head]
    for row in frame.to_dict("records"):
        shown = (str(row["players"]), row["spec"], row["rules"], row["tuning"])
        places = _count_places(row)
        rows.append(
            [
                *(text for text, is_shown in zip(shown, keys.values(), strict=True) if is_shown),
                LABELS.get(str(row["outcome"]), str(row["outcome"])),
                _format(row["baseline"], places),
                _format(row["changed"], places),
                f"{_format(row['estimate'], places, signed=True)}{_format_ends(row, places)}",
                _format(row["mde"], places) if math.isfinite(row["mde"]) else "",
                "" if row["p_holm"] < ALPHA else "no difference seen",
            ]
        )
    n = len(head)
    table = align(rows, right={0, n - 5, n - 4, n - 2})
    against = labels[0] if is_one else f"{len(labels)} other sets of rules"
    deals = format_count(max(cell.deals for cell in run.manifest.cells), "deal")
    who = f"{specs[0]} in all seats" if len(specs) == 1 else f"{len(specs)} strategies, each in all seats"
    return f"{standard} against {against}, {who}, {deals}, common luck\n{table}"


def _count_places(row: dict[Any, Any]) -> int:
    """Return the decimals worth showing: two digits of the standard error, three of a share at least."""
    least = 3 if row["unit"] == "share" else 1
    error = row["se"]
    if not math.isfinite(error) or error <= 0:
        return least
    return min(max(least, math.ceil(-math.log10(error))), 4)


def _format(value: float, places: int, *, signed: bool = False) -> str:
    value = round(value, places) or 0.0  # no minus in front of a 0
    text = f"{value:{'+' if signed and value else ''}.{places}f}"
    return text.replace("0.", ".", 1) if text.lstrip("+-").startswith("0.") and places > 2 else text


def _format_ends(row: dict[Any, Any], places: int) -> str:
    if not math.isfinite(row["low"]):
        return " (the same in every game)" if row["estimate"] == 0 else ""
    return f" ({_format(row['low'], places, signed=True)} to {_format(row['high'], places, signed=True)})"


def _remarks(answer: RuleComparison) -> list[str]:
    """Say what common deals did, what was corrected for, who was tuned, and where the page is."""
    from azulsim.report.rules import describe_luck, describe_tuning

    lines = [
        describe_luck(answer.differences),
        f"{len(answer.differences)} differences looked at, Holm-corrected; intervals are not.",
        describe_tuning(answer.differences),
    ]
    if answer.tunings:
        better = sum(tuning.is_improvement for tuning in answer.tunings)
        lines.append(f"Re-tuned: {better} of {len(answer.tunings)} short searches found something better.")
    lines += [f"page: {answer.page}"] if answer.page else []
    return [*lines, f"again: {answer.again}"]
