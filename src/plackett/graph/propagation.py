"""Relevance propagation: scores, or term counts, that flow along links and site maps."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.arguments import choice, number
from plackett._base.errors import DataError
from plackett.graph.links import LinkGraph
from plackett.graph.sitemap import SiteMap

__all__ = ["propagate_links", "propagate_site"]


def propagate_site(values: Any, site: SiteMap, *, alpha: float = 0.5) -> np.ndarray:
    r"""Propagation up a site map: a page gains from the relevance of its children.

    .. math:: s'(p) = (1 + \alpha)\, s(p) + (1 - \alpha)\, \frac{1}{|C(p)|} \sum_{c \in C(p)} s(c)

    Given scores this is score propagation. Given term counts (a row per page and a column per query term) it is term
    propagation: compute a model on the result.

    Parameters
    ----------
    values
        A number, or a row of numbers, per page.
    alpha
        From 0 to 1. With 1 children do not matter.

    Examples
    --------
    >>> propagate_site([1.0, 2.0, 4.0], SiteMap([-1, 0, 0]), alpha=0.5).tolist()
    [3.0, 3.0, 6.0]

    References
    ----------
    Qin, Liu, Zhang, Chen, Ma: A study of relevance propagation for web search. SIGIR 2005.
    """
    given = _values(values, site.n_pages, alpha)
    return (1.0 + alpha) * given + (1.0 - alpha) * site.mean_of_children(given)


#: How a page's neighbours are weighed.
SCHEMES = ("in", "out", "uniform-out")


def propagate_links(
    values: Any,
    graph: LinkGraph,
    *,
    scheme: str = "in",
    alpha: float = 0.5,
    steps: int | None = None,
    weights: Any = None,
    tol: float = 1e-10,
    max_iter: int = 1000,
) -> np.ndarray:
    r"""Propagation over hyperlinks: a page keeps a share of its own relevance and takes the rest from its neighbours.

    .. math:: s' = \alpha s + (1 - \alpha) W s'

    Parameters
    ----------
    values
        Scores (a number per page) or term counts (a row per page). Weighted schemes use their size as weights and need
        numbers of 0 or more.
    scheme
        ``"in"``: pages that link to p, weighted by their own relevance: row p of W is in proportion to s(v) for v → p.
        ``"out"``: pages that p links to, weighted in the same way. ``"uniform-out"``: pages that p links to, all equal.
        A page without such neighbours keeps its own value.
    alpha
        Share of its own relevance, above 0, up to 1. With 1 nothing is propagated.
    steps
        Number of steps from s; by default until nothing changes.
    weights
        Weights of pages in weighted schemes: a number or a row for each; by default its value, or the sum of its row.
        Pass the values themselves if columns have nothing to do with each other, such as scores of several queries.

    Examples
    --------
    >>> graph = LinkGraph.from_edges([(0, 1), (0, 2)])
    >>> propagate_links([1.0, 2.0, 4.0], graph, scheme="uniform-out").tolist()
    [2.0, 2.0, 4.0]

    References
    ----------
    Shakery, Zhai: A probabilistic relevance propagation model for hypertext retrieval. CIKM 2006.
    """
    given = _values(values, graph.n_nodes, alpha)
    choice("scheme", scheme, SCHEMES)
    if alpha == 0 and steps is None:
        raise DataError("alpha=0 has no fixed point; give the number of steps, or a larger alpha")
    if scheme != "uniform-out" and (given < 0).any():
        raise DataError(f"scheme={scheme!r} weighs pages by their values, which must be 0 or more")
    if scheme == "uniform-out":
        weight = np.ones(graph.n_nodes)
    elif weights is not None:
        weight = _values(weights, graph.n_nodes, alpha)
    else:
        weight = given if given.ndim == 1 else given.sum(axis=1)
    collect = graph.collect if scheme == "in" else graph.collect_out
    total = collect(weight)
    alone = total <= 0
    scale = np.divide(1.0, total, out=np.zeros_like(total), where=~alone)
    if given.ndim == 2 and weight.ndim == 1:
        weight, scale, alone = weight[:, None], scale[:, None], alone[:, None]
    now = given
    for _ in range(max_iter if steps is None else steps):
        around = np.where(alone, given, collect(weight * now) * scale)
        new = alpha * given + (1.0 - alpha) * around
        moved = float(np.abs(new - now).max(initial=0.0))
        now = new
        if steps is None and moved <= tol * max(1.0, float(np.abs(given).max(initial=0.0))):
            break
    return now


def _values(values: Any, n: int, alpha: float) -> np.ndarray:
    given = np.asarray(values, np.float64)
    if given.ndim not in (1, 2) or given.shape[0] != n:
        raise DataError(f"values have shape {given.shape}; give a number or a row for each of the {n} pages")
    number("alpha", alpha, least=0, most=1)
    return given
