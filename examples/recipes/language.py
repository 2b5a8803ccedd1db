"""Plain rules of English that the recipes on texts share: sentences, kinds of words, noun phrases."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

#: From words to their kinds: "noun", "verb", "adjective", "adverb" or "other".
Tagger = Callable[[Sequence[str]], Sequence[str]]

_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
#: The end of a sentence, before something that may begin one.
_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[A-Z0-9])")
_ABBREVIATIONS, _OTHER, _VERBS, _ADVERBS = (
    frozenset(listed.split())
    for listed in (
        "mr mrs ms dr prof st no vs etc fig jr sr inc ltd co corp e.g i.e cf al approx dept est gen gov rev vol pp",
        """a an the this that these those of in on at by for with from to into onto about above below between among
        under over and or but nor so yet if then than because as while although though whether since
        until unless not no yes i you he she it we they me him her us them my your his its our their mine
        yours hers ours theirs who whom whose which what when where why how there here very too also only
        just more most some any each every all both few many much other another such own same s t""",
        """is are was were be been being am do does did done have has had having can could will would shall should
        may might must get gets got make makes made go goes went gone come comes came take takes took
        give gives gave say says said see sees saw seen know knows knew known think thinks thought use
        uses find finds become becomes became let lets keep keeps kept mean means meant run runs ran need
        needs work works happen happens cause causes lead leads occur exist want wants try tries ask asks
        help helps show shows write writes wrote written call calls""",
        "never always often sometimes usually again ever once still already now soon almost quite",
    )
)
_ADJECTIVE_ENDS = ("able", "ible", "ful", "less", "ous", "ive", "ical", "ish", "ary", "ic", "al", "ant", "ent")


def words(text: str) -> list[str]:
    """The words of a text as written.

    >>> words("Don't panic: 3.5 km of well-known roads!")
    ["Don't", 'panic', '3.5', 'km', 'of', 'well-known', 'roads']
    """
    return _WORD.findall(text)


def sentences(text: str) -> list[str]:
    """The sentences of a text. A line that is empty ends one; common abbreviations and initials do not.

    >>> sentences("Dr. Ray lives in St. Louis. He paid 3.50 dollars! Did J. Smith?")
    ['Dr. Ray lives in St. Louis.', 'He paid 3.50 dollars!', 'Did J. Smith?']
    """
    sentence_texts: list[str] = []
    for block in re.split(r"\n\s*\n", text):
        block, start = " ".join(block.split()), 0
        for end in _END.finditer(block):
            tail = block[max(start, end.start() - 80) : end.start()]
            last = tail.rsplit(None, 1)[-1].rstrip(".\"'”’)]").lstrip("([\"'“‘")
            short = last.lower() in _ABBREVIATIONS or (len(last) == 1 and last.isupper())
            if block[end.start() - 1] == "." and short:
                continue
            sentence_texts.append(block[start : end.end()].strip())
            start = end.end()
        if block[start:].strip():
            sentence_texts.append(block[start:].strip())
    return sentence_texts


def kinds(tokens: Sequence[str]) -> list[str]:
    """The kind of each word by lists and endings: a rough tagger without data. Any other tagger may replace it.

    >>> kinds("the careful dog quickly jumped".split())
    ['other', 'adjective', 'noun', 'adverb', 'verb']
    """
    return [_kind(token, tokens[i - 1].lower() if i else "") for i, token in enumerate(tokens)]


def _kind(token: str, before: str) -> str:
    word = token.lower()
    if word in _OTHER:
        return "other"
    if word in _VERBS:
        return "verb"
    if word in _ADVERBS or (word.endswith("ly") and len(word) > 4):
        return "adverb"
    if token[:1].isupper() and before:
        return "noun"  # a name
    inflected = word.endswith(("ed", "ing", "ise", "ize")) and len(word) > 4
    if before == "to" or (inflected and before not in ("the", "a", "an")):
        return "verb"
    if len(word) > 5 and word.endswith(_ADJECTIVE_ENDS):
        return "adjective"
    return "noun"


def noun_phrases(tokens: Sequence[str], tagger: Tagger = kinds) -> list[tuple[int, int]]:
    """Base noun phrases as ranges of words: an article or none, adjectives, nouns.

    >>> tokens = "the linear model of a visible network".split()
    >>> [" ".join(tokens[a:b]) for a, b in noun_phrases(tokens)]
    ['the linear model', 'a visible network']
    """
    tags = list(tagger(tokens))
    phrases, i = [], 0
    while i < len(tokens):
        start = i
        if tokens[i].lower() in ("the", "a", "an"):
            i += 1
        while i < len(tokens) and tags[i] == "adjective":
            i += 1
        nouns = i
        while i < len(tokens) and tags[i] == "noun":
            i += 1
        if i > nouns:
            phrases.append((start, i))
        else:
            i = max(i, start + 1)
    return phrases
