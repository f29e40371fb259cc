"""What is tried out from positions of an experiment's games: the key `probes`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from azulsim.config import Frozen

Continuations = Annotated[int, Field(ge=1, le=10_000)]

LAST_ROUND = 62
"""The last round that can be named by itself."""

ROUNDS_PER_GAME = 6
"""What a game is taken to last, where work is estimated."""


class Tempo(Frozen):
    """Give the marker to each seat in turn before a round is dealt, and play on."""

    rounds: tuple[int, ...] | Literal["all"] = "all"
    """Which rounds."""
    continuations: Continuations = 4
    """How often each is played on; each has luck of its own, which all seats share."""

    @field_validator("rounds", mode="before")
    @classmethod
    def _check_rounds(cls, rounds: Any) -> Any:
        are_rounds = isinstance(rounds, tuple) and all(type(n) is int and 1 <= n <= LAST_ROUND for n in rounds)
        if rounds == "all" or (are_rounds and rounds and len(set(rounds)) == len(rounds)):
            return rounds
        raise ValueError(f'write "all", or a list of different rounds from 1 to {LAST_ROUND}')


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
