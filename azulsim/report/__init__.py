"""Reports: an answer, the figures and tables behind it, as matplotlib figures, frames, and one page without network."""

from azulsim.report import figures
from azulsim.report.build import build_report, describe_run, main, make_report
from azulsim.report.model import Drawing, Plot, Report, Section, Table
from azulsim.report.page import Written, write_page

__all__ = [
    "Drawing",
    "Plot",
    "Report",
    "Section",
    "Table",
    "Written",
    "build_report",
    "describe_run",
    "figures",
    "main",
    "make_report",
    "write_page",
]
