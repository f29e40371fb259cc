"""The command line: words in, calls out, nothing more.

Results go to stdout, progress and notes to stderr. Exit codes: 0 done, 1 a run or a check failed, 2 something typed
or written cannot be used, 130 interrupted. Rooms are imported inside the commands that need them, so that `--help`
never waits for numba, pandas or matplotlib.
"""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from azulsim import __version__
from azulsim.errors import AzulsimError, InputError

if TYPE_CHECKING:
    from azulsim.catalog import Kind
    from azulsim.log import Run
    from azulsim.report.page import Written

FAILED, USAGE, INTERRUPTED = 1, 2, 130


class _Commands(TyperGroup):
    """The group of all commands."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; an interrupt ends it with its own exit code, where typer would say 1."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            _tell("\n".join(["interrupted", *getattr(stop, "__notes__", [])]))
            raise typer.Exit(INTERRUPTED) from None


app = typer.Typer(
    cls=_Commands,
    name="azulsim",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


# Options that several commands take

Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, metavar="N", help="Worker processes; all cores if left out.")
]
Seed = Annotated[int | None, typer.Option(min=0, metavar="N", help="Root of all luck; the same seed, the same games.")]
Deals = Annotated[int | None, typer.Option(min=1, metavar="N", help="Deals of each cell: more deals, less doubt.")]
RulesFile = Annotated[
    Path | None, typer.Option("--rules", metavar="FILE", help="TOML file of rules, in place of the printed ones.")
]
Out = Annotated[Path | None, typer.Option("--out", "-o", metavar="DIR", help="The run folder; runs/NAME if left out.")]
Project = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Folder whose strategies/, experiments/ and reports/ are searched too."),
]
ReportNames = Annotated[
    list[str] | None,
    typer.Option(
        "--report", metavar="NAME", help="A report to build; repeatable. Those of the experiment if left out."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


# Commands


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"azulsim {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the whole traceback of an error.")] = False,
) -> None:
    """Play very many games of Azul, log every move, and learn what the game is like.

    \b
    Start here:
      azulsim compare greedy uniform      which of two strategies is better, and by how much
      azulsim experiments list            the questions that can be run
      azulsim run demo                    run one, and get its page
    """


@app.command()
def run(
    experiment: Annotated[str, typer.Argument(metavar="EXPERIMENT", help="Name of an experiment, or a TOML file.")],
    rules: RulesFile = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the experiment; repeatable."),
    ] = None,
    seed: Seed = None,
    deals: Deals = None,
    jobs: Jobs = None,
    out: Out = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Play an experiment and build its reports.

    \b
    Examples:
      azulsim run demo --jobs 2
      azulsim run demo --set rules.bonus.column=5 --deals 200 --out runs/column-5
    """
    from azulsim.experiment import read_experiment
    from azulsim.runner import run as play_experiment

    question = read_experiment(experiment, project=project, overrides=set_ or (), rules=rules)
    done = play_experiment(
        question, out=out, jobs=jobs, seed=seed, deals=deals, progress=True, project=project, where=experiment
    )
    _finish(done, project, as_json=as_json)


