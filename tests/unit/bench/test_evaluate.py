from dataclasses import replace

import numpy as np

from service.identity.thresholds import CAMPPLUS, constant
from service.types.people import AccessPolicy, VoiceOutcome
from tests.bench.locomo_id.evaluate import ask, hear, ours, paper, routing_tally
from tests.bench.locomo_id.gates import may_read
from tests.unit.bench.collections_made import MadeVoices, a_query, two_sessions
from tests.unit.identity.voices import axis, between

OURS = ours(CAMPPLUS)
GATED = paper("gated", constant("campplus", link=0.5, update=0.6, origin="test"))


def everybody(voice: str) -> str:
    return "all"


def test_two_voices_are_two_people_over_all_sessions():
    for system in (OURS, GATED):
        heard = hear(two_sessions(), system, MadeVoices())
        assert len(set(heard.speakers())) == 2
        assert set(heard.owners().values()) == {"ana", "ben"}
        tally = routing_tally(heard, everybody)["all"]
        assert (tally["right_create"], tally["right_link"], tally["turns"]) == (2, 3, 5)
        assert tally["b3_precision"] == tally["b3_recall"] == 5


def test_a_turn_put_down_to_the_wrong_person_counts_against_both():
    """m4 is ana's and sounds like ben."""
    heard = hear(two_sessions(), GATED, MadeVoices({"m4": axis(1)}))
    tally = routing_tally(heard, everybody)["all"]
    assert tally["right_link"] == 2
    assert np.isclose(tally["b3_precision"], 2 + 2 * 2 / 3 + 1 / 3)
    assert np.isclose(tally["b3_recall"], 2 + 2 * 2 / 3 + 1 / 3)


def test_a_fragment_is_merged_by_ours_and_counts_as_one():
    """m4 is somebody new alone; merging needs more than one turn, so it stays a fragment and is counted as one."""
    heard = hear(two_sessions(), GATED, MadeVoices({"m4": axis(5)}))
    tally = routing_tally(heard, everybody)["all"]
    assert (tally["people"], tally["speakers"], tally["false_new"]) == (3, 2, 1)
    merged = replace(heard, people={p: replace(v, same_as=_first_of(heard, "ana")) for p, v in heard.people.items()})
    assert routing_tally(merged, everybody)["all"]["people"] == 1


def _first_of(heard, voice: str) -> str:
    return next(p for p, v in heard.owners().items() if v == voice)


def test_figures_are_those_of_the_voices_of_a_group():
    heard = hear(two_sessions(), OURS, MadeVoices())
    tallies = routing_tally(heard, lambda voice: voice)
    assert {name: tally["turns"] for name, tally in tallies.items()} == {"ana": 3, "ben": 2}


def test_asking_is_by_voice_and_strangers_are_nobody():
    heard = hear(two_sessions(), OURS, MadeVoices())
    voices = MadeVoices({"known": axis(0), "stranger": axis(6), "between": between(0.50, 0, 6)})
    verdicts = {name: ask(heard, a_query("ana", name), OURS, voices) for name in ("known", "stranger", "between")}
    assert heard.owners()[verdicts["known"].person_id or ""] == "ana"
    assert verdicts["stranger"].outcome is VoiceOutcome.REJECT
    assert verdicts["between"].person_id is None


def test_own_reads_what_one_said_and_attended_what_one_heard():
    heard = hear(two_sessions(), OURS, MadeVoices())
    ana, ben = (_first_of(heard, voice) for voice in ("ana", "ben"))
    own = may_read(heard.collection, heard.speakers(), AccessPolicy.OWN)
    assert (own[ana].tolist(), own[ben].tolist()) == ([0, 2, 4], [1, 3])
    attended = may_read(heard.collection, heard.speakers(), AccessPolicy.ATTENDED)
    assert (attended[ana].tolist(), attended[ben].tolist()) == ([0, 1, 2, 4], [1, 3])


def test_with_tracks_a_turn_alone_too_weak_follows_its_track():
    loose, tracked = (
        hear(two_sessions(), ours(CAMPPLUS, tracks=t), MadeVoices({"m2": between(0.40, 0, 7)})) for t in (False, True)
    )
    ana = _first_of(tracked, "ana")
    assert tracked.speakers()[2] == ana
    assert loose.decisions[2] != tracked.decisions[2]
