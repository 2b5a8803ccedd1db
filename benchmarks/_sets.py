"""The data of the benchmark of defaults: LETOR's folds, samples of real logs, simple text features, generated sets."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

import plackett as pk

#: Queries of the movie set that are used, and the most documents of each.
MOVIE_QUERIES, MOVIE_DOCUMENTS = 1500, 40


class Split(NamedTuple):
    """One split of a set."""

    train: pk.RankingDataset
    valid: pk.RankingDataset
    test: pk.RankingDataset


def _letor(folder: Path) -> Iterator[Split]:
    for fold in range(1, 6):
        yield Split(*(pk.read_letor(_file(folder / f"Fold{fold}", part)) for part in ("train", "vali", "test")))


def _file(folder: Path, part: str) -> Path:
    names = [f"{part}.txt", f"{part}set.txt", "validationset.txt" if part == "vali" else "", f"{part}ing.txt"]
    return next(folder / name for name in names if name and (folder / name).exists())


def _folds(data: pk.RankingDataset, n: int = 5, seed: int = 0) -> Iterator[Split]:
    """Queries dealt out at random: three parts to train, one to validate, one to test."""
    part = np.random.default_rng(seed).permutation(data.n_queries) % n
    for fold in range(n):
        valid, test = part == (fold + 1) % n, part == fold
        yield Split(*(data.select(np.flatnonzero(chosen)) for chosen in (~valid & ~test, valid, test)))


def _mslr(folder: Path) -> Iterator[Split]:
    parts = [pk.read_letor(folder / f"msn1.fold1.{part}.5k.txt") for part in ("train", "test")]
    yield from _folds(pk.concat(parts))


def _grouped(folder: Path) -> Iterator[Split]:
    """LightGBM's example: lines without query ids, and their number for each query in a file beside them."""
    from sklearn.datasets import load_svmlight_file

    parts, first = [], 0
    for name in ("train", "test"):
        X, y = load_svmlight_file(str(folder / f"rank.{name}"), n_features=301)
        sizes = np.loadtxt(folder / f"rank.{name}.query", dtype=int)
        parts.append(pk.RankingDataset.from_arrays(X.toarray(), y, np.repeat(np.arange(sizes.size) + first, sizes)))
        first += sizes.size
    yield from _folds(pk.concat(parts))


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def text_features(query: list[str], field: list[str], rare: Callable[[str], float]) -> list[float]:
    """What a query and a text have in common: words, their rarity, counts, order, length."""
    counts, asked = Counter(field), set(query)
    common = [word for word in asked if counts[word]]
    weight = sum(rare(word) for word in asked)
    pairs = set(pairwise(field))
    n = 1.0 + len(field)
    return [
        len(common) / max(len(asked), 1),
        sum(rare(word) for word in common) / max(weight, 1e-9),
        sum(rare(word) * counts[word] / (counts[word] + 0.5 + n / 50.0) for word in common),
        sum(counts[word] for word in common) / n,
        float(sum(pair in pairs for pair in pairwise(query))),
        float(field[: len(query)] == query),
        float(len(field)),
    ]


def _rarity(texts: list[list[str]]) -> Callable[[str], float]:
    seen = Counter(word for text in texts for word in set(text))
    return lambda word: float(np.log((len(texts) + 1.0) / (seen[word] + 0.5)))


