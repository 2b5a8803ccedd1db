"""Community answers: posts ranked by how well they answer, with the votes of readers as grades.

    python examples/recipes/community.py [POSTS]

compares a ranker on these features with the number of new words, by cross-validation on the ``Posts.xml`` of a Stack
Exchange dump; without a file, on a few questions.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self
from xml.etree import ElementTree

import numpy as np

from answers import same_order
from language import kinds
from plackett import DataError, ListNet, RankingDataset
from plackett.applications import Application, CandidateLists, Features
from plackett.text import Analyzer
from terms import TermStatistics
from translation import TranslationModel

#: Representations of a text.
_REPRESENTATIONS = ("words", "bigrams", "generalised bigrams", "dependencies", "generalised dependencies")


class Post(NamedTuple):
    """A question or an answer of a community site."""

    id: int
    #: The question that a post answers; None for a question.
    parent: int | None
    author: int | None
    #: Date and time as written, which sort as text.
    date: str
    score: int
    title: str
    text: str
    tags: tuple[str, ...]
    accepted: int | None


def read_posts(path: str | os.PathLike[str]) -> list[Post]:
    """Questions and answers of a Stack Exchange dump (``Posts.xml``), with their HTML turned into text.

    Other kinds of posts, such as the texts of tags, are left out. Needs the extra ``text``.
    """
    from plackett.text import read_page

    file = Path(path)
    posts = []
    try:
        for _, row in ElementTree.iterparse(file, events=("end",)):  # reads no other file, and expat limits entities
            if row.tag == "row" and row.get("PostTypeId") in ("1", "2"):
                body = read_page(row.get("Body", "").encode(), "").fields.get("text", "")
                posts.append(
                    Post(
                        id=int(row.attrib["Id"]),
                        parent=_number(row.get("ParentId")),
                        author=_number(row.get("OwnerUserId")),
                        date=row.get("CreationDate", ""),
                        score=int(row.get("Score", "0")),
                        title=row.get("Title", ""),
                        text=str(body),
                        tags=tuple(re.findall(r"[^<>|]+", row.get("Tags", ""))),  # <a><b>, and |a|b| since 2024
                        accepted=_number(row.get("AcceptedAnswerId")),
                    )
                )
            row.clear()
    except (ElementTree.ParseError, KeyError, ValueError) as error:
        raise DataError(f"{file}: not a Posts.xml of Stack Exchange ({error})") from None
    return posts


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)


def graded_by_votes(
    posts: Iterable[Post], *, n_grades: int = 4, least_answers: int = 2, with_text: bool = False
) -> CandidateLists:
    """Questions with their answers, graded by votes.

    The score of an answer depends on how many people read its question, so scores are compared within a question only.
    An answer with a score of 0 or less has grade 0. The others are graded by their share of the best score among the
    answers: grade g if it is more than (g − 1) / (``n_grades`` − 1).

    Parameters
    ----------
    posts
        From `read_posts`.
    n_grades
        Number of grades.
    least_answers
        Questions with fewer answers are left out.
    with_text
        Whether a question is its title and its text, or its title alone. Long questions make translation slow.
    """
    if n_grades < 2:
        raise DataError(f"n_grades={n_grades}; give at least 2")
    posts = list(posts)
    answers: dict[int, list[Post]] = {}
    for post in posts:
        if post.parent is not None:
            answers.setdefault(post.parent, []).append(post)
    lists, ids = [], []
    for post in posts:
        own = sorted(answers.get(post.id, ()), key=lambda answer: answer.id)
        if post.parent is not None or len(own) < least_answers:
            continue
        best = max([1, *(answer.score for answer in own)])
        grades = [int(np.ceil((n_grades - 1) * max(answer.score, 0) / best)) for answer in own]
        lists.append(
            (f"{post.title}\n{post.text}" if with_text else post.title, [answer.text for answer in own], grades)
        )
        ids.append(post.id)
    if not lists:
        raise DataError(f"no question has {least_answers} answers")
    return CandidateLists.of(lists, qids=ids)


@dataclass(kw_only=True, eq=False)
class CommunityFeatures(Features):
    """Features of a question and a long answer, on five representations of both.

    For each of words, bigrams, generalised bigrams, dependencies and generalised dependencies: ``bm25``, ``tf-idf`` and
    ``translation`` (IBM model 1). Then

    ====================  ============================================================================================
    ``same order``        words of the question that occur in the answer in the same order
    ``span``              terms of the answer from the first to the last word of the question
    ``matches``           terms of the answer that are words of the question
    ``new words``         distinct terms of the answer that are not in the question
    ``correlation``       mean over pairs of words of hits(q, a) / hits(a)^(2/3), hits counted in training texts
    ``mutual information`` mean over pairs of words of log(N hits(q, a) / (hits(q) hits(a))), 0 for pairs without hits
    ====================  ============================================================================================

    A dependency is a pair of a word and the word it depends on. The default takes neighbouring content words, which
    needs no parser; to use a parser, give a function from terms to pairs. Generalised means that nouns and numbers are
    replaced by their class, by a function from a term to its class.

    Parameters
    ----------
    dependencies
        From the terms of a text to terms that stand for pairs. Not saved; neither is ``generalise``.
    generalise
        From a term to its class.
    groups
        Groups of features that are used, for ablation: any of ``"similarity"``, ``"translation"``, ``"density"`` and
        ``"correlation"``. The columns of others are 0.
    analyzer
        How texts become terms.

    Examples
    --------
    >>> asked = CandidateLists.of([("why fly", ["Birds fly to find food.", "No."], [1, 0])])
    >>> data = CommunityFeatures().fit(asked).transform(asked)
    >>> data.n_features, data.X[:2, data.feature_names.index("matches")].tolist()
    (21, [1.0, 0.0])

    References
    ----------
    Surdeanu, Ciaramita, Zaragoza: Learning to rank answers on large online QA collections. ACL 2008.
    """

    names: ClassVar[tuple[str, ...]] = (
        *(f"{what}: {form}" for what in ("bm25", "tf-idf", "translation") for form in _REPRESENTATIONS),
        "same order",
        "span",
        "matches",
        "new words",
        "correlation",
        "mutual information",
    )

    dependencies: Callable[[Sequence[str]], list[str]] | None = field(default=None, repr=False)
    generalise: Callable[[str], str] | None = field(default=None, repr=False)
    groups: Sequence[str] = ("similarity", "translation", "density", "correlation")
    analyzer: Analyzer = field(default_factory=Analyzer)

    def fit(self, lists: CandidateLists) -> Self:
        """Count terms, and train a translation model for each representation on the answers with the best label."""
        unknown = set(self.groups) - {"similarity", "translation", "density", "correlation"}
        if unknown:
            raise DataError(f"groups: {min(unknown)!r} is not one of similarity, translation, density, correlation")
        lists.check_texts()
        questions, answers = self._read(lists.row_queries), self._read(lists.items)
        self._terms = [TermStatistics().fit(form) for form in answers]
        self._translation = self._translated(questions, answers, _best(lists))
        self._background = _Background().fit(q + a for q, a in zip(questions[0], answers[0], strict=True))
        return self

    def fit_transform(self, lists: CandidateLists, *, n_folds: int = 5) -> RankingDataset:
        """`fit`, and the features of the training lists, with translations learned from other folds of lists."""
        if "translation" not in self.groups:
            return self.fit(lists).transform(lists)
        fold = np.repeat(lists.folds(n_folds), np.diff(lists.offsets))
        data = self.fit(lists).transform(lists)
        questions, answers, best = self._read(lists.row_queries), self._read(lists.items), _best(lists)
        X = np.array(data.X)
        for held in np.unique(fold):
            rows = np.flatnonzero(fold == held)
            if not (best & (fold != held)).any():
                raise DataError("all answers with a label above 0 are in one fold of the questions; there are too few")
            for number, model in enumerate(self._translated(questions, answers, best & (fold != held))):
                own = [[form[number][i] for i in rows] for form in (questions, answers)]
                X[rows, 2 * len(_REPRESENTATIONS) + number] = model.log_probability(*own) if model else 0.0
        return data.replace(X=X)

    def _translated(self, questions: Any, answers: Any, rows: np.ndarray) -> list[TranslationModel | None]:
        """A model for each representation; None where texts are too short to have a term, or where it is not used."""
        if "translation" not in self.groups:
            return [None for _ in _REPRESENTATIONS]
        chosen = np.flatnonzero(rows)
        if not chosen.size:
            raise DataError("no answer has a label above 0: there is nothing to learn from")
        pairs = [([q[i] for i in chosen], [a[i] for i in chosen]) for q, a in zip(questions, answers, strict=True)]
        return [TranslationModel().fit(*own) if any(map(any, own)) else None for own in pairs]

    def matrix(self, lists: CandidateLists) -> np.ndarray:
        """A row for each answer."""
        if not hasattr(self, "_terms"):
            raise DataError("the features are not trained; call fit first")
        lists.check_texts()
        questions, answers = self._read(lists.row_queries), self._read(lists.items)
        X = np.zeros((len(lists.items), len(self.names)))
        n = len(_REPRESENTATIONS)
        for number, (asked, given) in enumerate(zip(questions, answers, strict=True)):
            if "similarity" in self.groups:
                terms = self._terms[number]
                X[:, number] = [terms.bm25(q, a) for q, a in zip(asked, given, strict=True)]
                X[:, n + number] = [terms.tfidf(q, a) for q, a in zip(asked, given, strict=True)]
            if model := self._translation[number]:
                X[:, 2 * n + number] = model.log_probability(asked, given)
        for i, (q, a) in enumerate(zip(questions[0], answers[0], strict=True)):
            if "density" in self.groups:
                X[i, 3 * n : 3 * n + 4] = _density(q, a)
            if "correlation" in self.groups:
                X[i, 3 * n + 4 :] = self._background.correlation(q, a)
        return X

    def _read(self, texts: Iterable[str]) -> list[list[list[str]]]:
        """The texts in each of the representations."""
        depend, general = self.dependencies or _neighbours, self.generalise or _class
        known: dict[str, tuple[list[str], ...]] = {}
        rows = []
        for text in texts:
            if text not in known:
                tokens = self.analyzer.tokens(text)
                pairs, wide = depend(tokens), [general(word) for word in tokens]
                known[text] = tokens, _bigrams(tokens), _bigrams(wide), pairs, depend(wide)
            rows.append(known[text])
        return [list(form) for form in zip(*rows, strict=True)] or [[] for _ in _REPRESENTATIONS]

    def state(self) -> dict[str, Any]:
        """Settings, counts and translation tables."""
        if not hasattr(self, "_terms"):
            raise DataError("the features are not trained; call fit first")
        state: dict[str, Any] = {"analyzer": self.analyzer.to_json(), "groups": list(self.groups)}
        for number, (terms, model) in enumerate(zip(self._terms, self._translation, strict=True)):
            state |= {f"{number} {name}": value for name, value in terms.state().items()}
            state |= {f"{number} translation {name}": value for name, value in (model.state() if model else {}).items()}
        return state | {f"background {name}": value for name, value in self._background.state().items()}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Self:
        """Trained features from their state."""

        def under(prefix: str) -> dict[str, Any]:
            return {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}

        made = cls(analyzer=Analyzer.from_json(state["analyzer"]), groups=tuple(state["groups"]))
        numbers = range(len(_REPRESENTATIONS))
        made._terms = [TermStatistics.restore(under(f"{number} ")) for number in numbers]
        made._translation = [
            TranslationModel.restore(own) if (own := under(f"{number} translation ")) else None for number in numbers
        ]
        made._background = _Background.restore(under("background "))
        return made


class _Background:
    """Which texts each term occurs in, to count the texts that two terms share."""

    def fit(self, texts: Iterable[Sequence[str]]) -> Self:
        rows: list[int] = []
        columns: list[int] = []
        number: dict[str, int] = {}
        self.n_texts = 0
        for i, text in enumerate(texts):
            for term in dict.fromkeys(text):
                rows.append(number.setdefault(term, len(number)))
                columns.append(i)
            self.n_texts = i + 1
        self.terms = list(number)
        self._settle(np.array(rows, np.int32), np.array(columns, np.int32))
        return self

    def _settle(self, rows: np.ndarray, columns: np.ndarray) -> None:
        from scipy.sparse import csr_array

        shape = (max(len(self.terms), 1), max(self.n_texts, 1))
        self.number = {term: i for i, term in enumerate(self.terms)}
        self.occurs = csr_array((np.ones(rows.size, np.float32), (rows, columns)), shape=shape)
        self.hits = np.diff(self.occurs.indptr).astype(np.float64)

    def correlation(self, question: Sequence[str], answer: Sequence[str]) -> tuple[float, float]:
        """Means over pairs of hits(q, a) / hits(a)^(2/3), and of the pointwise mutual information."""
        q, a = ([self.number[t] for t in dict.fromkeys(terms) if t in self.number] for terms in (question, answer))
        if not q or not a:
            return 0.0, 0.0
        both = (self.occurs[q] @ self.occurs[a].T).toarray()
        own_q, own_a = self.hits[q], self.hits[a]
        with np.errstate(divide="ignore"):
            information = np.log(self.n_texts * both / np.outer(own_q, own_a))
        return float((both / own_a ** (2.0 / 3.0)).mean()), float(np.where(both > 0, information, 0.0).mean())

    def state(self) -> dict[str, Any]:
        entries = self.occurs.tocoo()
        return {"terms": self.terms, "n_texts": self.n_texts, "rows": entries.row, "columns": entries.col}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Self:
        made = cls()
        made.terms, made.n_texts = [str(term) for term in state["terms"]], int(state["n_texts"])
        rows, columns = np.asarray(state["rows"]), np.asarray(state["columns"])
        inside = rows.size == 0 or (
            rows.min() >= 0 and columns.min() >= 0 and rows.max() < len(made.terms) and columns.max() < made.n_texts
        )
        if rows.shape != columns.shape or not inside:
            raise DataError("the texts of the background are damaged")
        made._settle(rows, columns)
        return made


def _best(lists: CandidateLists) -> np.ndarray:
    """Answers with the best label of their question, if that is above 0."""
    if lists.labels is None:
        raise DataError("the lists have no labels; give judged ones")
    sizes = np.diff(lists.offsets)
    best = [lists.labels[a:b].max() if b > a else 0.0 for a, b in pairwise(lists.offsets.tolist())]
    return (lists.labels > 0) & (lists.labels == np.repeat(best, sizes))


def _density(question: Sequence[str], answer: Sequence[str]) -> tuple[float, float, float, float]:
    asked = dict.fromkeys(question)
    positions = [i for i, term in enumerate(answer) if term in asked]
    span = positions[-1] - positions[0] + 1 if positions else 0
    return same_order(list(asked), answer), span, len(positions), len(set(answer) - asked.keys())


def _bigrams(tokens: Sequence[str]) -> list[str]:
    return [f"{a} {b}" for a, b in pairwise(tokens)]


def _neighbours(tokens: Sequence[str]) -> list[str]:
    """Pairs of neighbouring content words, each in alphabetical order."""
    content = [word for word, kind in zip(tokens, kinds(tokens), strict=True) if kind != "other"]
    return [" ".join(sorted(pair)) for pair in pairwise(content)]


def _class(word: str) -> str:
    """A number, or the kind of a word for nouns; other words stay."""
    if any(c.isdigit() for c in word):
        return "<number>"
    return "<noun>" if kinds([word]) == ["noun"] else word


_SAMPLE = (
    ("how do I boil an egg", ["Put the egg into boiling water for six minutes.", "No idea."], [3, 0]),
    ("how do I fry an egg", ["Hm.", "Fry the egg in butter until the white is firm."], [0, 3]),
    ("how do I store bread", ["Keep bread in a linen bag.", "Why would you?", "Store it dry."], [3, 0, 1]),
    ("how do I sharpen a knife", ["With a stone: draw the knife along it.", "Buy one."], [2, 0]),
)


def main() -> None:
    """Compare a ranker on features of community answers with the number of new words."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("posts", nargs="?", type=Path, help="Posts.xml of a Stack Exchange dump")
    file = parser.parse_args().posts
    lists = graded_by_votes(read_posts(file)) if file else CandidateLists.of(_SAMPLE)
    answers = Application(features=CommunityFeatures(), ranker=ListNet(alpha=0.01), baselines=("new words",))
    print(answers.cross_validate(lists, n_folds=min(5, len(lists))))


if __name__ == "__main__":
    main()
