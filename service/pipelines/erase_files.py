"""What of somebody lies in files? Recordings sent, streams that are remembered, sound of meetings, and what a language
model made of words: files of the data directory, each taken away by its name."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from service.language.chat_cache import AnswerCache
from service.pipelines.meeting_tapes import Tapes
from service.pipelines.stream_notes import noted
from service.types.erasure import Erasure, SubjectKind


@dataclass(frozen=True, slots=True)
class Files:
    """Where they are."""

    uploads: Path
    meetings: Path
    chat: Path

    def erase(self, erasure: Erasure, waits_for: Collection[str]) -> dict[str, int]:
        """What of `erasure` is there, by kind, is gone when this returns; how much that was. Sound of sessions in `waits_for`
        stays until they are written. Of a fact or message only what a model made of it lies in files."""
        AnswerCache(self.chat).forget(erasure.space)
        if erasure.subject.kind not in (SubjectKind.PERSON, SubjectKind.SESSION):
            return {}
        done = set(erasure.sessions) - set(waits_for)
        recordings = [path for hash in erasure.uploads for path in self.uploads.glob(f"*/{hash}")] if done else []
        streams = [found for found, _ in noted(self.uploads) if found.note.space == erasure.space]
        over = [found for found in streams if found.note.session_id in done or found.note.account in erasure.accounts]
        for path in recordings:
            path.unlink(missing_ok=True)
        for found in over:
            found.forget_sound()
            found.path.unlink(missing_ok=True)  # last: broken off, it is found the next time
        folders = [folder for account in erasure.accounts if (folder := self.uploads / account).is_dir()]
        for folder in folders:
            shutil.rmtree(folder)
        return {"recordings": len(recordings) + len(over) + len(folders)}

    def erase_meetings(self, space: str, meetings: Collection[str]) -> int:
        """The sound of meetings that are over; of how many."""
        tapes = Tapes(self.meetings)
        kept = [meeting for meeting in meetings if tapes.folder(space, meeting).is_dir()]
        for meeting in kept:
            tapes.forget(space, meeting)
        return len(kept)
