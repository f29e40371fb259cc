"""How rules that vary are held against each other: the key `whatif`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from azulsim.config import Frozen
from azulsim.errors import InputError, did_you_mean
from azulsim.experiment.kinds import as_rules_text, read_rules_text
from azulsim.log.outcomes import GAME_OUTCOMES
from azulsim.rules import MAX_PLAYERS, MIN_PLAYERS, Rules, split_rule

RETUNED = "retuned"
"""Factor of the cells in which a re-tuned strategy plays: the spec whose place it takes."""


def _as_outcome(text: Any) -> Any:
    """Return the name of an outcome, in which spaces may stand for underscores."""
    name = "_".join(text.split()) if isinstance(text, str) else text
    if name not in GAME_OUTCOMES:
        raise ValueError(f"is no outcome of a game{did_you_mean(str(name), GAME_OUTCOMES)}")
    return name


def _as_target(value: Any) -> Any:
    """Return what an outcome is to be: a number, or `fair`."""
    if value == "fair":
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError('must be a number, or "fair"')
    return float(value)


Target = Annotated[Literal["fair"] | float, BeforeValidator(_as_target)]
GameOutcome = Annotated[str, BeforeValidator(_as_outcome)]
RulesText = Annotated[str, BeforeValidator(as_rules_text)]


class Solve(Frozen):
    """Look for the value of one rule at which an outcome reaches a target."""

    key: str
    """The rule, such as `rules.starter_bonus`; its values are those that are played."""
    outcome: GameOutcome = "seat_0_win_share"
    target: Target = "fair"
    """What the outcome is to be; `"fair"` is one divided by the number of players, for a win share of a seat."""

    @property
    def rule(self) -> str:
        """The key inside the rules, such as `starter_bonus`."""
        return self.key.removeprefix("rules.")


class Retuned(Frozen):
    """A strategy tuned to the rules under which it plays."""

    players: Annotated[int, Field(ge=MIN_PLAYERS, le=MAX_PLAYERS)]
    rules: RulesText
    spec: str
    """The strategy of the experiment."""
    plays: str
    """The spec that sits in all its seats under these rules, in games of their own."""


class WhatIf(Frozen):
    """How the report `whatif` holds the rules that a grid varies against each other."""

    baseline: RulesText | None = None
    """The rules that all others are held against; the first that are played if left out."""
    outcomes: tuple[GameOutcome, ...] = ()
    """The outcomes looked at; all if left out."""
    solve: Solve | None = None
    retuned: tuple[Retuned, ...] = ()
    """Strategies that play tuned to the rules too."""

    def check(self, kinds: Sequence[Rules], players: Sequence[int]) -> None:
        """Raise `ValueError` unless it fits the rules and the player counts that are played."""
        if len(kinds) < 2:
            raise ValueError("whatif compares sets of rules, and the grid varies none")
        if self.baseline is not None and read_rules_text(self.baseline) not in kinds:
            raise ValueError(f"whatif: baseline = {self.baseline!r}: are not among the rules that are played")
        for retuned in self.retuned:
            if read_rules_text(retuned.rules) not in kinds or retuned.players not in players:
                raise ValueError(f"whatif: retuned: {retuned.rules!r} at {retuned.players} players: are not played")
        if self.solve:
            _check_solve(self.solve, kinds)


def _check_solve(solve: Solve, kinds: Sequence[Rules]) -> None:
    if solve.target == "fair" and not solve.outcome.endswith("win_share"):
        raise ValueError(f"whatif: solve: target of {solve.outcome} must be a number; only a win share can be fair")
    values: dict[Any, set[float]] = {}
    for rules in kinds:
        try:
            value, others = split_rule(rules, solve.rule)
        except InputError as error:
            raise ValueError(f"whatif: solve: key = {error}") from None
        if isinstance(value, int | float) and not isinstance(value, bool):
            values.setdefault(others, set()).add(value)
    if not any(len(found) > 1 for found in values.values()):
        raise ValueError(f"whatif: solve: {solve.key} needs two numbers or more among the rules that are played")