@app.command()
def resume(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of an interrupted run.")],
    jobs: Jobs = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Go on with a run that was interrupted.

    \b
    Example:
      azulsim resume runs/demo
    """
    from azulsim.experiment import read_experiment
    from azulsim.runner import run as play_experiment

    file = run_folder / "experiment.toml"
    question = read_experiment(file, project=project)
    done = play_experiment(question, out=run_folder, jobs=jobs, progress=True, project=project, where=str(file))
    _finish(done, project, as_json=as_json)


@app.command()
def report(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    names: ReportNames = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Where to write; into RUN if left out.")
    ] = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Turn a run into a page, figures and tables.

    \b
    Examples:
      azulsim report runs/demo
      azulsim report runs/demo --report marker --json
    """
    from azulsim.log import read_run

    done = read_run(run_folder)  # before the plotting library is loaded: bad input is answered at once
    if gap := done.describe_gap():
        _tell(f"note: {gap}")

    from azulsim.report import build_report

    wanted: list[str | None] = [*names] if names else [None]
    folders = [out / Path(name).stem if out and name and len(wanted) > 1 else out for name in wanted]
    pages = [build_report(done, name, folder=to, project=project) for name, to in zip(wanted, folders, strict=True)]
    if as_json:
        documents = [json.loads(page.json.read_bytes()) for page in pages]
        _print_json({**documents[0], "reports": [found for document in documents for found in document["reports"]]})
    else:
        _print_pages(pages)


@app.command()
def compare(
    strategies: Annotated[list[str], typer.Argument(metavar="A B ...", help="Two strategies or more.")],
    players: Annotated[int, typer.Option(min=2, max=4, help="Players at the table.")] = 2,
    deals: Annotated[int, typer.Option(min=1, metavar="N", help="Deals each line-up plays.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Root of all luck.")] = 0,
    seatings: Annotated[
        Literal["cyclic", "full"], typer.Option(help="Who sits where: every rotation, or every order.")
    ] = "cyclic",
    rules: RulesFile = None,
    jobs: Jobs = None,
    out: Out = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Rank strategies by play on the same deals.

    \b
    Examples:
      azulsim compare greedy uniform
      azulsim compare greedy ./my.py:mine --players 3 --deals 2000 --json
    """
    from azulsim import questions

    answer = questions.compare(
        strategies,
        players=players,
        deals=deals,
        seed=seed,
        seatings=seatings,
        rules=rules,
        jobs=jobs,
        out=out,
        project=project,
        progress=True,
        page=True,
    )
    if as_json:
        _print_json(answer.to_dict())
    else:
        typer.echo(str(answer))
    _fail_if_spoiled(answer.run)


def _add_list(kind: Kind, help_: str, example: str) -> None:
    """Add `azulsim KIND list`."""
    group = typer.Typer(help=help_, no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(group, name=kind)

    @group.callback()
    def _group() -> None:
        pass

    @group.command("list", help=f"List {kind}: name and what it is.\n\n\b\nExample:\n  {example}")
    def list_(project: Project = None, as_json: AsJson = False) -> None:
        from azulsim.catalog import list_entries

        entries = list_entries(kind, project=project)
        if as_json:
            fields = ("name", "summary", "origin", "path")
            _print_json([{field: str(getattr(entry, field)) for field in fields} for entry in entries])
            return
        width = max((len(entry.name) for entry in entries), default=0)
        for entry in entries:
            origin = "" if entry.origin == "bundled" else f"  [{entry.origin}: {entry.path}]"
            typer.echo(f"{entry.name:<{width}}  {entry.summary}{origin}")


_add_list("strategies", "The strategies that can play.", "azulsim strategies list")
_add_list("experiments", "The questions that can be run.", "azulsim experiments list --project ~/azul")
_add_list("reports", "The pages that can be made of a run.", "azulsim reports list --json")


@app.command()
def verify(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    jobs: Jobs = None,
    as_json: AsJson = False,
) -> None:
    """Check a run: its fingerprints, and every logged game by playing it again.

    \b
    Names each row that disagrees. Exit code 0: all well; 1: something disagrees.
    What can be checked depends on the log: with log = "moves" every cell.

    \b
    Example:
      azulsim verify runs/demo
    """
    from azulsim.replay import verify_run

    found = verify_run(run_folder, jobs=jobs or os.cpu_count() or 1)
    if as_json:
        _print_json(found.to_dict())
    else:
        typer.echo(str(found))
    if not found.is_good:
        raise typer.Exit(FAILED)


@app.command()
def replay(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder with log = moves.")],
    game: Annotated[int, typer.Option("--game", metavar="ID", help="The column `game` of every table.")],
    text: Annotated[
        Path | None, typer.Option("--text", metavar="FILE", help="Write the game as text too (docs/NOTATION.md).")
    ] = None,
) -> None:
    """Show a logged game move by move.

    \b
    Example:
      azulsim replay runs/demo --game 0 --text game.txt
    """
    import shutil

    from azulsim.replay import replay_game

    found = replay_game(run_folder, game)
    if text is not None:
        text.write_text(str(found.record), encoding="utf-8")
    typer.echo(found.draw(color=sys.stdout.isatty(), width=shutil.get_terminal_size().columns), nl=False)


@app.command()
def explain(
    position: Annotated[str, typer.Argument(metavar="POSITION", help="One line of text, in quotes; - reads it.")],
    strategy: Annotated[str, typer.Option("--strategy", "-s", metavar="SPEC", help="Who judges the moves.")],
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Show every legal move of a position with its score, best first.

    \b
    azulsim replay shows the position of each round as text; docs/NOTATION.md says how to write one.

    \b
    Example:
      azulsim explain - --strategy greedy < position.txt
    """
    from azulsim.explain import explain as explain_position

    line = sys.stdin.read().strip() if position == "-" else position
    answer = explain_position(line, strategy, project=project)
    if as_json:
        _print_json(answer.to_dict())
    else:
        typer.echo(str(answer))


rules_group = typer.Typer(help="The rules that can be played.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(rules_group, name="rules")


@rules_group.command("list")
def list_rules(as_json: AsJson = False) -> None:
    """List the named kinds of Azul.

    \b
    Example:
      azulsim rules list
    """
    from azulsim.notation.rules_text import SUMMARIES

    if as_json:
        _print_json([{"name": name, "summary": summary} for name, summary in SUMMARIES.items()])
        return
    width = max(map(len, SUMMARIES))
    for name, summary in SUMMARIES.items():
        typer.echo(f"{name:<{width}}  {summary}")


@rules_group.command("show")
def show_rules(name: Annotated[str, typer.Argument(metavar="NAME", help="One of `azulsim rules list`.")]) -> None:
    """Print rules as TOML: the start of a file of your own.

    \b
    Example:
      azulsim rules show gray > mine.toml
    """
    from azulsim.rules import find_variant

    typer.echo(find_variant(name).to_toml(), nl=False)


@rules_group.command("check")
def check_rules(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="TOML file of rules.")], as_json: AsJson = False
) -> None:
    """Say whether rules can be played, and how they differ from the printed ones.

    \b
    Example:
      azulsim rules check mine.toml
    """
    from azulsim.notation.rules_text import list_differences
    from azulsim.rules import read_rules

    differences = list_differences(read_rules(file))
    if as_json:
        _print_json([{"key": key, "value": value, "printed": printed} for key, value, printed in differences])
        return
    typer.echo("ok: the printed rules" if not differences else "ok; differs from the printed rules:")
    for key, value, printed in differences:
        typer.echo(f"  {key} = {value}  (printed: {printed})")


# What commands share


def _finish(run: Run, project: Path | None, *, as_json: bool) -> None:
    """Build the reports that the experiment names, say what was done, and fail if a strategy did."""
    from azulsim.report import build_report

    pages = [build_report(run, project=project)] if run.manifest.reports else []
    if as_json:
        counts = {"games": run.n_games, "moves": run.n_moves, "failures": run.n_failures}
        _print_json({"run": str(run.path), **counts, "page": str(pages[0].page) if pages else None})
    else:
        typer.echo(f"{run.n_games:,} games, {run.n_moves:,} moves in {run.path}")
        _print_pages(pages)
    _fail_if_spoiled(run)


def _print_pages(pages: list[Written]) -> None:
    """Print the short answer of each page, then where the pages are."""
    for page in pages:
        typer.echo(_plain(page.answer))
    for page in pages:
        typer.echo(str(page.page))


def _plain(text: str) -> str:
    """Return signs as ASCII when nobody looks at a terminal: a log file may end up anywhere."""
    return text if sys.stdout.isatty() else text.translate(_ASCII)


_ASCII = str.maketrans({"\u2212": "-", "\u2013": "-", "\u2026": "...", "\u00b1": "+/-", "\u00d7": "x"})


def _fail_if_spoiled(run: Run) -> None:
    if run.n_failures:
        _tell(f"{run.describe_failures()}; see {run.path / 'failures'}")
        raise typer.Exit(FAILED)


def _print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False))


def _tell(text: str) -> None:
    typer.echo(text, err=True)


def main() -> None:
    """Run the command in `sys.argv` and exit with its code."""
    words = sys.argv[1:]
    debug = "--debug" in words  # wherever it stands
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a sign shows another, not an error
            stream.reconfigure(errors="replace")
    words = ["--debug"] * debug + [word for word in words if word != "--debug"]
    try:
        app(words, prog_name="azulsim")
    except SystemExit as done:
        code = done.code
    except Exception as error:
        if debug:
            raise
        _tell(_sentence(error))
        code = USAGE if isinstance(error, InputError) else FAILED
    sys.exit(code if _flush() else FAILED)


def _sentence(error: Exception) -> str:
    if isinstance(error, AzulsimError | OSError):
        return f"error: {error}"
    if isinstance(error, ModuleNotFoundError):
        return f"error: the package {error.name!r} is missing; pip install azulsim brings all that is needed"
    return f"internal error: {type(error).__name__}: {error} (azulsim --debug ... shows where)"


def _flush() -> bool:
    """Flush stdout; if whoever read it has gone (`| head`), say nothing more and return False."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True
