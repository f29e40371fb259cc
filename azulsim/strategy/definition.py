"""What a strategy is: one function, of one of four shapes, and what makes it a player."""

from __future__ import annotations

import contextlib
import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, overload

import numba
import numpy as np
import numpy.typing as npt

from azulsim.engine.compiling import address_of, as_pointer, assume, compiled, copy_record
from azulsim.engine.narrowing import address_of_wrapped
from azulsim.engine.record import WRAP
from azulsim.engine.scoring import (
    Prepared,
    address_of_move,
    address_of_place,
    make_placed,
    make_scored,
    make_scored_general,
)
from azulsim.errors import InputError, StrategyError, did_you_mean
from azulsim.strategy.parameters import (
    Authored,
    Limits,
    as_param_array,
    check_limits,
    first_telling_line,
    list_names,
    merge_params,
    own_parameters,
    split_parameters,
)
from azulsim.strategy.wrapping import Wrap

Shape = Literal["score", "score_position", "choose", "move"]
Speed = Literal["compiled", "batched", "plain"]

_CHANGES = {"copy_record", "deal_round", "play", "tile", "tile_lines"}
"""A score that names one of these changes every position it sees, and so is given them played from the start."""

_SHAPES: dict[tuple[str, ...], Shape] = {
    ("move",): "score",
    ("move", "position"): "score_position",
    ("move", "position", "notes"): "score_position",
    ("view", "moves", "rng"): "choose",
    ("scratch", "moves", "key", "params", "workspace"): "move",
}

MAX_NOTES = 4096
"""Numbers that a score may have written down before a decision; they lie on the stack."""

SPEEDS: dict[Shape, tuple[Speed, ...]] = {
    "score": ("compiled", "batched", "plain"),
    "score_position": ("compiled", "plain"),
    "choose": ("plain",),
    "move": ("compiled",),
}
"""The speeds at which each shape can run, fastest first."""


