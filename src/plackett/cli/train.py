"""``plackett train``."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer

from plackett.cli.arguments import check_out, parameter_value
from plackett.cli.model_card import print_card
from plackett.cli.output import print_json


def train(
    algorithm: Annotated[str, typer.Argument(help="Name of a ranker; `plackett list --kind ranker` shows them.")],
    data: Annotated[Path, typer.Argument(metavar="TRAIN", help="Dataset, in any form that `convert` reads.")],
    out: Annotated[Path, typer.Option(help="Where to save the model, by custom a name in .plackett.")],
    valid: Annotated[Path | None, typer.Option(help="Validation data: the best round on it is kept.")] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option("--parameter", "-p", help="name=value, such as n_estimators=200; may be repeated."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="The same as -p random_state=…")] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite an existing model.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable.")] = False,
) -> None:
    """Train a ranker and save it."""
    from plackett.cli.reading import read_like
    from plackett.data.files import read

    check_out(out, force)
    ranker = _ranker(algorithm, parameter or [])
    if seed is not None:
        ranker.random_state = seed
    ranker.verbose = ranker.verbose or (sys.stderr.isatty() and not as_json)
    dataset = read(data)
    ranker.fit(dataset, eval_set=None if valid is None else read_like(valid, dataset.n_features))
    ranker.verbose = False  # of this run, not of the model
    ranker.save(out)
    if as_json:
        print_json({"model": str(out), **ranker.card_, "history": ranker.history_})
    else:
        print_card(ranker.card_, ranker.get_params(deep=False), title=str(out))


def _ranker(algorithm: str, assignments: list[str]) -> Any:
    """The ranker of this name with these parameters."""
    from plackett import rankers

    names = {name.lower(): name for name in _names()}
    if algorithm.lower() not in names:
        near = [names[name] for name in get_close_matches(algorithm.lower(), names, 3, 0.5)]
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(names.values())}"
        raise typer.BadParameter(f"no ranker {algorithm!r}; {hint}", param_hint="ALGORITHM")
    cls = getattr(rankers, names[algorithm.lower()])
    defaults = cls().get_params(deep=False)
    return cls(**dict(parameter_value(assignment, defaults, cls.__name__) for assignment in assignments))


def _names() -> list[str]:
    from plackett.catalogue import items

    return [item.name for item in items("ranker")]
