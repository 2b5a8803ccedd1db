"""Output where standard output cannot encode every character: Windows' code pages, latin-1, ASCII."""

from __future__ import annotations

import codecs
import sys
import unicodedata

#: ASCII forms of characters in our output; others lose their accents and superscripts or become a question mark.
_PLAIN = {
    "≤": "<=",
    "≥": ">=",
    "−": "-",
    "–": "-",
    "—": "-",
    "…": "...",
    "×": "x",
    "±": "+-",
    "·": "*",
    "→": "->",
    "√": "sqrt",
    "∞": "inf",
    "α": "alpha",
    "β": "beta",
    "Δ": "delta",
    "µ": "mu",
    "“": '"',
    "”": '"',
    "‘": "'",
    "’": "'",
    "•": "*",
}


def replace_unencodable() -> None:
    """Make standard output and error replace characters that they cannot encode with similar ones.

    A command must not fail with a traceback after all its work only because a terminal has no superscript letters.
    """
    codecs.register_error("plackett", _similar)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure") and getattr(stream, "errors", None) == "strict":
            stream.reconfigure(errors="plackett")


def _similar(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_plain, error.object[error.start : error.end])), error.end


def _plain(character: str) -> str:
    if character in _PLAIN:
        return _PLAIN[character]
    if "\u2500" <= character <= "\u257f":  # lines of tables
        return "|" if character in "│┃║╎╏┆┇┊┋" else "-"
    return unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode() or "?"
