"""``plackett export`` and ``plackett import``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plackett._base.errors import DataError
from plackett._files.checks import check_regular
from plackett._names.catalogue import formats
from plackett.cli.arguments import Force, TableColumns, check_out, reads_lists

if TYPE_CHECKING:
    from plackett.data.dataset import RankingDataset

_WRITTEN = [known.name for known in formats() if known.writes]
#: Formats that come with a second file, the features of the engine.
_WITH_FEATURES = ("elasticsearch-ltr", "opensearch-ltr", "solr")
_READ = [known.name for known in formats() if known.first_line]


@reads_lists
def export(
    model: Annotated[Path, typer.Argument(help="Model saved by `plackett train` or `save`, or of another tool.")],
    to: Annotated[
        str,
        typer.Option(
            help=f"Format: {', '.join(_WRITTEN)}. With a version (opensearch-ltr@3.1) where the queries of your own "
            "features do not match all documents."
        ),
    ],
    out: Annotated[Path, typer.Option(help="File to write; search engines get a second one with their features.")],
    verify: Annotated[
        Path | None, typer.Option(help="Data on which the export is scored and compared with the model.")
    ] = None,
    feature_names: Annotated[
        Path | None, typer.Option(help="Text file with the name of each feature in the engine, one per line.")
    ] = None,
    missing: Annotated[
        str | None,
        typer.Option(
            help=f"What a field that is missing is for {', '.join(_WITH_FEATURES)}: 'keep' (missing) or 'zero' (0)."
        ),
    ] = None,
    force: Force = False,
    *,
    columns: TableColumns,
) -> None:
    """Write a model for a search engine, another library or as source code, and prove that it scores the same.

    With --verify, the written file is scored by the engine itself where it is installed here, and otherwise by its
    documented rule, on your documents and on rows made to be hard: values on thresholds and next to them, NaN, both
    zeros, infinite and denormal numbers. The command fails if a score differs.
    """
    from plackett._load import load
    from plackett.cli.reading import load_with
    from plackett.export.json_trees import features_path
    from plackett.export.verify import versioned

    try:
        target, options = versioned(to)
    except DataError as error:
        raise typer.BadParameter(str(error), param_hint="--to") from None
    if missing is not None and (target.kind not in _WITH_FEATURES or missing not in ("keep", "zero")):
        accepted = f"give keep or zero, with --to {' or '.join(_WITH_FEATURES)}"
        raise typer.BadParameter(f"{missing!r} for {to}; {accepted}", param_hint="--missing")
    check_out(out, force)
    if target.kind in _WITH_FEATURES:
        check_out(features_path(out), force)
    names = None if feature_names is None else _lines(feature_names)
    data: RankingDataset | None = None
    if verify is None:
        ranker = load(model)
    else:
        ranker, data = load_with(model, verify, columns, estimator=True)
    if hasattr(target, "reads"):  # the documents show which features are below 0
        options["data"] = data
    options |= {} if missing is None else {"missing": missing}
    target.write(ranker, out, **options, **({} if names is None else {"feature_names": names}))
    print(f"{out}: {type(ranker).__name__} as {to}")
    if data is not None:
        _prove(ranker, out, data, to, names)


def _prove(ranker: Any, out: Path, data: RankingDataset, to: str, names: list[str] | None) -> None:
    from plackett.export.tools import MissingToolError
    from plackett.export.verify import verify_export

    try:
        proof = verify_export(ranker, out, data, to=to, feature_names=names)
    except MissingToolError as error:
        raise DataError(f"the file is written, but it cannot be scored here to verify it: {error}") from None
    print(proof)
    if not proof.holds:
        raise typer.Exit(1)


def _lines(path: Path) -> list[str]:
    check_regular(path)
    try:
        return [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"{path}: {error}", param_hint="--feature-names") from None


def import_model(
    source: Annotated[Path, typer.Argument(help="Model file of another tool.")],
    out: Annotated[Path, typer.Option(help="File to write, as `plackett train` does.")],
    tool: Annotated[
        str | None, typer.Option("--from", help=f"Format: {', '.join(_READ)}. By default the file tells.")
    ] = None,
    n_features: Annotated[
        int | None, typer.Option(help="Number of features in the data, where the model lists only those it uses.")
    ] = None,
    force: Force = False,
) -> None:
    """Read a model of another tool, so that it can be explained, pruned, blended, scored fast and exported elsewhere.

    The scores stay the same. Nothing in the file is executed; scikit-learn's pickles are therefore not read, but in
    Python `plackett.from_sklearn` converts a model that you loaded.
    """
    from plackett._load import foreign_reader
    from plackett.rankers.storage import save

    known = {each.name: each for each in formats() if each.first_line}
    if tool is not None and tool not in known:
        why = (
            "its files are pickles, which run code when they are read; " if tool in ("sklearn", "scikit-learn") else ""
        )
        raise typer.BadParameter(f"{tool!r}; {why}give one of {', '.join(_READ)}", param_hint="--from")
    if not source.exists() or source.is_dir():
        raise typer.BadParameter(f"{source} is {'a folder' if source.is_dir() else 'not there'}", param_hint="SOURCE")
    check_out(out, force)
    check_regular(source)
    read = foreign_reader(source) if tool is None else known[tool].load().read
    if read is None:
        raise typer.BadParameter(f"{source}: not recognised; give --from {'|'.join(_READ)}", param_hint="--from")
    ranker = read(source, n_features=n_features)
    save(ranker, out)
    print(f"{out}: {type(ranker).__name__} from {ranker.card_['read_from']}, {ranker.n_features_in_} features")
