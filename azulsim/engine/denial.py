"""What a move takes away from the next player."""

from __future__ import annotations

from typing import Any

import numpy as np

from azulsim.engine.compiling import compiled, lowest_bit
from azulsim.engine.core import floor_penalty, lane, tiling_points
from azulsim.engine.moves import lines_of, sources_of


@compiled
def denial(game: Any, code: Any) -> Any:
    return 0
