"""When are the means of channels made anew? Whenever exemplars came or went: they are a function of the live ones only."""

from __future__ import annotations

from collections.abc import Mapping

from service.graph.channels import list_channel_spaces, list_live_exemplars, save_channels
from service.graph.driver import Tx
from service.identity.channels import channel_means
from service.types.people import ChannelMean, Exemplar, PersonVoice

MAX_PEOPLE = 500
"""Of a channel, those with the least ids, which are as good as drawn by lot: the mean of 500 is off by less than 0.05 in
length, and closing a session in a space of 10,000 people costs no more than in one of 500."""


def means_of(voices: Mapping[str, PersonVoice]) -> dict[str, ChannelMean]:
    """From all voices of a space, as the graph has them."""
    heard: dict[str, dict[str, list[Exemplar]]] = {}
    for person in sorted(voices):
        for exemplar in voices[person].exemplars:
            people = heard.setdefault(exemplar.channel, {})
            if exemplar.twin_of is None and (person in people or len(people) < MAX_PEOPLE):
                people.setdefault(person, []).append(exemplar)
    means: dict[str, ChannelMean] = {}
    for people in heard.values():
        means |= channel_means(people)
    return means


async def remake_channel_means(tx: Tx, space: str) -> None:
    """From the graph, of every encoder whose means the space has. The caller holds the lock of the space."""
    for encoder in await list_channel_spaces(tx, space):
        exemplars = await list_live_exemplars(tx, space, encoder, MAX_PEOPLE)
        await save_channels(tx, space, encoder, channel_means(exemplars))
