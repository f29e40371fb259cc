"""Parameters: the numbers that make of one function many strategies."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from azulsim.errors import InputError, did_you_mean

Limits = Mapping[str, tuple[float, float]]
"""Lowest and highest value of some parameters."""


@dataclass(frozen=True)
class Authored:
    """What an author wrote: a function with parameters of its own.

    Attributes
    ----------
    function : function
    defaults : dict
        Its parameters, all numbers, with their default values.
    limits : dict
        Lowest and highest value of the parameters that not every number fits.
    """

    function: Callable[..., Any]
    defaults: Mapping[str, float]
    limits: Limits

    @property
    def name(self) -> str:
        """Its name: that of the function."""
        return self.function.__name__

    @property
    def doc(self) -> str:
        """What it says of itself."""
        return inspect.getdoc(self.function) or inspect.getdoc(inspect.getmodule(self.function)) or ""


def split_parameters(function: Callable[..., Any]) -> tuple[tuple[str, ...], dict[str, float]]:
    """Return the names of what a function is given, and its own keyword-only parameters with their defaults.

    Raises
    ------
    InputError
        If a keyword-only parameter has no number as its default.
    """
    names: list[str] = []
    defaults: dict[str, float] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is not parameter.KEYWORD_ONLY:
            names.append(name)
        elif isinstance(parameter.default, bool | int | float):
            defaults[name] = float(parameter.default)
        else:
            raise InputError(f"strategy {function.__name__!r}: parameter {name!r} needs a number as its default value")
    return tuple(names), defaults


def own_parameters(function: Callable[..., Any]) -> list[str]:
    """Return the names of a function's keyword-only parameters."""
    return [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]


def list_names(function: Callable[..., Any]) -> set[str]:
    """Return the names of all globals and attributes that a function uses, itself or through functions it names."""
    names: set[str] = set()
    seen: set[CodeType] = set()
    waiting: list[Any] = [function]
    while waiting:
        found = waiting.pop()
        found = getattr(found, "py_func", found)  # of a function compiled by Numba
        code = found if isinstance(found, CodeType) else getattr(found, "__code__", None)
        if code is None or code in seen:
            continue
        seen.add(code)
        names.update(code.co_names)
        waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        if isinstance(found, FunctionType):
            inner = inspect.getclosurevars(found)
            waiting += [*inner.globals.values(), *inner.nonlocals.values()]
    return names


def merge_params(spec: str, of: Authored, given: Mapping[str, float]) -> dict[str, float]:
    """Return the parameters of a strategy or wrapper, those given in place of the defaults, in order of definition.

    Raises
    ------
    InputError
        For a parameter it has not, or a value that is no finite number or outside its limits.
    """
    for key, value in given.items():
        if key not in of.defaults:
            known = did_you_mean(key, of.defaults) if of.defaults else "; it has none"
            raise InputError(f"{spec}: {of.name!r} has no parameter {key!r}{known}")
        if not math.isfinite(value):
            raise InputError(f"{spec}: parameter {key} = {value}: must be a finite number")
    check_limits(spec, given, of.limits)
    return {**of.defaults, **given}


def check_limits(spec: str, params: Mapping[str, float], limits: Limits) -> None:
    """Complain of the first parameter that lies outside its limits.

    Raises
    ------
    InputError
        Naming parameter, value and limits.
    """
    for key, (low, high) in limits.items():
        if key in params and not low <= params[key] <= high:
            raise InputError(f"{spec}: parameter {key} = {params[key]:g}: must be from {low:g} to {high:g}")


def as_param_array(params: Mapping[str, float]) -> npt.NDArray[np.float64]:
    """Return parameters in order of definition, float64; at least one element, so that the array has an address."""
    return np.array([*params.values()] or [0.0], np.float64)


def first_telling_line(error: BaseException) -> str:
    """Return the line of one of Numba's long messages that says something."""
    lines = [line.strip() for line in str(error).splitlines()]
    telling = [line for line in lines if line and not line.startswith(("Failed in", "During:", "File", "There are"))]
    told = telling[0] if telling else ""
    return told if told and isinstance(error, numba.core.errors.NumbaError) else f"{type(error).__name__}: {told}"
