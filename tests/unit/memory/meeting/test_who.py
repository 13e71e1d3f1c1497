"""Who is said to have said it: CASES.md 8 to 18, 22 and 32, as far as a meeting's events tell it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from service.memory.meeting import Doubt, Revised
from service.memory.meeting.people import namesakes
from service.types.audio import Segment, Word
from service.types.meeting import AccountKey, Base, Ended, Joined, Left, Renamed, Speaker, Spoke, Uttered
from tests.unit.memory.meeting.events import START, Told, says, who

ANA, BEN = who("1", "Ana"), who("2", "Ben")


def spoke(speaker: Speaker, start: float, end: float | None) -> Spoke:
    return Spoke(key=f"{speaker.handle} {start} {end}", speaker=speaker, start=start, end=end, base=Base.MEETING)


def timed(event: Uttered) -> Uttered:
    """With times of its words, evenly."""
    words = event.text.split()
    step = (event.end - event.start) / len(words)
    times = [Segment(event.start + n * step, event.start + (n + 1) * step) for n in range(len(words))]
    return replace(event, words=tuple(Word(word, time) for word, time in zip(words, times, strict=True)))


def test_case_8_a_label_that_the_platforms_marks_contradict_is_doubted_and_named_no_other() -> None:
    said = says(ANA, "So nice to meet you, Ana.", 10.0, 12.0)
    meeting = Told(spoke(ANA, 0.0, 2.0), spoke(BEN, 9.8, 12.2), said).wait()
    assert (meeting.turns[0].track, meeting.turns[0].doubts) == ("1", (Doubt.MARKED,))
    meeting = Told(said).wait().tell(spoke(ANA, 0.0, 2.0), spoke(BEN, 9.8, 12.2))
    assert meeting.turns[0].doubts == (Doubt.MARKED,)  # whichever came first
    meeting.tell(spoke(ANA, 10.0, 11.0))
    assert not meeting.turns[0].doubts


def test_case_9_an_early_name_gives_way_and_earlier_turns_go_with_it() -> None:
    """What is said stays with its handle; a provisional name never wins over an earned one; a segment may change hands."""
    tom, dana = who("1", "Tom", confidence=0.0), who("1", "Dana", confidence=0.9)
    meeting = Told(says(tom, "Hold on.", 0.0, id="a"), says(dana, "I'm Dana.", 40.0, id="b")).wait()
    meeting.tell(says(tom, "Yes.", 50.0, id="c")).wait()
    assert {turn.track for turn in meeting.turns} == {"1"} and meeting.people["1"].name == "Dana"
    assert set(meeting.people["1"].names) == {"Tom", "Dana"}
    meeting.tell(says(BEN, "Hold on.", 0.0, id="a", revision=1))
    assert [turn.track for turn in meeting.turns] == ["2", "1", "1"] and isinstance(meeting.outcomes[-1], Revised)


def test_case_10_unknown_is_no_name_and_the_name_comes_later() -> None:
    unknown = [who("u1", name) for name in ("Unknown", None, "", "Speaker", "Guest", "None")]
    meeting = Told(*(says(speaker, f"Line {n}.", n * 3.0) for n, speaker in enumerate(unknown))).wait()
    assert meeting.people["u1"].name is None and {turn.track for turn in meeting.turns} == {"u1"}
    meeting.tell(Renamed(key="r", speaker=who("u1", "Ana")), says(who("u1", "Unknown"), "Again.", 30.0)).wait()
    assert meeting.people["u1"].name == "Ana"


def test_case_10_two_of_nobody_are_not_one() -> None:
    meeting = Told(says(None, "Hm.", 0.0), says(who(None, "Unknown"), "Well.", 5.0)).wait()
    assert len({turn.track for turn in meeting.turns}) == 2 and meeting.people == {}
    assert all(turn.doubts == (Doubt.NAMELESS,) for turn in meeting.turns)


def test_case_11_words_before_the_first_name_stay_nobodys() -> None:
    meeting = Told(says(None, "so as I was saying", 0.0, 1.9), says(ANA, "Hello.", 2.0)).wait()
    assert [turn.track == "1" for turn in meeting.turns] == [False, True]


def test_case_12_a_tile_with_several_voices_is_marked_and_its_voices_stand_under_it() -> None:
    account = AccountKey("zoom", "u9")
    room = who("9", "Carol's MacBook", account=account)
    voices = [Speaker(str(n), scope="9") for n in (1, 2)]
    for events in ([room, *voices], [*voices, room], [voices[0], room, voices[1]]):
        meeting = Told(*(says(speaker, f"Line {n} is here.", n * 3.0) for n, speaker in enumerate(events))).wait()
        assert {track: (p.several, p.tile) for track, p in meeting.people.items()} == {
            "9": (True, None),
            "9/1": (False, "9"),
            "9/2": (False, "9"),
        }


def test_case_12_a_tile_that_is_called_a_room_is_marked_and_one_voice_in_a_tile_is_not() -> None:
    meeting = Told(
        says(who("9", "Conference Room 4"), "Hello.", 0.0), says(ANA, "Hi.", 2.0), says(Speaker("a", "1"), "Hm.", 4.0)
    )
    assert {track: p.several for track, p in meeting.wait().people.items()} == {"9": True, "1": False, "1/a": False}


def test_case_12_a_tile_that_the_platform_says_is_a_room_is_marked() -> None:
    room = who("9", "Amsterdam", is_room=True)
    meeting = Told(says(room, "Hello.", 0.0), says(who("9", "Amsterdam"), "So.", 2.0), says(ANA, "Hi.", 4.0)).wait()
    assert {track: p.several for track, p in meeting.people.items()} == {"9": True, "1": False}


def test_case_13_two_participants_of_one_name_stay_two_and_are_told_apart_by_no_name() -> None:
    one, other = who("a", "Camille Martin"), who("b", "camille martin (Guest)")
    meeting = Told(says(one, "Bonjour.", 0.0), says(other, "Salut.", 2.0), says(ANA, "Hi.", 4.0)).wait()
    assert [turn.track for turn in meeting.turns] == ["a", "b", "1"]
    assert namesakes(meeting.people.values()) == {"a", "b"}


def test_case_13_where_there_is_only_a_name_it_may_be_anybodys() -> None:
    meeting = Told(says(who(None, "Camille Martin"), "Bonjour.", 0.0)).wait()
    assert meeting.people["/Camille Martin"].is_name and namesakes(meeting.people.values()) == {"/Camille Martin"}


def test_whoever_is_called_what_anothers_handle_is_is_another() -> None:
    account = AccountKey("zoom", "ana")
    for scope in ("", "c1"):
        known, alike = Speaker("16778240", scope, "Ana", account), Speaker(None, scope, "16778240")
        meeting = Told(says(known, "Hello.", 0.0), says(alike, "I am not Ana.", 3.0)).wait()
        first, second = (meeting.people[turn.track] for turn in meeting.turns)
        assert first.accounts == (account,) and not second.accounts and second.is_name
        assert first.names == ("Ana",) and second.names == ("16778240",)


def test_case_14_names_are_kept_as_sent() -> None:
    names = ["Amr E. External unfamiliar", "Jonny (Guest)", "Maria Guestrin"]
    meeting = Told(*(says(who(str(n), name), f"This is {n}.", n * 3.0) for n, name in enumerate(names))).wait()
    assert [participant.name for _, participant in sorted(meeting.people.items())] == names


def test_case_15_what_one_label_has_of_two_is_cut_where_the_marks_change() -> None:
    text = "So that is my whole report. Thank you very much for that."
    mixed = timed(says(ANA, text, 0.0, 12.0, source="caption"))
    marks = [spoke(ANA, 0.0, 6.0), spoke(BEN, 6.1, 12.0)]
    for events in ([mixed, *marks], [*marks, mixed]):
        turns = Told(*events).wait().turns
        assert [(turn.track, turn.text) for turn in turns] == [
            ("1", "So that is my whole report."),
            ("2", "Thank you very much for that."),
        ]
        assert turns[1].source == "marks" and turns[0].segment.end <= turns[1].segment.start


def test_case_15_a_word_or_two_and_somebodys_own_stream_are_not_cut() -> None:
    said = timed(says(ANA, "So that is my whole report. Thank you all.", 0.0, 9.0, source="caption"))
    marks = [spoke(ANA, 0.0, 3.0), spoke(BEN, 4.0, 5.6), spoke(ANA, 5.8, 9.0)]
    assert [turn.text for turn in Told(*marks, said).wait().turns] == [said.text]
    own = replace(said, source="platform")
    assert [turn.track for turn in Told(spoke(ANA, 0.0, 3.0), spoke(BEN, 3.2, 9.0), own).wait().turns] == ["1"]


def test_case_16_what_has_no_speaker_is_not_the_other_one() -> None:
    meeting = Told(says(ANA, "Hello?", 0.0), says(None, "Yes, hello.", 2.0), says(ANA, "Good.", 4.0)).wait()
    assert meeting.turns[1].track not in ("1", "2") and Doubt.NAMELESS in meeting.turns[1].doubts


def test_case_16_nobodys_words_are_whose_alone_is_marked_and_of_two_nobodys() -> None:
    said = says(None, "Shall we begin?", 10.0, 12.0, source="diariser")
    meeting = Told(said).wait().tell(spoke(BEN, 9.9, 12.1))
    assert (meeting.turns[0].track, meeting.turns[0].source, meeting.turns[0].doubts) == ("2", "marks", ())
    assert Told(said, spoke(BEN, 9.9, 12.1), spoke(ANA, 11.0, 12.0)).wait().turns[0].track.startswith("?/")


def test_a_mark_without_an_end_holds_until_it_is_taken_back() -> None:
    said = says(None, "Shall we begin?", 10.0, 12.0, source="diariser")
    on, off = spoke(BEN, 9.0, None), spoke(BEN, 10.2, 10.2)
    assert Told(on, said).wait().turns[0].track == "2"
    for events in ([on, off, said], [said, off, on], [off, said, on]):
        assert Told(*events).wait().turns[0].track.startswith("?/")
    assert Told(replace(on, key="early", start=-121.0), says(ANA, "Hm.", 0.0), said).wait().turns[1].track.startswith("?/")


def test_case_17_somebody_who_is_in_no_roster_takes_part_under_their_own_handle() -> None:
    local = who("5b2c@local", None)
    meeting = Told(Joined(key="j", speaker=ANA), says(ANA, "Hello.", 0.0), says(local, "Hi from the room.", 2.0)).wait()
    assert [turn.track for turn in meeting.turns] == ["1", "5b2c@local"] and not meeting.people["5b2c@local"].accounts


def test_case_18_labels_of_one_connection_say_nothing_about_the_next() -> None:
    first, second = Speaker("0", scope="c1"), Speaker("0", scope="c2")
    meeting = Told(says(first, "Hello there.", 1.0), says(second, "Something else.", 1.5), says(first, "Bye.", 9.0)).wait()
    assert [turn.track for turn in meeting.turns] == ["c1/0", "c2/0", "c1/0"]
    assert {p.tile for p in meeting.people.values()} == {None}


def test_case_22_no_words_are_no_turn() -> None:
    meeting = Told(says(ANA, "  ", 0.0, id="a"), says(BEN, "Hi.", 2.0, id="b")).wait()
    assert meeting.texts == ["Hi."]
    assert meeting.tell(says(BEN, "", 2.0, id="b", revision=1)).texts == []


def test_case_32_a_bots_words_are_its_own_however_they_come_back() -> None:
    bot = who("bot", "Notetaker", is_bot=True)
    own = says(bot, "I am recording this meeting now.", 5.0, 7.0)
    back = says(None, "I am recording this meeting now", 5.3, 7.2)
    mic = says(ANA, "I am recording this meeting now", 5.2, 7.2, confidence=1.0)
    (turn,) = Told(back, mic, own).wait().turns
    assert turn.by_bot and turn.track == "bot" and len(turn.copies) == 2


def test_case_32_that_it_is_a_bot_may_be_told_later() -> None:
    meeting = Told(says(who("b"), "I am recording.", 0.0), says(ANA, "Fine.", 3.0)).wait()
    assert not meeting.turns[0].by_bot
    meeting.tell(Renamed(key="r", speaker=who("b", "Bot", is_bot=True)))
    assert [turn.by_bot for turn in meeting.turns] == [True, False] and meeting.people["b"].is_bot


def test_handles_and_scopes_of_whatever_letters_stay_apart() -> None:
    speakers = [Speaker("a/b"), Speaker("b", scope="a"), Speaker("a%2Fb"), Speaker("?/id:x"), Speaker("id:x", scope="?")]
    meeting = Told(
        *(says(one, f"Line number {n}.", n * 3.0) for n, one in enumerate(speakers)), says(None, "x", 20.0, id="x")
    ).wait()
    assert len({turn.track for turn in meeting.turns}) == 6


# ---- when they were there


def moved(kind: type[Joined] | type[Left], speaker: Speaker, after: float) -> Joined | Left:
    return kind(key=f"{kind.__name__} {speaker.handle} {after}", speaker=speaker, at=START + timedelta(seconds=after))


def test_whoever_comes_and_goes_attends_in_between() -> None:
    moves = [moved(Joined, ANA, 5), moved(Left, ANA, 20), moved(Joined, ANA, 30), moved(Joined, ANA, 32), moved(Left, BEN, 9)]
    meeting = Told(says(BEN, "First.", 0.0, at=START + timedelta(seconds=1)), *reversed(moves)).wait()
    ana = meeting.people["1"]
    assert ana.attends == (Segment(5.0, 20.0),) and ana.here_since == 30.0
    assert meeting.people["2"].attends == ()  # that somebody went does not say when they came
    late = says(BEN, "Last.", 44.0, 45.0, at=START + timedelta(seconds=45))
    ana = meeting.tell(late, Ended(key="end")).wait().people["1"]
    assert ana.attends == (Segment(5.0, 20.0), Segment(30.0, 45.0)) and ana.here_since is None


def test_a_mark_that_ends_late_ends_for_all_that_was_said_since() -> None:
    """It held until more was told: what was taken for hers after that is nobody's."""
    words = says(None, "So what do we do about that?", 30.0, 32.0, source="diariser")
    began = Spoke(key="m1", speaker=ANA, start=1.0, end=None, base=Base.MEETING)
    stopped = Spoke(key="m2", speaker=ANA, start=10.0, end=10.0, base=Base.MEETING)
    meeting = Told(began, words).wait()
    assert [turn.track for turn in meeting.turns] == ["1"]
    meeting.tell(stopped).wait()
    assert meeting.turns == Told(began, stopped, words).wait().turns and meeting.turns[0].track.startswith("?")
