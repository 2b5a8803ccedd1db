"""Analysis: the fast path equals the plain one, and the plain one equals ``re`` and PyStemmer."""

from __future__ import annotations

import copy
import pickle
import random
import re
import unicodedata
from itertools import pairwise

import pytest

from plackett import DataError
from plackett.text import Analyzer
from plackett.text.analysis import CJK, STOP_WORDS
from plackett.text.index.terms import TermTable

Stemmer = pytest.importorskip("Stemmer")

#: Where the two could differ: accents composed and not, ligatures, digits of many kinds, marks, case that changes the
#: length, CJK next to letters, half a pair of surrogates, symbols.
TEXTS = [
    "The Wings' lift, in a slip-stream; and wings_2 are 3½ or ² at 100%.",
    "cafe\u0301 café CAFÉ naïve ﬁsh Ｆｕｌｌ ｗｉｄｔｈ",
    "İstanbul ISTANBUL ıI ẞ ß ΟΔΟΣ ὈΔΥΣΣΕΎΣ",
    "हिन्दी में लिखा हुआ தமிழ் العَرَبِيَّة",
    "東京都 in 東京, abc漢字def カタカナ・ｶﾀｶﾅ 〇 ー 한국어 한국",
    "a\u0301\u0327b x\u200dy z\u00adw \u2160\u2161 \u2155 \U0001d7d8 \U00020000\U00020001",
    "bad \ud800 surrogate",
    "—… « » ’quotes’ don’t don't",
    "",
    "   ",
]

ANALYZERS = [
    Analyzer(),
    Analyzer(cjk=False),
    Analyzer(normalize=None, lowercase=False, stop_words=None, stemmer=None),
    Analyzer(normalize="NFD", stemmer="french", stop_words=("été", "le")),
    Analyzer(stemmer="hindi", stop_words=None),
    Analyzer(marks=True, stemmer=None),
    Analyzer(word_ngrams=3),
    Analyzer(word_ngrams=2, stop_words=None, stemmer=None),
    Analyzer(character_ngrams=(2, 3)),
    Analyzer(character_ngrams=(3, 3), stemmer=None, word_ngrams=2),
]


def by_table(analyzer, texts, batch=3):
    table = TermTable(analyzer)
    result = []
    for i in range(0, len(texts), batch):
        offsets, terms = table.stream(texts[i : i + batch])
        names = table.terms
        for a, b in pairwise(offsets):
            result.append([None if t < 0 else names[t] for t in terms[a:b]])
    return result


@pytest.mark.parametrize("analyzer", ANALYZERS, ids=str)
def test_many_texts_at_once_equal_one_by_one(analyzer):
    assert by_table(analyzer, TEXTS) == [analyzer.sequence(text) for text in TEXTS]


@pytest.mark.parametrize("analyzer", ANALYZERS[:6], ids=str)
def test_random_characters_of_all_unicode(analyzer):
    draw = random.Random(0)
    blocks = [(0x20, 0x7F), (0xA0, 0x250), (0x300, 0x600), (0x900, 0xC00), (0x2000, 0x2500), *CJK, (0x1D400, 0x1D800)]

    def text():
        a, b = draw.choice(blocks)
        return "".join(chr(draw.randrange(a, b)) if draw.random() < 0.8 else " " for _ in range(30))

    texts = [text() + text() for _ in range(300)] + [chr(draw.randrange(0x110000)) for _ in range(300)]
    assert by_table(analyzer, texts, 50) == [analyzer.sequence(text) for text in texts]


def reference(text, language="english", stop=STOP_WORDS["english"]):
    """What everyone writes with ``re`` and PyStemmer."""
    tokens = re.findall(r"\w+", unicodedata.normalize("NFKC", text).lower())
    return Stemmer.Stemmer(language).stemWords([word for word in tokens if word not in stop])


def test_tokens_are_those_of_re_and_pystemmer():
    for text in TEXTS:
        assert Analyzer(cjk=False).tokens(text) == reference(text)
    for language in Analyzer.stemmers():
        text = "Les Running Häuser книгами running-shoes καλημέρα evlerinizden"
        assert Analyzer(stemmer=language, marks=False).tokens(text) == reference(text, language)
    assert len(Analyzer.stemmers()) > 20


