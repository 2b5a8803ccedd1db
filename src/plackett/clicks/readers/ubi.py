"""OpenSearch's User Behavior Insights."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from plackett.clicks.log import ClickLog
from plackett.clicks.readers.events import EventForm, EventLog

__all__ = ["read_ubi"]

#: Weights of what shops log beyond clicks.
ACTIONS = {"add_to_cart": 1.0, "purchase": 5.0}


def read_ubi(
    path: str | os.PathLike[str],
    queries: str | os.PathLike[str] | None = None,
    *,
    application: str | None = None,
    actions: Mapping[str, float] | None = None,
    first_rank: int | str | None = None,
    key: bytes | str | None = None,
) -> ClickLog:
    """Read OpenSearch's User Behavior Insights: events of the index ``ubi_events``, queries of ``ubi_queries``.

    A page is a ``query_id``. Its query is ``user_query`` of the query's row or, where that row is missing, of the
    event. Applications number ranks from 0 or from 1: read one at a time.

    Parameters
    ----------
    path
        Events, one JSON object per line, or both indices in one file.
    queries
        File of ``ubi_queries``, if it is another one.
    application
        Which application to read; a file with several needs it.
    actions
        Weights of other events; by default 1 for ``add_to_cart`` and 5 for ``purchase``.
    """
    return EventLog(path, _form(application, actions), first_rank, key, queries).whole()


def iter_ubi(
    path: str | os.PathLike[str],
    n_rows: int,
    queries: str | os.PathLike[str] | None = None,
    *,
    application: str | None = None,
    actions: Mapping[str, float] | None = None,
    first_rank: int | str | None = None,
    key: bytes | str | None = None,
) -> Iterator[ClickLog]:
    """Read User Behavior Insights in parts of about ``n_rows`` events; see `read_ubi`."""
    yield from EventLog(path, _form(application, actions), first_rank, key, queries).parts(n_rows)


def _form(application: str | None, actions: Mapping[str, float] | None) -> EventForm:
    return EventForm(
        page=("query_id",),
        query="user_query",
        document="event_attributes.object.object_id",
        rank="event_attributes.position.ordinal",
        action="action_name",
        actions=ACTIONS if actions is None else actions,
        time="timestamp",
        user="client_id",
        where={} if application is None else {"application": application},
        source="application",
        lists_queries=True,
    )
