"""What German, Spanish and Chinese expressions of time mean, on Wednesday, 17 May 2023."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.timewords import GRAMMARS, Leaning, times, windows

NOW = datetime(2023, 5, 17, 10, 0, tzinfo=UTC)
PAST, FUTURE = Leaning.PAST, Leaning.FUTURE


@pytest.mark.parametrize(
    ("language", "text", "leaning", "words", "start", "end"),
    [
        ("de", "Ich war gestern da.", PAST, "gestern", "2023-05-16", "2023-05-17"),
        ("de", "Wir sehen uns übermorgen.", FUTURE, "übermorgen", "2023-05-19", "2023-05-20"),
        ("de", "Das war letzten Freitag.", PAST, "letzten Freitag", "2023-05-12", "2023-05-13"),
        ("de", "Er kommt nächste Woche.", FUTURE, "nächste Woche", "2023-05-22", "2023-05-29"),
        ("de", "Das war vor drei Wochen.", PAST, "vor drei Wochen", "2023-04-24", "2023-05-01"),
        ("de", "Es geht in zwei Tagen los.", FUTURE, "zwei Tagen", "2023-05-19", "2023-05-20"),
        ("de", "Sie heiraten am 5. Juni.", FUTURE, "5. Juni", "2023-06-05", "2023-06-06"),
        ("de", "Seit März 2021 wohnt er hier.", PAST, "März 2021", "2021-03-01", "2021-04-01"),
        ("es", "Lo vi ayer.", PAST, "ayer", "2023-05-16", "2023-05-17"),
        ("es", "Nos vemos mañana.", FUTURE, "mañana", "2023-05-18", "2023-05-19"),
        ("es", "Fue el lunes pasado.", PAST, "el lunes pasado", "2023-05-15", "2023-05-16"),
        ("es", "Viene la semana que viene.", FUTURE, "la semana que viene", "2023-05-22", "2023-05-29"),
        ("es", "Fue hace dos meses.", PAST, "hace dos meses", "2023-03-01", "2023-04-01"),
        ("es", "El examen es el 5 de junio de 2024.", FUTURE, "el 5 de junio de 2024", "2024-06-05", "2024-06-06"),
        ("zh", "我昨天去了。", PAST, "昨天", "2023-05-16", "2023-05-17"),
        ("zh", "我们下周见。", FUTURE, "下周", "2023-05-22", "2023-05-29"),
        ("zh", "下周五开会。", FUTURE, "下周五", "2023-05-26", "2023-05-27"),
        ("zh", "三天前", PAST, "三天前", "2023-05-14", "2023-05-15"),
        ("zh", "2023年6月5日", FUTURE, "2023年6月5日", "2023-06-05", "2023-06-06"),
        ("zh", "去年我在北京。", PAST, "去年", "2022-01-01", "2023-01-01"),
    ],
)
def test_an_expression_is_resolved(language: str, text: str, leaning: Leaning, words: str, start: str, end: str) -> None:
    (found,) = times(text, NOW, language=language, leaning=leaning)
    assert found.span.words == words
    assert (found.span.start, found.span.end) == tuple(datetime.fromisoformat(t).replace(tzinfo=UTC) for t in (start, end))


def test_a_question_asks_about_a_window() -> None:
    (window,) = windows("Was ist seit Montag passiert?", NOW, language="de")
    assert (window.since, window.until) == (datetime(2023, 5, 15, tzinfo=UTC), None)
    (window,) = windows("昨天谁来了？", NOW)
    assert window.since == datetime(2023, 5, 16, tzinfo=UTC)


@given(
    st.text(alphabet="0123456789 .,年月日号周上下个前后天letznächgsrmvoi", max_size=40),
    st.sampled_from(sorted(GRAMMARS)),
    st.sampled_from(Leaning),
)
def test_any_text_has_times_in_order_or_none(text: str, language: str, leaning: Leaning) -> None:
    last = 0
    for found in times(text, NOW, language=language, leaning=leaning):
        assert last <= found.begin < found.end <= len(text)
        assert found.span.start < found.span.end
        last = found.end
