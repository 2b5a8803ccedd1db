"""How it was made: protocol, rankers, chosen settings, data, versions."""

from __future__ import annotations

from typing import Any

from plackett._names import plural
from plackett.evaluation.tables import Table, TableCell
from plackett.experiments.cells.cell import Cell
from plackett.experiments.report.blocks import Section, Tabular, Text
from plackett.experiments.report.numbers import fixed
from plackett.experiments.report.view import View

__all__ = ["making"]


def making(view: View) -> Section:
    """Everything needed to reproduce the experiment."""
    return Section(
        "making",
        "How it was made",
        (
            Text(_protocol(view)),
            Tabular(_settings(view), folded=True),
            Tabular(_rankers(view), folded=True),
            Tabular(_data(view), folded=True),
            Tabular(_versions(view), folded=True),
        ),
    )


def _protocol(view: View) -> str:
    found, words = view.found, view.found.protocol
    if words["search"] is None:
        search = "Rankers were trained with the parameters as given"
    else:
        budget = []
        if words["n_trials"] is not None:
            budget.append(f"at most {plural(words['n_trials'], 'setting')} per ranker and fold")
        if words["time_budget"] is not None:
            budget.append(f"{words['time_budget']:g} s per ranker and fold")
        search = f"Settings were searched for ({words['search']}{', ' + ', '.join(budget) if budget else ''})"
    said = [
        f"{search} on the training part of each fold, and the one with the best {found.select} on the validation part "
        "was measured on the test part.",
        "Test labels were not used for any choice.",
    ]
    if words["early_stopping"]:
        said.append("Rankers with rounds kept the round that was best on the validation part.")
    if words["refit"]:
        said.append("The chosen setting was retrained on the training and validation parts together.")
    if found.preset:
        said.append(f"Measures follow the rules of the preset {found.preset}.")
    said.append(f"Seed {words['random_state']}.")
    if words["time_budget"] is not None:
        said.append(
            "The number of trials that fit the time depends on the machine: another run may choose other settings."
        )
    return " ".join(said)


def _words(parameters: dict[str, Any]) -> str:
    return ", ".join(f"{name}={_value(value)}" for name, value in parameters.items()) or "as given"


def _value(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else repr(value)


def _settings(view: View) -> Table:
    rows = tuple(
        tuple(map(TableCell, (cell.dataset, str(cell.fold), cell.ranker, _words(cell.setting), *_tried(cell))))
        for cell in view.found.cells
    )
    header = ("dataset", "fold", "ranker", "chosen setting", "trials", "validation")
    return Table(header, rows, caption="Settings chosen in each fold", n_names=4)


def _tried(cell: Cell) -> tuple[str, str]:
    return str(len(cell.trials)), fixed(cell.validation)


def _rankers(view: View) -> Table:
    rows = []
    for name, words in view.found.rankers.items():
        kind = words.get("class") or words.get("function") or ""
        given = words.get("parameters") or {}
        library = words.get("library") or f"plackett {view.found.versions.get('plackett', '')}"
        rows.append((TableCell(name), TableCell(str(kind)), TableCell(str(library)), TableCell(_words(given))))
    header = ("ranker", "class", "library", "parameters")
    return Table(header, tuple(rows), caption="Rankers as given", n_names=4)


def _data(view: View) -> Table:
    rows = []
    for dataset, folds in view.found.folds.items():
        for name, fold in folds.items():
            for role in ("train", "valid", "test"):
                part = getattr(fold, role, None)
                if part is not None:
                    sizes = f"{part.n_queries:,}", f"{part.n_rows:,}"
                    rows.append(tuple(map(TableCell, (dataset, str(name), role, part.fingerprint(), *sizes))))
    header = ("dataset", "fold", "part", "fingerprint", "queries", "documents")
    return Table(header, tuple(rows), caption="Fingerprints of the data", n_names=4)


def _versions(view: View) -> Table:
    rows = tuple((TableCell(name), TableCell(version)) for name, version in view.found.versions.items())
    return Table(("library", "version"), rows, caption="Versions", n_names=2)
