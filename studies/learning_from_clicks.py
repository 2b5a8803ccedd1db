"""How much of full judgements can clicks replace, and which correction of position bias helps?"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from plackett import DataError
from plackett._base.progress import progress
from plackett.clicks.log import ClickLog
from plackett.clicks.simulate import PositionUsers, ShownPages
from plackett.data.concat import concat
from plackett.data.splits import Fold
from plackett.datasets.generate import make_ranking
from plackett.evaluation.evaluate import evaluate
from plackett.experiments.cells.cell import Cell, CellTrial
from plackett.experiments.cells.folder import CellFolder
from plackett.experiments.cells.key import data_digest, versions
from plackett.experiments.cells.source_stamp import source_stamp
from plackett.experiments.data import folds_by_dataset
from plackett.plot.chart import line_chart
from studies import _click_learners
from studies._click_learners import (
    LOGGING,
    METHODS,
    MOST_PAGES,
    SMALL_LOGS,
    USERS,
    Case,
    learn,
    learn_from_grades,
    logging_scores,
)
from studies.base import Study

#: What a study of each size runs.
SIZES: dict[str, dict[str, Any]] = {
    "small": {"users": ("position 1", "trust", "cascade"), "pages": (1_000, 10_000), "logging": ("weak",), "seeds": 3},
    "whole": {"users": tuple(USERS), "pages": (1_000, 10_000, 100_000, 1_000_000), "logging": ("weak", "strong")}
    | {"seeds": 5},
}
#: What learns from grades, with which the methods are compared.
GRADES, SHOWN = "all grades", "grades shown"

#: From dataset, logging ranker, users, pages and method to the value for each seed.
_Values = dict[tuple[str, str, str, int, str], dict[int, float]]


def learning_from_clicks(
    data: Any = None,
    *,
    size: str = "small",
    users: str | Sequence[str] | None = None,
    pages: int | Sequence[int] | None = None,
    logging: str | Sequence[str] | None = None,
    methods: str | Sequence[str] | None = None,
    variation: str = "ranks",
    temperature: float = 0.5,
    length: int = 10,
    measure: str = "nDCG@10",
    seeds: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Study:
    """How much of full judgements can clicks replace, and which correction of position bias helps?

    A logging ranker shows lists of judged documents, simulated users click, each method learns from the log alone, and
    is measured by the true grades of other queries. Most methods fit the same linear model with the same softmax loss
    (`plackett.clicks.ExposureSoftmax`), to labels made in different ways. ``gain`` is the difference from naive
    learning (click rates as labels) on the same logs with the half width of its 95 % interval over seeds, ``closed``
    the share of the gap between naive learning and the grades of the documents that were shown that a method closes;
    it is left out where the gap is smaller than its standard error over seeds.

    Parameters
    ----------
    data
        Datasets with grades, in any form that `plackett.experiment` accepts; None generates one. Each seed uses a fold:
        its training part, and its validation and test part together for the test, as nothing is validated.
    size
        ``small`` (three kinds of users, 1,000 and 10,000 pages, weak logging ranker, 3 seeds) or ``whole`` (all kinds,
        1,000 to 1,000,000 pages, weak and strong, 5 seeds). The next parameters override parts of it.
    users
        Kinds of users: ``position .5``, ``position 1``, ``position 2``, ``trust``, ``cascade``.
    pages
        Sizes of the log.
    logging
        ``weak`` (trained on 2 % of the queries), ``strong`` (on 50 %), ``random``, or several.
    methods
        Some of the methods; all by default.
    variation, temperature
        How lists vary: a Plackett–Luce model in which the document at rank i of the logging ranker has strength
        i^(−1/temperature), or, with ``variation="scores"``, exp(score / temperature), the score in standard deviations.
        Ranks vary about as much in all datasets, scores do not: half a standard deviation shuffles long lists.
    length
        Documents per page.
    folder
        Where finished results are kept, each as soon as it is known. The same study, or one with more users, pages or
        seeds, resumes from there; what depends on edited code or other data is computed again.
    """
    import polars as pl

    plan, chosen = _plan(size, {"users": users, "pages": pages, "logging": logging, "seeds": seeds}, methods)
    whole = make_ranking(300, (10, 20), 20, random_state=random_state) if data is None else data
    if variation not in ("ranks", "scores"):
        raise DataError(f"variation={variation!r}; give 'ranks' or 'scores'")
    splits = {name: _splits(folds) for name, folds in folds_by_dataset(whole, 5, validation=False).items()}
    pages_made = {"variation": variation, "temperature": temperature, "length": length}
    settings = {"pages": pages_made, "measure": measure, "random_state": random_state}
    values: _Values = {}
    with _opened(folder) as kept:
        study = _Logs(splits, chosen, settings, kept, n_jobs)
        logs = product(range(plan["seeds"]), splits, plan["logging"], plan["pages"], plan["users"])
        total = len(splits) * math.prod(len(plan[name]) for name in ("logging", "pages", "users")) * plan["seeds"]
        for seed, name, kind, n_pages, who in progress(logs, "logs", total, verbose=verbose):
            for method, value in study.measured(name, kind, seed, n_pages, who).items():
                values.setdefault((name, kind, who, n_pages, method), {})[seed] = value
    order = {key: i for i, key in enumerate(product(splits, plan["logging"], plan["users"], plan["pages"]))}
    values = dict(sorted(values.items(), key=lambda item: order[item[0][:4]]))
    frame = pl.DataFrame([_row(key, values, measure) for key in values], infer_schema_length=None)
    if len(splits) == 1:
        frame = frame.drop("data")
    largest = max(plan["pages"])
    slow = {name: most for name, most in SMALL_LOGS.items() if most < largest}
    notes = [
        f"{plan['seeds']} seeds; lists vary in {variation}, temperature {temperature}; ±: half of a 95 % interval over "
        "seeds",
        *(f"{name}: at most {most:,} pages" for name, most in MOST_PAGES.items() if name in chosen and most < largest),
        *(f"{name}: not with more than {most:,} pages" for name, most in slow.items() if name in chosen),
    ]
    question = "How much of full judgements can clicks replace?"
    return Study(frame, question, tuple(notes), picture=_chart(values, measure))


def _plan(size: str, given: dict[str, Any], methods: Sequence[str] | None) -> tuple[dict[str, Any], list[str]]:
    """What to run, and the methods."""
    if size not in SIZES:
        raise DataError(f"size={size!r}; give {' or '.join(SIZES)}")
    plan = SIZES[size] | {name: value for name, value in given.items() if value is not None}
    plan = {
        name: [value] if name != "seeds" and isinstance(value, (str, int)) else value for name, value in plan.items()
    }
    chosen = list(METHODS) if methods is None else list(methods)
    chosen = chosen if "naive" in chosen else ["naive", *chosen]
    for names, known in ((chosen, METHODS), (plan["users"], USERS), (plan["logging"], LOGGING)):
        for name in names:
            if name not in known:
                raise DataError(f"{name!r}; give some of {', '.join(known)}")
    return plan, chosen


def _splits(folds: dict[Any, Any]) -> list[Fold]:
    """Folds whose test part includes the validation part, if there is one."""
    parts = [(fold.train, [part for part in (fold.valid, fold.test) if part is not None]) for fold in folds.values()]
    return [Fold(train, None, rest[0] if len(rest) == 1 else concat(rest)) for train, rest in parts]


# ---------------------------------------------------------------------------------------------------------------- logs


@contextlib.contextmanager
def _opened(path: str | os.PathLike[str] | None) -> Iterator[CellFolder | None]:
    """The folder of the results, locked against other studies; None without a folder."""
    if path is None:
        yield None
        return
    folder = CellFolder(path)
    folder.prepare()
    with folder.locked():
        yield folder


class _Logs:
    """Learning from one log after another.

    A log is simulated when the first method needs it. Users of one seed see the same pages, which are drawn once.
    """

    def __init__(
        self,
        splits: dict[str, list[Fold]],
        methods: Sequence[str],
        settings: dict[str, Any],
        folder: CellFolder | None,
        n_jobs: int | None,
    ) -> None:
        self.splits, self.methods, self.settings, self.folder, self.n_jobs = splits, methods, settings, folder, n_jobs
        self.measure = settings["measure"]
        self.of_grades: dict[tuple[Any, ...], float] = {}
        self.pages: tuple[Any, ...] = ()

    def measured(self, name: str, kind: str, seed: int, n_pages: int, who: str) -> dict[str, float]:
        """Quality of each method that learned from one log, and of learning from grades."""
        number = seed % len(self.splits[name])
        fold = self.splits[name][number]
        quality_by_method = self._of_grades(name, number, fold, kind, seed, n_pages)
        cases: list[Case] = []

        def ranker(method: str) -> Any:
            if not cases:
                log = self._log(fold, kind, seed, n_pages, who)
                blind = fold.train.replace(docids=np.arange(fold.train.n_rows), y=np.zeros(fold.train.n_rows))  # type: ignore[union-attr]
                cases.append(Case(log, blind, USERS[who], self.n_jobs))
            return learn(cases[0], method)

        for method in self.methods:
            if method == "known propensities" and not isinstance(USERS[who], PositionUsers):
                continue
            if n_pages > SMALL_LOGS.get(method, n_pages):
                continue
            setting = {"dataset": name, "fold": number, "seed": seed, "method": method, "users": repr(USERS[who])}
            setting |= self._of_pages(kind, n_pages)
            try:
                quality_by_method[method] = self._quality(setting, fold, partial(ranker, method))
            except DataError:  # some methods cannot learn from some logs
                if method == "naive":
                    raise
        return quality_by_method

    def _of_pages(self, kind: str, n_pages: int) -> dict[str, Any]:
        return {"logging": [kind, LOGGING[kind]], "pages": n_pages, **self.settings["pages"]}

    def _of_grades(self, name: str, number: int, fold: Fold, kind: str, seed: int, n_pages: int) -> dict[str, float]:
        """Quality of learning from all grades, and from those of the documents that were shown."""
        setting = {"dataset": name, "fold": number}
        known = self.of_grades
        everything, shown = (name, number), (name, kind, seed, n_pages)
        if everything not in known:
            given = setting | {"seed": number, "method": GRADES}
            known[everything] = self._quality(given, fold, lambda: learn_from_grades(fold.train))
        if shown not in known:
            given = setting | {"seed": seed, "method": SHOWN} | self._of_pages(kind, n_pages)

            def of_shown() -> Any:
                return learn_from_grades(fold.train, self._pages(fold, kind, seed, n_pages)[0].rows)

            known[shown] = self._quality(given, fold, of_shown)
        return {GRADES: known[everything], SHOWN: known[shown]}

    def _pages(self, fold: Fold, kind: str, seed: int, n_pages: int) -> tuple[ShownPages, np.random.Generator]:
        """The pages that all kinds of users see, and the state of the random numbers after them."""
        seeds, pages_key = (self.settings["random_state"], seed), (id(fold), kind, seed, n_pages)
        if not self.pages or self.pages[0] != pages_key:
            self.pages = ()  # frees memory first
            made = self.settings["pages"]
            train = fold.train.replace(docids=np.arange(fold.train.n_rows))  # type: ignore[union-attr]
            scores = logging_scores(train, kind, np.random.default_rng(seeds), made["variation"])
            rng = np.random.default_rng(seeds)
            options = {"n_pages": n_pages, "k": made["length"], "temperature": made["temperature"]}
            self.pages = pages_key, ShownPages.draw(train, scores, rng, **options, n_jobs=self.n_jobs), rng
        return self.pages[1:]  # type: ignore[return-value]

    def _log(self, fold: Fold, kind: str, seed: int, n_pages: int, who: str) -> ClickLog:
        shown, rng = self._pages(fold, kind, seed, n_pages)
        return shown.clicked(USERS[who], deepcopy(rng))

    # ------------------------------------------------------------------------------------------------ what is known

    def _quality(self, setting: dict[str, Any], fold: Fold, ranker: Callable[[], Any]) -> float:
        """Quality of a ranker, which is fitted if the folder does not have its scores."""
        test: Any = fold.test
        if self.folder is None:
            scores = ranker().predict(test)
        else:
            key = self._key(setting, fold)
            cell = self.folder.finished(key)
            if cell is None:
                start = time.perf_counter()
                scores = np.asarray(ranker().predict(test), np.float64)
                cell = _cell(key, setting, test.qids, scores, self.measure, time.perf_counter() - start)
                self.folder.write(cell)
            scores = cell.scores
        return float(evaluate(test, scores, [self.measure]).mean[self.measure])

    def _key(self, setting: dict[str, Any], fold: Fold) -> str:
        """Hash of everything that a result depends on."""
        known = {"parts": _digests(fold.train, fold.test), "versions": versions(), "sources": _stamp()}
        known["random_state"] = self.settings["random_state"]
        return hashlib.blake2b(json.dumps(known | setting, sort_keys=True).encode(), digest_size=12).hexdigest()


@cache
def _digests(*parts: Any) -> tuple[str, ...]:
    return tuple(data_digest(part) for part in parts)


@cache
def _stamp() -> str:
    """Hash of the methods and of all that they use of plackett."""
    used = {getattr(value, "__module__", None) or "" for value in vars(_click_learners).values()}
    own = hashlib.blake2b(Path(_click_learners.__file__).read_bytes(), digest_size=12).hexdigest()
    return own + source_stamp(module for module in used if module.startswith("plackett."))


def _cell(key: str, setting: dict[str, Any], qids: Any, scores: np.ndarray, measure: str, seconds: float) -> Cell:
    """A result in the format of experiments."""
    return Cell(
        dataset=setting["dataset"],
        fold=setting["fold"],
        ranker=setting["method"],
        key=key,
        setting=setting,
        trials=(CellTrial(setting, None, seconds, selected=True),),
        select=measure,
        chosen_by={},
        qids=np.asarray(qids),
        scores=scores,
        valid_scores=None,
        history=np.zeros(0),
        seconds={"train": seconds},
        effort="",
        refit=False,
        versions=versions(),
    )


# ------------------------------------------------------------------------------------------------------ rows and chart


def _row(key: tuple[str, str, str, int, str], values: _Values, measure: str) -> dict[str, Any]:
    data, logging, users, pages, method = key
    by_seed, naive, top = (values[(*key[:4], other)] for other in (method, "naive", SHOWN))
    gain = np.array([value - naive[seed] for seed, value in by_seed.items()])
    gaps = np.array([top[seed] - naive[seed] for seed in by_seed])
    error = gaps.std(ddof=1) / np.sqrt(gaps.size) if gaps.size > 1 else 0.0
    gap = float(gaps.mean())
    closed = gain.mean() / gap if gap > max(error, 0.002) and method != "naive" else None
    row: dict[str, Any] = {"data": data, "logging": logging, "users": users, "pages": pages, "method": method}
    row |= {measure: float(np.mean(list(by_seed.values()))), "gain": float(gain.mean()), "±": _half(gain)}
    return row | {"closed": closed, "seeds": gain.size}


def _half(values: np.ndarray) -> float | None:
    from scipy.special import stdtrit

    if values.size < 2:
        return None
    return float(stdtrit(values.size - 1, 0.975) * values.std(ddof=1) / np.sqrt(values.size))


def _chart(values: _Values, measure: str) -> str:
    """The measure against the number of pages: a panel for each dataset, logging ranker and kind of users.

    Bars are 95 % intervals over seeds of the difference from naive learning on the same logs.
    """
    panels: dict[tuple[str, str, str], dict[str, tuple[list[float], list[float]]]] = {}
    bars: dict[tuple[str, str, str], dict[str, list[float | None]]] = {}
    for key, by_seed in values.items():
        panel, pages, method = key[:3], key[3], key[4]
        line = panels.setdefault(panel, {}).setdefault(method, ([], []))
        line[0].append(float(pages))
        line[1].append(float(np.mean(list(by_seed.values()))))
        naive = values[(*key[:4], "naive")]
        gain = np.array([value - naive[seed] for seed, value in by_seed.items()])
        bars.setdefault(panel, {}).setdefault(method, []).append(None if method == "naive" else _half(gain))
    charts = [
        line_chart(
            lines,
            title=f"{panel[0]}: {panel[1]} logging ranker, {panel[2]} users",
            x_label="pages",
            y_label=measure,
            log_x=True,
            half_widths=bars[panel],
        )
        for panel, lines in panels.items()
    ]
    return _grid(charts, len({(logging, users) for _, logging, users in panels}))


def _grid(charts: Sequence[str], columns: int) -> str:
    """Charts in a grid with this many columns."""
    if len(charts) == 1:
        return charts[0]
    sizes = [re.search(r'viewBox="0 0 (\d+) (\d+)"', chart).groups() for chart in charts]  # type: ignore[union-attr]
    width, height = (max(int(size[i]) for size in sizes) for i in range(2))
    parts = [
        chart.replace("<svg ", f'<svg x="{width * (i % columns)}" y="{height * (i // columns)}" {_size(size)} ', 1)
        for i, (chart, size) in enumerate(zip(charts, sizes, strict=True))
    ]
    box = f"0 0 {width * columns} {height * math.ceil(len(charts) / columns)}"
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" role="img">', *parts, "</svg>"])


def _size(size: Sequence[Any]) -> str:
    return f'width="{size[0]}" height="{size[1]}"'
