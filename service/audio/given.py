"""What are the turns when a transcript or an RTTM already says who speaks when?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from service.audio import clustering
from service.audio.pieces import Piece
from service.audio.quality import bandwidth_hz
from service.audio.segmentation import FRAME_OFFSET, FRAME_SECONDS, Segmenter
from service.audio.turns import DiarisedBlock, Draft, TurnsConfig, finished, is_telephone, joined, spoken
from service.types.audio import Samples, Segment, SpeakerEncoder, Waveform


@dataclass(frozen=True, slots=True)
class GivenSegment:
    segment: Segment
    label: str | None
    """The speaker as the source calls them; None where it does not say."""


def given_turns(
    waveform_blocks: Iterable[Waveform],
    segments: Sequence[GivenSegment],
    encoder: SpeakerEncoder,
    config: TurnsConfig | None = None,
    *,
    segmenter: Segmenter | None = None,
) -> Iterator[DiarisedBlock]:
    """One turn a segment, boundaries as given; an end beyond the sound is moved to it, what lies wholly beyond is left out.

    Tracks are the labels; segments without one are clustered into `voice_1`, … by their embeddings, and one too short for that
    is a track of its own. With a `segmenter`, net speech leaves out the pauses inside segments. `waveform_blocks` follow each
    other without a gap; memory is that of the longest chain of overlapping segments plus one block."""
    config = config or TurnsConfig()
    waiting = sorted((given for given in segments if given.segment.duration > 0), key=lambda given: given.segment)
    known: list[clustering.Voice] = []
    index = 0
    for waveform, inside in _complete(waveform_blocks, waiting):
        speech = _speech(waveform, inside, segmenter)
        tracks = _tracks(waveform, inside, encoder, config, known)
        found = [_draft(inside, place, track, speech) for place, track in enumerate(tracks)]
        block = finished(waveform, found, speech, encoder, config, first_index=index)
        index += len(block.turns)
        yield block


def _complete(blocks: Iterable[Waveform], waiting: Sequence[GivenSegment]) -> Iterator[tuple[Waveform, list[GivenSegment]]]:
    """The sound in pieces that no segment reaches out of, each with its segments, clamped to the sound."""
    held: list[Waveform] = []
    done = 0
    for block in blocks:
        held.append(block)
        end = block.segment.end
        cut = _cut(waiting[done:], end)
        if cut > held[0].start:
            whole = joined(held)
            emitted = whole.crop(Segment(whole.start, cut))
            inside = [given for given in waiting[done:] if given.segment.start < cut]
            done += len(inside)
            held = [whole.crop(Segment(emitted.segment.end, end))]
            yield emitted, inside
    rest = joined(held) if held else None
    if rest is not None and len(rest.samples):
        end = rest.segment.end
        clamped = [GivenSegment(Segment(g.segment.start, min(g.segment.end, end)), g.label) for g in waiting[done:]]
        yield rest, [given for given in clamped if given.segment.duration > 0]


def _cut(waiting: Sequence[GivenSegment], end: float) -> float:
    """The latest time up to `end` that lies inside no segment; `waiting` is in order of start."""
    cut = end
    for given in reversed([given for given in waiting if given.segment.start < end]):
        if given.segment.end > cut:
            cut = min(cut, given.segment.start)
    return cut


def _speech(waveform: Waveform, inside: Sequence[GivenSegment], segmenter: Segmenter | None) -> tuple[Segment, ...]:
    """Where anybody speaks: by the segmenter, else wherever a segment was given."""
    if segmenter is None:
        return tuple(given.segment for given in inside)
    offset = waveform.start + FRAME_OFFSET - FRAME_SECONDS / 2
    return tuple(
        Segment(offset + first * FRAME_SECONDS, offset + last * FRAME_SECONDS) for first, last in segmenter(waveform).spoken()
    )


def _draft(inside: Sequence[GivenSegment], place: int, track: str, speech: Sequence[Segment]) -> Draft:
    own = inside[place].segment
    others = [given.segment for i, given in enumerate(inside) if i != place and own.overlap(given.segment) > 0]
    heard = [part for part in (_common(own, segment) for segment in speech) if part] if own not in speech else [own]
    alone = [part for segment in heard for part in _without(segment, others)]
    overlapped = own.duration - sum(part.duration for part in _without(own, others))
    return Draft(own, track, tuple(alone), overlapped)


def _common(one: Segment, other: Segment) -> Segment | None:
    return Segment(max(one.start, other.start), min(one.end, other.end)) if one.overlap(other) > 0 else None


def _without(segment: Segment, others: Iterable[Segment]) -> list[Segment]:
    """What is left of `segment` outside all `others`, in order."""
    left, start = [], segment.start
    for other in sorted(others):
        if other.start > start:
            left.append(Segment(start, min(other.start, segment.end)))
        start = max(start, other.end)
        if start >= segment.end:
            return left
    return [*left, Segment(start, segment.end)]


def _tracks(
    waveform: Waveform,
    inside: Sequence[GivenSegment],
    encoder: SpeakerEncoder,
    config: TurnsConfig,
    known: list[clustering.Voice],
) -> list[str]:
    """One a segment; `known` are the voices of unlabelled segments of the session, and is added to."""
    names = [given.label for given in inside]
    pieces = _pieces(waveform, inside, encoder, config)
    if pieces:
        rules = clustering.ClusteringConfig()
        telephone = is_telephone([bandwidth_hz(waveform.crop(inside[place].segment).samples) for place in pieces])
        limit = clustering.prior_threshold(rules, telephone=telephone)
        voices = clustering.voices(list(pieces.values()), limit, rules)
        numbers = clustering.numbered(voices, known, limit)
        for place, piece in pieces.items():
            names[place] = f"voice_{numbers[clustering.nearest(piece, voices)] + 1}"
    return [name or f"unlabelled@{given.segment.start:.2f}" for name, given in zip(names, inside, strict=True)]


def _pieces(
    waveform: Waveform, inside: Sequence[GivenSegment], encoder: SpeakerEncoder, config: TurnsConfig
) -> dict[int, Piece]:
    """By the place of each unlabelled segment that is long enough; frames count from the waveform's start."""
    sounds = {
        place: spoken(waveform, [given.segment])
        for place, given in enumerate(inside)
        if given.label is None and given.segment.duration >= config.embedded_from
    }
    vectors = encoder([sound.crop(Segment(sound.start, sound.start + config.embedded_to)) for sound in sounds.values()])
    return {
        place: _piece(inside[place].segment, waveform.start, made.vector) for place, made in zip(sounds, vectors, strict=True)
    }


def _piece(segment: Segment, start: float, vector: Samples) -> Piece:
    first, last = (round((edge - start) / FRAME_SECONDS) for edge in (segment.start, segment.end))
    return Piece(first, last, False, vector)
