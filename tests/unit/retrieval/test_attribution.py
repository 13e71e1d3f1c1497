from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from service.retrieval.attribution import Attributed, attributed
from service.types.memory import Addressee, How, Message
from service.types.search import Found, Hit, Tool, Wants

AT = datetime(2026, 5, 3, tzinfo=UTC)


def a_hit(by: str | None, text: str, score: float = 0.5, *, to: tuple[str, ...] = (), because: str = "attended") -> Hit:
    addressees = tuple(Addressee(person, 0.9, How.CALLER) for person in to)
    message = Message(text, "s", 0, text, "en", 0, 1, AT, by, "voice", addressees, None, "link", 0.7, 0.2, 0.5)
    return Hit(message, score, (Found(Tool.BM25, 1, 1.0),), because)


def people(found: tuple[Attributed, ...]) -> list[str | None]:
    return [one.person_id for one in found]


def test_whoever_said_what_fits_best_is_named_first() -> None:
    hits = [a_hit("ana", "we leave for Rome on Friday", 0.9), a_hit("bo", "Friday is fine", 0.6), a_hit("ana", "Rome!", 0.1)]
    found = attributed(hits, "leave Rome Friday", Wants.SPEAKER)
    assert people(found) == ["ana", "bo"]
    assert [hit.message.text for hit in found[0].hits] == ["we leave for Rome on Friday", "Rome!"]
    assert all(0 <= one.score <= 1 for one in found)


def test_who_was_told_did_not_tell_it() -> None:
    hits = [a_hit("bo", "the trip?", 0.9), a_hit("ana", "the trip is on Friday", 0.5, to=("bo",)), a_hit("cy", "the trip")]
    assert people(attributed(hits, "trip", Wants.SPEAKER, addressees=("bo",))) == ["ana"]
    assert people(attributed(hits[2:], "trip", Wants.SPEAKER, addressees=("bo",))) == ["cy"], "no edge tells it of anybody"


def test_to_whom_is_read_from_the_one_message_that_fits_best() -> None:
    hits = [a_hit("ana", "I lost my work", 0.9, to=("cy",)), *(a_hit("ana", "work", 0.5, to=("bo",)) for _ in range(3))]
    assert people(attributed(hits, "lost work", Wants.ADDRESSEE, speakers=("ana",)))[0] == "cy"


def test_a_rare_word_tells_more_than_a_common_one() -> None:
    hits = [a_hit("ana", "green is bad luck", 0.5), *(a_hit(f"p{i}", "the stage is wide", 0.55) for i in range(4))]
    assert people(attributed(hits, "luck stage", Wants.SPEAKER))[0] == "ana"


def test_who_offers_offered_and_who_asks_asked() -> None:
    hits = [a_hit("bo", "the hall needs paint", 0.5), a_hit("ana", "we could paint the hall", 0.5)]
    assert people(attributed(hits, "paint hall", Wants.SPEAKER, verbs={"offered"}))[0] == "ana"
    asking = [a_hit("bo", "are you going to Rome?", 0.5), a_hit("ana", "going to Rome", 0.45)]
    assert people(attributed(asking, "going Rome", Wants.SPEAKER))[0] == "ana"
    assert people(attributed(asking, "going Rome", Wants.SPEAKER, verbs={"asked"}))[0] == "bo"


def test_a_questions_words_are_its_answers() -> None:
    asked = a_hit("bo", "who deletes the log files, so that the disk lasts?", 0.9)
    answer = a_hit("ana", "Me, every seven days.", 0.3)
    answer = replace(answer, message=replace(answer.message, reply_to=asked.message.id))
    hits = [asked, a_hit("cy", "the disk is full of files", 0.5), answer]
    assert people(attributed(hits, "delete log files", Wants.SPEAKER, verbs={"does"}))[0] == "ana"
    assert people(attributed([asked, *hits[1:2]], "delete log files", Wants.SPEAKER))[0] == "bo", "nobody answers it"
    assert people(attributed(hits, "delete log files", Wants.SPEAKER, verbs={"asked"}))[0] == "bo"


def test_the_asker_is_the_less_likely_one() -> None:
    hits = [a_hit("me", "the director's chair", 0.5, because="said_it"), a_hit("bo", "the director's chair", 0.45)]
    assert people(attributed(hits, "chair", Wants.SPEAKER)) == ["bo", "me"]


def test_who_is_spoken_of_seldom_said_it() -> None:
    hits = [a_hit("bo", "the nights are long", 0.5), a_hit("ana", "tell bo about the nights", 0.45)]
    assert people(attributed(hits, "nights", Wants.SPEAKER, named=("bo",))) == ["ana", "bo"]
    assert people(attributed(hits, "nights", Wants.SPEAKER, named=("bo",), addressees=("bo",))) == ["ana"]


def test_a_voice_not_recognised_is_told_apart_by_its_session() -> None:
    found = attributed([a_hit(None, "the trip")], "trip", Wants.SPEAKER)
    assert (found[0].person_id, found[0].voice) == (None, "voice")


def test_nobody_is_named_where_nothing_was_found() -> None:
    assert attributed([], "trip", Wants.SPEAKER) == ()
    assert attributed([a_hit("ana", "trip")], "trip", Wants.SPEAKER, speakers=("bo",)) == ()
    assert attributed([replace(a_hit("ana", "x"), score=0.0)], "", Wants.SPEAKER)[0].score == 0.0
