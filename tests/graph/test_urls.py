from __future__ import annotations

import numpy as np
import pytest

from plackett import DataError
from plackett.graph import SiteMap, url_depth, url_length, url_type
from plackett.graph.urls import host, path_of


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://www.sigir.org", "root"),
        ("http://www.sigir.org/", "root"),
        ("http://www.sigir.org/index.html", "root"),
        ("http://www.sigir.org/sigirlist/", "subroot"),
        ("http://www.sigir.org/sigirlist/index.htm", "subroot"),
        ("http://www.sigir.org/sigirlist/issues/", "path"),
        ("http://www.sigir.org/resources.html", "file"),
        ("www.sigir.org/a/b/c.html?x=/", "file"),
        ("http://example.org", "root"),
        ("example.org/", "root"),
        ("https://example.org/index.php", "root"),
        ("http://example.org/shop/", "subroot"),
        ("http://example.org/shop/default.asp", "subroot"),
        ("http://example.org/a/b/c/", "path"),
        ("http://example.org/a", "file"),
        ("http://example.org/?q=1", "file"),
        ("http://example.org/?#top", "root"),
        ("http://example.org/#a?b", "root"),
    ],
)
def test_types(url, kind):
    assert url_type([url]) == [kind]


@pytest.mark.parametrize("describe", [url_type, url_depth, url_length])
def test_one_url_is_not_a_list(describe):
    for urls in ("http://example.org", b"http://example.org", None):
        with pytest.raises(DataError, match="pass a list"):
            describe(urls)
    with pytest.raises(DataError, match=r"urls\[1\] is None, not a text"):
        describe(["http://example.org", None])


def test_depth_and_length():
    urls = ["http://a.org", "https://a.org/b/", "a.org/b/c.html"]
    assert url_depth(urls).tolist() == [0, 1, 2]
    assert url_length(urls).tolist() == [5, 8, 14]


def test_parts():
    assert host("HTTP://Me:pw@A.org:8080/x") == "a.org"
    assert host("//a.org/x") == "a.org"
    assert path_of("http://a.org?x") == "/"


def test_site_map():
    urls = [
        "http://a.org/index.html",
        "http://a.org/b/",
        "http://a.org/b/c.html",
        "http://b.org/x.html",
        "http://a.org",
    ]
    site = SiteMap.from_urls(urls)
    assert site.parent.tolist() == [-1, 0, 1, -1, 0]
    assert site.n_children.tolist() == [2, 1, 0, 0, 0]
    np.testing.assert_allclose(site.mean_of_children(np.array([1.0, 2.0, 4.0, 8.0, 16.0])), [9.0, 4.0, 0.0, 0.0, 0.0])
    with pytest.raises(DataError, match="circle"):
        SiteMap([1, 2, 0])
    with pytest.raises(DataError, match="-1"):
        SiteMap([5])
