"""Terms of many texts at once.

Words are found in the bytes of the texts by a kernel, which numbers the distinct ones; only these are decoded, compared
with the stop words and stemmed, each once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.data.strings import Strings
from plackett.text.analysis import CJK, Analyzer, pattern
from plackett.text.index.columns import offsets_of, strings
from plackett.text.index.field import TermStream

#: Classes of characters.
_WORD, _CJK = 1, 2
#: Distinct words that fit in the table at first.
_ROOM = 1 << 14


class TermTable:
    """Numbers the terms of texts in the order of their first occurrence.

    >>> table = TermTable(Analyzer())
    >>> offsets, terms = table.stream(["The wings", "a wing of steel"])
    >>> table.terms, offsets.tolist(), terms.tolist()
    (['wing', 'steel'], [0, 2, 6], [-1, 0, -1, 0, -1, 1])
    """

    def __init__(self, analyzer: Analyzer) -> None:
        self.analyzer = analyzer
        self._numbers: dict[str, int] = {}
        self._classes = _classes(analyzer.cjk, analyzer.marks_in_words)
        self._fold = np.arange(256, dtype=np.uint8)
        if analyzer.lowercase:
            self._fold[65:91] += 32
        self._words = _Words.empty(_ROOM, _ROOM << 3)
        #: Terms of each distinct word: one after the other, with offsets.
        self._of_word = np.empty(0, np.int32)
        self._of_word_offsets = np.zeros(1, np.int64)
        self._single = True

    def stream(self, texts: Sequence[str]) -> TermStream:
        """Terms of texts in reading order, -1 for a stop word or a gap; the same as `Analyzer.sequence` gives."""
        normalized = self.analyzer.normalized
        encoded = [(text if text.isascii() else normalized(text)).encode("utf-8", "replace") for text in texts]
        column = strings(encoded)
        offsets, word_numbers = self._tokenize(column)
        self._learn()
        stream = self._terms_of(offsets, word_numbers)
        return stream if self.analyzer.word_ngrams == 1 else self._with_ngrams(stream)

    def _tokenize(self, column: Strings) -> TermStream:
        offsets = np.zeros(len(column) + 1, np.int64)
        word_numbers = np.empty((int(column.offsets[-1]) + len(column)) // 2 + 1, np.int32)
        row = 0
        while True:
            word_table = self._words
            texts = row, column.data, column.offsets
            table_arrays = word_table.keys, word_table.numbers, word_table.offsets, word_table.pool, word_table.n[0]
            row, word_table.n[0] = _tokenize(*texts, self._classes, self._fold, *table_arrays, offsets, word_numbers)  # type: ignore[call-arg,arg-type]
            if row == len(column):
                return TermStream(offsets, word_numbers[: offsets[-1]])
            self._words = word_table.grown(int(column.offsets[row + 1] - column.offsets[row]))

    def _learn(self) -> None:
        """Number the terms of the words that are new."""
        known, n = self._of_word_offsets.size - 1, int(self._words.n[0])
        if known == n:
            return
        edges = self._words.offsets[known : n + 1]
        block = self._words.pool[edges[0] : edges[-1]].tobytes()
        edges = (edges - edges[0]).tolist()
        if block.isascii():
            text = block.decode()
            words = [text[a:b] for a, b in pairwise(edges)]
        else:
            words = [block[a:b].decode() for a, b in pairwise(edges)]
        number = self._numbers.setdefault
        if self.analyzer.character_ngrams is None:
            term_numbers = [
                -1 if term is None else number(term, len(self._numbers)) for term in self.analyzer.stems(words)
            ]
            lengths = np.ones(len(words), np.int64)
        else:
            terms = [self.analyzer.terms_of(word) for word in words]
            term_numbers = [-1 if t is None else number(t, len(self._numbers)) for of_word in terms for t in of_word]
            lengths = np.fromiter(map(len, terms), np.int64, len(terms))
            self._single = self._single and len(term_numbers) == len(words)
        self._of_word = np.concatenate((self._of_word, np.array(term_numbers, np.int32)))
        self._of_word_offsets = np.concatenate(
            (self._of_word_offsets, self._of_word_offsets[-1] + np.cumsum(lengths, dtype=np.int64))
        )

    @property
    def terms(self) -> list[str]:
        """The terms by number."""
        return list(self._numbers)

    def _terms_of(self, offsets: np.ndarray, word_numbers: np.ndarray) -> TermStream:
        if self._single:
            return TermStream(offsets, self._of_word[word_numbers])
        lengths = np.diff(self._of_word_offsets)[word_numbers]
        ends = offsets_of(lengths)
        which = np.arange(ends[-1]) + np.repeat(self._of_word_offsets[word_numbers] - ends[:-1], lengths)
        return TermStream(ends[offsets], self._of_word[which])

    def _with_ngrams(self, stream: TermStream) -> TermStream:
        """Behind the words of each text, after a gap, its pairs of words, then its triples, and so on."""
        n_words = np.diff(stream.offsets)
        text = np.repeat(np.arange(n_words.size), n_words)
        parts, grams = [stream], stream.terms
        for n in range(2, self.analyzer.word_ngrams + 1):
            size = max(0, stream.terms.size - n + 1)
            before, last = grams[:size], stream.terms[n - 1 :]
            inside = text[:size] == text[n - 1 :]
            both = inside & (before >= 0) & (last >= 0)
            grams = np.full(size, -1, np.int32)
            grams[both] = self._joined(before[both], last[both])
            parts.append(TermStream(offsets_of(np.maximum(n_words - n + 1, 0)), grams[inside]))
        return combine(parts)

    def _joined(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Numbers of the terms made of two terms with a blank between them."""
        pairs, which = np.unique(first.astype(np.int64) << 32 | second, return_inverse=True)
        terms, number = self.terms, self._numbers.setdefault
        names = [
            f"{terms[a]} {terms[b]}" for a, b in zip((pairs >> 32).tolist(), (pairs & 0xFFFFFFFF).tolist(), strict=True)
        ]
        return np.array([number(name, len(self._numbers)) for name in names], np.int32)[which]


