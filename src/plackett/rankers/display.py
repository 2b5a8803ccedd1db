"""A fitted ranker in a notebook: its model card as a small table."""

from __future__ import annotations

from html import escape
from typing import Any

#: Number of feature importances on the card.
_LISTED = 5

_STYLE = (
    ".plackett-card{font:13px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif;margin:.4em 0;"
    "border-collapse:collapse}.plackett-card caption{text-align:left;font-weight:600;padding:.2em 0}"
    ".plackett-card th,.plackett-card td{text-align:left!important;font-weight:normal;padding:.15em 1em .15em 0;"
    "border-top:1px solid rgba(128,128,128,.35);vertical-align:top}.plackett-card th{opacity:.75;white-space:nowrap}"
)


def card_html(ranker: Any) -> str:
    """The model card of a fitted ranker as an HTML table; all text in it is escaped."""
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in card_rows(ranker))
    caption = f"{escape(type(ranker).__name__)}: model card"
    return f'<style>{_STYLE}</style><table class="plackett-card"><caption>{caption}</caption>{rows}</table>'


def card_rows(ranker: Any) -> list[tuple[str, str]]:
    """The rows of the model card of a fitted ranker, as (name, text) pairs.

    >>> import plackett as pk
    >>> ranker = pk.ListNet().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> card_rows(ranker)[0]
    ('trained on', '1 query, 3 documents, 1 feature')
    """
    card = ranker.card_
    rows = []
    if "read_from" in card:
        rows.append(("read from", str(card["read_from"])))
    if "data" in card:
        data = card["data"]
        sizes = (
            ("queries", "query", "queries"),
            ("rows", "document", "documents"),
            ("features", "feature", "features"),
        )
        amounts = [
            f"{data[key]:,} {singular if data[key] == 1 else plural}" for key, singular, plural in sizes if key in data
        ]
        rows.append(("trained on", ", ".join(amounts)))
    if "validation" in card:
        valid = card["validation"]
        best = f"{valid['measure']} {valid['value']:.4f}, round {valid['round']} of {valid['rounds']}"
        rows.append(("validation", best))
    if "chosen" in card:
        rows.append(("chosen for the data", ", ".join(f"{name}={value}" for name, value in card["chosen"].items())))
    if "refit" in card:
        rows.append(("trained again", f"with the validation data, {card['refit']['queries']:,} queries in all"))
    estimate = card.get("auto", {}).get("estimate")
    if estimate:
        rows.append(("to expect on new queries", f"{estimate['measure']} {estimate['value']:.4f}"))
    if "pruned" in card:
        pruned = card["pruned"]
        rows.append(("pruned", f"{pruned['trees']} of {pruned['of']} trees, by {pruned['method']}"))
    if hasattr(ranker, "calibration_"):
        rows.append(("calibration", ranker.calibration_.kind))
    if getattr(ranker, "categories_", None):
        rows.append(("categories", ", ".join(f"{name} ({len(v)})" for name, v in ranker.categories_.items())))
    important = _important(ranker)
    if important:
        rows.append(important)
    rows.append(("plackett", str(card.get("plackett"))))
    return rows


def _important(ranker: Any) -> tuple[str, str] | None:
    """The most important features, by gain or by weight."""
    if hasattr(ranker, "feature_importances_"):
        heading, values, digits = "largest gains", ranker.feature_importances_, ".3g"
    elif hasattr(ranker, "coef_") and ranker.coef_.ndim == 1:
        heading, values, digits = "largest weights", ranker.coef_, "+.3g"
    else:
        return None
    names = getattr(ranker, "feature_names_in_", [str(j + 1) for j in range(len(values))])
    order = sorted(range(len(values)), key=lambda j: -abs(values[j]))[:_LISTED]
    return heading, ", ".join(f"{names[j]} {values[j]:{digits}}" for j in order if values[j] != 0) or "none"
