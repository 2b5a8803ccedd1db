"""Four text collections with the same features, as domains for ``python studies/run.py transfer``.

    python benchmarks/domains.py FOLDER OUT

FOLDER has the unpacked collections; OUT gets one dataset file for each: the 50 best documents of BM25 for every judged
query, eight features of the text, scaled to 0…1 within each list, and grades.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import plackett as pk
from plackett.text import (
    BM25,
    TFIDF,
    AbsoluteDiscount,
    Dirichlet,
    Document,
    Index,
    JelinekMercer,
    VectorSpace,
    extract,
)
from plackett.text.documents.smart import read_smart
from plackett.text.retrieval.reading import read_queries

FEATURES = [
    *(BM25(), BM25(b=0.3), TFIDF(), VectorSpace()),
    *(Dirichlet(), JelinekMercer(), AbsoluteDiscount(), {"length": "text"}),
]

Collection = tuple[Iterator[Document], dict[str, str], dict[str, dict[str, float]]]


def _smart(documents: Path, queries: Path, labels: dict[str, dict[str, float]]) -> Collection:
    texts = (Document(d.id, {"text": " ".join(str(v) for v in d.fields.values())}) for d in read_smart(documents))
    numbered = {str(i): text for i, text in enumerate(read_queries(queries).values(), 1)}
    return texts, numbered, labels


def _qrels(path: Path, query: int, document: int, grade: int, skip: int = 0) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for line in path.read_text("utf-8").splitlines()[skip:]:
        parts = line.split()
        if parts:
            found.setdefault(parts[query], {})[parts[document]] = float(parts[grade])
    return found


def cranfield(folder: Path) -> Collection:
    """Aeronautics; grades 1 (best) to 4 become 4 to 1."""
    raw = _qrels(folder / "cranfield/cranqrel", 0, 1, 2)
    labels = {q: {d: 5 - g if g > 0 else 1.0 for d, g in own.items()} for q, own in raw.items()}
    return _smart(folder / "cranfield/cran.all.1400", folder / "cranfield/cran.qry", labels)


def med(folder: Path) -> Collection:
    """Medicine, 30 queries."""
    base = folder / "smart-adi-med-time/med"
    return _smart(base / "MED.ALL", base / "MED.QRY", _qrels(base / "MED.REL", 0, 2, 3))


def scifact(folder: Path) -> Collection:
    """Scientific claims."""
    base = folder / "scifact"

    def documents() -> Iterator[Document]:
        with (base / "corpus.jsonl").open(encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                yield Document(row["_id"], {"text": f"{row['title']} {row['text']}"})

    rows = [json.loads(line) for line in (base / "queries.jsonl").read_text("utf-8").splitlines()]
    labels = _qrels(base / "qrels/test.tsv", 0, 1, 2, skip=1)
    return documents(), {row["_id"]: row["text"] for row in rows if row["_id"] in labels}, labels


def nfcorpus(folder: Path) -> Collection:
    """Nutrition; titles of articles as queries."""
    base = folder / "nfcorpus"

    def table(name: str) -> Iterator[list[str]]:
        with (base / name).open(encoding="utf-8") as lines:
            for line in lines:
                yield line.rstrip("\n").split("\t", 1)

    documents = (Document(name, {"text": text}) for name, text in table("docs.tsv"))
    return documents, dict(table("test.titles.queries")), _qrels(base / "test.3-2-1.qrel", 0, 2, 3)


COLLECTIONS: dict[str, Callable[[Path], Collection]] = {
    "cranfield": cranfield,
    "med": med,
    "nfcorpus": nfcorpus,
    "scifact": scifact,
}


def main() -> None:
    """Write the datasets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, read in COLLECTIONS.items():
        documents, queries, labels = read(arguments.folder)
        index = Index.build(documents)
        data = extract(index, queries, FEATURES, judgements=labels, k=50)
        data = pk.QueryNormalizer("minmax").fit_transform(data)
        pk.write(data, arguments.out / f"{name}.plackett")
        print(name, data, f"{(data.y > 0).mean():.1%} relevant")


if __name__ == "__main__":
    main()
