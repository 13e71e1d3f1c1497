"""What does an ELAN file say (XML; tiers of annotations, times in slots that may be missing)?

Our own reader on the standard library: pympi writes and edits such files, and drops annotations whose slot has no time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree
from xml.parsers import expat

from service.connectors.declared import Declared, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.runs import in_order
from service.connectors.files.source import Written, clean, described, speaker_label
from service.connectors.files.transcript_format import TranscriptFormat
from service.types.audio import Segment, Transcript, TranscriptSegment
from service.types.told import Told

_ROOT = re.compile(r"^\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,2000}?-->\s*)?<ANNOTATION_DOCUMENT[\s>]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Slots:
    """Time slots in their order; one without a time lies between its neighbours."""

    order: Sequence[str]
    times: Mapping[str, float]

    def filled(self) -> dict[str, float]:
        found: dict[str, float] = {}
        gap: list[str] = []
        before = 0.0
        for slot in self.order:
            if slot not in self.times:
                gap.append(slot)
                continue
            after = self.times[slot]
            found.update(_between(gap, before, after))
            found[slot], before, gap = after, after, []
        found.update(_between(gap, before, before))
        return found


def recognises(written: Written) -> bool:
    return _ROOT.match(written.text) is not None


def read(written: Written) -> Transcript:
    """Annotations of tiers that have times of their own; those that refer to others (translations, glosses) are not what was
    said. The speaker is the tier's PARTICIPANT, else what follows `@` in its name, else its name.

    Raises TranscriptUnreadable, also for a document type: such may expand without end."""
    root = _root(written)
    slots = _slots(root, written).filled()
    tiers = [(number, tier) for number, tier in enumerate(root.iter("TIER")) if tier.get("PARENT_REF") is None]
    texts = {
        tier.get("PARENT_REF"): _texts(tier) for tier in root.iter("TIER") if (tier.get("TIER_ID") or "").startswith("tx@")
    }
    turns = [
        turn
        for number, tier in tiers
        for turn in _turns(number, tier, slots, written, texts.get(tier.get("TIER_ID")) if _is_numbers(tier) else None)
    ]
    return Transcript("elan", in_order(turns))


def _root(written: Written) -> ElementTree.Element:
    if "<!DOCTYPE" in written.text or "<!ENTITY" in written.text:
        raise written.refuse("the whole file", "it declares a document type; needed: none.")
    try:
        return ElementTree.fromstring(written.text.lstrip())
    except ElementTree.ParseError as problem:
        raise written.refuse(f"line {problem.position[0]}", f"not XML ({expat.ErrorString(problem.code)}).") from None
    except ValueError as problem:
        raise written.refuse("line 1", f"not XML that can be read ({type(problem).__name__}).") from None


def _slots(root: ElementTree.Element, written: Written) -> _Slots:
    order: list[str] = []
    times: dict[str, float] = {}
    for slot in root.iter("TIME_SLOT"):
        id, value = slot.get("TIME_SLOT_ID"), slot.get("TIME_VALUE")
        if id is None:
            raise written.refuse(f"time slot {len(order)} (from 0)", "it has no TIME_SLOT_ID.")
        order.append(id)
        if value is not None:
            if not re.fullmatch(r"[0-9]{1,12}", value):
                raise written.refuse(
                    f"time slot {len(order) - 1} (from 0)", f"TIME_VALUE is {described(value)}; needed: whole milliseconds."
                )
            times[id] = int(value) / 1000
    return _Slots(order, times)


def _turns(
    number: int, tier: ElementTree.Element, slots: Mapping[str, float], written: Written, texts: Mapping[str, str] | None
) -> Iterator[TranscriptSegment]:
    label, language = _speaker(tier), tier.get("LANG_REF")
    for place, annotation in enumerate(tier.iter("ALIGNABLE_ANNOTATION")):
        id = annotation.get("ANNOTATION_ID")
        text = _text(annotation) if texts is None else texts.get(id or "", "")
        if not text:
            continue
        ends = [slots.get(annotation.get(f"TIME_SLOT_REF{side}") or "") for side in (1, 2)]
        if ends[0] is None or ends[1] is None:
            raise written.refuse(
                f"annotation {place} (from 0) of tier {number} (from 0)",
                "its TIME_SLOT_REF1 or TIME_SLOT_REF2 names no time slot.",
            )
        yield TranscriptSegment(
            Segment(ends[0], max(ends[0], ends[1])), label, text, language=language, told=Told(key=clean(id or "") or None)
        )


def _is_numbers(tier: ElementTree.Element) -> bool:
    """Whether a tier counts sentences, as Toolbox's `ref@A` does: what was said stands in `tx@A`, which refers to it."""
    return (tier.get("TIER_ID") or "").startswith("ref@")


def _texts(tier: ElementTree.Element) -> dict[str, str]:
    """Id of an annotation → what those that refer to it say."""
    found: dict[str, str] = {}
    for annotation in tier.iter("REF_ANNOTATION"):
        of = annotation.get("ANNOTATION_REF") or ""
        found[of] = clean(f"{found.get(of, '')} {_text(annotation)}")
    return found


def _text(annotation: ElementTree.Element) -> str:
    return clean(annotation.findtext("ANNOTATION_VALUE") or "")


def _speaker(tier: ElementTree.Element) -> str | None:
    name = tier.get("TIER_ID") or ""
    return speaker_label(tier.get("PARTICIPANT")) or speaker_label(name.partition("@")[2] or name)


def _between(slots: Sequence[str], start: float, end: float) -> dict[str, float]:
    step = (end - start) / (len(slots) + 1)
    return {slot: start + step * place for place, slot in enumerate(slots, start=1)}


ELAN = TranscriptFormat(
    Declared(
        "elan",
        "ELAN",
        TimeUnit.MILLISECONDS,
        TimeBase.RECORDING,
        SpeakerScope.FILE,
        utterance_ids="ANNOTATION_ID",
        repeats="tiers that refer to another one; not read",
    ),
    recognises,
    read,
)
