"""The command line: words in, calls out, nothing more.

Results go to stdout, progress and notes to stderr. Exit codes: 0 done, 1 a run or a check failed, 2 something typed
or written cannot be used, 130 interrupted. Rooms are imported inside the commands that need them, so that `--help`
never waits for numba, pandas or matplotlib.
"""

from __future__ import annotations

import io
import os
import sys

from azulsim.cli.app import FAILED, USAGE, app, tell
from azulsim.errors import AzulsimError, InputError
from azulsim.interrupts import one_interrupt

# isort: off
# Importing a module adds its commands, in the order in which --help lists them.
from azulsim.cli import runs, plan, questions, marker, whatif, tune, play, positions  # noqa: F401
from azulsim.cli import catalog, strategies, experiments, rules, selftest  # noqa: F401
# isort: on


def main() -> None:
    """Run the command in `sys.argv` and exit with its code."""
    # Read when Arrow is loaded. Its own allocator keeps what was freed: 40 MB in a run with two workers.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    words = sys.argv[1:]
    debug = "--debug" in words  # wherever it stands
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a sign shows another, not an error
            stream.reconfigure(errors="replace")
    words = ["--debug"] * debug + [word for word in words if word != "--debug"]
    try:
        with one_interrupt(is_last=True):
            app(words, prog_name="azulsim")
    except SystemExit as done:
        code = done.code
    except Exception as error:
        if debug:
            raise
        tell(_sentence(error))
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
