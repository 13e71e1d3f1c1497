"""What is done with something that is hidden, until nothing of it is left? Store by store, in batches; each looks for what is
still there, so that a sweep that was broken off is simply begun again, and one that is through changes nothing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial

import numpy as np

from graph_schema.schema import TEXT_SPACES, VOICE_SPACES
from service.errors import NotFound
from service.graph.driver import Graph, Tx
from service.graph.erase import add_counts, find_erasure
from service.graph.erase_contexts import list_bare, list_embedders, list_named_in, save_bare
from service.graph.erase_names import list_texts_naming, note_names
from service.graph.erase_own import Own, count_own_vectors, count_own_words, list_own
from service.graph.erase_probe import count_by_id, count_by_text, count_by_vector, count_space, save_redacted, scan
from service.graph.erase_traces import (
    STEPS_OF_A_PERSON,
    STEPS_OF_MEETINGS,
    STEPS_OF_NAMES,
    Step,
    close_silent_meetings,
    erase_readers,
    forget_bare_people,
    forget_checkpoints,
    forget_dead_letters,
    forget_in_events,
    forget_meetings,
    list_corrections_of,
    list_dead_letters,
    list_jobs_left,
    list_meetings_over,
    list_open,
    list_sourceless,
    save_survivors,
)
from service.graph.erase_turns import (
    erase_facts,
    erase_turns,
    erase_voices_of_session,
    list_facts_seen,
    list_turns_of,
)
from service.graph.jobs import save_interrupted
from service.graph.settled_sessions import get_settled_session
from service.graph.silent import list_silent
from service.graph.spaces import get_space, lock_space
from service.graph.voices import NEVER, changed_voices
from service.graph.write_consents import forget_voiceprints, list_encoders
from service.graph.write_corrections import touch
from service.graph.write_macro import save_macro
from service.graph.write_people import VoiceWrite, save_voices
from service.identity.policies import recomputed
from service.memory.erased_names import Names, notes
from service.memory.erasure import TELLS, Fate, fate, is_elsewhere, is_left, redacted, survivors_of, tells
from service.memory.left_brain.weights import WeightConfig
from service.pipelines.channel_means import remake_channel_means
from service.pipelines.closing import context_texts, embed, spoken_as_told
from service.pipelines.erase_files import Files, erase_files
from service.pipelines.erase_plan import SILENT, NameConfig, facts_of
from service.pipelines.jobs import JobsConfig
from service.pipelines.live import give_up
from service.pipelines.naming import name_again
from service.types.audio import Samples, TextEmbedder
from service.types.erasure import OWN_TEXTS, OWN_VECTORS, Erasure, Held, Needles, Probe, SubjectKind

log = logging.getLogger(__name__)

GIVEN_UP = "session_given_up"
"""`error` of a session that an erasure did not wait for any longer."""


@dataclass(frozen=True, slots=True)
class SweepConfig:
    turns: int = 500  # in one transaction, with what hangs on them: some 0.5 s of the space's lock on one core
    facts: int = 500  # as turns
    some: int = 1_000  # of what is a node or an edge alone
    audiences: int = 50  # looked at together
    moved: int = 1_000  # messages and facts that another audience is found for: the vector indexes take each anew
    looks: int = 5  # for strings; each mends 2,000 of nodes and of edges
    samples: int = 10  # vectors and texts of each index kept from before, to ask it with afterwards
    looked_into: int = 200  # turns that these are taken from
    random: int = 10  # and others, which anything may be near
    names: NameConfig = field(default_factory=NameConfig)


class Sweep:
    """`await sweep(erasure)` empties every store; ids of the sessions and jobs that it has to wait for."""

    def __init__(
        self,
        graph: Graph,
        files: Files,
        forget_mirrored: Callable[[str, Sequence[str]], Awaitable[None]],
        embedder: Callable[[], Awaitable[TextEmbedder]] | None,
        config: SweepConfig,
    ) -> None:
        self._graph, self._files, self._forget_mirrored = graph, files, forget_mirrored
        self._embedder, self._config = embedder, config
        self._half_life = WeightConfig().half_life_days
        self._own: dict[str, Own] = {}
        """By erasure: what some of it was found by."""
        self._looked: dict[str, list[Held]] = {}
        """By erasure: what the last look found, after which nothing was touched."""
        self._elsewhere: dict[str, dict[str, int]] = {}
        """By erasure: places that name them where they were not, and are left until an administrator has looked."""

    async def __call__(self, erasure: Erasure) -> tuple[str, ...]:
        await self._give_up(erasure)
        waits_for = await self._graph.read(list_open, erasure)
        turns = await self._graph.read(list_turns_of, erasure)
        if erasure.id not in self._own:  # another process hid it: what there still is
            self.keep(erasure, await self._graph.read(self.own, erasure))
        await self._noted(erasure)
        late = await self._late_facts(erasure, turns)
        await self._corrections(erasure, turns)
        await self._mirrors(erasure, turns)
        await self._turns(erasure)
        bare = () if erasure.subject.kind is SubjectKind.FACT else await self._graph.read(list_sourceless, erasure)
        await self._facts(replace(erasure, facts=(*erasure.facts, *late, *bare)))
        if erasure.subject.kind is SubjectKind.PERSON:
            for step in STEPS_OF_A_PERSON:
                await self._until_none(step, erasure)
            await self._dead_letters(erasure)
            await self._graph.write(forget_in_events, erasure)
            while await self._graph.write(erase_readers, erasure, self._config.audiences, self._config.moved):
                pass
        if erasure.subject.kind is SubjectKind.SESSION:
            await self._graph.write(erase_voices_of_session, erasure)
        await self._meetings(erasure)
        await self._after(erasure)
        await erase_files(self._graph, self._files, erasure, waits_for)
        await self._strings(erasure)
        await self._mirrors(erasure, turns)  # again: of what was being given to them meanwhile
        return (*waits_for, *await self._graph.read(list_jobs_left, erasure))

    async def _give_up(self, erasure: Erasure) -> None:
        """Sessions that stand open and nobody goes on with are not waited for, nor jobs whose process ended."""
        now = datetime.now(UTC)
        before = now - SILENT
        asked = {*erasure.sessions, *await self._graph.read(list_open, erasure)}
        for session in await self._graph.read(list_silent, erasure.space, asked, before=before):
            log.warning("erasure %s: session %s stands open and is not gone on with: it is given up", erasure.id, session)
            await self._graph.write(give_up, erasure.space, session, GIVEN_UP)
        if await self._graph.read(list_jobs_left, erasure):
            await self._graph.write(partial(save_interrupted, silent_seconds=JobsConfig().silent_seconds))
        if erasure.meetings:
            await self._graph.write(partial(close_silent_meetings, before=before, now=now), erasure)

    def named_elsewhere(self, erasure: Erasure) -> int:
        """Places that its names stand in where it was not, if they are too many: as the last sweep saw them."""
        return sum(self._elsewhere.pop(erasure.id, {}).values())

    async def own(self, tx: Tx, erasure: Erasure) -> Own:
        """What some of it is found by, read before it is hidden: the voices go then."""
        turns = await list_turns_of(tx, erasure)
        few = turns[:: max(1, len(turns) // self._config.looked_into)]
        return await list_own(tx, erasure, few, self._config.samples)

    def keep(self, erasure: Erasure, own: Own) -> None:
        """In memory alone: what it is asked with is of who is erased."""
        self._own[erasure.id] = own

    async def count_turns(self, tx: Tx, erasure: Erasure) -> int:
        return len(await list_turns_of(tx, erasure))

    async def probe(self, erasure: Erasure) -> Probe:
        """What is left, by every way that it may be found."""
        needles, own = needles_of(erasure), self._own.pop(erasure.id, Own())
        drawn = np.random.default_rng(0)
        voices = [_direction(drawn, size) for size in set(VOICE_SPACES.values()) for _ in range(self._config.random)]
        texts = {name: [_direction(drawn, size) for _ in range(self._config.random)] for name, size in TEXT_SPACES.items()}
        left = self._looked.pop(erasure.id, None)
        if left is None:
            left = await self._left(erasure, needles)
        for held in left:
            log.warning("erasure %s: %s.%s still tells of it", erasure.id, held.label, held.property)
        return Probe(
            by_id=await self._graph.read(count_by_id, erasure),
            by_text=await self._graph.read(count_by_text, erasure, needles, partial(tells, names=needles.names))
            + await self._graph.read(count_own_words, erasure.space, own),
            by_vector=await self._graph.read(count_by_vector, erasure, voices, texts)
            + await self._graph.read(count_own_vectors, erasure.space, own),
            by_scan=len(left),
            asked={
                "ids": len(needles.ids),
                "names": len(needles.names),
                "nodes": await self._graph.read(count_space, erasure.space),
                "vectors": len(voices) + sum(map(len, texts.values())) + len(own.vectors),
                OWN_VECTORS: len(own.vectors),
                OWN_TEXTS: len(own.phrases),
            },
        )

    # ---- words

    async def _noted(self, erasure: Erasure) -> None:
        """What others say keeps the name; what is read out of it later does not say it again."""
        if erasure.subject.kind is not SubjectKind.PERSON:
            return
        told = await self._graph.read(list_texts_naming, erasure)
        names, there = Names(erasure.names, erasure.words), set(erasure.sessions)
        noted = {
            id: found
            for id, texts in told.items()
            if (found := notes(id, texts, names if id in there else replace(names, words=())))
        }
        elsewhere = set(noted) - there
        if len(elsewhere) > self._config.names.most_elsewhere and not erasure.although:
            noted = {id: found for id, found in noted.items() if id in there}
        if noted:
            await self._graph.write(note_names, erasure.space, noted)

    async def _late_facts(self, erasure: Erasure, turns: Sequence[str]) -> tuple[str, ...]:
        """Those that were written since it was hidden, of turns that are not taken away yet, or for a name."""
        if erasure.subject.kind is SubjectKind.FACT:
            return ()
        seen = await self._graph.read(list_facts_seen, erasure, turns)
        return facts_of(erasure, seen, self._config.names.most_elsewhere)

    async def _corrections(self, erasure: Erasure, turns: Sequence[str]) -> None:
        """Before the turns: afterwards nobody knows which they were."""
        if erasure.subject.kind is not SubjectKind.FACT:
            while await self._graph.write(self._survivors, erasure, turns):
                pass

    async def _survivors(self, tx: Tx, erasure: Erasure, turns: Sequence[str]) -> int:
        await lock_space(tx, erasure.space)
        people = erasure.people if erasure.subject.kind is SubjectKind.PERSON else ()
        found = await list_corrections_of(tx, erasure.space, people, turns, self._config.some)
        kept = {one["id"]: survivors_of(one, set(people), set(turns)) for one in found}
        gone = [id for id, one in kept.items() if one is None]
        await save_survivors(tx, erasure, gone, [one for one in kept.values() if one is not None])
        return len(found)

    async def _mirrors(self, erasure: Erasure, turns: Sequence[str]) -> None:
        """All of them, marked or not: an engine is given messages before they are marked."""
        if turns:
            await self._forget_mirrored(erasure.space, turns)

    async def _turns(self, erasure: Erasure) -> None:
        while await self._graph.write(self._some_turns, erasure):
            pass

    async def _some_turns(self, tx: Tx, erasure: Erasure) -> int:
        done = await erase_turns(tx, erasure, self._config.turns, half_life_days=self._half_life)
        await remake_voices(tx, erasure.space, sorted(done.owners))
        return len(done.ids)

    async def _facts(self, erasure: Erasure) -> None:
        erased = partial(erase_facts, half_life_days=self._half_life)
        while await self._graph.write(erased, erasure, self._config.facts, erasure.facts):
            pass

    # ---- what else tells of it

    async def _until_none(self, step: Step, erasure: Erasure) -> None:
        while await self._graph.write(step, erasure, self._config.some):
            pass

    async def _dead_letters(self, erasure: Erasure) -> None:
        letters = await self._graph.read(list_dead_letters, erasure.space, erasure.names)
        found = [id for id, texts in letters if any(tells(text, erasure.names) for text in texts)]
        if len(found) > self._config.names.most_elsewhere and not erasure.although:
            self._elsewhere.setdefault(erasure.id, {})["letters"] = len(found)
        elif found:
            await self._graph.write(forget_dead_letters, erasure, found)

    async def _meetings(self, erasure: Erasure) -> None:
        if not erasure.meetings:
            return
        for step in STEPS_OF_MEETINGS:
            await self._until_none(step, erasure)
        over = await self._graph.read(list_meetings_over, erasure)
        gone = await asyncio.to_thread(self._files.erase_meetings, erasure.space, over)
        await self._graph.write(add_counts, erasure, {"sound of meetings": gone})
        await self._graph.write(forget_meetings, erasure)

    async def _after(self, erasure: Erasure) -> None:
        """What rests on what is gone is made anew from what stays."""
        whole = erasure.subject.kind in (SubjectKind.PERSON, SubjectKind.SESSION)
        for step in STEPS_OF_NAMES:
            await self._until_none(step, erasure)
        for session in await self._graph.read(list_named_in, erasure.space, erasure.sessions):
            await self._graph.write(self._named_again, erasure, session)
        await self._graph.write(self._people, erasure)
        embedders = await self._graph.read(list_embedders, erasure.space, erasure.sessions)
        for session in erasure.sessions:
            for embedder in (embedders[session],) if session in embedders else TEXT_SPACES:
                await self._contexts(erasure, session, embedder, plain=session not in embedders)
        now = await self._graph.read(find_erasure, erasure.space, erasure.subject) or erasure  # with what went in this sweep
        if now.counts.get("mentions") or whole:
            await self._graph.patient(300.0).write(save_macro, erasure.space, half_life_days=self._half_life)

    async def _named_again(self, tx: Tx, erasure: Erasure, session: str) -> None:
        await lock_space(tx, erasure.space)
        await name_again(tx, erasure.space, [session], occasion=erasure.id)

    async def _people(self, tx: Tx, erasure: Erasure) -> None:
        """Means of channels; and of a session, who was known from it alone."""
        await lock_space(tx, erasure.space)
        if erasure.subject.kind is SubjectKind.SESSION:
            await forget_bare_people(tx, erasure)
        await forget_checkpoints(tx, erasure)
        await remake_channel_means(tx, erasure.space)

    async def _contexts(self, erasure: Erasure, session: str, embedder: str, *, plain: bool) -> None:
        """The turns after an erased one were embedded beside it; `plain`, and where what embeds is not here, they stand by
        themselves."""
        bare = await self._graph.read(list_bare, erasure.space, session, embedder)
        if not bare:
            return
        try:
            stood = await self._graph.read(get_settled_session, erasure.space, session)
        except NotFound:  # it broke off: its turns stand by themselves
            texts: dict[str, str] = {}
        else:
            texts = context_texts(spoken_as_told(stood.turns, stood.addressed_to), stood.relations.readers)
        wanted = {} if plain else {id: texts[id] for id in bare if id in texts}
        embedded: dict[str, Samples] = {}
        made = await self._embedder() if wanted and self._embedder is not None else None
        if made is not None and made.embedding_space.name == embedder:
            await asyncio.to_thread(embed, made, wanted.values(), embedded)
        vectors = {id: embedded[text] for id, text in wanted.items() if text in embedded}
        alone = [id for id in bare if id not in vectors]
        await self._graph.write(save_bare, erasure.space, session, embedder, vectors, alone)

    # ---- strings

    async def _strings(self, erasure: Erasure) -> None:
        """What no step above knows of: every string of the space that holds an id or a name is mended."""
        needles = needles_of(erasure)
        for _ in range(self._config.looks):
            left = await self._left(erasure, needles)
            self._looked[erasure.id] = left
            if not left:
                return
            await self._graph.write(self._mended, erasure, needles, left)
        self._looked.pop(erasure.id)

    async def _mended(self, tx: Tx, erasure: Erasure, needles: Needles, left: Sequence[Held]) -> None:
        gone = [held for held in left if not held.is_edge and fate(held, needles) is Fate.GOES]
        stays = [(held, {held.property: redacted(held, needles), **_made_of(held)}) for held in left if held not in gone]
        nodes, edges = ([(held, now) for held, now in stays if held.is_edge is of_edges] for of_edges in (False, True))
        await save_redacted(tx, erasure, nodes, edges, gone)

    async def _left(self, erasure: Erasure, needles: Needles) -> list[Held]:
        elsewhere: set[tuple[str, str]] = set()

        def wanted(held: Held) -> bool:
            if not is_left(held, needles):
                return False
            if erasure.although or not is_elsewhere(held, needles):
                return True
            elsewhere.add((held.node, held.property))
            return len(elsewhere) <= self._config.names.most_elsewhere

        left = await self._graph.patient(300.0).read(scan, erasure.space, needles, TELLS, wanted)
        if len(elsewhere) <= self._config.names.most_elsewhere:
            return left
        self._elsewhere.setdefault(erasure.id, {})["strings"] = len(elsewhere)
        return [held for held in left if (held.node, held.property) not in elsewhere]


async def remake_voices(tx: Tx, space: str, people: Sequence[str]) -> None:
    """Centroids of `people`, some of whose pieces of voice have gone, from those that are left. The caller holds the lock."""
    if not people:
        return
    settings = await get_space(tx, space)
    for encoder in await list_encoders(tx, space, people):
        left = await changed_voices(tx, space, encoder, since=NEVER, ids=people)
        voices = [recomputed(voice, settings.routing) for person in people if (voice := left.get(person)) is not None]
        await save_voices(tx, space, encoder, [VoiceWrite(voice) for voice in voices])
    await forget_voiceprints(tx, space, people)
    await touch(tx, space, people)


def needles_of(erasure: Erasure) -> Needles:
    """What nothing may hold any more: of a person all ids, and their names."""
    match erasure.subject.kind:
        case SubjectKind.PERSON:
            return Needles(erasure.people, erasure.names, erasure.words, erasure.sessions)
        case _:
            return Needles((erasure.subject.id,))


def _made_of(held: Held) -> dict[str, None]:
    """What stands beside it and was made of it: goes, too."""
    captions = held.label == "Image" and held.property == "caption"
    return dict.fromkeys(f"embedding__{space}" for space in TEXT_SPACES) if captions else {}


def _direction(drawn: np.random.Generator, size: int) -> Samples:
    vector = drawn.standard_normal(size).astype(np.float32)
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)