def _shop(folder: Path) -> Iterator[Split]:
    rows = []
    for path in sorted(folder.glob("fold*-test.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            rows += list(csv.DictReader(file))
    texts = [[_words(row[name]) for row in rows] for name in ("query", "product_title", "product_description")]
    rare = [_rarity(field) for field in texts[1:]]
    X = [
        [len(q), *text_features(q, title, rare[0]), *text_features(q, description, rare[1])]
        for q, title, description in zip(*texts, strict=True)
    ]
    grades = [int(row["median_relevance"]) - 1 for row in rows]
    yield from _folds(pk.RankingDataset.from_arrays(np.array(X), grades, [row["query"] for row in rows]))


def _movies(folder: Path) -> Iterator[Split]:
    with gzip.open(folder / "movies-corpus.jsonl.gz", "rt") as file:
        movies = {movie["id"]: movie for movie in map(json.loads, file)}
    fields = {
        "title": lambda movie: movie.get("title") or "",
        "overview": lambda movie: movie.get("overview") or "",
        "people": lambda movie: " ".join([*movie.get("actors", ()), movie.get("director") or ""]),
        "other": lambda movie: " ".join(
            [*movie.get("genres", ()), *movie.get("tags", ()), *movie.get("characters", ())]
        ),
    }
    words = {name: {key: _words(of(movie)) for key, movie in movies.items()} for name, of in fields.items()}
    rare = {name: _rarity(list(texts.values())) for name, texts in words.items()}
    lists: dict[str, list[tuple[str, str, int]]] = {}
    with gzip.open(folder / "movies-judgments.tsv.gz", "rt") as file:
        next(file)
        for line in file:
            key, query, document, grade = line.rstrip("\n").split("\t")
            if document in movies:
                lists.setdefault(key, []).append((query, document, int(grade)))
    rng = np.random.default_rng(0)
    names = sorted(key for key, found in lists.items() if len(found) > 4 and len({grade for *_, grade in found}) > 1)
    X, y, qid = [], [], []
    for key in rng.choice(names, MOVIE_QUERIES, replace=False):
        found = lists[key]
        for i in rng.permutation(len(found))[:MOVIE_DOCUMENTS]:
            query, document, grade = found[i]
            asked, movie = _words(query), movies[document]
            row = [value for name in fields for value in text_features(asked, words[name][document], rare[name])]
            row += [float(movie.get(name) or 0.0) for name in ("year", "votes", "rating", "popularity", "budget")]
            X.append([len(asked), *row])
            y.append(grade)
            qid.append(str(key))
    yield from _folds(pk.RankingDataset.from_arrays(np.array(X), y, qid))


def _generated(n_queries: int, documents: tuple[int, int], seed: int, **words: object) -> Iterator[Split]:
    """At least 500 further queries to test with, so that differences can be seen; a sixth of the others to validate."""
    tested = max(500, n_queries // 2)
    data = pk.datasets.make_ranking(n_queries + tested, documents, random_state=seed, **words)
    place = np.random.default_rng(seed).permutation(data.n_queries)
    cuts = np.split(place, [n_queries - n_queries // 6, n_queries])
    yield Split(*(data.select(np.sort(part)) for part in cuts))


_BINARY, _GRADED = (0.9, 0.1), (0.52, 0.32, 0.13, 0.02, 0.01)
#: Name of each set and how its splits are made, from the folder with the data.
SETS: dict[str, Callable[[Path], Iterator[Split]]] = {
    "MQ2008": lambda data: _letor(data / "LETOR4.0-MQ2008"),
    "OHSUMED 3.0": lambda data: _letor(data / "LETOR3.0-OHSUMED" / "QueryLevelNorm"),
    "OHSUMED 2.0": lambda data: _letor(data / "LETOR2.0-OHSUMED"),
    "MSLR sample": lambda data: _mslr(data / "MSLR-WEB-10K-sample-rankeval"),
    "LightGBM example": lambda data: _grouped(data / "lightgbm-lambdarank"),
    "movies": lambda data: _movies(data / "msrd-elastic"),
    "shop": lambda data: _shop(data / "crowdflower"),
    "generated 1k": lambda data: _generated(60, (10, 30), 1, n_features=20),
    "generated 1k noisy": lambda data: _generated(40, (10, 40), 2, n_features=60, noise=2.0),
    "generated 5k binary": lambda data: _generated(100, (20, 80), 3, label_proportions=_BINARY, noise=1.0),
    "generated 10k missing": lambda data: _generated(500, (5, 35), 4, missing=0.2, noise=1.0),
    "generated 30k": lambda data: _generated(600, (20, 80), 5, noise=1.0),
    "generated 100k": lambda data: _generated(1000, (50, 150), 6, noise=1.0),
    "generated 300k": lambda data: _generated(3000, (50, 150), 7, noise=0.5),
}
