"""Finds strategies, experiments and reports by name, without importing any of them.

Three places are searched, in this order: the folders that ship with azulsim, the folders of the same names in
the working directory (or in another project folder), and the entry points of installed packages. A path such as
`ideas/mine.py:hoard_blue` or `questions/mine.toml` always works. A name that two files claim is refused when it
is used, never resolved silently.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib
import importlib.metadata
import importlib.util
import os
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType
from typing import Literal, NamedTuple

from azulsim.errors import AzulsimError, InputError, did_you_mean

Kind = Literal["strategies", "experiments", "reports"]
Origin = Literal["bundled", "project", "path", "entry point"]
KINDS: tuple[Kind, ...] = ("strategies", "experiments", "reports")

_SUFFIX: dict[Kind, str] = {"strategies": ".py", "experiments": ".toml", "reports": ".py"}
_ONE: dict[Kind, str] = {"strategies": "strategy", "experiments": "experiment", "reports": "report"}
_A: dict[Kind, str] = {"strategies": "a strategy", "experiments": "an experiment", "reports": "a report"}


@dataclass(frozen=True)
class Entry:
    """One strategy, experiment or report that can be named."""

    kind: Kind
    name: str
    path: Path
    """The file that holds it."""
    origin: Origin
    summary: str
    """One line: what it is, or why its file cannot be read."""
    module: str = ""
    """The name by which Python imports the file; empty for a file outside any package."""
    is_wrapper: bool = False
    """True for what goes around a strategy and cannot play alone."""


def list_entries(kind: Kind, *, project: Path | None = None) -> list[Entry]:
    """List everything of one kind, sorted by name, reading files but importing none.

    Parameters
    ----------
    kind
        `"strategies"`, `"experiments"` or `"reports"`.
    project
        Folder whose subfolder `kind` is searched besides the bundled one; the working directory if left out.

    Returns
    -------
    list of Entry
        Two entries have the same name if two files claim it; `find` refuses such a name. A Python file with a
        syntax error is listed under its own name, with the error as its summary.
    """
    entries = [*_bundled(kind), *_in_project(kind, project), *_from_entry_points(kind)]
    return sorted(entries, key=lambda entry: (entry.name, str(entry.path)))


def find(kind: Kind, name: str, *, project: Path | None = None) -> Entry:
    """Find one entry by its name, or by a path such as `file.py:name`, `file.py` or `file.toml`.

    Raises
    ------
    InputError
        For an unknown name (with the nearest known one), a name that two files claim, a missing file, or a path
        to a file that holds no such entry.
    """
    if _is_path(name):
        return _find_in_file(kind, name)
    entries = list_entries(kind, project=project)
    found = [entry for entry in entries if entry.name == name]
    if not found:
        raise InputError(f"unknown {_ONE[kind]} {name!r}{did_you_mean(name, {entry.name for entry in entries})}")
    if len(found) > 1:
        files = " and ".join(str(entry.path) for entry in found)
        how = f"{found[-1].path}:{name}" if kind == "strategies" else str(found[-1].path)
        raise InputError(f"{_ONE[kind]} {name!r} stands in {files}; rename one, or give the path: {how}")
    return found[0]


def load_module(entry: Entry) -> ModuleType:
    """Import the Python file of an entry and return the module.

    A file outside any package is loaded under a name made from its path and its text, so an edited file is
    loaded anew while an unchanged one is loaded once per process.

    Raises
    ------
    InputError
        One sentence naming file and line, for whatever the file raises when it is imported.
    """
    try:
        with contextlib.redirect_stdout(sys.stderr):  # standard output is for results
            return importlib.import_module(entry.module) if entry.module else _load_file(entry.path)
    except AzulsimError:
        raise
    except SyntaxError as error:
        raise InputError(f"{error.filename or entry.path}, line {error.lineno}: {error.msg}") from error
    except (Exception, SystemExit) as error:
        line = _line_in(entry.path, error)
        raise InputError(f"{entry.path}, line {line}: {type(error).__name__}: {error}") from error


def read_docstring(entry: Entry) -> str:
    """Return the whole docstring of a strategy or a report, reading its file without importing it; empty if none."""
    try:
        tree = ast.parse(_read_bytes(entry.path))
    except (SyntaxError, ValueError):
        return ""
    named = (node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == entry.name)
    node = next(named, None) if entry.kind == "strategies" else None
    return (node and ast.get_docstring(node)) or ast.get_docstring(tree) or ""


def source_hash(entry: Entry) -> str:
    """Return the SHA-256 of the file that holds an entry, as 64 hexadecimal digits."""
    return hashlib.sha256(_read_bytes(entry.path)).hexdigest()


# Where entries come from


def _bundled(kind: Kind) -> list[Entry]:
    return [
        entry for folder in _bundled_folders(kind) for entry in _in_folder(kind, folder, "bundled", f"azulsim.{kind}")
    ]


@lru_cache
def _bundled_folders(kind: Kind) -> tuple[Path, ...]:
    spec = importlib.util.find_spec(f"azulsim.{kind}")
    locations = (spec.submodule_search_locations if spec else None) or []
    return tuple(Path(location).resolve() for location in locations)


def _in_project(kind: Kind, project: Path | None) -> list[Entry]:
    folder = (project or Path.cwd()) / kind
    if project is not None and not project.is_dir():
        raise InputError(f"{project}: no such project folder")
    if folder.resolve() in _bundled_folders(kind):
        return []
    return list(_in_folder(kind, folder, "project", ""))


def _in_folder(kind: Kind, folder: Path, origin: Origin, package: str) -> Iterator[Entry]:
    for path in sorted(folder.glob(f"*{_SUFFIX[kind]}")):
        if not path.name.startswith(("_", ".")) and path.is_file():
            yield from _in_file(kind, path, origin, f"{package}.{path.stem}" if package else "")


def _from_entry_points(kind: Kind) -> list[Entry]:
    """List what installed packages offer: an entry point names a package, a module, or `module:name`."""
    entries: list[Entry] = []
    for point in _entry_points(kind, tuple(sys.path)):
        path, is_package = _locate(point.module)
        if path is None:
            continue
        if is_package:
            found = list(_in_folder(kind, path, "entry point", point.module))
        else:
            found = _in_file(kind, path, "entry point", point.module)
        entries += [entry for entry in found if not point.attr or entry.name == point.attr]
    return entries


@cache
def _entry_points(kind: Kind, search: tuple[str, ...]) -> tuple[importlib.metadata.EntryPoint, ...]:
    """Return the entry points of one kind; once for each `sys.path`, since all installed packages are read for it."""
    return tuple(importlib.metadata.entry_points(group=f"azulsim.{kind}"))


def _locate(module: str) -> tuple[Path | None, bool]:
    """Return the file (or folder) of a module, asking Python's finders without importing its parents."""
    search: list[str] | None = None
    path: Path | None = None
    parts = module.split(".")
    for end in range(1, len(parts) + 1):
        name = ".".join(parts[:end])
        specs = (finder.find_spec(name, search) for finder in sys.meta_path if hasattr(finder, "find_spec"))
        spec = next((spec for spec in specs if spec is not None), None)
        if spec is None:
            return None, False
        search = list(spec.submodule_search_locations) if spec.submodule_search_locations is not None else None
        path = Path(search[0]) if search else Path(spec.origin) if spec.origin else None
    return path, search is not None


