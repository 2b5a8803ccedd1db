"""What learning to rank is used for: recipes made of the public pieces. One recipe per file.

>>> from plackett.applications import Ratings
>>> Ratings.from_arrays(["ann", "ann", "bob"], ["tea", "rye", "tea"], [5, 2, 4])
Ratings(3 ratings, 2 users, 2 items)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plackett._names.lazy import open_package

if TYPE_CHECKING:
    from plackett.applications.ads import Ad as Ad
    from plackett.applications.answers import AnswerFeatures as AnswerFeatures
    from plackett.applications.answers import read_answers as read_answers
    from plackett.applications.application import RankedItem as RankedItem
    from plackett.applications.auction import Auction as Auction
    from plackett.applications.community import Post as Post
    from plackett.applications.definitions import Definition as Definition
    from plackett.applications.experts import SupportedCandidates as SupportedCandidates
    from plackett.applications.features import Features as Features
    from plackett.applications.lists import CandidateLists as CandidateLists
    from plackett.applications.pages import Block as Block
    from plackett.applications.pages import IntentUsers as IntentUsers
    from plackett.applications.quantities import Interval as Interval
    from plackett.applications.quantities import Quantity as Quantity
    from plackett.applications.ratings import Ratings as Ratings
    from plackett.applications.ratings import candidates as candidates
    from plackett.applications.ratings import popularity as popularity
    from plackett.applications.ratings import read_ratings as read_ratings
    from plackett.applications.subgroups import Subgroup as Subgroup
    from plackett.applications.terms import TermStatistics as TermStatistics
    from plackett.applications.why import Passage as Passage

open_package(
    __name__,
    named={
        "Ad": "ads",
        "AnswerFeatures": "answers",
        "Auction": "auction",
        "Block": "pages",
        "CandidateLists": "lists",
        "Definition": "definitions",
        "Features": "features",
        "IntentUsers": "pages",
        "Interval": "quantities",
        "Passage": "why",
        "Post": "community",
        "Quantity": "quantities",
        "RankedItem": "application",
        "Ratings": "ratings",
        "Subgroup": "subgroups",
        "SupportedCandidates": "experts",
        "TermStatistics": "terms",
        "candidates": "ratings",
        "popularity": "ratings",
        "read_answers": "answers",
        "read_ratings": "ratings",
    },
)
