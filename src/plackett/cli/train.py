"""``plackett train``."""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from plackett._names.nearest import plural
from plackett.cli.arguments import (
    Force,
    Impute,
    Json,
    ModelOut,
    TableColumns,
    TrainingData,
    check_out,
    imputer_named,
    option,
    parameter_value,
    reads_lists,
)
from plackett.cli.lean import lightgbm_alone
from plackett.cli.model_card import print_card
from plackett.cli.output import print_json


@reads_lists
def train(
    algorithm: Annotated[
        str,
        typer.Argument(
            help="Name of a ranker, optionally with parameters: 'LambdaMART(num_leaves=7)'. "
            "`plackett list --kind ranker` shows them."
        ),
    ],
    data: TrainingData,
    out: ModelOut,
    valid: Annotated[Path | None, typer.Option(help="Validation data, used to keep the best round.")] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option("--parameter", "-p", help="name=value, such as n_estimators=200; may be repeated."),
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option(help="For transfer rankers: judged data of another domain, FILE or NAME=FILE; may be repeated."),
    ] = None,
    domain: Annotated[
        Path | None, typer.Option(help="Instead of --source: a file with lines 'query domain' for TRAIN.")
    ] = None,
    target: Annotated[str | None, typer.Option(help="With --domain: the domain to rank for.")] = None,
    impute: Impute = None,
    seed: Annotated[int | None, typer.Option(help="Random seed; the same as -p random_state=…")] = None,
    force: Force = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the model card with all parameters.")] = False,
    as_json: Json = False,
    *,
    columns: TableColumns,
) -> None:
    """Train a ranker and save it. Ctrl-C stops the training and saves the model so far (exit code 130)."""
    from plackett.cli.first_use import rehearse_training
    from plackett.cli.reading import read_data, read_like
    from plackett.data.added import without_added
    from plackett.evaluation.giveaways import giveaways, warn_of_giveaways
    from plackett.rankers.storage import save

    check_out(out, force)
    imputer = None if impute is None else imputer_named(impute)
    ranker = _ranker(algorithm, parameter or [])
    _check_domains(ranker, source, domain, target, impute)
    if seed is not None:
        ranker.random_state = seed
    ranker.verbose = ranker.verbose or (sys.stderr.isatty() and not as_json)
    if hasattr(ranker, "lightgbm_params"):
        lightgbm_alone()
    with rehearse_training(ranker, validate=valid is not None):
        dataset = read_data(data, columns)
        like = dataset.n_features, dataset.feature_names, dataset.categories
        watched = None if valid is None else without_added(read_like(valid, columns, *like))
        domains = {name: read_like(path, columns, *like) for name, path in _sources(source or []).items()}
    warn_of_giveaways(giveaways(dataset), str(data))
    more: dict[str, Any] = {"source": domains} if domains else {}
    if domain is not None:
        from plackett.data.side_files import read_query_names

        more = {"domain": read_query_names(domain, dataset), "target": target}
    model = ranker if imputer is None else after_imputer(imputer, ranker)
    start = time.perf_counter()
    interrupted = fit_and_keep(model, dataset, watched, out, more)
    seconds = time.perf_counter() - start
    ranker.verbose = False  # a setting of this run, not of the model
    save(model, out)
    if as_json:
        print_json({"model": str(out), **ranker.card_, "history": ranker.history_})
    elif verbose:
        print_card(ranker.card_, ranker.get_params(deep=False), title=str(out))
    else:
        _print_summary(ranker, seconds, valid, out)
    if interrupted:
        print(f"interrupted: the model so far was saved to {out}", file=sys.stderr)
        raise typer.Exit(130)


def after_imputer(imputer: Any, ranker: Any) -> Any:
    """The ranker with missing values filled in before it; the two are saved together."""
    from plackett.rankers.pipelines import Pipeline

    return Pipeline([("imputer", imputer), ("ranker", ranker)])


