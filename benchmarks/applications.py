"""The recipes on texts, on real data: definitions, summaries, community answers, why-questions, experts.

    python benchmarks/applications.py DATA [--only NAME]

DATA has the folders ``wikispeedia-light``, ``wikiqa`` and ``stackexchange-small``. Each recipe takes about a minute.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

import numpy as np

import plackett as pk
from plackett.applications import Application, CandidateLists
from plackett.text import Analyzer

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples" / "recipes"))
from answers import read_answers
from community import CommunityFeatures, graded_by_votes, read_posts
from definitions import DefinitionFeatures
from experts import ExpertModel, SupportedCandidates
from language import sentences, words
from summaries import SentenceFeatures
from terms import TermStatistics
from why import WhyFeatures

SITES = ("ai-2016-12", "quantumcomputing-2018-09", "bicycles.meta-2023-08")


def linear() -> pk.GradientRanker:
    return pk.GradientRanker(loss="QuerySoftmax", model=pk.Linear(alpha=1e-2))


def definitions(data: Path) -> None:
    """Titles of an encyclopaedia, sentences of all articles that have them; the article's own first one is right."""
    rng = np.random.default_rng(0)
    own_first: dict[str, int] = {}
    texts: list[str] = []
    with (data / "wikispeedia-light" / "articles.jsonl").open(encoding="utf-8") as file:
        for article in map(json.loads, file):
            title = re.sub(r"\s*\(.*\)", "", unquote(article["id"]).replace("_", " "))
            for text in sentences(article["text"]):
                if title not in own_first and f" {title.lower()} " in f" {' '.join(words(text)).lower()} ":
                    if "Related subjects" in text or "Schools Wikipedia" in text:
                        continue
                    own_first[title] = len(texts)
                texts.append(text)
    with_word: dict[str, list[int]] = {}
    plain = [" " + " ".join(words(text)).lower() + " " for text in texts]
    for i, text in enumerate(plain):
        for word in set(text.split()):
            with_word.setdefault(word, []).append(i)
    entries = []
    for title in rng.permutation(sorted(own_first)).tolist():
        tokens = words(title.lower())
        rare = min((with_word.get(word, []) for word in tokens), key=len)
        others = [i for i in rare if i != own_first[title] and f" {' '.join(tokens)} " in plain[i]]
        if len(others) >= 5:
            chosen = rng.permutation([own_first[title], *rng.permutation(others)[:29].tolist()]).tolist()
            entries.append((title, [texts[i] for i in chosen], [i == own_first[title] for i in chosen]))
        if len(entries) == 600:
            break
    lists = CandidateLists.of(entries)
    application = Application(
        features=DefinitionFeatures(), ranker=pk.RankSVM(), baselines=("bm25", "at start"), measures=("AP", "P@1")
    )
    print(f"definitions: {len(lists)} terms, {len(lists.items)} sentences, five folds")
    print(application.cross_validate(lists))


def summaries(data: Path) -> None:
    """Sentences of an article for a question; R-precision."""
    train, test = (read_answers(data / "wikiqa" / f"WikiQA-{name}.txt").filtered() for name in ("train", "test"))
    for name, ranker in {"linear, listwise": linear(), "trees, pointwise": pk.MART(random_state=0)}.items():
        application = Application(
            features=SentenceFeatures(),
            ranker=ranker,
            baselines=("query terms", "similarity"),
            measures=("RPrec", "AP"),
        )
        print(f"summaries, {name}")
        print(application.fit(train).compare(test))


def community(data: Path) -> None:
    """Answers of three sites, graded by votes, five folds of questions."""
    for site in SITES:
        lists = graded_by_votes(read_posts(data / "stackexchange-small" / site / "Posts.xml"))
        for ranker in (pk.LambdaMART(random_state=0, n_jobs=1), pk.ListNet()):
            application = Application(
                features=CommunityFeatures(),
                ranker=ranker,
                baselines=("bm25: words", "new words"),
                measures=("nDCG@10", "P@1", "RR"),
            )
            print(f"community answers, {site}, {ranker}: {len(lists)} questions, {len(lists.items)} answers")
            print(application.cross_validate(lists))