def test_tokens_of_real_texts_are_those_of_re_and_pystemmer(data_dir):
    """The movies have accents, Greek, Cyrillic, Japanese and symbols."""
    import gzip
    import json

    path = data_dir / "msrd-elastic" / "movies-corpus.jsonl.gz"
    if not path.exists():
        pytest.skip("needs msrd-elastic")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        texts = [line for line in file if not line.isascii()][:1500]
    texts = [" ".join(str(v) for v in json.loads(text).values()) for text in texts]
    result = by_table(Analyzer(cjk=False), texts, 500)
    assert [[t for t in sequence if t is not None] for sequence in result] == [reference(text) for text in texts]


def test_many_words_make_the_tables_grow():
    texts = [" ".join(f"w{i * 1000 + j}" for j in range(1000)) for i in range(40)] + ["w1 w39999"]
    analyzer = Analyzer(stemmer=None)
    assert by_table(analyzer, texts, 7) == [analyzer.sequence(text) for text in texts]


def test_gaps_and_ngrams():
    analyzer = Analyzer(stemmer=None, word_ngrams=2)
    assert analyzer.sequence("wings of steel and lead") == [
        *("wings", None, "steel", None, "lead"),
        None,
        *(None, None, None, None),
    ]
    assert analyzer.sequence("new york") == ["new", "york", None, "new york"]
    assert analyzer.words("new york") == ["new", "york"]
    assert Analyzer(character_ngrams=(2, 2), stemmer=None).tokens("wing x") == ["wi", "in", "ng", "x"]


def test_marks_belong_to_words_where_the_language_needs_them():
    assert Analyzer(stemmer=None).tokens("हिन्दी") != ["हिन्दी"]
    assert Analyzer(stemmer=None, marks=True).tokens("हिन्दी") == ["हिन्दी"]
    assert Analyzer(stemmer="hindi").marks_in_words


def test_spans_are_places_in_the_given_text():
    text = "Ｗings of\tSTEEL 東京都"
    result = Analyzer().spans(text)
    assert [(text[a:b], terms) for a, b, terms in result] == [
        ("Ｗings", ("wing",)),
        ("of", (None,)),
        ("STEEL", ("steel",)),
        ("東京", ("東京",)),
        ("京都", ("京都",)),
    ]


@pytest.mark.parametrize("analyzer", ANALYZERS, ids=str)
def test_settings_as_json(analyzer):
    assert Analyzer.from_json(analyzer.to_json()) == analyzer


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"normalize": "NFX"}, "normalize='NFX'; give one of None, 'NFC', 'NFKC', 'NFD', 'NFKD'"),
        ({"stop_words": "klingon"}, "stop_words must be 'english', a sequence"),
        ({"stop_words": (1,)}, "stop_words must be words"),
        ({"stemmer": 3}, "stemmer must be the name"),
        ({"cjk": []}, "cjk must be True or False, got"),
        ({"marks": "x"}, "marks must be True or False or None, got 'x'"),
        ({"word_ngrams": 0}, "word_ngrams=0; give a whole number from 1 to 8"),
        ({"character_ngrams": (3, 2)}, "character_ngrams must be two lengths"),
    ],
)
def test_bad_settings_name_the_parameter(settings, message):
    with pytest.raises(ValueError, match=message):
        Analyzer(**settings)


def test_unknown_stemmer_suggests_another():
    with pytest.raises(ValueError, match="unknown stemmer 'englisch'; did you mean english"):
        Analyzer(stemmer="englisch").tokens("x")


@pytest.mark.parametrize("text", ["[", "[]", '{"colour": 1}', '{"stemmer": 7}', '{"stop_words": 5}'])
def test_bad_json_is_an_error_of_ours(text):
    with pytest.raises(DataError):
        Analyzer.from_json(text)


def test_a_copy_of_a_used_analyzer():
    used = Analyzer()
    assert used.tokens("wings") == ["wing"]
    for other in (copy.deepcopy(used), pickle.loads(pickle.dumps(used))):
        assert other == used and other.tokens("wings") == ["wing"]