def number_by_order(terms: Sequence[str], streams: Sequence[TermStream]) -> tuple[Strings, TermStream]:
    """Join streams; number the terms that occur in the order of their characters, which is also that of UTF-8."""
    used = np.zeros(len(terms) + 1, np.bool_)
    for stream in streams:
        used[stream.terms] = True  # -1 is the last entry
    rows = np.flatnonzero(used[:-1]).tolist()
    rows.sort(key=terms.__getitem__)
    number = np.full(len(terms) + 1, -1, np.int32)
    number[rows] = np.arange(len(rows), dtype=np.int32)
    offsets = offsets_of(np.concatenate([*(np.diff(stream.offsets) for stream in streams), np.empty(0, np.int64)]))
    joined = np.empty(offsets[-1], np.int32)
    end = 0
    for stream in streams:
        np.take(number, stream.terms, out=joined[end : end + stream.terms.size], mode="wrap")
        end += stream.terms.size
    return strings([terms[row].encode() for row in rows]), TermStream(offsets, joined)


def combine(streams: Sequence[TermStream], gap: int = 1) -> TermStream:
    """Merge streams of the same texts: for each text, the terms of one stream after the other, with gaps between."""
    result = streams[0]
    for stream in streams[1:]:
        offsets = result.offsets + stream.offsets + gap * np.arange(result.offsets.size)
        terms = np.full(offsets[-1], -1, np.int32)
        _combine(offsets, terms, result.offsets, result.terms, stream.offsets, stream.terms)
        result = TermStream(offsets, terms)
    return result


class _Words:
    """Hash table of the distinct words: their bytes one after the other, and their numbers by hash."""

    def __init__(self, keys: np.ndarray, numbers: np.ndarray, offsets: np.ndarray, pool: np.ndarray, n: int) -> None:
        self.keys, self.numbers, self.offsets, self.pool = keys, numbers, offsets, pool
        self.n = [n]

    @classmethod
    def empty(cls, capacity: int, pool_bytes: int) -> _Words:
        keys, numbers = np.zeros(4 * capacity, np.uint64), np.full(4 * capacity, -1, np.int32)
        return cls(keys, numbers, np.zeros(capacity + 1, np.int64), np.empty(pool_bytes, np.uint8), 0)

    def grown(self, text_bytes: int) -> _Words:
        """A larger table with the same words, and with room for those of a text of this many bytes."""
        n = self.n[0]
        capacity = self.offsets.size - 1
        while capacity < 2 * n + text_bytes:
            capacity *= 2
        used = int(self.offsets[n])
        new = _Words.empty(capacity, 2 * used + text_bytes + self.pool.size)
        new.offsets[: n + 1] = self.offsets[: n + 1]
        new.pool[:used] = self.pool[:used]
        new.n[0] = n
        _rehash(self.keys, self.numbers, new.keys, new.numbers)
        return new


