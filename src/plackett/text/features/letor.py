"""The feature sets of the LETOR benchmarks, by number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plackett._base.errors import DataError
from plackett.text.features.base import Feature
from plackett.text.features.document import LengthFeature, LinkFeature, UrlFeature
from plackett.text.features.model import ModelFeature
from plackett.text.features.query import QueryFeature
from plackett.text.features.scaled_log import ScaledLog
from plackett.text.features.topical import TopicalFeature
from plackett.text.retrieval.absolute_discount import AbsoluteDiscount
from plackett.text.retrieval.bm25 import BM25
from plackett.text.retrieval.dirichlet import Dirichlet
from plackett.text.retrieval.jelinek_mercer import JelinekMercer
from plackett.text.retrieval.propagated import Propagated
from plackett.text.retrieval.tf_idf import TFIDF

__all__ = ["gov2_features", "gov_features", "ohsumed_features"]

#: Settings with which the features of the OHSUMED set were computed, found by recomputing them.
LETOR_BM25 = BM25(k1=1.2, b=0.75, k3=7, idf="rsj")
LETOR_DIRICHLET = Dirichlet(mu=50)
LETOR_JM = JelinekMercer(weight=0.5)
LETOR_ABS = AbsoluteDiscount(delta=0.5)


def ohsumed_features(fields: Sequence[str] = ("title", "abstract", "all")) -> list[Feature]:
    """The 45 features of LETOR's OHSUMED set: 15 on each of three fields.

    Feature k of field f has number 15 (f − 1) + k: 1 Σ tf; 2 Σ ln(tf + 1); 3 Σ tf / len; 4 Σ ln(tf / len + 1);
    5 Σ ln(N / n); 6 Σ ln ln(N / n); 7 Σ ln(N / cf + 1); 8 Σ ln(tf / len · ln(N / n) + 1); 9 Σ tf · ln(N / n);
    10 Σ ln(tf / len · N / cf + 1); 11 BM25; 12 ln BM25; 13 LMIR.DIR; 14 LMIR.JM; 15 LMIR.ABS. Sums are over the query's
    terms; a term that the query repeats counts as often, except in BM25. Recomputed from the set's own statistics they
    agree with the published values.

    Parameters
    ----------
    fields
        Fields of the index that stand for title, abstract, and title with abstract.

    Examples
    --------
    >>> features = ohsumed_features()
    >>> len(features), features[10].title, features[44].title
    (45, '11 BM25 title', '45 LMIR.ABS all')

    References
    ----------
    Qin, Liu, Xu, Li: LETOR: a benchmark collection for research on learning to rank for information retrieval.
    Information Retrieval 13, 2010.
    """
    if len(fields) != 3:
        raise DataError(f"fields={fields!r}; name three: title, abstract, and both")
    features: list[Feature] = []
    for i, name in enumerate(fields):
        models: list[tuple[str, Any]] = [
            ("sum tf", TFIDF(tf="raw", idf="none")),
            ("sum log tf", TFIDF(tf="log1p", idf="none")),
            ("sum tf/len", TFIDF(tf="length", idf="none")),
            ("sum log tf/len", TFIDF(tf="log1p-length", idf="none")),
            ("sum idf", "idf_sum"),
            ("sum log idf", "log_idf_sum"),
            ("sum log N/cf", "inverse_cf_sum"),
            ("sum log tf/len idf", ScaledLog(scale="idf")),
            ("sum tf idf", TFIDF(tf="raw", idf="log")),
            ("sum log tf/len N/cf", ScaledLog(scale="cf")),
            ("BM25", LETOR_BM25),
            ("log BM25", LETOR_BM25),
            ("LMIR.DIR", LETOR_DIRICHLET),
            ("LMIR.JM", LETOR_JM),
            ("LMIR.ABS", LETOR_ABS),
        ]
        for k, (label, what) in enumerate(models):
            transform = "log" if label == "log BM25" else "none"
            features.append(_feature(what, name, f"{15 * i + k + 1} {label} {name}", transform))
    return features


def _feature(what: Any, field: str, title: str, transform: str = "none") -> Feature:
    """A model, a statistic of the query, or None: the length of the field."""
    if what is None:
        return LengthFeature(field=field, name=title, transform=transform)
    if isinstance(what, str):
        return QueryFeature(statistic=what, field=field, name=title, transform=transform)
    return ModelFeature(model=what, field=field, name=title, transform=transform)


def _families(fields: Sequence[str]) -> list[Feature]:
    """Numbers 1 to 40 of both web sets: eight families on five streams."""
    if len(fields) != 5:
        raise DataError(f"fields={fields!r}; name five: body, anchor, title, URL, and the whole document")
    families: list[tuple[str, Any]] = [
        ("sum tf", TFIDF(tf="raw", idf="none")),
        ("sum idf", "idf_sum"),
        ("sum tf idf", TFIDF(tf="raw", idf="log")),
        ("length", None),
        ("BM25", LETOR_BM25),
        ("LMIR.ABS", LETOR_ABS),
        ("LMIR.DIR", LETOR_DIRICHLET),
        ("LMIR.JM", LETOR_JM),
    ]
    features: list[Feature] = []
    for label, what in families:
        for name in fields:
            features.append(_feature(what, name, f"{len(features) + 1} {label} {name}"))
    return features


def gov2_features(
    fields: Sequence[str] = ("body", "anchor", "title", "url", "all"), *, url: str = "url"
) -> list[Feature]:
    """The 46 features of LETOR 4.0's Gov2 sets (MQ2007, MQ2008).

    1–40 are eight families (Σ tf, Σ idf, Σ tf·idf, length, BM25, LMIR.ABS, LMIR.DIR, LMIR.JM) on five streams;
    41 PageRank, 42 in-links, 43 out-links, 44 slashes in the URL, 45 length of the URL, 46 child pages.

    Parameters
    ----------
    fields
        Fields of the index that stand for body, anchor, title, URL and the whole document.
    url
        Stored field with the URLs.

    References
    ----------
    Qin, Liu, Xu, Li: LETOR: a benchmark collection for research on learning to rank for information retrieval.
    Information Retrieval 13, 2010.

    Examples
    --------
    >>> features = gov2_features()
    >>> len(features), features[20].title, features[40].kind
    (46, '21 BM25 body', 'document')
    """
    return [
        *_families(fields),
        LinkFeature(statistic="pagerank", name="41 PageRank"),
        LinkFeature(statistic="inlinks", name="42 in-links"),
        LinkFeature(statistic="outlinks", name="43 out-links"),
        UrlFeature(statistic="depth", url=url, name="44 slashes in URL"),
        UrlFeature(statistic="length", url=url, name="45 length of URL"),
        UrlFeature(statistic="children", url=url, name="46 child pages"),
    ]


def gov_features(
    fields: Sequence[str] = ("body", "anchor", "title", "url", "all"),
    *,
    url: str = "url",
    extracted_title: str = "extracted_title",
    topics: Any = None,
) -> list[Feature]:
    """The 64 features of LETOR 3.0's Gov sets (topic distillation, homepage and named page finding).

    1–40 as in `gov2_features`; 41–48 propagation along the site map and hyperlinks, of terms and of scores; 49–55 HITS,
    PageRank, HostRank and their topical forms; 56–60 counts of links, URL, children; 61–64 BM25 and language models on
    a title that was extracted from the body.

    Parameters
    ----------
    fields
        Fields of the index that stand for body, anchor, title, URL and the whole document.
    url
        Stored field with the URLs.
    extracted_title
        Field with titles extracted from the body; name the title's field if there is none.
    topics
        Topics of the documents, for 53–55: see `TopicalFeature`.

    References
    ----------
    Qin, Liu, Xu, Li: LETOR: a benchmark collection for research on learning to rank for information retrieval.
    Information Retrieval 13, 2010.

    Examples
    --------
    >>> features = gov_features()
    >>> len(features), features[50].title
    (64, '51 PageRank')
    """
    whole = fields[-1]
    schemes = (("in", "weighted in-link"), ("out", "weighted out-link"), ("uniform-out", "uniform out-link"))

    def propagated(number: int, label: str, along: str, terms: bool) -> Feature:
        model = Propagated(model=LETOR_BM25, along=along, terms=terms, steps=1, url=url)
        return ModelFeature(model=model, field=whole, name=f"{number} {label}")

    extracted = [LETOR_BM25, LETOR_ABS, LETOR_DIRICHLET, LETOR_JM]
    return [
        *_families(fields),
        propagated(41, "sitemap term propagation", "site", True),
        propagated(42, "sitemap score propagation", "site", False),
        *(propagated(43 + i, f"score propagation, {name}", along, False) for i, (along, name) in enumerate(schemes)),
        *(propagated(46 + i, f"feature propagation, {name}", along, True) for i, (along, name) in enumerate(schemes)),
        LinkFeature(statistic="authority", name="49 HITS authority"),
        LinkFeature(statistic="hub", name="50 HITS hub"),
        LinkFeature(statistic="pagerank", name="51 PageRank"),
        LinkFeature(statistic="hostrank", url=url, name="52 HostRank"),
        TopicalFeature(statistic="pagerank", topics=topics, name="53 topical PageRank"),
        TopicalFeature(statistic="authority", topics=topics, name="54 topical HITS authority"),
        TopicalFeature(statistic="hub", topics=topics, name="55 topical HITS hub"),
        LinkFeature(statistic="inlinks", name="56 in-links"),
        LinkFeature(statistic="outlinks", name="57 out-links"),
        UrlFeature(statistic="depth", url=url, name="58 slashes in URL"),
        UrlFeature(statistic="length", url=url, name="59 length of URL"),
        UrlFeature(statistic="children", url=url, name="60 child pages"),
        *(
            ModelFeature(model=model, field=extracted_title, name=f"{61 + i} {model.name} extracted title")
            for i, model in enumerate(extracted)
        ),
    ]
