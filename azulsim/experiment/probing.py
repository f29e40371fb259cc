"""What is tried out from positions of an experiment's games: the key `probes`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from azulsim.config import Frozen

Continuations = Annotated[int, Field(ge=1, le=10_000)]

ROUNDS_PER_GAME = 6
"""What a game is taken to last, where work is estimated."""


class Tempo(Frozen):
    """Give the marker to each seat in turn before a round is dealt, and play on."""

    rounds: tuple[Annotated[int, Field(ge=1, le=62)], ...] | Literal["all"] = "all"
    """Which rounds."""
    continuations: Continuations = 4
    """How often each is played on; each has luck of its own, which all seats share."""

    @model_validator(mode="after")
    def _check_rounds(self) -> Tempo:
        if not self.rounds:
            raise ValueError('rounds names no round; write "all" or numbers')
        return self


class Decision(Frozen):
    """Where the marker can be taken or left, do both, each by the move that the strategy likes best, and play on."""

    per_game: Annotated[int, Field(ge=1, le=100)] = 1
    """How many such decisions, drawn from those of a game."""
    continuations: Continuations = 16
    """How often each is played on in each way."""


class Probes(Frozen):
    """What is tried out from positions of the games."""

    tempo: Tempo | None = None
    decision: Decision | None = None

    @model_validator(mode="after")
    def _check_any(self) -> Probes:
        if self.tempo is None and self.decision is None:
            raise ValueError("names nothing to try out; write tempo, decision, or both")
        return self

    def games_per_game(self, players: int) -> int:
        """Return about how many whole games the probes of one game are worth; they begin halfway, on the mean."""
        n_rounds = n_decisions = 0
        if self.tempo:
            rounds = ROUNDS_PER_GAME if self.tempo.rounds == "all" else min(len(self.tempo.rounds), ROUNDS_PER_GAME)
            n_rounds = rounds * players * self.tempo.continuations
        if self.decision:
            n_decisions = self.decision.per_game * 3 * self.decision.continuations
        return (n_rounds + n_decisions) // 2
