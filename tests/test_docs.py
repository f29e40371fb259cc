"""What the documents promise: the README's examples run as printed, links lead somewhere, versions agree."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import azulsim

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)[^)\s]*\)")


def read_blocks(path: Path) -> Iterator[tuple[str, str]]:
    for match in FENCE.finditer(path.read_text(encoding="utf-8")):
        yield match[1], match[2]


def run(command: list[str], folder: Path) -> str:
    """Run a command of the README in a reader's folder, with this environment's programs first."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def follow(language: str, text: str, folder: Path) -> str:
    """Do what a block tells the reader to do: type it, run it, or save it under the name in its first line."""
    if language == "console":
        typed = [line.removeprefix("$ ") for line in text.splitlines() if line.startswith("$ ")]
        return "".join(run(shlex.split(line), folder) for line in typed)
    if name := re.match(r"# (\w+/\w+\.py)\n", text):
        file = folder / name[1]
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return ""
    return run([sys.executable, "-c", text], folder)


def test_readme_examples_run_as_printed(tmp_path: Path) -> None:
    blocks = [block for block in read_blocks(ROOT / "README.md") if block[0] in ("console", "python")]
    output = "".join(follow(*block, tmp_path) for block in blocks)
    assert {language for language, _ in blocks} == {"console", "python"}
    assert "hoard_blue(love=0.5)" in output
    assert (tmp_path / "runs" / "first" / "report.html").is_file()


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebook_runs(path: Path, tmp_path: Path) -> None:
    """Every cell runs in another folder, and something is seen: a table or a figure."""
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "kept without what it shows"
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [kind for cell in notebook.cells for output in cell.get("outputs", []) for kind in output.get("data", {})]
    assert "text/html" in shown or "image/png" in shown


def test_readme_names_the_two_commands_that_the_makefile_has() -> None:
    readme, makefile = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "Makefile"))
    for target in ("demo", "test"):
        assert f"make {target} " in readme
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_of_a_document_lead_to_files(document: Path) -> None:
    links = LINK.findall(document.read_text(encoding="utf-8"))
    local = [link for link in links if not link.startswith(("http://", "https://", "mailto:"))]
    assert [link for link in local if not (document.parent / link).exists()] == []


def test_version_to_cite_is_the_version() -> None:
    assert f"\nversion: {azulsim.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
