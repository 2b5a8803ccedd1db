"""``plackett recommend``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from plackett.cli.arguments import Force, Json, check_out, parameter_value
from plackett.cli.output import print_json, print_table


def recommend(
    source: Annotated[
        Path,
        typer.Argument(metavar="RATINGS|MODEL", help="Text of user, item, value, maybe time; or a saved recommender."),
    ],
    users: Annotated[list[str] | None, typer.Argument(metavar="[USER…]", help="Users to recommend items to.")] = None,
    k: Annotated[int, typer.Option("-k", help="Length of the lists.", min=1)] = 10,
    test: Annotated[
        Path | None,
        typer.Option(help="Held-out ratings of the same form: train on the others and measure, next to popularity."),
    ] = None,
    measure: Annotated[
        list[str] | None, typer.Option("--measure", "-m", help="With --test; by default nDCG@K.")
    ] = None,
    parameter: Annotated[
        list[str] | None, typer.Option("--parameter", "-p", help="name=value of AlternatingLeastSquares; repeatable.")
    ] = None,
    separator: Annotated[
        str | None, typer.Option(help="Separator of the columns; by default a comma in a .csv file, else a tab.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Where to save the recommender.")] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Recommend items to users from what they used: learn factors, measure them, save them, list the best."""
    from plackett._load import load
    from plackett.applications.recommender import Recommender

    if not source.is_file():
        raise typer.BadParameter(f"{source} is not a file", param_hint="RATINGS|MODEL")
    if not (users or test or out):
        raise typer.BadParameter("name users, or give --test or --out", param_hint="USER")
    if out is not None:
        check_out(out, force)
    record: dict[str, Any] = {}
    if _saved(source):
        if test or parameter or out:
            raise typer.BadParameter(
                "a saved recommender is trained already; give ratings", param_hint="--test, -p, --out"
            )
        model = load(source)
        if not isinstance(model, Recommender):
            raise typer.BadParameter(f"{source} holds no recommender", param_hint="RATINGS|MODEL")
    else:
        model, record = _trained(source, test, measure or [f"nDCG@{k}"], parameter or [], separator)
    if out is not None:
        model.save(out)
        record["model"] = str(out)
    known = {str(user): user for user in model.users_.tolist()}
    lists = {user: model.recommend(known.get(user, user), k) for user in users or []}
    if as_json:
        print_json(record | ({"recommended": lists} if lists else {}))
        return
    if "measures" in record:
        rows = [(name, *(f"{value:.4f}" for value in values.values())) for name, values in record["measures"].items()]
        print_table(("measure", "popularity", "factors"), rows, numbers=[1, 2])
    for user, items in lists.items():
        note = "" if user in known else " (unknown: as for an average user)"
        print(f"{user}{note}: {', '.join(str(item) for item in items)}")
    if out is not None:
        print(f"{out}: {model.users_.size} users, {model.items_.size} items, {model.item_factors_.shape[1]} factors")


def _saved(source: Path) -> bool:
    """Whether a file is one of ours, by its name or by what it holds."""
    from plackett._base.errors import DataError
    from plackett._files import storage

    if source.suffix == ".plackett":
        return True
    try:
        storage.read_metadata(source)
    except DataError:
        return False
    return True


def _trained(
    source: Path, test: Path | None, measures: list[str], parameters: list[str], separator: str | None
) -> tuple[Any, dict[str, Any]]:
    """A recommender from ratings, and how good it is on held-out ones."""
    from plackett.applications.least_squares import AlternatingLeastSquares
    from plackett.applications.ratings import candidates, popularity, read_ratings
    from plackett.evaluation.evaluate import evaluate

    chosen: dict[str, Any] = dict(parameter_value(text, AlternatingLeastSquares()) for text in parameters)
    ratings = read_ratings(source, separator=separator)
    if test is None:
        return AlternatingLeastSquares(**chosen).fit(ratings), {}
    train, held = ratings.split(ratings.rows_in(read_ratings(test, separator=separator)))
    if not held.n_rows:
        raise typer.BadParameter(f"{test}: none of its ratings is in {source}", param_hint="--test")
    model = AlternatingLeastSquares(**chosen).fit(train)
    data = candidates(train, held, relevant=0.0)
    values = {
        name: evaluate(data, scores, measures).mean
        for name, scores in (("popularity", popularity(train, data)), ("factors", model.predict(data)))
    }
    by_measure = {name: {system: own[name] for system, own in values.items()} for name in values["popularity"]}
    return model, {"users": data.n_queries, "measures": by_measure}
