"""How does what a stream tells look to its client? JSON, one object an event."""

from __future__ import annotations

from typing import Any

from service.api.context import global_id
from service.streaming.prompt import Recalled
from service.streaming.told import MemoryReady, NotAnswered, SpeakerHeard, StageEntered, TermsMatched, Told, WordsHeard


def as_json(told: Told) -> dict[str, Any]:
    """`type`, `at` (seconds of the stream) and `utterance` (its number, from 1), and what is told."""
    return {"at": round(told.at, 3), "utterance": told.utterance, **_told(told)}


def _told(told: Told) -> dict[str, Any]:
    match told:
        case StageEntered(stage=stage):
            return {"type": "stage", "stage": stage.value}
        case WordsHeard(text=text, whole=whole):
            return {"type": "transcript", "text": text, "whole": whole}
        case SpeakerHeard(person_id=person, name=name, linked=linked):
            return {"type": "speaker", "linked": linked, "person": _person(person, name) if person else None}
        case TermsMatched(people=people, entities=entities, terms=terms):
            return {
                "type": "matched",
                "people": [_person(id, name) for id, name in people],
                "entities": [{"id": global_id("Entity", e.id), "name": e.name, "type": e.type.value} for e in entities],
                "terms": list(terms),
            }
        case NotAnswered(code=code, reason=reason):
            return {"type": "not_answered", "code": code, "reason": reason}
        case MemoryReady(question=question, prompt=prompt, timing=timing):
            return {
                "type": "memory",
                "question": question,
                "text": prompt.text,
                "tokens": prompt.tokens,
                "items": [_item(number, line) for number, line in enumerate(prompt.lines, start=1)],
                "timing": {
                    "transcribedMs": timing.transcribed,
                    "foundMs": timing.found,
                    "readyMs": timing.ready,
                    "hidden": round(timing.hidden, 3),
                },
            }


def _person(id: str, name: str | None) -> dict[str, Any]:
    return {"id": global_id("Person", id), "name": name}


def _item(number: int, line: Recalled) -> dict[str, Any]:
    return {
        "number": number,
        "brain": line.brain.value,
        "text": line.text,
        "by": line.by,
        "to": list(line.to),
        "saidAt": line.said_at.isoformat() if line.said_at else None,
        "score": round(line.score, 4),
        "sources": [global_id("Message", id) for id in line.sources],
    }
