"""Bytes to text, whatever the encoding."""

from __future__ import annotations

import codecs

#: Bytes at the very beginning that name an encoding. As in browsers, they count for more than what a page says.
_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
#: Text that calls itself Latin-1 or ASCII is in Windows' superset of it, as the HTML standard says.
_LATIN = ("iso8859-1", "ascii")
#: Encodings that are not for text, and those in which a declaration cannot be read byte by byte (UTF-16, UTF-32).
_NEVER = ("utf-16", "utf-32", "utf-7", "idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined")


def decoded(content: bytes, declared: str = "") -> str:
    """Text of these bytes: by a byte order mark, the declared encoding, UTF-8, or else Windows-1252.

    >>> decoded("straße".encode()), decoded("straße".encode("latin-1")), decoded("łódź".encode("latin2"), "iso-8859-2")
    ('straße', 'straße', 'łódź')
    """
    for mark, encoding in _MARKS.items():
        if content.startswith(mark):
            return content[len(mark) :].decode(encoding, "replace")
    try:
        return content.decode("utf-8") if not declared else content.decode(_known(declared), "replace")
    except (LookupError, ValueError):
        pass
    text = content.decode("utf-8", "replace")
    beyond = sum(letter > "\x7f" for letter in text)
    return text if 2 * text.count("\ufffd") < beyond else content.decode("cp1252", "replace")


def _known(name: str) -> str:
    encoding = codecs.lookup(name).name
    if encoding.startswith(_NEVER):
        raise LookupError(name)
    return "cp1252" if encoding in _LATIN else encoding
