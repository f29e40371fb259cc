"""docs/STRATEGIES.md: its tables are those of the code, its examples run, and all kinds are in it."""

from __future__ import annotations

import ast
import inspect
import re
from itertools import pairwise
from pathlib import Path

import pytest

import azulsim
from azulsim.engine import move
from azulsim.registry import list_strategies, load_definition
from azulsim.strategy import Move, Spot, toolbox

DOCUMENT = Path(__file__).parents[1] / "docs" / "STRATEGIES.md"
TEXT = DOCUMENT.read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def describe_fields(of: type = Move) -> str:
    """The table of the fields of `Move` or `Spot`: a class body's strings are its fields' docstrings."""
    tree = ast.parse(inspect.getsource(move))
    body = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == of.__name__).body
    lines = ["| field | |", "|---|---|"]
    for field, doc in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            assert isinstance(doc, ast.Expr)
            lines.append(f"| `{field.target.id}` | {' '.join(ast.literal_eval(doc.value).split())} |")
    assert len(lines) == 2 + len(of._fields)  # type: ignore[attr-defined]
    return "\n".join(lines)


def describe_toolbox() -> str:
    """The table of the toolbox, from the first lines of docstrings."""
    lines = ["| function | |", "|---|---|"]
    for name in toolbox.__all__:
        function = getattr(toolbox, name)
        if not callable(function):
            continue
        plain = getattr(function, "py_func", None) or getattr(function, "_defn", function)
        arguments = [a for a in inspect.signature(plain).parameters if a != "typingctx"]
        doc = (inspect.getdoc(plain) or "").splitlines()[0]
        lines.append(f"| `{name}({', '.join(arguments)})` | {doc} |")
    return "\n".join(lines)


def describe_strategies() -> str:
    """The list of bundled strategies, with parameters, and the source that each file names."""
    lines = ["| strategy | how it plays | source |", "|---|---|---|"]
    for entry in list_strategies():
        if entry.origin == "bundled":
            definition = load_definition(entry)
            module = " ".join((inspect.getmodule(definition.function).__doc__ or "").split())  # type: ignore[union-attr]
            source = module.split("Source: ")[1].split(" Bad at: ")[0].replace(" (docs/STRATEGIES.md)", "")
            params = ", ".join(f"{name}={value:g}" for name, value in definition.defaults.items())
            doc = definition.doc.splitlines()[0]
            lines.append(f"| `{entry.name}{f'({params})' if params else ''}` | {doc} | {source} |")
    return "\n".join(lines)


TABLES = {
    "fields": describe_fields,
    "spot": lambda: describe_fields(Spot),
    "functions": describe_toolbox,
    "strategies": describe_strategies,
}


@pytest.mark.parametrize("name", list(TABLES))
def test_the_tables_of_the_document_are_up_to_date(name: str) -> None:
    """If this fails, run `python tests/test_strategies_doc.py` to write them again."""
    assert TABLES[name]() in TEXT


def test_the_examples_of_the_document_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "strategies").mkdir()
    monkeypatch.chdir(tmp_path)
    names = []
    for example in EXAMPLES:
        if file := re.match(r"# (strategies/\w+\.py)\n", example):
            (tmp_path / file[1]).write_text(example, encoding="utf-8")
            names.append(re.findall(r"^def (\w+)", example, re.MULTILINE)[-1])
        else:
            exec(compile(example, str(DOCUMENT), "exec"), {})
    assert len(names) == 5
    printed = capsys.readouterr()
    assert "over after" in printed.out
    assert "runs" not in printed.err
    entries = {entry.name: entry for entry in list_strategies()}
    shapes = [load_definition(entries[name]).shape for name in names]
    assert shapes == ["score", "score_position", "choose", "move", "score"]
    assert load_definition(entries[names[4]]).place is not None
    assert azulsim.play(names[0], names[3]).is_over


def write_tables(text: str) -> str:
    """Return the document with its tables made anew."""
    for name, describe in TABLES.items():
        end = text.index(f"<!-- end of {name} -->")
        start = text.rindex("-->\n", 0, end) + 4
        text = f"{text[:start]}{describe()}\n{text[end:]}"
    return text


if __name__ == "__main__":
    DOCUMENT.write_text(write_tables(TEXT), encoding="utf-8")
