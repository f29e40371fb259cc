"""The command for a person at the table."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from azulsim.cli.app import Project, RulesName, app
from azulsim.errors import InputError

if TYPE_CHECKING:
    from azulsim.interactive import Session

MAX_FRESH_SEED = 1_000_000


@app.command()
def play(
    opponents: Annotated[
        list[str] | None,
        typer.Argument(metavar="[OPPONENT ...]", help="Strategies for the other seats; tuned if left out."),
    ] = None,
    seats: Annotated[
        list[int] | None,
        typer.Option("--seat", min=0, max=3, metavar="N", help="Where you sit, from 0; repeatable for more persons."),
    ] = None,
    rules: RulesName = None,
    seed: Annotated[int | None, typer.Option(min=0, metavar="N", help="The luck; fresh if left out.")] = None,
    load: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Go on with a saved game, and keep it there.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep the game in a new file after every move.")
    ] = None,
    project: Project = None,
) -> None:
    """Play against strategies yourself, with hints, undo and a saved game.

    \b
    Seats count from 0, and seat 0 starts. What to type at the table: help.

    \b
    Examples:
      azulsim play
      azulsim play connector uniform --seat 2 --rules gray --save game.txt
      azulsim play --load game.txt
      azulsim play --seat 0 --seat 1
    """
    from azulsim.interactive import load_session, play_in_terminal

    if load is None:
        session = _begin(opponents or [], seats or [0], rules, seed, project)
    else:
        given = {"OPPONENT": opponents, "--rules": rules, "--seed": seed}
        for name, value in given.items():
            if value is not None and value != []:
                raise InputError(f"--load {load} with {name}: the saved game has its own")
        session = load_session(load, seats or [], project=project)
    if save is not None:
        session.save(save)
    for name in ("SIGTERM", "SIGHUP"):  # a closed window loses no game either
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.default_int_handler)
    _greet(session, is_new=load is None)
    color = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    width = shutil.get_terminal_size().columns
    play_in_terminal(session, ask=_make_ask(), say=typer.echo, color=color, width=width)


def _begin(
    opponents: list[str], seats: list[int], rules: str | None, seed: int | None, project: Path | None
) -> Session:
    import secrets

    from azulsim.interactive import begin_session
    from azulsim.rules import Rules, find_rules

    seed = secrets.randbelow(MAX_FRESH_SEED) if seed is None else seed
    return begin_session(
        opponents, seats, rules=find_rules(rules) if rules is not None else Rules(), seed=seed, project=project
    )


def _greet(session: Session, *, is_new: bool) -> None:
    from azulsim.notation import format_rules

    game = session.game
    who = ", ".join(f"seat {seat} {name}" for seat, name in enumerate(game.specs))
    typer.echo(f"Azul, {format_rules(game.rules)} rules: {who}.")
    if is_new:
        typer.echo(f"Seed {game.seed}; --seed {game.seed} deals the same tiles again.")
    else:
        typer.echo(f"The game goes on in round {game.round}.")
    if session.file:
        typer.echo(f"It is kept in {session.file} after every move.")
    typer.echo("2B3 takes the blue tiles of display 2 to your line 3; help says more.")
    if not game.is_over and not session.is_waiting:
        typer.echo("")


def _make_ask() -> Callable[[str], str]:
    """Return a function that asks for a line: with editing and history at a terminal, with an echo in a pipe."""
    import contextlib
    import io

    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    if sys.stdin.isatty():
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401
        return input

    def ask(prompt: str) -> str:
        line = input(prompt)
        typer.echo(line)
        return line

    return ask
