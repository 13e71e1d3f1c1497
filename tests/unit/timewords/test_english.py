"""What English expressions of time mean, on Wednesday, 17 May 2023, ten in the morning."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.timewords import Leaning, ZoneUnknown, times, windows
from service.timewords.english import FEASTS, MONTHS, NUMBERS, ORDINALS, UNITS, WEEKDAYS
from service.types.facts import Precision

NOW = datetime(2023, 5, 17, 10, 0, tzinfo=UTC)
PAST, FUTURE = Leaning.PAST, Leaning.FUTURE


@pytest.mark.parametrize(
    ("text", "leaning", "words", "start", "end", "precision"),
    [
        ("I went yesterday.", PAST, "yesterday", "2023-05-16", "2023-05-17", "day"),
        ("I went the day before yesterday.", PAST, "the day before yesterday", "2023-05-15", "2023-05-16", "day"),
        ("at 7 on Friday evening", FUTURE, "7 on Friday evening", "2023-05-19T19:00", "2023-05-19T19:01", "minute"),
        ("we met at 7 yesterday", PAST, "yesterday", "2023-05-16", "2023-05-17", "day"),
        ("last Friday night", PAST, "last Friday night", "2023-05-12T18:00", "2023-05-13T06:00", "hour"),
        ("last night at 9", PAST, "last night at 9", "2023-05-16T21:00", "2023-05-16T21:01", "minute"),
        ("I'm free tonight", FUTURE, "tonight", "2023-05-17T18:00", "2023-05-18T06:00", "hour"),
        ("it rained this morning", PAST, "this morning", "2023-05-17T05:00", "2023-05-17T12:00", "hour"),
        ("we met on Friday", PAST, "Friday", "2023-05-12", "2023-05-13", "day"),
        ("we meet on Friday", FUTURE, "Friday", "2023-05-19", "2023-05-20", "day"),
        ("on Wednesday", FUTURE, "Wednesday", "2023-05-24", "2023-05-25", "day"),
        ("this Friday at noon", FUTURE, "this Friday at noon", "2023-05-19T12:00", "2023-05-19T12:01", "minute"),
        ("next Friday", FUTURE, "next Friday", "2023-05-26", "2023-05-27", "day"),
        ("last week", PAST, "last week", "2023-05-08", "2023-05-15", "week"),
        ("the week before last", PAST, "the week before last", "2023-05-01", "2023-05-08", "week"),
        ("over the weekend", PAST, "the weekend", "2023-05-13", "2023-05-15", "day"),
        ("for the weekend", FUTURE, "the weekend", "2023-05-20", "2023-05-22", "day"),
        ("two weeks ago", PAST, "two weeks ago", "2023-05-01", "2023-05-08", "week"),
        ("a couple of years ago", PAST, "a couple of years ago", "2021-01-01", "2022-01-01", "year"),
        ("2 hours ago", PAST, "2 hours ago", "2023-05-17T08:00", "2023-05-17T09:00", "hour"),
        ("in two days", FUTURE, "two days", "2023-05-19", "2023-05-20", "day"),
        ("the last three months", PAST, "the last three months", "2023-02-17T10:00", "2023-05-17T10:00", "month"),
        ("in May", PAST, "May", "2023-05-01", "2023-06-01", "month"),
        ("in June", PAST, "June", "2022-06-01", "2022-07-01", "month"),
        ("in June", FUTURE, "June", "2023-06-01", "2023-07-01", "month"),
        ("last May", PAST, "last May", "2022-05-01", "2022-06-01", "month"),
        ("in December 2021", PAST, "December 2021", "2021-12-01", "2022-01-01", "month"),
        ("May 5th, 2022", PAST, "May 5th, 2022", "2022-05-05", "2022-05-06", "day"),
        ("the twenty-first of May", FUTURE, "the twenty-first of May", "2023-05-21", "2023-05-22", "day"),
        ("Friday, May 12", PAST, "Friday, May 12", "2023-05-12", "2023-05-13", "day"),
        ("by the 5th, please", FUTURE, "the 5th", "2023-06-05", "2023-06-06", "day"),
        ("on 2023-05-02", PAST, "2023-05-02", "2023-05-02", "2023-05-03", "day"),
        ("on 13/05/2023", PAST, "13/05/2023", "2023-05-13", "2023-05-14", "day"),
        ("last summer", PAST, "last summer", "2022-06-01", "2022-09-01", "season"),
        ("in the summer", FUTURE, "the summer", "2023-06-01", "2023-09-01", "season"),
        ("the winter of 2020", PAST, "winter of 2020", "2020-12-01", "2021-03-01", "season"),
        ("in 1999", PAST, "1999", "1999-01-01", "2000-01-01", "year"),
        ("in the 90s", PAST, "the 90s", "1990-01-01", "2000-01-01", "year"),
        ("next Christmas", FUTURE, "next Christmas", "2023-12-24", "2023-12-27", "day"),
        ("at Easter", PAST, "Easter", "2023-04-07", "2023-04-11", "day"),
        ("on Thanksgiving", PAST, "Thanksgiving", "2022-11-24", "2022-11-25", "day"),
        ("half past six this evening", FUTURE, "half past six this evening", "2023-05-17T18:30", "2023-05-17T18:31", "minute"),
        ("ten to one this afternoon", FUTURE, "ten to one this afternoon", "2023-05-17T12:50", "2023-05-17T12:51", "minute"),
        ("at 3:30 pm", FUTURE, "3:30 pm", "2023-05-17T15:30", "2023-05-17T15:31", "minute"),
        ("at 9 am", FUTURE, "9 am", "2023-05-18T09:00", "2023-05-18T09:01", "minute"),
    ],
)  # fmt: skip
def test_an_expression_is_resolved(text: str, leaning: Leaning, words: str, start: str, end: str, precision: str) -> None:
    (found,) = times(text, NOW, leaning=leaning)
    assert found.span.words == text[found.begin : found.end] == words
    assert (found.span.start, found.span.end) == (utc(start), utc(end))
    assert found.span.precision is Precision(precision)


@pytest.mark.parametrize(
    "text",
    [
        "I may march on.", "Every Friday we meet.", "April told June.", "a second helping", "It fell to 20 degrees.",
        "They sat in the morning sun.", "on the 5th floor", "at 3 different places", "June people", "12/05/2023",
        "one day soon",
        "the other day", "by 10 points", "room 1999", "half past caring", "at nine", "until half past six, or 7:30",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_time_is_none(text: str) -> None:
    assert times(text, NOW) == ()


def test_a_day_is_that_of_the_place() -> None:
    late = datetime(2023, 5, 17, 23, 30, tzinfo=UTC)  # already the 18th in Berlin
    (there,) = times("yesterday", late, zone="Europe/Berlin")
    assert there.span.start == datetime(2023, 5, 16, 22, 0, tzinfo=UTC)
    (offset,) = times("yesterday", late, zone="UTC-05:00")
    assert offset.span.start == datetime(2023, 5, 16, 5, 0, tzinfo=UTC)


@pytest.mark.parametrize("zone", ["Mars/Base", "+99:00", "../etc", "Europe"])
def test_a_zone_that_is_none_is_said(zone: str) -> None:
    with pytest.raises(ZoneUnknown):
        times("yesterday", NOW, zone=zone)


def test_a_language_without_rules_has_no_times() -> None:
    assert times("yesterday", NOW, language="fr") == ()
    assert times("yesterday", NOW, language="en-GB") != ()


@pytest.mark.parametrize(
    ("question", "words", "since", "until"),
    [
        ("What has Ana done since May?", "since May", "2023-05-01", None),
        ("Where was I before last week?", "before last week", None, "2023-05-08"),
        ("What happened after Christmas?", "after Christmas", "2022-12-27", None),
        ("What was said between March and June 2022?", "between March and June 2022", "2022-03-01", "2022-07-01"),
        ("Who called from Monday to Friday?", "from Monday to Friday", "2023-05-08", "2023-05-13"),
        ("What did we plan last month?", "last month", "2023-04-01", "2023-05-01"),
        ("What did Bo promise by Friday?", "by Friday", None, "2023-05-13"),
    ],
)
def test_a_question_asks_about_a_window(question: str, words: str, since: str | None, until: str | None) -> None:
    (window,) = windows(question, NOW)
    assert question[window.begin : window.end] == words
    assert (window.since, window.until) == (since and utc(since), until and utc(until))


_GLUE = """last this next past coming the of in on at since ago from between to and before after night morning tonight today
    am pm half past quarter 5 31 29 30th 2020 1900 2099 999 24 :30 12:61 , . weekend summer every 00s"""
_WORDS = [*WEEKDAYS, *MONTHS, *NUMBERS, *ORDINALS, *UNITS, *FEASTS, *re.findall(r"\S+", _GLUE)]


@given(
    st.one_of(st.text(), st.lists(st.sampled_from(_WORDS), max_size=12).map(" ".join)),
    st.datetimes(datetime(1900, 1, 1), datetime(2200, 12, 31), timezones=st.just(UTC)),
    st.sampled_from(Leaning),
    st.sampled_from([None, "Europe/Berlin", "-11:30", "Pacific/Kiritimati"]),
)
def test_any_text_at_any_time_has_times_in_order_or_none(text: str, said: datetime, leaning: Leaning, zone: str | None) -> None:
    last = 0
    for found in times(text, said, leaning=leaning, zone=zone):
        assert last <= found.begin < found.end <= len(text)
        assert found.span.words == text[found.begin : found.end]
        assert found.span.start < found.span.end
        last = found.end
    for window in windows(text, said, leaning=leaning, zone=zone):
        assert window.since is None or window.until is None or window.since < window.until


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
