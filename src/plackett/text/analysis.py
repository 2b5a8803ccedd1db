"""From text to index terms."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache
from typing import Any, Literal

from plackett._base.arguments import choice, whole
from plackett._base.cached import cached_property
from plackett._base.errors import DataError
from plackett._names.nearest import nearest, question
from plackett._names.optional import optional

__all__ = ["Analyzer"]

#: Stop words by name. The English ones are the 33 that Lucene has used since its first release.
STOP_WORDS: dict[str, tuple[str, ...]] = {
    "english": (
        *("a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not"),
        *("of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was"),
        *("will", "with"),
    )
}

#: Scripts that are written without blanks between words: kana, Han and their extensions.
CJK = (
    (0x3040, 0x30FF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),
    (0x20000, 0x3FFFD),
)

#: Languages whose words contain combining marks, which Python's ``\w`` does not match.
_MARKED = frozenset({"arabic", "hindi", "nepali", "persian", "tamil", "yiddish"})


@dataclass(frozen=True)
class Analyzer:
    r"""How text becomes index terms: declared once, stored with the index, the same for documents and queries.

    The steps, in this order: Unicode normalisation; lower case; words, which are the matches of ``\w+``; runs of
    Chinese and Japanese characters are cut into overlapping pairs; stop words are removed, leaving a gap; stemming;
    n-grams.

    Parameters
    ----------
    normalize
        Unicode normal form: ``"NFKC"`` (full-width letters, ligatures and composed accents become one), ``"NFC"``,
        ``"NFD"``, ``"NFKD"`` or None.
    lowercase
        Whether case is ignored.
    stop_words
        Words that are left out: ``"english"`` for the 33 of Lucene, a sequence of words as they are before stemming,
        or None.
    stemmer
        A Snowball algorithm such as ``"english"``, ``"porter"`` or ``"french"``, or None.
        `Analyzer.stemmers` lists them.
    cjk
        Whether Chinese and Japanese are cut into overlapping pairs of characters instead of runs.
    marks
        Whether combining marks belong to words. By default the language of the stemmer decides.
    word_ngrams
        Longest sequence of neighbouring words that is a term too. The sequences follow the words of the text, after a
        gap, and are written with a blank between words.
    character_ngrams
        Shortest and longest sequence of characters by which each word is replaced, such as ``(3, 4)``; a shorter word
        stays as it is.

    Examples
    --------
    >>> Analyzer().tokens("The Aerodynamics of wings, in a slipstream")
    ['aerodynam', 'wing', 'slipstream']
    >>> Analyzer(stop_words=None, stemmer=None, word_ngrams=2).tokens("New York City")
    ['new', 'york', 'city', 'new york', 'york city']
    >>> Analyzer(stemmer=None).tokens("Ｗｉｎｇ 東京都")
    ['wing', '東京', '京都']
    """

    normalize: Literal["NFC", "NFKC", "NFD", "NFKD"] | None = "NFKC"
    lowercase: bool = True
    stop_words: str | tuple[str, ...] | None = "english"
    stemmer: str | None = "english"
    cjk: bool = True
    marks: bool | None = None
    word_ngrams: int = 1
    character_ngrams: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        choice("normalize", self.normalize, (None, "NFC", "NFKC", "NFD", "NFKD"), error=ValueError)
        if isinstance(self.stop_words, str):
            if self.stop_words not in STOP_WORDS:
                known = ", ".join(map(repr, STOP_WORDS))
                raise ValueError(f"stop_words must be {known}, a sequence of words or None, got {self.stop_words!r}")
        elif self.stop_words is not None:
            words = tuple(self.stop_words)
            if not all(isinstance(word, str) for word in words):
                raise ValueError(f"stop_words must be words, got {self.stop_words!r}")
            object.__setattr__(self, "stop_words", words)
        if self.stemmer is not None and not isinstance(self.stemmer, str):
            raise ValueError(f"stemmer must be the name of a Snowball algorithm or None, got {self.stemmer!r}")
        for name, value in (("lowercase", self.lowercase), ("cjk", self.cjk), ("marks", self.marks)):
            if not isinstance(value, bool) and (name != "marks" or value is not None):
                raise ValueError(f"{name} must be True or False{' or None' * (name == 'marks')}, got {value!r:.60}")
        whole("word_ngrams", self.word_ngrams, least=1, most=8, error=ValueError)
        if self.character_ngrams is not None:
            sizes = tuple(self.character_ngrams)
            if len(sizes) != 2 or not all(isinstance(n, int) for n in sizes) or not 1 <= sizes[0] <= sizes[1] <= 32:
                raise ValueError(f"character_ngrams must be two lengths such as (3, 4), got {self.character_ngrams!r}")
            object.__setattr__(self, "character_ngrams", sizes)

    def __getstate__(self) -> dict[str, Any]:
        """The settings alone: a library's stemmer can be neither copied nor pickled, so it is created again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @staticmethod
    def stemmers() -> list[str]:
        """The Snowball algorithms that are installed."""
        return list(optional("Stemmer", "stemming needs").algorithms())

    def tokens(self, text: str) -> list[str]:
        """Terms of a text, without the gaps that stop words leave."""
        return [token for token in self.sequence(text) if token is not None]

    def sequence(self, text: str) -> list[str | None]:
        """Terms of a text by position; None stands for a stop word, and for the gap before n-grams of words."""
        words = self.words(text)
        if self.word_ngrams == 1:
            return words
        terms = list(words)
        for n in range(2, self.word_ngrams + 1):
            terms.append(None)
            for i in range(len(words) - n + 1):
                gram = words[i : i + n]
                terms.append(None if None in gram else " ".join(gram))  # type: ignore[arg-type]
        return terms

    def words(self, text: str) -> list[str | None]:
        """Like `sequence`, without the n-grams of words: what a phrase must match."""
        terms: list[str | None] = []
        for word in self.surfaces(self.normalized(text)):
            terms.extend(self.terms_of(word))
        return terms

    def normalized(self, text: str) -> str:
        """The text in the normal form and case in which words are looked for."""
        if self.normalize is not None and not text.isascii():
            text = unicodedata.normalize(self.normalize, text)
        return text.lower() if self.lowercase else text

    def surfaces(self, normalized: str) -> Iterable[str]:
        """Words of a normalised text before stop words and stemming."""
        for word in self._pattern.findall(normalized):
            if self.cjk and _is_cjk(word[0]) and len(word) > 1:
                yield from (word[i : i + 2] for i in range(len(word) - 1))
            else:
                yield word

    def stems(self, words: Sequence[str]) -> list[str | None]:
        """The stem of each word, None for a stop word."""
        stop = self._stop
        stems: list[str | None] = list(self._stem_all(words))
        return [None if word in stop else stem for word, stem in zip(words, stems, strict=True)] if stop else stems

    def terms_of(self, word: str) -> tuple[str | None, ...]:
        """Terms that a word becomes: one, None for a stop word, or its n-grams of characters."""
        if word in self._stop:
            return (None,)
        (term,) = self._stem_all([word])
        if self.character_ngrams is None or len(term) < self.character_ngrams[0]:
            return (term,)
        least, most = self.character_ngrams
        return tuple(term[i : i + n] for n in range(least, most + 1) for i in range(len(term) - n + 1))

    def spans(self, text: str) -> list[tuple[int, int, tuple[str | None, ...]]]:
        """First and last character and the terms of each word of the text as it is given, for highlighting.

        Where normalisation changes the text in length, words are found in the text as given and analysed one by one.
        """
        spans = []
        for match in self._pattern.finditer(text):
            word, start = match.group(), match.start()
            if self.cjk and _is_cjk(word[0]) and len(word) > 1:
                parts = [(start + i, start + i + 2) for i in range(len(word) - 1)]
            else:
                parts = [(start, match.end())]
            for a, b in parts:
                terms = tuple(t for word in self.surfaces(self.normalized(text[a:b])) for t in self.terms_of(word))
                spans.append((a, b, terms))
        return spans

    def to_json(self) -> str:
        """The settings as JSON, for the index."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Analyzer:
        """Read the settings that `to_json` wrote."""
        try:
            settings = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise DataError(f"the analyzer's settings are not JSON: {error}") from None
        known = {field.name for field in fields(cls)}
        if not isinstance(settings, dict) or not set(settings) <= known:
            raise DataError(f"unknown settings of an analyzer: {settings!r:.200}")
        if isinstance(settings.get("stop_words"), list):
            settings["stop_words"] = tuple(settings["stop_words"])
        if isinstance(settings.get("character_ngrams"), list):
            settings["character_ngrams"] = tuple(settings["character_ngrams"])
        try:
            return cls(**settings)
        except (TypeError, ValueError) as error:
            raise DataError(f"bad settings of an analyzer: {error}") from None

    @cached_property
    def marks_in_words(self) -> bool:
        """Whether combining marks belong to words."""
        return self.marks if self.marks is not None else self.stemmer in _MARKED

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return pattern(self.cjk, self.marks_in_words)

    @cached_property
    def _stop(self) -> frozenset[str]:
        words = STOP_WORDS[self.stop_words] if isinstance(self.stop_words, str) else self.stop_words or ()
        return frozenset(self.normalized(word) for word in words)

    @cached_property
    def _stem_all(self) -> Callable[[Sequence[str]], Sequence[str]]:
        return _same if self.stemmer is None else _stemmer(self.stemmer)


def _same(words: Sequence[str]) -> Sequence[str]:
    return words


@cache
def _stemmer(name: str) -> Callable[[Sequence[str]], Sequence[str]]:
    library = optional("Stemmer", "stemming (stemmer=None, or --stemmer none, does without) needs")
    if name not in library.algorithms():
        near = nearest(name, library.algorithms(), 3)
        advice = question(near) if near else "`Analyzer.stemmers()` lists them"
        raise DataError(f"unknown stemmer {name!r}; {advice}")
    stem: Callable[[Sequence[str]], Sequence[str]] = library.Stemmer(name, 0).stemWords  # 0: its cache costs more
    return stem


@cache
def pattern(cjk: bool, marks: bool) -> re.Pattern[str]:
    r"""Pattern of words: ``\w+``, optionally with combining marks, and optionally with runs of CJK characters apart."""
    inside = r"\w" + (_marks() if marks else "")
    if not cjk:
        return re.compile(f"[{inside}]+")
    run = "".join(f"{chr(a)}-{chr(b)}" for a, b in CJK)
    # a character of these blocks that is not a word character, such as a middle dot, separates words as elsewhere
    return re.compile(rf"(?:(?=\w)[{run}])+|(?:(?![{run}])[{inside}])+")


@cache
def _marks() -> str:
    """Combining marks as the inside of a class of a regular expression."""
    ranges: list[list[int]] = []
    for code in range(0x300, 0x110000):
        if unicodedata.category(chr(code)) in ("Mn", "Mc"):
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(a)}-{chr(b)}" for a, b in ranges)


def _is_cjk(character: str) -> bool:
    code = ord(character)
    return code >= 0x3040 and any(a <= code <= b for a, b in CJK)
