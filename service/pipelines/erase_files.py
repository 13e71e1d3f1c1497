"""What of somebody lies in files? Recordings sent, streams that are remembered, sound of meetings, and what a language
model made of words: files of the data directory, each taken away by its name."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from service.graph.driver import Graph
from service.graph.erase import add_counts, list_accounts_of_space, list_sources
from service.language.chat_cache import AnswerCache
from service.pipelines.meeting_tapes import Tapes
from service.pipelines.stream_notes import noted
from service.pipelines.token_accounts import accounts_of, forget_names, token_accounts
from service.types.erasure import Erasure, SubjectKind


@dataclass(frozen=True, slots=True)
class Files:
    """Where they are."""

    uploads: Path
    meetings: Path
    chat: Path
    tokens: Path

    def erase(
        self, erasure: Erasure, waits_for: Collection[str], *, recordings: Collection[str], accounts: Collection[str]
    ) -> dict[str, int]:
        """What of `erasure` is there, by kind, is gone when this returns; how much that was. Sound of sessions in `waits_for`
        stays until they are written, and so does a stream that is. Of a fact or message only what a model made of it lies in
        files. A person's tokens say no more to whom they were given. `recordings`: hashes of what sessions that are written
        were made of; `accounts`: of the space, with those that tokens of it are given to: what others sent is theirs, also if
        it is the same recording."""
        AnswerCache(self.chat).forget(erasure.space)
        if erasure.subject.kind not in (SubjectKind.PERSON, SubjectKind.SESSION):
            return {}
        done = set(erasure.sessions) - set(waits_for)
        senders = {*accounts, *token_accounts(self.tokens, erasure.space)}
        sent = [path for sender in senders for hash in recordings if (path := self.uploads / sender / hash).is_file()]
        streams = [found for found, _ in noted(self.uploads) if found.note.space == erasure.space]
        written = [found for found in streams if found.note.upload is None or found.note.session_id in waits_for]
        over = [
            found
            for found in streams
            if found.note.session_id in done or (found.note.account in erasure.accounts and found not in written)
        ]
        for path in sent:
            path.unlink(missing_ok=True)
        for found in over:
            found.forget_sound()
            found.path.unlink(missing_ok=True)  # last: broken off, it is found the next time
        stays = {path for found in written if found not in over for path in (found.path, found.sound, found.upload)}
        own = [
            path
            for account in erasure.accounts
            if (folder := self.uploads / account).is_dir()
            for path in folder.iterdir()
            if path not in stays
        ]
        for path in own:
            path.unlink(missing_ok=True)
        called = forget_names(self.tokens, erasure.space, erasure.people) if erasure.subject.kind is SubjectKind.PERSON else 0
        return {"recordings": len(sent) + len(over) + len(own), "names of tokens": called}

    def accounts_of(self, space: str, people: Collection[str]) -> tuple[str, ...]:
        """Those that they have by tokens of their own. Raises TokensNotRead."""
        return accounts_of(self.tokens, space, people)

    def erase_meetings(self, space: str, meetings: Collection[str]) -> int:
        """The sound of meetings that are over; of how many."""
        tapes = Tapes(self.meetings)
        kept = [meeting for meeting in meetings if tapes.folder(space, meeting).is_dir()]
        for meeting in kept:
            tapes.forget(space, meeting)
        return len(kept)


async def erase_files(graph: Graph, files: Files, erasure: Erasure, waits_for: Sequence[str]) -> None:
    """What lies in files, counted. What a person's sessions were made of is asked for; an erased session is nowhere any more,
    and its record says it."""
    hashes = erasure.uploads
    if erasure.subject.kind is SubjectKind.PERSON:
        done = sorted(set(erasure.sessions) - set(waits_for))
        hashes = (await graph.read(list_sources, erasure.space, done)).uploads
    accounts = await graph.read(list_accounts_of_space, erasure.space)
    gone = await asyncio.to_thread(partial(files.erase, erasure, waits_for, recordings=hashes, accounts=accounts))
    await graph.write(add_counts, erasure, gone)
