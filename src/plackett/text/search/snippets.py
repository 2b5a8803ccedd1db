"""Snippets: the part of a text that best shows why it was found."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import pairwise

from plackett.text.analysis import Analyzer


def snippet(
    text: str,
    analyzer: Analyzer,
    weights: Mapping[str, float] | Collection[str],
    *,
    words: int = 30,
    marks: tuple[str, str] = ("**", "**"),
) -> str:
    """The window of a text whose query terms weigh most, with the terms marked.

    A term counts once in a window, and more occurrences break ties; among equal windows the first is taken. Terms side
    by side are marked together.

    Parameters
    ----------
    weights
        Query terms, after analysis, with weights such as inverse document frequencies.
    words
        Length of the window.
    marks
        What stands before and after a query term.

    Examples
    --------
    >>> snippet("Large animals live long. The blue whales sing.", Analyzer(), {"blue": 1, "whale": 2}, words=4)
    '… The **blue whales** sing.'
    """
    given = weights if isinstance(weights, Mapping) else dict.fromkeys(weights, 1.0)
    spans = analyzer.spans(text)
    if not spans:
        return text.strip()[:200]
    hits = [frozenset(t for t in terms if t is not None and t in given) for _, _, terms in spans]
    begin = _best_window(hits, given, words)
    end = min(begin + words, len(spans))
    first = 0 if begin == 0 else spans[begin][0]
    last = len(text) if end == len(spans) else spans[end - 1][1]
    marked = [(spans[i][0], spans[i][1]) for i in range(begin, end) if hits[i]]
    joined: list[list[int]] = []
    for a, b in marked:
        if joined and not text[joined[-1][1] : a].strip():
            joined[-1][1] = max(b, joined[-1][1])
        else:
            joined.append([a, b])
    edges = [first, *(edge for pair in joined for edge in pair), last]
    parts = [marks[0] + text[a:b] + marks[1] if i % 2 else text[a:b] for i, (a, b) in enumerate(pairwise(edges))]
    body = " ".join("".join(parts).split())
    return ("… " if begin else "") + body + (" …" if end < len(spans) else "")


def _best_window(hits: list[frozenset[str]], weights: Mapping[str, float], width: int) -> int:
    """First word of the best window; a window begins a few words before its first hit."""
    counts: dict[str, int] = {}
    total, n_hits, best, begin = 0.0, 0, (0.0, 0), 0
    for i, matched in enumerate(hits):
        for term in matched:
            counts[term] = counts.get(term, 0) + 1
            n_hits += 1
            if counts[term] == 1:
                total += weights[term]
        if i >= width:
            for term in hits[i - width]:
                counts[term] -= 1
                n_hits -= 1
                if counts[term] == 0:
                    total -= weights[term]
        if (round(total, 9), n_hits) > best:
            best, begin = (round(total, 9), n_hits), max(0, i - width + 1)
    if best[1] == 0:
        return 0
    end = min(begin + width, len(hits))
    inside = [i for i in range(begin, end) if hits[i]]
    # centre the hits in the window
    slack = (width - (inside[-1] - inside[0] + 1)) // 2
    return max(0, min(inside[0] - slack, len(hits) - width))
