"""What learning to rank is used for: the frame of an application, recommendation, advertising, pages of several blocks.

>>> from plackett.applications import Ratings
>>> Ratings.from_arrays(["ann", "ann", "bob"], ["tea", "rye", "tea"], [5, 2, 4])
Ratings(3 ratings, 2 users, 2 items)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plackett._names.lazy import open_package

if TYPE_CHECKING:
    from plackett.applications.ads import Ad as Ad
    from plackett.applications.application import RankedItem as RankedItem
    from plackett.applications.auction import Auction as Auction
    from plackett.applications.features import Features as Features
    from plackett.applications.lists import CandidateLists as CandidateLists
    from plackett.applications.pages import Block as Block
    from plackett.applications.pages import IntentUsers as IntentUsers
    from plackett.applications.ratings import Ratings as Ratings
    from plackett.applications.ratings import candidates as candidates
    from plackett.applications.ratings import popularity as popularity
    from plackett.applications.ratings import read_ratings as read_ratings

open_package(
    __name__,
    named={
        "Ad": "ads",
        "Auction": "auction",
        "Block": "pages",
        "CandidateLists": "lists",
        "Features": "features",
        "IntentUsers": "pages",
        "RankedItem": "application",
        "Ratings": "ratings",
        "candidates": "ratings",
        "popularity": "ratings",
        "read_ratings": "ratings",
    },
)
