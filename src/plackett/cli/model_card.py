"""Print the card of a model as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plackett._base.errors import DataError
from plackett._names.nearest import plural
from plackett.cli.output import print_table

#: What rankers around other rankers note: of the queries, of unlabelled documents, of other domains.
_FACTS = ("local rankers", "documents", "transfer", "transductive")


def print_card(
    card: dict[str, Any], parameters: dict[str, Any], *, title: str, steps: Sequence[dict[str, Any]] = ()
) -> None:
    """Print what was trained on which data, and how good it was on validation data."""
    rows = [("algorithm", str(card.get("algorithm")))]
    if "read_from" in card:  # a model of another tool: nothing else is known
        rows.append(("read from", str(card["read_from"])))
    else:
        data = card.get("data", {})
        counts = ("queries", "query", "queries"), ("rows", "document", None), ("features", "feature", None)
        sizes = ", ".join(plural(data.get(name, 0), singular, plural_form) for name, singular, plural_form in counts)
        rows += [("trained on", sizes), ("fingerprint of the data", str(data.get("fingerprint")))]
    for step in steps[:-1]:
        rows.append(("before it", f"{step['transformer']}({_assignments(step['parameters'])})"))
    valid = card.get("validation")
    if valid:
        best = f"{valid['measure']} {valid['value']:.4f}"
        rounds = f" in round {valid['round']} of {valid['rounds']}" if valid["rounds"] > 1 else ""
        rows.append(("validation", best + rounds))
    rows += [("", reason) for reason in card.get("auto", {}).get("reasons", ())]
    if card.get("chosen"):
        rows.append(("chosen for the data", _assignments(card["chosen"])))
    if card.get("interrupted"):
        rows.append(("training", "interrupted"))
    if card.get("members"):
        rows.append(("members", ", ".join(f"{m.get('algorithm')} ({m.get('weight', 0):.3g})" for m in card["members"])))
    for name in _FACTS:
        if card.get(name):
            rows.append((name, _plain(card[name])))
    rows.append(("plackett", str(card.get("plackett"))))
    rows += [(f"  {name}", _value(value)) for name, value in parameters.items()]
    print_table(("", ""), rows, title=title)


def _plain(facts: Any) -> str:
    """What a ranker noted about its training, in one line."""
    if not isinstance(facts, dict):
        return str(facts)
    return ", ".join(f"{name}: {_plain(value)}" for name, value in facts.items()) or "none"


def _assignments(parameters: dict[str, Any]) -> str:
    return ", ".join(f"{name}={_value(value)}" for name, value in parameters.items() if name != "n_jobs")


def _value(value: Any) -> str:
    """A parameter as one would write it in Python, from the form that it has in a file."""
    from plackett.scorers.plain_values import from_plain

    try:
        made = from_plain(value)
    except (DataError, KeyError, StopIteration, TypeError, ValueError):  # of another version
        made = value
    return " ".join(repr(made).split())
