"""The app that all commands join, the options that several take, and how they answer."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer
from typer.core import TyperCommand, TyperGroup

from azulsim import __version__
from azulsim.errors import InputError, did_you_mean
from azulsim.jobs import MAX_JOBS

if TYPE_CHECKING:
    from azulsim.log import Run
    from azulsim.report.page import Written

FAILED, USAGE, INTERRUPTED = 1, 2, 130


class Answer(Protocol):
    """What `azulsim.questions` answers with: printing it prints a table."""

    @property
    def run(self) -> Run:
        """The games behind it."""

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values."""


_UsageError: Any = typer.BadParameter.__base__  # the only name by which every version of typer gives it away


class _Complaining:
    """Says in one sentence what of the words typed cannot be used, and what would be right."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        words = list(args)
        try:
            return super().parse_args(ctx, args)  # type: ignore[misc, no-any-return]
        except _UsageError as error:
            if type(error).__name__ == "NoArgsIsHelpError":
                raise
            raise InputError(f"{_word_usage(error, ctx, words)} ({ctx.command_path} --help says more)") from None


def _word_usage(error: Any, ctx: Any, words: list[str]) -> str:
    command = ctx.command
    if hasattr(error, "possibilities"):
        known = [option for param in command.params for option in param.opts if option.startswith("--")]
        return f"{ctx.command_path} has no option {error.option_name!r}{did_you_mean(error.option_name, known)}"
    if isinstance(error, typer.BadParameter) and (param := error.param) is not None:
        name = max(param.opts, key=len) if param.param_type_name == "option" else param.metavar
        if hasattr(error, "param_type"):
            return f"{ctx.command_path} lacks {name}"
        given = command.make_parser(ctx).parse_args(args=words)[0][param.name]
        value = " ".join(given) if isinstance(given, list | tuple) else given
        reason = error.message.removeprefix("Value error, ").replace("Input should", "must").partition(", unable")[0]
        return f"{name} {value}: {reason.rstrip('.')}"
    return f"{ctx.command_path}: {error.message[:1].lower()}{error.message[1:].rstrip('.')}"


class _Command(_Complaining, TyperCommand):
    """One command."""


class _Commands(_Complaining, TyperGroup):
    """A group of commands."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that the words begin with; complain of an unknown one."""
        if self.get_command(ctx, args[0]) is None:
            known = did_you_mean(args[0], self.list_commands(ctx))
            raise InputError(f"{ctx.command_path} has no command {args[0]!r}{known}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; an interrupt ends it with its own exit code, where typer would say 1."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            tell("\n".join(["interrupted", *getattr(stop, "__notes__", [])]))
            raise typer.Exit(INTERRUPTED) from None


class Group(typer.Typer):
    """A group of commands; the help of each ends with the examples that end its docstring."""

    def __init__(self, help_: str = "", **options: Any) -> None:
        if help_:
            options["help"], options["epilog"] = _split_examples(help_)
        super().__init__(
            cls=_Commands,
            no_args_is_help=True,
            rich_markup_mode=None,
            pretty_exceptions_enable=False,
            add_completion=False,
            **options,
        )

    def command(self, name: str | None = None, **options: Any) -> Callable[..., Any]:
        """Add a function as a command."""

        def add(function: Callable[..., Any]) -> Callable[..., Any]:
            text, examples = _split_examples(options.pop("help", function.__doc__))
            inner = super(Group, self).command(name, cls=_Command, help=text, epilog=examples, **options)
            return inner(function)

        return add


def _split_examples(text: str) -> tuple[str, str]:
    """Split what a command says of itself before its examples, which come after its options."""
    text, start, examples = inspect.cleandoc(text).rpartition("\n\n\b\nExample")
    return text, f"\b\nExample{examples}" if start else ""


app = Group(
    name="azulsim",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


# Options that several commands take

Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", min=1, max=MAX_JOBS, metavar="N", help="Workers; all cores if left out."),
]
Seed = Annotated[int | None, typer.Option(min=0, metavar="N", help="Root of all luck; the same seed, the same games.")]
SomeSeed = Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Root of all luck.")]
PlayerCounts = Annotated[str, typer.Option("--players", metavar="N,N", help="Player counts.")]
Deals = Annotated[int | None, typer.Option(min=1, metavar="N", help="Deals of each cell: more deals, less doubt.")]
RulesName = Annotated[
    str | None,
    typer.Option(
        "--rules",
        metavar="NAME",
        help="One of `azulsim rules list`, or a TOML file of rules, in place of the printed ones.",
    ),
]


def find_run(text: str) -> Path:
    """Turn what was typed for a run into a path; on an object store it looks like s3://bucket/run."""
    from azulsim.log import locate

    return locate(text)


Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="DIR", parser=find_run, help="The run folder; runs/NAME if left out."),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the experiment; repeatable."),
]
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
Timeout = Annotated[
    float, typer.Option(metavar="SECONDS", help="Time that a game may take, unless all its strategies are bundled.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


# The app itself


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
      azulsim play                        play against a strategy yourself
    """


# Answers


def print_pages(pages: list[Written]) -> None:
    """Print the short answer of each page, then where the pages are."""
    for page in pages:
        typer.echo(plain(page.answer))
    for page in pages:
        typer.echo(str(page.page))


def print_answer(answer: Answer, *, as_json: bool) -> None:
    """Print what a question was answered with, and fail if games of it failed."""
    if as_json:
        print_json(answer.to_dict())
    else:
        typer.echo(plain(str(answer)))
    if doubts := answer.run.describe_doubts():
        tell(doubts)
    fail_if_spoiled(answer.run)


def plain(text: str) -> str:
    """Return signs as ASCII when nobody looks at a terminal: a log file may end up anywhere."""
    return text if sys.stdout.isatty() else text.translate(_ASCII)


_ASCII = str.maketrans({"\u2212": "-", "\u2013": "-", "\u2026": "...", "\u00b1": "+/-", "\u00d7": "x"})


def fail_if_spoiled(run: Run) -> None:
    if run.n_failures:
        tell(f"{run.describe_failures()}; see {run.path / 'failures'}")
        raise typer.Exit(FAILED)


def print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False))


def tell(text: str) -> None:
    typer.echo(text, err=True)
