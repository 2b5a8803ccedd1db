"""What a URL says about its page: host, depth, length, type."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote

import numpy as np

from plackett._base.errors import DataError

__all__ = ["url_depth", "url_length", "url_type"]

#: Types of URLs, from the home page of a site to a file deep inside it.
URL_TYPES = ("root", "subroot", "path", "file")

_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_QUERY = re.compile(r"^[^#]*\?[^#]")
INDEX_PAGE = re.compile(r"(?:^|/)(?:index|default|home|welcome)\.[a-z0-9]+$", re.IGNORECASE)


def host(url: str) -> str:
    """Host of a URL in lower case, without user name and port.

    >>> host("https://user@www.Example.org:80/a/b.html")
    'www.example.org'
    """
    rest = _SCHEME.sub("", url.strip()).removeprefix("//")
    name = re.split(r"[/?#]", rest, maxsplit=1)[0].rpartition("@")[2]
    return re.sub(r":\d*$", "", name).lower()


def path_of(url: str) -> str:
    """Path of a URL below its host, without query and fragment, percent codes resolved, beginning with ``/``.

    >>> path_of("http://example.org/a%20b/c.html?x=1#y")
    '/a b/c.html'
    """
    rest = _SCHEME.sub("", url.strip()).removeprefix("//")
    bare = re.split(r"[?#]", rest, maxsplit=1)[0]
    return "/" + unquote(bare.partition("/")[2])


def url_depth(urls: Iterable[str]) -> np.ndarray:
    """Number of slashes in each URL, without those of the scheme and one at the end.

    >>> url_depth(["http://a.org", "http://a.org/", "a.org/x/y.html"]).tolist()
    [0, 0, 2]
    """
    return np.array([_SCHEME.sub("", url.strip()).rstrip("/").count("/") for url in _texts(urls)], np.int64)


def url_length(urls: Iterable[str]) -> np.ndarray:
    """Number of characters of each URL, without the scheme.

    >>> url_length(["http://a.org/", "a.org/x"]).tolist()
    [6, 7]
    """
    return np.array([len(_SCHEME.sub("", url.strip())) for url in _texts(urls)], np.int64)


def url_type(urls: Iterable[str]) -> list[str]:
    """Type of each URL: ``root`` (a host), ``subroot`` (one directory), ``path`` (a directory deeper down), ``file``.

    An index file counts as its directory, and a page with a query (``?id=7``) as a file. Roots are likely homepages.

    >>> url_type(["http://a.org/index.html", "http://a.org/b/", "a.org/b/c/", "a.org/b/c.html"])
    ['root', 'subroot', 'path', 'file']

    References
    ----------
    Kraaij, Westerveld, Hiemstra: The importance of prior probabilities for entry page search. SIGIR 2002.
    """
    return [_type(url) for url in _texts(urls)]


def _texts(urls: Iterable[str]) -> list[str]:
    if isinstance(urls, (str, bytes)) or not isinstance(urls, Iterable):
        raise DataError(f"urls={urls!r:.80}; pass a list of URLs")
    texts = list(urls)
    for i, url in enumerate(texts):
        if not isinstance(url, str):
            raise DataError(f"urls[{i}] is {url!r:.80}, not a text; every entry is a URL")
    return texts


def _type(url: str) -> str:
    path = INDEX_PAGE.sub("/", path_of(url))
    if _QUERY.search(url) or not path.endswith("/"):
        return "file"
    levels = path.strip("/").count("/") + 1 if path.strip("/") else 0
    return URL_TYPES[min(levels, 2)]
