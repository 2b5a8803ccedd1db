"""How it was made: protocol, rankers, chosen settings, data, versions."""

from __future__ import annotations

from typing import Any

from plackett._names.nearest import plural
from plackett.evaluation.tables import Table
from plackett.experiments.cells.cell import Cell
from plackett.experiments.doubts import left_out
from plackett.experiments.report.blocks import Section, Tabular, Text
from plackett.experiments.report.numbers import fixed
from plackett.experiments.report.view import View


def protocol(view: View) -> Section:
    """Everything needed to reproduce the experiment."""
    return Section(
        "protocol",
        "How it was made",
        (
            Text(_description(view)),
            Tabular(_settings(view), folded=True),
            Tabular(_rankers(view), folded=True),
            Tabular(_data(view), folded=True),
            Tabular(_versions(view), folded=True),
        ),
    )


def _description(view: View) -> str:
    experiment, settings = view.experiment, view.experiment.protocol
    if settings["search"] is None:
        search = "Rankers were trained with the parameters as given"
    else:
        budget = []
        if settings["n_trials"] is not None:
            budget.append(f"at most {plural(settings['n_trials'], 'setting')} per ranker and fold")
        if settings["time_budget"] is not None:
            budget.append(f"{settings['time_budget']:g} s per ranker and fold")
        search = f"Settings were searched for ({settings['search']}{', ' + ', '.join(budget) if budget else ''})"
    sentences = [
        f"{search} on the training part of each fold, and the one with the best {experiment.select} on the validation "
        "part was measured on the test part.",
        "Test labels were not used for any choice.",
    ]
    if settings["early_stopping"]:
        sentences.append("Rankers with rounds kept the round that was best on the validation part.")
    if settings["refit"]:
        sentences.append("The chosen setting was retrained on the training and validation parts together.")
    if experiment.preset:
        sentences.append(f"Measures follow the rules of the preset {experiment.preset}.")
    sentences += [*left_out(experiment), f"Seed {settings['random_state']}."]
    if settings["time_budget"] is not None:
        sentences.append(
            "The number of trials that fit the time depends on the machine: another run may choose other settings."
        )
    return " ".join(sentences)


def _listed(parameters: dict[str, Any]) -> str:
    return ", ".join(f"{name}={_value(value)}" for name, value in parameters.items()) or "as given"


def _value(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else repr(value)


def _settings(view: View) -> Table:
    rows = tuple(
        (cell.dataset, str(cell.fold), cell.ranker, _listed(cell.setting), *_tried(cell))
        for cell in view.experiment.cells
    )
    header = ("dataset", "fold", "ranker", "chosen setting", "trials", "validation")
    return Table.of(header, rows, caption="Settings chosen in each fold", n_names=4)


def _tried(cell: Cell) -> tuple[str, str]:
    return str(len(cell.trials)), fixed(cell.validation)


def _rankers(view: View) -> Table:
    rows = []
    for name, record in view.experiment.rankers.items():
        kind = record.get("class") or record.get("function") or ""
        given = record.get("parameters") or {}
        library = record.get("library") or f"plackett {view.experiment.versions.get('plackett', '')}"
        rows.append((name, str(kind), str(library), _listed(given)))
    header = ("ranker", "class", "library", "parameters")
    return Table.of(header, rows, caption="Rankers as given", n_names=4)


def _data(view: View) -> Table:
    rows = []
    for dataset, folds in view.experiment.folds.items():
        for name, fold in folds.items():
            for role in ("train", "valid", "test"):
                part = getattr(fold, role, None)
                if part is not None:
                    sizes = f"{part.n_queries:,}", f"{part.n_rows:,}"
                    rows.append((dataset, str(name), role, part.fingerprint(), *sizes))
    header = ("dataset", "fold", "part", "fingerprint", "queries", "documents")
    return Table.of(header, rows, caption="Fingerprints of the data", n_names=4)


def _versions(view: View) -> Table:
    rows = tuple((name, version) for name, version in view.experiment.versions.items())
    return Table.of(("library", "version"), rows, caption="Versions", n_names=2)