def why(data: Path) -> None:
    """Why-questions of all sites and the passages of all their answers."""
    lists = []
    for site in SITES:
        posts = read_posts(data / "stackexchange-small" / site / "Posts.xml")
        asked = [post for post in posts if post.parent is None and re.match(r"(?i)why\b", post.title)]
        answers: dict[int, list[str]] = {}
        for post in posts:
            if post.parent is not None and post.score > 0:
                answers.setdefault(post.parent, []).append(post.text)
        terms = TermStatistics().fit(Analyzer().tokens(text) for own in answers.values() for text in own)
        pool = [(parent, text) for parent, own in answers.items() for text in own]
        tokens = [Analyzer().tokens(text) for _, text in pool]
        for post in asked:
            query = Analyzer().tokens(post.title)
            score = np.array([terms.bm25(query, text) for text in tokens])
            first = np.argsort(-score, kind="stable")[:50]
            lists.append((post.title, [pool[i][1] for i in first], [pool[i][0] == post.id for i in first]))
    judged = CandidateLists.of(lists).filtered()
    print(f"why: {len(lists)} questions, {len(judged)} with an answer among the first 50 of BM25")
    for name, ranker in {
        "linear, listwise": linear(),
        "linear, pointwise": pk.LogisticRegression(),
        "linear, pairwise": pk.RankSVM(),
    }.items():
        application = Application(
            features=WhyFeatures(), ranker=ranker, baselines=("tf-idf",), measures=("RR", "Success@10")
        )
        print(name)
        print(application.cross_validate(judged))


def experts(data: Path) -> None:
    """Who will answer a question? Trained on questions of the past, tested on later ones."""
    analyzer = Analyzer()
    for site in SITES:
        posts = sorted(read_posts(data / "stackexchange-small" / site / "Posts.xml"), key=lambda post: post.date)
        titles = {post.id: analyzer.tokens(f"{post.title} {post.text}") for post in posts if post.parent is None}
        tags = {post.id: set(post.tags) for post in posts if post.parent is None}
        answered = [post for post in posts if post.parent in titles and post.author is not None]
        asked = [post for post in posts if post.parent is None]
        cuts = [asked[int(share * len(asked))].date for share in (0.4, 0.7)]
        parts = []
        for begin, end in ((cuts[0], cuts[1]), (cuts[1], "~")):
            parts.append(pairs(asked, answered, titles, tags, begin, end))
        train, test = parts
        print(f"experts, {site}: {len(np.unique(test[0].qid))} questions, {len(test[0])} candidates to test")
        scores = {"answers so far": test[1], "BM25 of answers": test[2]}
        for form in ("arithmetic", "geometric"):
            scores[form] = ExpertModel(form).fit(train[0]).predict(test[0])
        print(pk.compare(test[0].dataset(), scores, ["RR", "nDCG@5"], baseline="geometric"))


def pairs(asked, answered, titles, tags, begin, end):
    """Candidates are the fifty most active authors before the period; their documents are what they answered before."""
    before = [post for post in answered if post.date < begin]
    candidates = [author for author, _ in Counter(post.author for post in before).most_common(50)]
    own = {author: [post for post in before if post.author == author][-50:] for author in candidates}
    terms = TermStatistics().fit(titles[post.parent] for post in before)
    relevance, association, sizes, qid, labels, activity, similarity = [], [], [], [], [], [], []
    for question in asked:
        if not begin <= question.date < end:
            continue
        experts = {post.author for post in answered if post.parent == question.id}
        if experts.isdisjoint(candidates):
            continue
        for author in candidates:
            scores = []
            for post in own[author]:
                scores.append(terms.bm25(titles[question.id], titles[post.parent]))
                shared = len(tags[question.id] & tags[post.parent])
                relevance.append([np.log1p(scores[-1]), shared])
                association.append([np.log1p(max(post.score, 0)), np.log(len(own[author]))])
            sizes.append(len(own[author]))
            qid.append(question.id)
            labels.append(author in experts)
            activity.append(len(own[author]))
            similarity.append(sum(scores))
    found = SupportedCandidates(
        relevance=np.array(relevance),
        association=np.array(association),
        offsets=np.concatenate([[0], np.cumsum(sizes)]),
        qid=np.array(qid),
        labels=np.array(labels),
    )
    return found, np.array(activity), np.array(similarity)


RECIPES = {f.__name__: f for f in (definitions, summaries, community, why, experts)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", choices=RECIPES)
    arguments = parser.parse_args()
    for name, recipe in RECIPES.items():
        if arguments.only in (None, name):
            recipe(arguments.data)


if __name__ == "__main__":
    main()
