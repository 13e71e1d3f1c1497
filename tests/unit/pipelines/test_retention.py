"""Is every place where personal data lives in the schedule, with the days that the space set?"""

from __future__ import annotations

from dataclasses import replace

from graph_schema.stores import STORES
from service.pipelines.retention import schedule
from service.pipelines.retention_page import as_page
from service.types.people import AnonymousVoices, OptOuts, SpaceSettings

SPACE = SpaceSettings("home", anonymous_days=17, sound_days=5, session_days=365)


def test_every_store_that_is_built_has_a_row_that_says_how_long() -> None:
    kept = schedule(SPACE, 0)
    assert [one.store for one in kept] == [store.name for store in STORES if store.built]
    assert all(one.until and one.erased and one.holds for one in kept)


def test_the_days_are_those_of_the_space() -> None:
    until = {one.store: one.until for one in schedule(SPACE, 3)}
    assert "17 days" in until["voices"] and "5 days" in until["kept sound"] and "365 days" in until["sessions"]
    assert "365 days" in until["messages"] and until["questions"] == "3 days"
    heard = {one.store: one.until for one in schedule(replace(SPACE, voice_days=90), 0)}["voices"]
    assert "90 days after they were last heard" in heard and "17 days" in heard
    other = replace(SPACE, anonymous_voices=AnonymousVoices.EPHEMERAL, workplace=True, session_days=None, opt_outs=OptOuts.IDS)
    until = {one.store: one.until for one in schedule(other, 0)}
    assert "not at all" in until["voices"] and "never" in until["kept sound"] and "erased" in until["sessions"]
    assert until["questions"] == "not at all" and "logins alone" in until["opt-outs"]


def test_the_page_is_whole_and_runs_nothing() -> None:
    page = as_page("<b>home & away</b>", schedule(SPACE, 0))
    assert page.startswith("<!doctype html>") and page.rstrip().endswith("</html>")
    assert "&lt;b&gt;home &amp; away&lt;/b&gt;" in page and "<script" not in page and "http" not in page
    assert page.count("<tr>") == len(schedule(SPACE, 0)) + 1
