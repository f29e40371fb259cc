"""Golden perft counts: how many sequences of moves there are from fixed deals, for every variant.

`facts/perft.json` was made by `python tests/test_perft.py`; the plain reference is held to the shallow counts.
"""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from reference import Reference
from test_engine import draw_as_the_engine

from azulsim.engine.luck import DEAL_DOMAIN, root_key
from azulsim.game import Game
from azulsim.rules import VARIANTS
from azulsim.testing import count_sequences

FILE = Path(__file__).parent / "facts" / "perft.json"
SEED = 7
DEPTH = 4


def compute() -> list[dict[str, Any]]:
    """Count with the engine."""
    return [
        {
            "variant": name,
            "players": players,
            "seed": SEED,
            "deal": 0,
            "counts": [
                count_sequences(Game(players, rules=rules, seed=SEED), depth)
                for depth in range(1, DEPTH + (players == 2))
            ],
        }
        for name, rules in VARIANTS.items()
        for players in (2, 3, 4)
    ]


GOLDEN: list[dict[str, Any]] = json.loads(FILE.read_text()) if FILE.exists() else []


def test_every_variant_has_its_counts() -> None:
    assert {(row["variant"], row["players"]) for row in GOLDEN} == {(n, p) for n in VARIANTS for p in (2, 3, 4)}


@pytest.mark.parametrize("row", GOLDEN, ids=lambda row: f"{row['variant']}-{row['players']}")
def test_engine_counts_as_ever(row: dict[str, Any]) -> None:
    rules = VARIANTS[row["variant"]]
    for depth, count in enumerate(row["counts"][:3], start=1):
        game = Game(row["players"], rules=rules, seed=row["seed"], deal=row["deal"])
        assert count_sequences(game, depth) == count


@pytest.mark.parametrize("row", GOLDEN, ids=lambda row: f"{row['variant']}-{row['players']}")
def test_reference_counts_alike(row: dict[str, Any]) -> None:
    from test_engine import derive

    key = derive(derive(root_key(row["seed"], DEAL_DOMAIN), row["deal"]), 0)
    game = Reference(row["players"], VARIANTS[row["variant"]], draw_as_the_engine(key))
    moves = game.legal_moves()
    assert len(moves) == row["counts"][0]
    total = 0
    for move in moves:
        after = deepcopy(game)
        after.play(move)
        total += len(after.legal_moves())
    assert total == row["counts"][1]


if __name__ == "__main__":
    FILE.write_text(json.dumps(compute(), indent=1) + "\n")
