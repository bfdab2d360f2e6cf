"""Text as words that can be looked up, in any script."""

from __future__ import annotations

import pytest

from surefoot.storage.words import may_be_prefix, query_words, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Anna likes TEA.", ["anna", "likes", "tea"]),
        ("Crème brûlée, Größe", ["creme", "brulee", "grosse"]),
        ("ΆΝΝΑ Ёлка", ["αννα", "елка"]),
        ("snake_case a-b 3.5", ["snake", "case", "a", "b", "3", "5"]),
        ("ＡＢＣ ﬁne ①", ["abc", "fine", "1"]),
        ("喝茶", ["喝", "茶", "喝茶"]),
        ("我喝茶 tea", ["我", "喝", "茶", "我喝", "喝茶", "tea"]),
        ("tea喝茶2杯", ["tea", "喝", "茶", "喝茶", "2", "杯"]),
        ("コーヒー", ["コ", "ー", "ヒ", "ー", "コー", "ーヒ", "ヒー"]),
        ("회의", ["회", "의", "회의"]),
        ("जन्मदिन कल", ["जन्मदिन", "कल"]),
        ("مُحَمَّد", ["محمد"]),
        ("שָׁלוֹם", ["שלום"]),
        ("🎂 !? — …", []),
        ("", []),
    ],
)
def test_words_of_a_text(text, expected):
    """Case, accents, width and points do not count; scripts without spaces give characters and pairs."""
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tea tea TEA", ["tea"]),
        ("喝茶", ["喝茶"]),
        ("我喝茶", ["我喝", "喝茶"]),
        ("茶", ["茶"]),
        ("プレゼント", ["プレ", "レゼ", "ゼン", "ント"]),
        ("tea 茶", ["tea", "茶"]),
        ("「」", []),
    ],
)
def test_words_of_a_question(text, expected):
    """Each word once; pairs only, a single character where there is no pair."""
    assert query_words(text) == expected


def test_every_word_of_a_question_is_among_the_words_of_the_same_text():
    """Whoever asks in the words of a text finds it."""
    for text in [
        "Anna mag Tee",
        "我喜欢喝茶",
        "お茶が好きです",
        "차를 좋아해요",
        "ฉันชอบชา",
        "मुझे चाय पसंद है",
        "ñandú ĳs",
    ]:
        assert set(query_words(text)) <= set(words(text))


@pytest.mark.parametrize(("word", "may"), [("tee", False), ("birth", True), ("喝茶", False), ("word", True)])
def test_only_longer_words_find_words_that_begin_with_them(word, may):
    """Short words would find half the language."""
    assert may_be_prefix(word) is may
