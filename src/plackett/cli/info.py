"""``plackett info``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plackett.cli.arguments import Json, TableColumns, reads_tables
from plackett.cli.model_card import print_card
from plackett.cli.output import print_json, print_table

if TYPE_CHECKING:
    from plackett.data.profile import Profile
    from plackett.text.index.index import Index


@reads_tables
def info(
    path: Annotated[
        Path,
        typer.Argument(
            help="Dataset (LETOR text, .plackett, .parquet, .csv), saved model, TREC run or qrels, or index."
        ),
    ],
    as_json: Json = False,
    *,
    columns: TableColumns,
) -> None:
    """Show what is in a dataset (queries, lengths, labels, …), a run, qrels or an index, or a model's card."""
    from plackett.cli.reading import read_data
    from plackett.data.profile import profile

    if path.is_dir() and (index := _index(path)) is not None:
        from plackett.cli.index import show_index

        show_index(path, index, as_json)
        return
    if _is_model(path):
        _model(path, as_json)
        return
    if (kind := _trec_kind(path)) is not None:
        _trec(path, kind, as_json)
        return
    facts = profile(read_data(path, columns, labels_needed="if there", drop_text=True))
    if as_json:
        print_json(asdict(facts))
    else:
        print_table(("", ""), _rows(facts), title=str(path))


def _index(path: Path) -> Index | None:
    """The index in a folder, or in the folder of a search engine."""
    from plackett.text.index.index import Index
    from plackett.text.index.manifest import FILE

    return next((Index.open(folder) for folder in (path, path / "index") if (folder / FILE).exists()), None)


def _is_model(path: Path) -> bool:
    from plackett._files import storage
    from plackett._load import foreign_reader
    from plackett.data.files import NATIVE, format_of

    return foreign_reader(path) is not None or (
        format_of(path) is NATIVE and storage.read(path)[1].get("kind") == "model"
    )


def _model(path: Path, as_json: bool) -> None:
    from plackett._load import foreign_reader
    from plackett.rankers.storage import card

    foreign = foreign_reader(path)
    if foreign is None:
        record = card(path)
    else:
        ranker = foreign(path)
        record = {"card": ranker.card_, "parameters": ranker.get_params(deep=False)}
    if as_json:
        print_json(record)
    else:
        print_card(record["card"], record["parameters"], title=str(path), steps=record.get("pipeline", ()))


def _trec_kind(path: Path) -> str | None:
    """Whether a text file is a TREC run or qrels, judging by its first line; None for anything else."""
    from plackett._files.compression import pieces
    from plackett.data.files import LETOR, format_of

    if format_of(path) is not LETOR or not path.is_file():  # a pipe can be read only once
        return None
    text = next(pieces(str(path)), b"")[:100_000].decode("utf-8", "replace")
    lines = (line.split() for line in text.splitlines())
    tokens = next((line for line in lines if line and not line[0].startswith("#")), [])
    if any(word.startswith("qid:") for word in tokens):
        return None
    if len(tokens) == 4 and _is_number(tokens[3]):
        return "qrels"
    return "run" if len(tokens) >= 5 and _is_number(tokens[3]) and _is_number(tokens[4]) else None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _trec(path: Path, kind: str, as_json: bool) -> None:
    """Show what is in a run or a file of judgements."""
    import polars as pl

    from plackett.data.trec import read_run
    from plackett.data.trec_diversity import read_diversity_qrels

    entries = read_run(path) if kind == "run" else read_diversity_qrels(path)
    sizes = entries.group_by("qid").len()["len"]
    facts = {"kind": kind, "queries": sizes.len(), "lines": entries.height}
    facts |= {"fewest_documents": sizes.min(), "most_documents": sizes.max()}
    if kind == "run":
        tied = entries.group_by("qid", "score").len().filter(pl.col("len") > 1)["qid"].n_unique()
        facts |= {"least_score": entries["score"].min(), "largest_score": entries["score"].max()}
        facts |= {"queries_with_ties": tied}
        title, hint = "TREC run", f"plackett evaluate --qrels QRELS --run {path}"
    else:
        labels = entries.group_by("label").len().sort("label")
        facts |= {
            "subtopics": entries.select("qid", "subtopic").n_unique() if entries["subtopic"].n_unique() > 1 else 0
        }
        facts |= {"labels": dict(zip(labels["label"].to_list(), labels["len"].to_list(), strict=True))}
        title, hint = "TREC judgements (qrels)", f"plackett evaluate --qrels {path} --run RUN"
    if as_json:
        print_json(facts)
        return
    del facts["kind"]
    shown = {"labels": lambda counts: ", ".join(f"{label:g}: {count:,}" for label, count in counts.items())}
    rows = [(name.replace("_", " "), shown.get(name, lambda v: f"{v:,g}")(value)) for name, value in facts.items()]
    print_table(("", ""), [*rows, ("to evaluate it", hint)], title=f"{path}: {title}")


def _rows(facts: Profile) -> list[tuple[str, str]]:
    lengths = facts.list_length
    rows = [
        ("queries", f"{facts.n_queries:,}"),
        ("documents", f"{facts.n_rows:,}"),
        ("features", f"{facts.n_features:,}" + (f" (sparse, {facts.density:.1%} non-zero)" if facts.sparse else "")),
        ("documents per query", ", ".join(f"{name} {value:g}" for name, value in lengths.items())),
    ]
    if facts.labels is None:
        rows.append(("labels", "none"))
    else:
        total = max(sum(facts.labels.values()), 1)
        shown = list(facts.labels.items())[:12]
        text = ", ".join(f"{label:g}: {count:,} ({count / total:.1%})" for label, count in shown)
        rows.append(("labels", text + (", …" if len(facts.labels) > len(shown) else "")))
        rows.append(("unjudged documents", f"{facts.unjudged:,}"))
        rows.append(("queries without a relevant document", f"{facts.queries_without_relevant:,}"))
        rows.append(("queries with only one label", f"{facts.queries_of_one_label:,}"))
    missing = sorted(facts.missing.items(), key=lambda entry: -entry[1])
    rows.append(("features with missing values", _some([f"{name} ({count:,})" for name, count in missing])))
    rows.append(("constant features", _some([str(name) for name in facts.constant])))
    different = f" ({facts.conflicting_rows:,} with different labels)" if facts.conflicting_rows else ""
    rows.append(("documents with the same features in a query", f"{facts.duplicate_rows:,}{different}"))
    if facts.categories:
        kinds = [f"{name} ({count:,} values)" for name, count in facts.categories.items()]
        rows.append(("features with categories", _some(kinds)))
    for name, span in (("sample weights", facts.sample_weight), ("query weights", facts.query_weight)):
        if span is not None:
            rows.append((name, f"{span[0]:g} to {span[1]:g}"))
    if facts.query_time is not None:
        rows.append(("times of queries", f"{facts.query_time[0]:.10g} to {facts.query_time[1]:.10g}"))
    if facts.n_preferences is not None:
        rows.append(("preferences", f"{facts.n_preferences:,}"))
    extras = {"document ids": facts.has_docids, "positions": facts.has_positions, "comments": facts.has_comments}
    rows.append(("other columns", ", ".join(name for name, present in extras.items() if present) or "none"))
    return rows


def _some(entries: list[str], most: int = 8) -> str:
    if not entries:
        return "none"
    more = f", … {len(entries) - most} more" if len(entries) > most else ""
    return f"{len(entries)}: {', '.join(entries[:most])}{more}"
