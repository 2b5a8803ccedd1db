"""Pages of a folder of HTML files."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from plackett._base.errors import DataError
from plackett._files.checks import open_regular
from plackett._names.optional import optional
from plackett.text.document import Document, Link
from plackett.text.documents.encoding import decoded

__all__ = ["read_page"]

SUFFIXES = (".html", ".htm", ".xhtml")
#: Elements whose content nobody reads.
_UNSEEN = ["script", "style", "noscript", "template", "svg"]
#: A larger page is refused.
_LARGEST = 1 << 28
#: Declaration of the encoding at the beginning of a page.
_ENCODING = re.compile(rb"""<(?:meta\b[^>]*?\bcharset|\?xml\b[^>]*?\bencoding)\s*=\s*["']?\s*([\w:.+-]+)""", re.I)
_BEGINNING = 4096


def read_html(folder: Path) -> Iterator[Document]:
    """Read the pages of a folder and the folders in it: title, text, links with their anchor text.

    A page's id is its path inside the folder; links to pages of the folder become their ids, others stay addresses.
    """
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file())
    for path in paths:
        with open_regular(path) as file:
            content = file.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise DataError(f"{path}: a page of more than {_LARGEST} bytes, the most that is read")
        yield read_page(content, path.relative_to(folder).as_posix())


def read_page(content: bytes, address: str) -> Document:
    """Make a document of a page at an address, relative or absolute.

    The encoding is that of a byte order mark or of the page's own declaration, else UTF-8, else Windows-1252.

    >>> page = read_page(b"<title>Wings</title><p>Lift and <a href='drag.html#top'>drag</a>", "aero/wing.html")
    >>> page.fields, page.links
    ({'title': 'Wings', 'text': 'Lift and drag'}, (Link(target='aero/drag.html', anchor='drag'),))
    """
    declared = _ENCODING.search(content[:_BEGINNING])
    text = decoded(content, declared[1].decode("ascii", "replace") if declared else "")
    parser = optional("selectolax.lexbor", "reading HTML needs").LexborHTMLParser(text)
    title = parser.css_first("title")
    links = []
    for anchor in parser.css("a[href]"):
        target = _target(address, anchor.attributes.get("href") or "")
        if target:
            links.append(Link(target, _plain(anchor.text(separator=" "))))
    parser.strip_tags([*_UNSEEN, "title"])
    body = parser.body
    fields = {
        "title": _plain(title.text()) if title is not None else "",
        "text": _plain(body.text(separator=" ")) if body is not None else "",
    }
    return Document(address, {name: text for name, text in fields.items() if text}, tuple(links))


def _plain(text: str) -> str:
    return " ".join(text.split())


def _target(address: str, href: str) -> str:
    """Id or address that a link points to; empty for a link inside the page or to something that is not a page."""
    try:
        link = urldefrag(href.strip()).url
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            return link if parts.scheme in ("http", "https", "") else ""
        if urlsplit(address).scheme:
            return urljoin(address, link) if link else ""
    except ValueError:  # not an address at all, such as http://[
        return ""
    path = unquote(parts.path)
    if not path:
        return ""
    return posixpath.normpath(posixpath.join(posixpath.dirname(address), path)).lstrip("/")
