"""Golden whole games as text, one a variant: a change of the luck, the rules, greedy or the notation shows here first.

`facts/games/*.txt` were made by `python tests/test_golden_games.py`; such a change must be meant, and its diff read.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import azulsim
from azulsim.experiment import Experiment
from azulsim.notation import format_game, parse_game
from azulsim.replay import replay_game
from azulsim.rules import VARIANTS
from azulsim.schema import game_id

FOLDER = Path(__file__).parent / "facts" / "games"
PLAYERS = {"standard": 2, "gray": 3, "joker": 2, "gray-joker": 4, "crystal-mosaic": 3}


def play_as_text(variant: str, folder: Path) -> str:
    """Play one game of a variant, log it, and write the logged game as text."""
    lineup = ("greedy", "uniform_no_floor", "hoarder", "uniform")[: PLAYERS[variant]]
    experiment = Experiment(
        name="golden",
        seed=7,
        deals=1,
        log="moves",
        players=(PLAYERS[variant],),
        lineup=lineup,
        rules=VARIANTS[variant],
    )
    azulsim.run(experiment, out=folder / variant, jobs=1, progress=False)
    return format_game(replay_game(folder / variant, game_id(0, 0, 0)).record)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_game_is_the_same_text_in_every_version(variant: str, tmp_path: Path) -> None:
    text = play_as_text(variant, tmp_path)
    assert text == (FOLDER / f"{variant}.txt").read_text(encoding="utf-8")
    assert format_game(parse_game(text)) == text


if __name__ == "__main__":
    import tempfile

    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        for variant in VARIANTS:
            (FOLDER / f"{variant}.txt").write_text(play_as_text(variant, Path(name)), encoding="utf-8")
