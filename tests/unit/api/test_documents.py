"""What is kept parsed is what fits the schema, is not long, and is bounded in all."""

from __future__ import annotations

from graphql import parse
from hypothesis import given
from hypothesis import strategies as st

from service.api.documents import Documents, DocumentsConfig
from service.api.repeats import MAX_REPEATS, repeats

CONFIG = DocumentsConfig(kept_characters=400, longest_kept=100)
DOCUMENT = parse("{ a }")


@given(st.lists(st.text(max_size=140), max_size=60))
def test_kept_documents_are_bounded_and_the_last_is_there(texts: list[str]) -> None:
    documents = Documents(CONFIG)
    for text in texts:
        documents.keep(text, DOCUMENT)
        assert documents.characters <= CONFIG.kept_characters
        assert (documents.find(text) is DOCUMENT) == (len(text) <= CONFIG.longest_kept)


def test_what_is_used_stays() -> None:
    documents = Documents(CONFIG)
    documents.keep("used", DOCUMENT)
    for i in range(100):
        documents.keep(f"{i:50}", DOCUMENT)
        assert documents.find("used") is DOCUMENT


def test_repeats_are_counted_at_all_levels_and_through_fragments() -> None:
    assert repeats(parse("{ a b c { a b } }"), limit=MAX_REPEATS) == 0
    assert repeats(parse("{ a a a }"), limit=MAX_REPEATS) == 3
    assert repeats(parse("{ a { x } a { x y } }"), limit=MAX_REPEATS) == 2
    assert repeats(parse("{ x: a x: b }"), limit=MAX_REPEATS) == 1
    assert repeats(parse("{ ...f ...f a ... on Q { a } } fragment f on Q { a }"), limit=MAX_REPEATS) == 3
    assert repeats(parse("{ ...f } fragment f on Q { ...g a } fragment g on Q { ...f a }"), limit=MAX_REPEATS) < 10, (
        "cycles end"
    )
    bomb = "{ ...f0 } " + " ".join(f"fragment f{i} on Q {{ {f'...f{i + 1} ' * 2}a{i} {{ ...f{i + 1} }} }}" for i in range(25))
    assert repeats(parse(bomb), limit=MAX_REPEATS) > MAX_REPEATS, "not counted to the end"
