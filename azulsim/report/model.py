"""What a report is: an answer, the figures and tables behind it, and what it cannot say."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.figure import Figure

from azulsim.errors import InputError

if TYPE_CHECKING:
    from azulsim.report.page import Written

_SLUG = re.compile(r"[a-z0-9][a-z0-9_-]*")


@dataclass(frozen=True)
class Plot:
    """A figure of a report.

    `draw(narrow)` returns it as a matplotlib figure, laid out for a desk or (`narrow`) for a phone.
    """

    name: str
    """Name of its files: lower-case letters, digits, `-` and `_`."""
    title: str
    """What it shows, as a statement or a question."""
    draw: Callable[[bool], Figure]
    caption: str = ""
    """How to read it, what it was seen from, and the smallest effect it could have shown."""

    def __post_init__(self) -> None:
        _check_name(self.name)


@dataclass(frozen=True)
class Table:
    """A table of a report: the frame of a metric, or any frame.

    A frame of a metric is shown with a column an outcome (`51.1 ± 0.4`), and every number of it on demand.
    """

    name: str
    title: str
    frame: pd.DataFrame
    caption: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Headings for columns and outcomes whose name is not good enough."""
    signed: bool = False
    """True if the estimates are differences, shown with their sign."""

    def __post_init__(self) -> None:
        _check_name(self.name)


@dataclass(frozen=True)
class Drawing:
    """A picture of a report that is a finished SVG, such as a position drawn by `azulsim.notation.draw_svg`."""

    name: str
    title: str
    svg: str
    """The whole document. It goes into the page as it is: whoever made it must have escaped all text in it."""
    caption: str = ""
    is_folded: bool = False
    """True if a reader has to unfold it."""

    def __post_init__(self) -> None:
        _check_name(self.name)


@dataclass(frozen=True)
class Section:
    """A part of a page: some sentences, then figures and tables."""

    title: str
    text: tuple[str, ...] = ()
    items: tuple[Plot | Table | Drawing, ...] = ()
    note: str = ""
    """A warning that belongs right here."""
    is_association: bool = False
    """True if what is shown is an association, not an effect; marked as such."""


@dataclass(frozen=True)
class Report:
    """The answer to one question about one run, ready to be written as a page, or used from Python."""

    name: str
    title: str
    question: str
    answer: tuple[str, ...]
    """Two sentences made from the data: the estimate with its interval, and what it does not cover."""
    sections: tuple[Section, ...]
    how_to_read: tuple[str, ...] = ()
    how_computed: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)
    """The numbers of the answer by name, for report.json."""
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_name(self.name)
        for kind, items in (("figures", self.pictures), ("tables", self.tables)):
            names = [item.name for item in items]
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise InputError(f"report {self.name}: two {kind} are called {twice[0]!r}")

    @property
    def plots(self) -> tuple[Plot, ...]:
        """All figures, in the order of the page."""
        return tuple(item for section in self.sections for item in section.items if isinstance(item, Plot))

    @property
    def drawings(self) -> tuple[Drawing, ...]:
        """All finished pictures, in the order of the page."""
        return tuple(item for section in self.sections for item in section.items if isinstance(item, Drawing))

    @property
    def pictures(self) -> tuple[Plot | Drawing, ...]:
        """All figures and finished pictures."""
        return (*self.plots, *self.drawings)

    @property
    def tables(self) -> tuple[Table, ...]:
        """All tables, in the order of the page."""
        return tuple(item for section in self.sections for item in section.items if isinstance(item, Table))

    def figures(self, *, narrow: bool = False) -> dict[str, Figure]:
        """Draw all figures; by name."""
        return {plot.name: plot.draw(narrow) for plot in self.plots}

    def write(self, folder: str | Path) -> Written:
        """Write the page, report.json, the tables as CSV and the figures as SVG and PNG into `folder`."""
        from azulsim.report.page import write_page

        return write_page([self], Path(folder))


def _check_name(name: str) -> None:
    if not _SLUG.fullmatch(name):
        raise InputError(f"{name!r}: not a name for a report, figure or table: lower-case letters, digits, '-' and '_'")