@dataclass(frozen=True)
class Definition(Authored):
    """A strategy as its author wrote it; calling it calls the function.

    Attributes
    ----------
    shape : str
        ``score(move, *, ...)``, ``score_position``: ``score(move, position, *, ...)`` or ``score(move, position,
        notes, *, ...)``, ``choose(view, moves, rng, *, ...)``, or compiled ``move(scratch, moves, key, params,
        workspace)``.
    workspace : int
        Bytes of its own memory that a compiled move asks for; zeroed before each game.
    reads_only : bool
        True if a compiled move promises not to change `scratch`, and so may look at the game itself.
    place : function or None
        ``place(spot, *, ...)`` scores the spaces for a tile on a wall with a choice; its keyword parameters are
        parameters of the strategy. Without one the engine's default is used.
    prepare : function or None
        ``prepare(position, notes, *, ...)`` writes down what a score that takes notes wants to know of the position
        before the move, once a decision; its keyword parameters are parameters of the strategy.
    notes : int
        How many numbers that may be.
    """

    shape: Shape
    workspace: int
    reads_only: bool
    place: Callable[..., Any] | None
    prepare: Callable[..., Any] | None
    notes: int

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself, as in a test of a score on one made-up move."""
        return self.function(*args, **kwargs)


@overload
def strategy(function: Callable[..., Any]) -> Definition: ...
@overload
def strategy(
    *,
    params: Mapping[str, float] | None = None,
    workspace: int = 0,
    reads_only: bool = False,
    place: Callable[..., Any] | None = None,
    prepare: Callable[..., Any] | None = None,
    notes: int = 0,
    limits: Limits | None = None,
) -> Callable[[Callable[..., Any]], Definition]: ...


def strategy(
    function: Callable[..., Any] | None = None,
    *,
    params: Mapping[str, float] | None = None,
    workspace: int = 0,
    reads_only: bool = False,
    place: Callable[..., Any] | None = None,
    prepare: Callable[..., Any] | None = None,
    notes: int = 0,
    limits: Limits | None = None,
) -> Definition | Callable[[Callable[..., Any]], Definition]:
    """Make a function a strategy; use as a decorator.

    The names of the function's positional parameters say which kind it is: ``score(move)``, ``score(move,
    position)``, ``score(move, position, notes)``, ``choose(view, moves, rng)``, or a compiled ``move(scratch, moves,
    key, params, workspace)``.
    Keyword-only parameters with numbers as defaults are the strategy's own parameters; a compiled move names its own
    in `params`, and reads them from the array in that order. `limits` gives the lowest and highest value of
    parameters that not every number fits, as in ``limits={"nodes": (1, 1e9)}``.

    A score that takes `notes` names what fills them, and how many numbers they are: ``prepare=function, notes=5``.

    Raises
    ------
    InputError
        If the function has another shape, a parameter without a number as its default, or limits that its defaults
        break.
    """

    def define(function: Callable[..., Any]) -> Definition:
        shape, defaults = _inspect(function)
        if params is not None and shape != "move":
            raise InputError(f"strategy {function.__name__!r}: params= is for compiled moves; use keyword parameters")
        own = dict(params or defaults)
        if place is not None:
            _check_helper(function.__name__, "place", place, ("spot",), own)
        _check_notes(function, prepare, notes, own)
        check_limits(function.__name__, own, limits or {})
        return Definition(function, own, limits or {}, shape, workspace, reads_only, place, prepare, notes)

    return define if function is None else define(function)


def _inspect(function: Callable[..., Any]) -> tuple[Shape, dict[str, float]]:
    names, defaults = split_parameters(function)
    shape = _SHAPES.get(names)
    if shape is None:
        known = " or ".join(f"({', '.join(shape)})" for shape in _SHAPES)
        raise InputError(
            f"strategy {function.__name__!r}: parameters ({', '.join(names)}) are of no known kind; write {known}, "
            "then * and parameters of its own"
        )
    return shape, defaults


def _check_notes(
    function: Callable[..., Any], prepare: Callable[..., Any] | None, notes: int, params: Mapping[str, float]
) -> None:
    name = function.__name__
    takes_notes = "notes" in inspect.signature(function).parameters
    if takes_notes != (prepare is not None):
        wrong = "takes notes, which nothing prepares" if takes_notes else "prepares notes, which it does not take"
        raise InputError(
            f"strategy {name!r}: {wrong}; write @strategy(prepare=..., notes=...) over score(move, position, notes)"
        )
    if prepare is not None:
        _check_helper(name, "prepare", prepare, ("position", "notes"), params)
    if type(notes) is not int or not (prepare is not None) <= notes <= (prepare is not None) * MAX_NOTES:
        limits = f"a whole number from 1 to {MAX_NOTES}" if takes_notes else "left out without prepare="
        raise InputError(f"strategy {name!r}: notes={notes!r}: must be {limits}")


def _check_helper(
    name: str, role: str, helper: Callable[..., Any], given: Sequence[str], params: Mapping[str, float]
) -> None:
    """Complain of a `place` or `prepare` that takes anything but what it is given and parameters of the strategy."""
    own = own_parameters(helper)
    if [*inspect.signature(helper).parameters] != [*given, *own]:
        raise InputError(f"strategy {name!r}: write {role}({', '.join(given)}, *, ...) with parameters of the strategy")
    for other in own:
        if other not in params:
            raise InputError(
                f"strategy {name!r}: {role} has a parameter {other!r} that the strategy has not"
                + did_you_mean(other, params)
            )


class Strategy:
    """A strategy with its parameters: what a seat can be given.

    Parameters
    ----------
    definition : Definition
    params : mapping
        Values for some of its parameters; the others keep their defaults.
    spec : str
        The text that names it, for errors and logs.
    cache_key : str or None
        Hash of its source if its compiled code may be kept on disk; None for everything that is not bundled.
    speed : str or None
        The one speed at which it must run; None for the fastest it can.
    wraps : sequence of Wrap
        The wrappers around it, the outermost first.
    """

    def __init__(
        self,
        definition: Definition,
        params: Mapping[str, float] | None = None,
        *,
        spec: str = "",
        cache_key: str | None = None,
        speed: Speed | None = None,
        wraps: Sequence[Wrap] = (),
    ) -> None:
        self.definition = definition
        self.spec = spec or definition.name
        self._cache_key = cache_key
        self.wraps = tuple(wraps)
        self.params = merge_params(self.spec, definition, params or {})
        if speed is not None and speed not in SPEEDS[definition.shape]:
            raise InputError(
                f"{self.spec}: cannot run {speed}; a strategy of this kind runs {' or '.join(SPEEDS[definition.shape])}"
            )
        self._wanted = speed
        self.takes_columns = True
        """False once its function has failed on columns of moves, so that it is not asked in that way again."""

    def __repr__(self) -> str:
        return f"<Strategy {self.spec}>"

    def hold(self, wrap: Wrap) -> Strategy:
        """Return this strategy with one more wrapper around it; nothing is compiled anew."""
        self.speed  # noqa: B018  # settled once, for both
        held = copy.copy(self)
        held.wraps = (wrap, *self.wraps)
        held.__dict__.pop("_wrap_records", None)
        return held

    @cached_property
    def param_array(self) -> npt.NDArray[np.float64]:
        """The parameters in order of definition, float64; at least one element, so that it has an address."""
        return as_param_array(self.params)

    @cached_property
    def speed(self) -> Speed:
        """The speed at which it runs: the wanted one, or the fastest it can."""
        return self._settled[0]

    @cached_property
    def fallback(self) -> str:
        """Why it does not run at the fastest speed of its kind, in one line; empty if it does."""
        return self._settled[1]

    @cached_property
    def _settled(self) -> tuple[Speed, str]:
        if self._wanted:
            return self._wanted, ""
        fastest, *others = SPEEDS[self.definition.shape]
        if fastest != "compiled":
            return fastest, ""
        try:
            self.address  # noqa: B018
        except Exception as error:  # not all that Numba raises is a NumbaError
            if not others:
                raise StrategyError(f"{self.spec}: cannot be compiled: {first_telling_line(error)}") from error
            slower = others[0]
            return slower, f"{self.spec}: runs {slower}, since it cannot be compiled: {first_telling_line(error)}"
        return "compiled", ""

    @property
    def _key(self) -> str | None:
        return None if self._cache_key is None else f"{self._cache_key}:{self.definition.name}"

    @cached_property
    def move(self) -> Any:
        """The compiled ``move(game, allowed, key, seat)``, kept alive here while its address is used."""
        if self.definition.shape == "move":
            return _adapt_move(self.definition, self._key, is_general=False)
        if self.definition.shape == "score_position" and _CHANGES.isdisjoint(self._named):
            foreseeing = self._make_scored(partial(make_scored, is_foreseen=True))
            with contextlib.suppress(Exception):  # whatever Numba raises if the score does more than read
                address_of_move(foreseeing)
                return foreseeing
        return self._make_scored(make_scored)

    @property
    def _named(self) -> set[str]:
        """What a score and its `prepare` name themselves."""
        functions = (self.definition.function, self.definition.prepare)
        return {name for function in functions if function for name in function.__code__.co_names}

    @cached_property
    def general_move(self) -> Any:
        """The same for walls with a choice and for jokers."""
        if self.definition.shape == "move":
            return _adapt_move(self.definition, self._key, is_general=True)
        return self._make_scored(make_scored_general)

    def _make_scored(self, make: Callable[..., Any]) -> Any:
        definition = self.definition
        return make(
            definition.function,
            len(definition.defaults),
            sees_position=definition.shape == "score_position",
            sees_denial="denial" in list_names(definition.function),
            prepared=self._prepared,
            key=self._key,
        )

    @property
    def _prepared(self) -> Prepared | None:
        prepare = self.definition.prepare
        return prepare and Prepared(prepare, self._places_of_params(prepare), self.definition.notes)

    def _places_of_params(self, helper: Callable[..., Any]) -> tuple[int, ...]:
        """Return for each parameter of a `place` or `prepare` which parameter of the strategy it is."""
        names = [*self.definition.defaults]
        return tuple(names.index(name) for name in own_parameters(helper))

    @cached_property
    def place(self) -> Any:
        """The compiled ``place(game, seat number, line, columns, key, seat)``; None for the engine's default."""
        place = self.definition.place
        if place is None:
            return None
        return make_placed(place, len(self.definition.defaults), self._places_of_params(place), key=self._key)

    @cached_property
    def address(self) -> int:
        """The address of the compiled move.

        Raises
        ------
        Exception
            Whatever Numba raises if the function cannot be compiled.
        """
        return address_of_move(self.move)

    @cached_property
    def general_address(self) -> int:
        """The address of the compiled move for walls with a choice and for jokers."""
        return address_of_move(self.general_move)

    @cached_property
    def _wrap_records(self) -> npt.NDArray[Any]:
        """WRAP[wraps], kept alive here while their address is used."""
        records = np.zeros(len(self.wraps), WRAP)
        for record, wrap in zip(records, self.wraps, strict=True):
            record["narrow"], record["params"] = wrap.address, address_of(wrap.param_array)
        return records

    def fill_seat(self, seat: Any, *, is_general: bool) -> None:
        """Put this strategy into a seat (a record SEAT), all but its own memory; compiles what is not compiled yet.

        The strategy must be kept alive while the seat is used.
        """
        if is_general:
            seat["place"] = self.place_address
        if self.speed == "compiled":
            seat["move"] = self.general_address if is_general else self.address
        seat["params"], seat["n_params"] = address_of(self.param_array), len(self.params)
        seat["n_workspace"] = self.definition.workspace
        if self.wraps:
            seat["move"], seat["wrapped"] = address_of_wrapped(), seat["move"]
            seat["wraps"], seat["n_wraps"] = address_of(self._wrap_records), len(self.wraps)

    @cached_property
    def place_address(self) -> int:
        """The address of the compiled `place`; 0 for the engine's default.

        Raises
        ------
        StrategyError
            If the function cannot be compiled.
        """
        if self.place is None:
            return 0
        try:
            return address_of_place(self.place)
        except Exception as error:
            raise StrategyError(f"{self.spec}: place cannot be compiled: {first_telling_line(error)}") from error


def _adapt_move(definition: Definition, key: str | None, *, is_general: bool) -> Any:
    """Give an author's compiled move the shape that the driver calls, for one kind of rules."""
    inner = numba.njit(nogil=True, forceinline=True)(definition.function)
    copies = not definition.reads_only

    @compiled(key=None if key is None else f"{key}:is_general={is_general}")
    def adapted(game: Any, allowed: Any, decision_key: Any, seat: Any) -> Any:
        assume(game.is_general == is_general)
        params = numba.carray(as_pointer(seat.params), seat.n_params, np.float64)
        workspace = numba.carray(as_pointer(seat.workspace), seat.n_workspace, np.uint8)
        if copies:
            return np.int64(inner(copy_record(game), allowed, decision_key, params, workspace))
        return np.int64(inner(game, allowed, decision_key, params, workspace))

    return adapted