def _is_path(name: str) -> bool:
    file, _, _ = name.partition(":")
    return "/" in name or os.sep in name or file.endswith((".py", ".toml"))


def _find_in_file(kind: Kind, name: str) -> Entry:
    text, _, wanted = name.rpartition(":") if ":" in name else (name, "", "")
    path = Path(text).expanduser().absolute()
    if not path.is_file():
        raise InputError(f"{text}: no such file (looked for the {_ONE[kind]} {name!r})")
    if path.suffix != _SUFFIX[kind]:
        raise InputError(f"{text}: {_A[kind]} is a {_SUFFIX[kind]} file")
    if path.suffix == ".py":
        _check_syntax(path, text)
    entries = _in_file(kind, path, "path", "")
    if not wanted and len(entries) == 1:
        return entries[0]
    names = [entry.name for entry in entries]
    if not wanted:
        raise InputError(f"{text} holds {len(entries)} {kind}; choose one as {text}:NAME{did_you_mean('', names)}")
    if kind == "strategies" and wanted not in names and wanted in _functions_in(path):
        return Entry(kind, wanted, path, "path", "A function without a decorator.")
    if names.count(wanted) != 1:
        raise InputError(f"{text} holds no {_ONE[kind]} {wanted!r}{did_you_mean(wanted, names)}")
    return entries[names.index(wanted)]


