"""The command that checks engine and statistics on games whose truth is known."""

from __future__ import annotations

from typing import Annotated

import typer

from azulsim.cli.app import FAILED, AsJson, app, plain, print_json, tell


@app.command()
def selftest(
    deals: Annotated[
        int, typer.Option(min=1, metavar="N", help="Deals of most checks, at least 200: more find smaller faults.")
    ] = 10_000,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Root of all luck.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Check engine and statistics on games whose truth is known.

    One strategy under two names, rules against themselves, planted effects, exact zeros, the law of dealing. Ends with
    1 if a check fails. With other seeds a sound installation fails a check by chance about once in a hundred times.

    \b
    Examples:
      azulsim selftest
      azulsim selftest --deals 100000 --seed 1 --json
    """
    from azulsim.selftest import selftest

    found = selftest(deals=deals, seed=seed, progress=lambda name: tell(f"checking: {name}"))
    if as_json:
        print_json(found.to_dict())
    else:
        typer.echo(plain(str(found)))
    if not found.passed:
        raise typer.Exit(FAILED)