def _check_domains(
    ranker: Any, source: list[str] | None, domain: Path | None, target: str | None, impute: str | None
) -> None:
    """Reject source domains where the ranker has no use for them."""
    from plackett.rankers.transfer._base import TransferRanker
    from plackett.rankers.transfer.multi_task import MultiTask

    given = "--source" if source else "--domain" if domain else "--target" if target else None
    if given is None:
        return
    if not isinstance(ranker, TransferRanker):
        raise typer.BadParameter(
            f"{type(ranker).__name__} learns from one domain; use a transfer ranker, such as PooledTransfer",
            param_hint=given,
        )
    if source and domain:
        raise typer.BadParameter("give either --source or --domain", param_hint="--domain")
    if domain is not None and target is None and not isinstance(ranker, MultiTask):
        raise typer.BadParameter("name the domain to rank for", param_hint="--target")
    if target is not None and domain is None:
        raise typer.BadParameter("it names one of the domains of --domain", param_hint="--target")
    if impute is not None:
        raise typer.BadParameter(f"values of {given} are not filled in; fill them in beforehand", param_hint="--impute")


def _sources(given: list[str]) -> dict[str, Path]:
    """Files of source domains by name; a file without a name is named after itself."""
    paths: dict[str, Path] = {}
    for text in given:
        name, equals, rest = text.partition("=")
        path = Path(rest if equals and not Path(text).exists() else text)
        if not (equals and path == Path(rest)):
            name = path.name.split(".")[0]
        if not path.exists():
            raise typer.BadParameter(f"{path}: there is no such file", param_hint="--source")
        if name in paths:
            raise typer.BadParameter(f"two sources are called {name}; write NAME=FILE", param_hint="--source")
        paths[name] = path
    return paths


def fit_and_keep(model: Any, dataset: Any, watched: Any, out: Path, more: dict[str, Any] | None = None) -> bool:
    """Train, and return whether Ctrl-C stopped the training after the first round."""
    from plackett._base.errors import PlackettWarning
    from plackett.data.estimators import fit, last_step

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "training was interrupted", PlackettWarning)  # said at the end
        try:
            fit(model, dataset, watched, more)
        except KeyboardInterrupt:
            print(f"interrupted before the first round was finished: {out} was not written", file=sys.stderr)
            raise typer.Exit(130) from None
    return bool(last_step(model).card_.get("interrupted"))


def _print_summary(ranker: Any, seconds: float, valid: Path | None, out: Path) -> None:
    data, best = ranker.card_["data"], ranker.card_.get("validation")
    counts = (data["queries"], "query", "queries"), (data["rows"], "document"), (data["features"], "feature")
    sizes = ", ".join(plural(*each) for each in counts)
    print(f"{' '.join(repr(ranker).split())}\ntrained on {sizes} in {seconds:.1f} s")
    if best:
        where = "validation data" if valid is None else valid
        print(f"{best['measure']} {best['value']:.4f} on {where} in round {best['round']} of {best['rounds']}")
    transfer = ranker.card_.get("transfer")
    if transfer is not None and transfer["sources"]:
        parts = ", ".join(f"{name} ({plural(n, 'query', 'queries')})" for name, n in transfer["sources"].items())
        kept = "" if best else ", not compared with the target alone (--valid)"
        print(f"transfer from {parts}{'; kept: ' + transfer['kept'] if 'kept' in transfer else kept}")
    print(f"saved to {out} (`plackett info {out}` shows all parameters)")


def _ranker(algorithm: str, assignments: list[str]) -> Any:
    """The ranker with this name and these parameters."""
    from plackett._base.errors import DataError
    from plackett._base.parameters import check_parameters
    from plackett.rankers.base import Ranker
    from plackett.rankers.named import ranker_named

    try:
        ranker = ranker_named(algorithm)[0]
    except DataError as error:
        raise typer.BadParameter(str(error), param_hint="ALGORITHM") from None
    if not isinstance(ranker, Ranker):
        raise typer.BadParameter(
            f"{algorithm} belongs to another library and cannot be saved; `plackett experiment` can compare with it",
            param_hint="ALGORITHM",
        )
    ranker.set_params(**dict(parameter_value(assignment, ranker) for assignment in assignments))
    with option("--parameter / -p"):
        check_parameters(ranker)
    return ranker
