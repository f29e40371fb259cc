"""What a wrapper is: a function that narrows the moves of the strategy inside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from azulsim.engine.narrowing import address_of_narrowing, make_narrowing
from azulsim.errors import InputError, StrategyError
from azulsim.strategy.parameters import (
    Authored,
    Limits,
    as_param_array,
    check_limits,
    first_telling_line,
    merge_params,
    split_parameters,
)


class Wrapper(Authored):
    """A wrapper as its author wrote it: ``narrow(position, moves, key, *, ...)``."""


@overload
def wrapper(function: Callable[..., Any]) -> Wrapper: ...
@overload
def wrapper(*, limits: Limits) -> Callable[[Callable[..., Any]], Wrapper]: ...


def wrapper(
    function: Callable[..., Any] | None = None, *, limits: Limits | None = None
) -> Wrapper | Callable[[Callable[..., Any]], Wrapper]:
    """Make a function a wrapper around any strategy, as in `noisy(greedy, eps=0.1)`; use as a decorator.

    The function has the parameters ``(position, moves, key)``, then keyword-only ones of its own with numbers as
    defaults. It is compiled. It clears bits of `moves.mask`, `moves.joker_mask` and `moves.open`
    (`azulsim.engine.record.ALLOWED`), which the toolbox reads and changes; what is left goes to the strategy inside.
    A wish that would leave no move is not heard, and none can allow a move that was not legal. `limits` gives the
    lowest and highest value of parameters that not every number fits.

    Raises
    ------
    InputError
        If the function has another shape, a parameter without a number as its default, or limits that its defaults
        break.
    """

    def define(function: Callable[..., Any]) -> Wrapper:
        names, defaults = split_parameters(function)
        if names != ("position", "moves", "key"):
            raise InputError(
                f"wrapper {function.__name__!r}: parameters ({', '.join(names)}) are of no known kind; write "
                "(position, moves, key), then * and parameters of its own"
            )
        check_limits(function.__name__, defaults, limits or {})
        return Wrapper(function, defaults, limits or {})

    return define if function is None else define(function)


class Wrap:
    """A wrapper with its parameters.

    Parameters
    ----------
    wrapper : Wrapper
    params : mapping
        Values for some of its parameters; the others keep their defaults.
    spec : str
        The whole spec of which it is a part, for errors.
    cache_key : str or None
        Hash of its source if its compiled code may be kept on disk.
    """

    def __init__(self, wrapper: Wrapper, params: Mapping[str, float], *, spec: str, cache_key: str | None) -> None:
        self.wrapper = wrapper
        self.spec = spec
        self.params = merge_params(spec, wrapper, params)
        self._key = None if cache_key is None else f"{cache_key}:{wrapper.name}"

    @cached_property
    def param_array(self) -> npt.NDArray[np.float64]:
        """The parameters in order of definition, float64."""
        return as_param_array(self.params)

    @cached_property
    def _narrowing(self) -> Any:
        return make_narrowing(self.wrapper.function, len(self.wrapper.defaults), key=self._key)

    @cached_property
    def address(self) -> int:
        """The address of the compiled function.

        Raises
        ------
        StrategyError
            If it cannot be compiled.
        """
        try:
            return address_of_narrowing(self._narrowing)
        except Exception as error:  # not all that Numba raises is a NumbaError
            raise StrategyError(
                f"{self.spec}: wrapper {self.wrapper.name!r} cannot be compiled: {first_telling_line(error)}"
            ) from error
