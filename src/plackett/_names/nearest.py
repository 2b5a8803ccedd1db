"""Look up names that people type, ignoring case, hyphens and underscores, and suggest near misses."""

from __future__ import annotations

from collections.abc import Iterable

_FILLERS = str.maketrans("", "", "_- ")


def plain(name: str) -> str:
    """The name in lower case without ``_``, ``-`` and blanks.

    >>> plain("Comb_SUM") == plain("comb-sum") == plain("CombSum")
    True
    """
    return name.lower().translate(_FILLERS)


def printable(text: str) -> str:
    r"""The text with control characters, which may command a terminal, as escapes; lines and tabs stay.

    >>> printable("\x1b[31mred")
    '\\x1b[31mred'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


def nearest(name: str, known: Iterable[str], n: int = 3) -> list[str]:
    """The known names that look most like this one, the best first.

    >>> nearest("num_leafs", ["num_leaves", "n_estimators", "alpha"])
    ['num_leaves']
    """
    from difflib import get_close_matches  # only ever needed for an error message

    by_plain: dict[str, str] = {}
    for each in known:
        by_plain.setdefault(plain(each), each)
    return [by_plain[match] for match in get_close_matches(plain(name), by_plain, n, 0.55)]


def hint(name: str, known: Iterable[str], all_of_them: str = "there are") -> str:
    """What to say after "there is no such name": the nearest ones, or all of them after the given lead-in.

    >>> hint("listnt", ["ListNet", "RankNet"])
    'did you mean ListNet?'
    >>> hint("xyz", ["ListNet", "RankNet"])
    'there are ListNet, RankNet'
    """
    known = list(known)
    near = nearest(name, known)
    return question(near) if near else f"{all_of_them} {', '.join(known) or 'none'}"


def suggestion(name: str, known: Iterable[str]) -> str:
    """The end of an error about an attribute that does not exist: the nearest ones, if there are any.

    Tools ask modules for private names such as ``__wrapped__`` all the time: for these nothing is searched.

    >>> suggestion("lambdamart", ["LambdaMART", "nDCG"]), suggestion("xyz", ["nDCG"]), suggestion("__x__", ["x"])
    ('; did you mean LambdaMART?', '', '')
    """
    near = [] if name.startswith("_") else nearest(name, known)
    near = [each for each in near if plain(each) == plain(name)] or near
    return f"; {question(near)}" if near else ""


def question(near: list[str]) -> str:
    """Ask whether one of these was meant.

    >>> question(["a", "b", "c"])
    'did you mean a, b or c?'
    """
    return f"did you mean {' or '.join(filter(None, [', '.join(near[:-1]), near[-1]]))}?"


def plural(number: int, one: str, many: str | None = None, *, form: str = ",") -> str:
    """A number and its noun.

    >>> plural(1, "query", "queries"), plural(1200, "document"), plural(1200, "row", form="")
    ('1 query', '1,200 documents', '1200 rows')
    """
    return f"{number:{form}} {one if number == 1 else many or one + 's'}"