@cache
def _classes(cjk: bool, marks: bool) -> np.ndarray:
    """The class of each character, taken from the regular expression itself, so that both agree."""
    characters = "".join(map(chr, range(0x110000)))
    classes = np.zeros(0x110000, np.uint8)
    for match in re.finditer(pattern(cjk, marks), characters):
        classes[match.start() : match.end()] = _WORD
    if cjk:
        for a, b in CJK:
            classes[a : b + 1] *= _CJK
    return classes


@kernel
def _rehash(keys, numbers, new_keys, new_numbers):  # type: ignore[no-untyped-def]
    mask = np.uint64(new_keys.size - 1)
    for i in range(keys.size):
        if numbers[i] >= 0:
            slot = keys[i] & mask
            while new_numbers[slot] >= 0:
                slot = (slot + np.uint64(1)) & mask
            new_keys[slot] = keys[i]
            new_numbers[slot] = numbers[i]


@kernel
def _combine(offsets, terms, a_offsets, a, b_offsets, b):  # type: ignore[no-untyped-def]
    for i in range(offsets.size - 1):
        end = offsets[i]
        for j in range(a_offsets[i], a_offsets[i + 1]):
            terms[end] = a[j]
            end += 1
        end = offsets[i + 1] - (b_offsets[i + 1] - b_offsets[i])
        for j in range(b_offsets[i], b_offsets[i + 1]):
            terms[end] = b[j]
            end += 1


@kernel(inline=True)
def _character(data, i, end):  # type: ignore[no-untyped-def]
    """Code and length of the character of UTF-8 at a byte; a truncated one is U+FFFD, of one byte."""
    first = data[i]
    if first < 0x80:
        return np.int64(first), 1
    length = 4 if first >= 0xF0 else 3 if first >= 0xE0 else 2
    if i + length > end:
        return np.int64(0xFFFD), 1
    code = np.int64(first) & (0x7F >> length)
    for j in range(1, length):
        code = code << 6 | (np.int64(data[i + j]) & 0x3F)
    return min(code, 0x10FFFF), length


@kernel
def _number(data, begin, end, fold, keys, numbers, offsets, pool, n):  # type: ignore[no-untyped-def]
    """Number of a word; a new one is ``n`` and is entered."""
    code = np.uint64(14695981039346656037)  # FNV-1a
    for i in range(begin, end):
        code = (code ^ np.uint64(fold[data[i]])) * np.uint64(1099511628211)
    code ^= code >> np.uint64(29)
    mask = np.uint64(keys.size - 1)
    slot = code & mask
    length = end - begin
    while True:
        number = numbers[slot]
        if number < 0:
            break
        if keys[slot] == code and offsets[number + 1] - offsets[number] == length:
            start = offsets[number]
            same = True
            for i in range(length):
                if pool[start + i] != fold[data[begin + i]]:
                    same = False
                    break
            if same:
                return number
        slot = (slot + np.uint64(1)) & mask
    start = offsets[n]
    for i in range(length):
        pool[start + i] = fold[data[begin + i]]
    offsets[n + 1] = start + length
    keys[slot] = code
    numbers[slot] = n
    return np.int32(n)


@kernel
def _tokenize(row, data, rows, classes, fold, keys, numbers, offsets, pool, n, ends, word_numbers):  # type: ignore[no-untyped-def]
    """Number the words of texts from ``row`` on; stop before a text whose words may not fit in the table."""
    end = ends[row]
    while row < rows.size - 1:
        i, stop = rows[row], rows[row + 1]
        # a word takes two bytes with the separator; a pair of CJK characters takes six and shares three
        if n + (stop - i) // 2 + 1 >= offsets.size or offsets[n] + 2 * (stop - i) > pool.size:
            break
        while i < stop:
            code, length = _character(data, i, stop)
            kind = classes[code]
            begin = i
            i += length
            if kind == _WORD:
                while i < stop:
                    code, length = _character(data, i, stop)
                    if classes[code] != _WORD:
                        break
                    i += length
                number = _number(data, begin, i, fold, keys, numbers, offsets, pool, n)
                n += number == n
                word_numbers[end] = number
                end += 1
            elif kind == _CJK:
                # overlapping pairs; a character that stands alone is a word
                alone = True
                before = begin
                while i < stop:
                    code, length = _character(data, i, stop)
                    if classes[code] != _CJK:
                        break
                    number = _number(data, before, i + length, fold, keys, numbers, offsets, pool, n)
                    n += number == n
                    word_numbers[end] = number
                    end += 1
                    alone = False
                    before = i
                    i += length
                if alone:
                    number = _number(data, begin, i, fold, keys, numbers, offsets, pool, n)
                    n += number == n
                    word_numbers[end] = number
                    end += 1
        row += 1
        ends[row] = end
    return row, n