def _check_syntax(path: Path, shown: str) -> None:
    try:
        ast.parse(_read_bytes(path))
    except SyntaxError as error:
        raise InputError(f"{shown}, line {error.lineno or '?'}: {error.msg}") from None
    except ValueError as error:  # zero bytes
        raise InputError(f"{shown}: {error}") from None


# What a file holds


def _in_file(kind: Kind, path: Path, origin: Origin, module: str) -> list[Entry]:
    try:
        state = path.stat()
        found = _scan(kind, path, state.st_mtime_ns, state.st_size)
    except OSError as error:
        found = (_Found(path.stem, f"cannot be read: {error.strerror}"),)
    return [Entry(kind, one.name, path, origin, one.summary, module, one.is_wrapper) for one in found]


class _Found(NamedTuple):
    """An entry in a file."""

    name: str
    summary: str
    is_wrapper: bool = False


@lru_cache(maxsize=4096)
def _scan(kind: Kind, path: Path, _mtime: int, _size: int) -> tuple[_Found, ...]:
    """Return all entries in a file; modification time and size make an edit noticed."""
    text = path.read_bytes().decode("utf-8", errors="replace")
    if kind == "experiments":
        return (_Found(path.stem, read_question(text)),)
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        return (_Found(path.stem, f"cannot be read: line {getattr(error, 'lineno', '?')}: {error.args[0]}"),)
    return tuple(_strategies_in(tree) if kind == "strategies" else _reports_in(tree, path.stem))


def read_question(text: str) -> str:
    """Return the question of an experiment: the first paragraph of its opening comment, in one line.

    >>> read_question("# How hard should\\n# the floor bite?\\n#\\n# A remark.\\nname = 'floor'")
    'How hard should the floor bite?'
    """
    lines: list[str] = []
    for line in text.lstrip("\ufeff").lstrip().splitlines():
        comment = line.lstrip().lstrip("#").strip()
        if not line.lstrip().startswith("#") or (lines and not comment):
            break
        lines.append(comment)
    return " ".join(" ".join(lines).split())


def _strategies_in(tree: ast.Module) -> Iterator[_Found]:
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue
        decorators = set(map(_name_of, node.decorator_list))
        if decorators & {"strategy", "wrapper"}:
            summary = _first_line(ast.get_docstring(node)) or _first_line(ast.get_docstring(tree))
            yield _Found(node.name, summary, "wrapper" in decorators)


def _functions_in(path: Path) -> list[str]:
    """Return the names of all functions at the top of a Python file."""
    return [node.name for node in ast.parse(_read_bytes(path)).body if isinstance(node, ast.FunctionDef)]


def _name_of(decorator: ast.expr) -> str:
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    return target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else ""


def _reports_in(tree: ast.Module, stem: str) -> Iterator[_Found]:
    if any(isinstance(node, ast.FunctionDef) and node.name == "build" for node in tree.body):
        yield _Found(stem, _first_line(ast.get_docstring(tree)))


def _first_line(docstring: str | None) -> str:
    return docstring.strip().partition("\n")[0].strip() if docstring else ""


# Loading


def _load_file(path: Path) -> ModuleType:
    source = _read_bytes(path)
    digest = hashlib.sha256(str(path.resolve()).encode() + b"\0" + source).hexdigest()
    name = f"azulsim_file_{path.stem}_{digest[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        raise InputError(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        # Compiled from the very bytes that were hashed: a stale .pyc can never stand in for them.
        exec(compile(source, str(path), "exec"), module.__dict__)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def _line_in(path: Path, error: BaseException) -> int | str:
    """Return the line of `path` at which an error passed through it, the deepest one."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    return lines[-1] if lines and lines[-1] is not None else "?"
