"""The report of an experiment: one page of HTML, and the same as Markdown and LaTeX."""

from plackett.experiments.report.write import write_report

__all__ = ["write_report"]
