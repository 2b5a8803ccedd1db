"""The methods in the book's summary, and the rankers of this library that implement them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import polars as pl

__all__ = ["algorithm_registry"]


class AlgorithmEntry(NamedTuple):
    """One of the 39 methods of chapter 19: its reference number, a name, the paper, the approach, and the ranker."""

    number: int
    method: str
    paper: str
    approach: str
    ranker: str

    def load(self) -> Any:
        """The class of the ranker."""
        from plackett import rankers

        return getattr(rankers, self.ranker)


ALGORITHMS: tuple[AlgorithmEntry, ...] = tuple(
    AlgorithmEntry(number, *row)
    for number, row in enumerate(
        (
            ("LambdaRank", "Burges, Ragno, Le 2007", "pairwise", "LambdaRank"),
            ("RankNet", "Burges et al. 2005", "pairwise", "RankNet"),
            ("IR-SVM", "Cao et al. 2006", "pairwise", "IRSVM"),
            ("ListNet", "Cao et al. 2007", "listwise", "ListNet"),
            ("Sigmoid loss, meta-learned", "Carvalho et al. 2008", "pairwise", "SigmoidRank"),
            ("Structured learning for non-smooth losses", "Chakrabarti et al. 2008", "listwise", "SVMNDCG"),
            ("Gradient descent on smoothed measures", "Chapelle, Wu 2009", "listwise", "SmoothRank"),
            ("Learning to order things", "Cohen, Schapire, Singer 1998", "pairwise", "HedgeRanker"),
            ("Magnitude-preserving ranking", "Cortes, Mohri, Rastogi 2007", "pairwise", "MPRank"),
            ("Subset ranking by regression", "Cossock, Zhang 2006", "pointwise", "WeightedRegression"),
            ("PRanking", "Crammer, Singer 2002", "pointwise", "PRank"),
            ("RankBoost", "Freund et al. 2003", "pairwise", "RankBoost"),
            ("Polynomial regression", "Fuhr 1989", "pointwise", "PolynomialRegression"),
            ("Staged logistic regression", "Gey 1994", "pointwise", "StagedLogistic"),
            ("Ranking SVM", "Herbrich, Obermayer, Graepel 2000", "pairwise", "RankSVM"),
            ("Cumulative distribution networks", "Huang, Frey 2009", "listwise", "StructRank"),
            ("McRank", "Li, Burges, Wu 2008", "pointwise", "McRank"),
            ("Discriminative models", "Nallapati 2004", "pointwise", "PointwiseSVM"),
            ("Multiple hyperplanes", "Qin et al. 2007", "pairwise", "MultipleHyperplaneRanker"),
            ("Approximate measures", "Qin, Liu, Li 2009", "listwise", "ApproxNDCG"),
            ("RankCosine", "Qin et al. 2008", "listwise", "RankCosine"),
            ("Losses for preference levels", "Rennie, Srebro 2005", "pointwise", "AllThreshold"),
            ("SortNet", "Rigutini et al. 2008", "pairwise", "SortNet"),
            ("P-norm push", "Rudin 2006", "pairwise", "PNormPush"),
            ("Large margins, two approaches", "Shashua, Levin 2003", "pointwise", "FixedMarginSVM"),
            ("Robust sparse ranking", "Sun et al. 2009", "pairwise", "RobustSparseRanker"),
            ("SoftRank", "Taylor et al. 2008", "listwise", "SoftRank"),
            ("FRank", "Tsai et al. 2007", "pairwise", "FRank"),
            ("Ordered weighted pairwise classification", "Usunier, Buffoni, Gallinari 2009", "pairwise", "OWPC"),
            ("Association rules", "Veloso et al. 2008", "pointwise", "AssociationRules"),
            ("BoltzRank", "Volkovs, Zemel 2009", "listwise", "BoltzRank"),
            ("ListMLE", "Xia et al. 2008", "listwise", "ListMLE"),
            ("AdaRank", "Xu, Li 2007", "listwise", "AdaRank"),
            ("PermuRank", "Xu et al. 2008", "listwise", "PermuRank"),
            ("RankGP", "Yeh et al. 2007", "listwise", "RankGP"),
            ("SVM-MAP", "Yue et al. 2007", "listwise", "SVMMAP"),
            ("GBRank", "Zheng et al. 2007", "pairwise", "GBRank"),
            ("QBRank", "Zheng et al. 2008", "pairwise", "QBRank"),
            ("Decision-theoretic ranking", "Zoeter et al. 2008", "listwise", "DecisionTheoretic"),
        ),
        start=1,
    )
)


def algorithm_registry() -> pl.DataFrame:
    """The 39 methods of the book's summary, with their approach and the ranker that implements each.

    >>> algorithm_registry().filter(approach="pairwise")["ranker"].to_list()[:3]
    ['LambdaRank', 'RankNet', 'IRSVM']

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, figure 19.1.
    """
    import polars as pl

    return pl.DataFrame([entry._asdict() for entry in ALGORITHMS])
