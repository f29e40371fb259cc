"""azulsim: simulation and statistics for the board game Azul.

Names are loaded when first used, so that `import azulsim` and reading a log never compile or plot anything.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "AzulsimError": "azulsim.errors",
    "Experiment": "azulsim.experiment",
    "Game": "azulsim.game",
    "InputError": "azulsim.errors",
    "Rules": "azulsim.rules",
    "RunError": "azulsim.errors",
    "StrategyError": "azulsim.errors",
    "build_report": "azulsim.report",
    "compare": "azulsim.questions",
    "play": "azulsim.game",
    "read_rules": "azulsim.rules",
    "read_run": "azulsim.log",
    "run": "azulsim.runner",
    "strategy": "azulsim.strategy",
    "whatif": "azulsim.questions",
    "wrapper": "azulsim.strategy",
}
_ROOMS = {"metrics", "report", "stats", "schema", "testing"}

__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        value = getattr(importlib.import_module(_PUBLIC[name]), name)
    elif name in _ROOMS:
        value = importlib.import_module(f"azulsim.{name}")
    else:
        raise AttributeError(f"module 'azulsim' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC, *_ROOMS})
