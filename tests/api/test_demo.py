"""The demo's story is told over the real service: one question, and to each asker what they may know."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from service.api.tokens import issue
from service.app import serving
from service.demo import story as telling
from service.demo.client import Client
from service.demo.reference import household
from service.demo.story import Asked, Story
from service.demo.tell import told
from service.graph.driver import Graph
from service.graph.forget_space import forget_space
from service.settings import load_settings
from service.types.ids import fresh
from service.wiring import Services

HOME = replace(household(), recordings=household().recordings[:1])
"""Its first evening: Ben goes out, and the others speak of his present."""


@pytest.fixture(scope="module")
async def story(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Story]:
    space = f"demo-{fresh()}"
    settings = load_settings(space=space, data_dir=tmp_path_factory.mktemp("demo"))
    scopes = ("admin", "ingest", "ask", "read_all")
    token, _ = issue(settings.tokens_file, subject="test", space=space, scopes=scopes)
    services = Services(settings, graph)
    await services.ingest()
    async with serving(services) as url:
        yield await asyncio.to_thread(telling.tell, Client(url, token), HOME, (), lambda name: lambda share, stage: None)
    await forget_space(graph, space)


def asked(story: Story, clip: str, listener: str | None = None) -> Asked:
    return story.questions[telling.QUESTIONS.index(telling.ByVoice(clip, listener))]


async def test_the_space_lets_a_voice_ask_and_says_so(story: Story) -> None:
    assert (story.space["voiceAccess"], story.space["anonymousVoices"]) == ("open", "keep")


async def test_the_three_members_are_found_under_their_names_and_nobody_else(story: Story) -> None:
    assert {(p.name, p.really) for p in story.people} == {("Nora", "Nora"), ("Ben", "Ben"), ("Ruth", "Ruth")}
    (found,) = story.match
    assert found.attribution >= 0.9
    assert found.addressees is not None and found.addressees >= 0.6


async def test_the_same_question_has_another_answer_for_another_voice(story: Story) -> None:
    ruth, ben = asked(story, "ask_surprise_ruth"), asked(story, "ask_surprise_ben")
    assert ruth.question == ben.question
    assert (ruth.taken_for, ben.taken_for) == ("Ruth", "Ben")
    assert "telescope" in ruth.answer and "telescope" not in ben.answer
    assert ruth.visible is not None and ben.visible is not None and ruth.visible > ben.visible


async def test_less_is_said_while_somebody_else_listens(story: Story) -> None:
    alone, heard = asked(story, "ask_surprise_nora"), asked(story, "ask_surprise_nora", "ask_surprise_ben")
    assert "telescope" in alone.answer and "telescope" not in heard.answer
    assert all("telescope" not in (c.text or "") for c in heard.citations)


async def test_before_an_unknown_listener_nothing_private_is_said(story: Story) -> None:
    assert asked(story, "ask_surprise_nora", "ask_surprise_stranger").visible == 0


async def test_a_voice_never_heard_gets_no_answer_and_is_told_why(story: Story) -> None:
    stranger = asked(story, "ask_surprise_stranger")
    assert (stranger.outcome, stranger.answer, stranger.visible) == ("voice_not_recognised", "", None)
    assert "voice is nobody's" in stranger.reason


async def test_the_story_can_be_shown_in_a_terminal(story: Story) -> None:
    from rich.console import Console

    console = Console(width=140)
    with console.capture() as shown:
        console.print(told(story))
    assert "Ruth asks" in shown.get() and "voice_access is open" in shown.get()
