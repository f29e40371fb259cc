"""When an experiment may stop before all its deals are played: the key `stop`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from azulsim.config import Frozen
from azulsim.log import OutcomeName
from azulsim.stats import list_looks

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Precision(Frozen):
    """Stop when the outcome is known well enough in every cell."""

    outcome: OutcomeName = "win_share"
    half_width: Positive
    """Wanted half width of the 95 % interval."""

    @property
    def level(self) -> float:
        """Level of the interval."""
        return 0.95

    @property
    def goal(self) -> str:
        """What is asked for, in words."""
        return f"half width of {self.outcome} at most {self.half_width:g} in every cell"


class Test(Frozen):
    """Stop when it is clear in every cell whether the outcome differs from a value."""

    outcome: OutcomeName = "win_share"
    effect: Positive
    """The least difference that matters; what is surely smaller counts as none."""
    null: Annotated[float, Field(allow_inf_nan=False)] | None = None
    """What the mean is held against; if left out, the fair share of a win, or a margin of 0."""
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """Most often that a cell's verdict may be wrong, over all looks."""

    __test__ = False  # not what pytest calls a test

    @model_validator(mode="after")
    def _check_null(self) -> Test:
        if self.outcome == "score" and self.null is None:
            raise ValueError("null is missing: say which score the mean is held against")
        return self

    @property
    def level(self) -> float:
        """Level of the anytime interval."""
        return 1 - self.alpha

    @property
    def goal(self) -> str:
        """What is asked for, in words."""
        fair = "the fair share" if self.outcome == "win_share" else "0"
        null = fair if self.null is None else f"{self.null:g}"
        return f"in every cell, {self.outcome} shown to differ from {null}, or to lie within {self.effect:g} of it"

    def null_at(self, players: int) -> float:
        """Return what the mean is held against at a player count."""
        if self.null is not None:
            return self.null
        return 1 / players if self.outcome == "win_share" else 0.0


class Stop(Frozen):
    """The evidence at which an experiment stops before all its deals are played: exactly one rule."""

    precision: Precision | None = None
    test: Test | None = None

    @model_validator(mode="after")
    def _check_rule(self) -> Stop:
        if (self.precision is None) == (self.test is None):
            raise ValueError("needs exactly one rule, precision or test")
        return self

    @property
    def rule(self) -> Precision | Test:
        """The rule that was given."""
        return self.precision or self.test  # type: ignore[return-value]  # one of them is given

    def looks(self, deals: int) -> tuple[int, ...]:
        """Return the numbers of deals a cell at which the evidence is looked at; the last is `deals`."""
        return list_looks(deals)
