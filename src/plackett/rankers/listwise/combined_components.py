"""The combined component approach."""

from __future__ import annotations

from dataclasses import dataclass

from plackett._base.errors import DataError
from plackett.rankers.listwise._evolved import Evolved
from plackett.scorers.formulas.program import Program
from plackett.solvers.formulas.text import from_text

__all__ = ["CombinedComponents"]


@dataclass(kw_only=True, eq=False, repr=False)
class CombinedComponents(Evolved):
    """Combined component approach (CCA): the leaves are components of known formulas, not raw statistics.

    What sets it apart from `RankGP`: its leaves are whole formulas of features, such as the term-frequency part of BM25
    or an inverse document frequency, so that evolution starts from what is known to work. The resulting formula is
    again written in terms of the features. ``max_depth`` and ``max_size`` count a component as one leaf.

    Parameters
    ----------
    components
        Formulas of features as text (see `plackett.solvers.formulas.text.from_text`), features by their names, or as
        x1, x2, … where they have none. None uses every feature as a component. `retrieval_components` builds the usual
        ones.

    Examples
    --------
    >>> X = [[3.0, 10.0], [3.0, 90.0], [1.0, 10.0], [5.0, 20.0], [4.0, 200.0], [1.0, 30.0]]
    >>> ranker = CombinedComponents(components=("x1 / (x1 + 2 * x2 / 50)", "log(x2)"), generations=3)
    >>> ranker = ranker.fit(X, [1, 0, 0, 1, 0, 0], qid=[1, 1, 1, 2, 2, 2])
    >>> ranker.rank([[4.0, 10.0], [1.0, 10.0]], qid=[3, 3])
    array([1, 2])

    References
    ----------
    de Almeida, Gonçalves, Cristo, Calado: A combined component approach for finding collection-adapted ranking
    functions based on genetic programming. SIGIR 2007.
    """

    components: tuple[str, ...] | None = None
    functions: tuple[str, ...] = ("+", "*", "/", "log")

    def leaves(self, names: list[str]) -> list[Program] | None:
        """The components as programs."""
        if self.components is None:
            return None
        if isinstance(self.components, str) or not self.components:
            raise DataError(f"components={self.components!r}; give formulas in a list, or None for the features")
        return [from_text(text, names) for text in self.components]


def retrieval_components(
    *,
    tf: str = "tf",
    df: str = "df",
    length: str = "length",
    n_documents: float,
    mean_length: float,
    k1: float = 1.2,
    b: float = 0.75,
) -> tuple[str, ...]:
    """Components of vector space, pivoted, BM25 and language models over features with the given names.

    For documents described by the frequency of a query term, the number of documents that have the term, and the
    length of the document. The last term-frequency component times the last inverse document frequency is BM25.

    Examples
    --------
    >>> retrieval_components(n_documents=1000, mean_length=50)[-1]
    'log((1000 - df + 0.5) / (df + 0.5))'
    """
    total, mean = f"{float(n_documents):.17g}", f"{float(mean_length):.17g}"
    return (
        tf,
        f"log(1 + {tf})",
        f"{tf} / {length}",
        f"{length} / {mean}",
        f"1 / (1 - {b:.17g} + {b:.17g} * {length} / {mean})",
        f"{tf} * {k1 + 1:.17g} / ({tf} + {k1:.17g} * (1 - {b:.17g} + {b:.17g} * {length} / {mean}))",
        f"log({total} / {df})",
        f"log(({total} - {df} + 0.5) / ({df} + 0.5))",
    )
