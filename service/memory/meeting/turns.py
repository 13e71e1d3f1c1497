"""Which turns is an utterance? Mostly one; several where its words pass from one to another; none where it is withdrawn, blank,
or a copy of what is better attributed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from service.memory.meeting.around import Around
from service.memory.meeting.copies import CHAT, Line, rank, words_of
from service.memory.meeting.marks import Marked, by_mark, contradicts, only_one
from service.memory.meeting.outcomes import Copy, Doubt, Kind, Turn
from service.memory.meeting.people import Presence, nobody, parent_of, track_of
from service.memory.meeting.state import MeetingConfig, Origin, Utterance
from service.memory.meeting.utterances import placed
from service.types.audio import WITHOUT_SPACES, Segment, Word
from service.types.meeting import Uttered

MARKS = "marks"
OWN_STREAM = "platform"


@dataclass(frozen=True, slots=True)
class View:
    """Of the meeting, as a turn is made with it."""

    config: MeetingConfig
    origin: Origin
    said: Callable[[str], Utterance | None]
    present: Callable[[str], Presence | None]
    around: Around


def is_none(utterance: Utterance) -> bool:
    return utterance.gone or not utterance.event.text.strip()


def line_of(utterance: Utterance, view: View) -> Line | None:
    """What decides whether it is a copy; None for what is no turn."""
    if is_none(utterance):
        return None
    event, segment = utterance.event, placed(utterance, view.origin, view.config)[0]
    track = track_of(event.speaker)
    presence = view.present(track) if track is not None else None
    earned = event.speaker.confidence is None or event.speaker.confidence > 0
    return Line(
        utterance.uid,
        event.text,
        segment.start,
        segment.end,
        track,
        parent_of(presence) if presence is not None else None,
        event.source,
        bool(event.words),
        rank(
            final=event.final,
            by_bot=_by_bot(event, presence),
            known=track is not None,
            by_id=event.speaker.handle is not None,
            source=event.source,
            earned=earned,
            confidence=event.confidence,
            words=len(words_of(event.text)),
            start=segment.start,
        ),
        event.speaker.name,
        event.speaker.handle is None,
        _by_bot(event, presence),
        event.speaker.bot,
    )


def turns_of(utterance: Utterance, view: View) -> list[Turn]:
    if is_none(utterance):
        return []
    better, copies = view.around.stands_for(utterance.uid)
    if better is not None:
        return []
    event = utterance.event
    segment, mended = placed(utterance, view.origin, view.config)
    words = _words(event, segment, view.origin, mended=mended)
    first = _said_before(utterance, words, view)
    own = _whose(event, copies, view)
    whole = Turn(
        utterance.uid,
        own or nobody(utterance.uid),
        segment,
        event.text.strip(),
        words,
        event.language,
        event.confidence,
        Kind.CHAT if event.source == CHAT else Kind.SPEECH,
        _by_bot(event, view.present(own) if own is not None else None),
        event.source,
        event.speaker.confidence,
        tuple(_copy(uid, view) for uid in copies),
        tuple(_doubts(event, own, segment, view, mended=mended)),
    )
    if first:
        whole = _part(whole, words[first:], event, whole.key) if first < len(words) else whole
    if whole.kind is Kind.CHAT:
        return [whole]
    parts = [whole] if first else _left_of(whole, view)
    return [turn for part in parts for turn in _by_speaker(part, own, event, view)]


def _left_of(whole: Turn, view: View) -> list[Turn]:
    """What of a transcript's line nobody told live: it may have in one what several said."""
    runs, spelt = view.around.unsaid(whole.key), whole.text.split()
    places = [place for place, word in enumerate(spelt) if words_of(word)]
    if not runs or len(places) != len(words_of(whole.text)):
        return [whole]
    found = []
    for number, (first, last) in enumerate(runs):
        key = whole.key if number == 0 else f"{whole.key}~{number}"
        end = places[last] if last < len(places) else len(spelt)
        found.append(_stretch(whole, spelt, places[first] if first else 0, end, key))
    return found


def _stretch(whole: Turn, spelt: Sequence[str], first: int, last: int, key: str) -> Turn:
    """Words by their place in the text; where they have no times of their own, evenly."""
    words = whole.words[first:last] if len(whole.words) == len(spelt) else ()
    each = whole.segment.duration / len(spelt)
    start, end = whole.segment.start + first * each, whole.segment.start + last * each
    if words:
        start, end = words[0].segment.start, words[-1].segment.end
    return replace(whole, key=key, segment=Segment(start, max(start, end)), text=" ".join(spelt[first:last]), words=words)


def _whose(event: Uttered, copies: Sequence[str], view: View) -> str | None:
    """Two bots have two ids of one participant: whose line it is, is told by the same one of them, also where only the other
    has the line."""
    own = track_of(event.speaker)
    if own is None or not event.speaker.bot:
        return own
    alike = [(event.speaker.handle is None, event.speaker.bot, own)]
    for speaker in (said.event.speaker for uid in copies if (said := view.said(uid)) is not None):
        track, same = track_of(speaker), speaker.name is not None and speaker.name == event.speaker.name
        if track is not None and same and speaker.bot != event.speaker.bot:
            alike.append((speaker.handle is None, speaker.bot, track))
    for _, _, track in alike:  # which grows by those that they lead to
        alike += [twin for twin in _twins(track, view) if twin not in alike]
    return min(alike)[-1]


def _twins(track: str, view: View) -> list[tuple[bool, str, str]]:
    """(whether it is a name alone, bot, track) of the same participant as other bots tell of them, where one bot has one."""
    twins = sorted((other.startswith("/"), bot, other) for bot, other in view.around.twins(track))
    best = {bot: is_name for is_name, bot, _ in reversed(twins)}
    of_best = [twin for twin in twins if twin[0] == best[twin[1]]]
    return [twin for twin in of_best if sum(other[1] == twin[1] for other in of_best) == 1]


def _marked(span: Segment, own: str | None, event: Uttered, view: View) -> Marked:
    """By whichever bot tells of the speaker: who is marked by two of them is not two who speak."""
    marks = view.around.marked(span)
    presence = view.present(own) if own is not None else None
    bot = event.speaker.bot if presence is None else presence.bot
    return {track: when for track, when in marks.items() if (one := view.present(track)) is None or one.bot == bot}


def _by_speaker(whole: Turn, own: str | None, event: Uttered, view: View) -> list[Turn]:
    """Whose the words are by the platform's marks, where they did not come on somebody's own stream."""
    marks = _marked(whole.segment, own, event, view)
    if not marks or (own is not None and (event.source == OWN_STREAM or not _is_marked(own, view))):
        return [whole]
    config = view.config.marks
    if not whole.words:
        alone = only_one(marks, whole.segment, config) if own is None else None
        return [whole if alone is None else _given_to(whole, alone, view)]
    parts, found = by_mark(whole.words, own, marks, config), []
    for number, (track, words) in enumerate(parts):
        key = whole.key if number == 0 else f"{whole.key}#{number}"
        part = whole if len(parts) == 1 else _part(whole, words, event, key)
        found.append(part if track == own or track is None else _given_to(part, track, view))
    return found


def _given_to(turn: Turn, track: str, view: View) -> Turn:
    presence = view.present(track)
    by_bot = presence is not None and presence.is_bot
    doubts = tuple(doubt for doubt in turn.doubts if doubt not in (Doubt.NAMELESS, Doubt.MARKED))
    return replace(turn, track=track, by_bot=by_bot, source=MARKS, speaker_confidence=None, doubts=doubts)


def _part(whole: Turn, words: Sequence[Word], event: Uttered, key: str) -> Turn:
    """Some of the words, with the text's own spelling of them where it has as many."""
    spelt = whole.text.split()
    places = {id(word): place for place, word in enumerate(whole.words)}
    same = len(spelt) == len(whole.words)
    parts = [spelt[places[id(word)]] if same else word.text.strip() for word in words]
    blank = "" if event.language and event.language.partition("-")[0].lower() in WITHOUT_SPACES and not same else " "
    start = whole.segment.start if words[0] is whole.words[0] else words[0].segment.start
    end = whole.segment.end if words[-1] is whole.words[-1] else words[-1].segment.end
    return replace(whole, key=key, segment=Segment(start, max(start, end)), text=blank.join(parts), words=tuple(words))


def _doubts(event: Uttered, own: str | None, segment: Segment, view: View, *, mended: bool) -> list[Doubt]:
    found = [] if event.final else [Doubt.PARTIAL]
    if own is None:
        found.append(Doubt.NAMELESS)
    elif event.source != CHAT and _is_marked(own, view):
        slack = view.config.marks.slack
        marks = _marked(Segment(segment.start - slack, segment.end + slack), own, event, view)
        if contradicts(marks, own, segment, view.config.marks):
            found.append(Doubt.MARKED)
    return [*found, Doubt.MENDED] if mended else found


def _said_before(utterance: Utterance, words: tuple[Word, ...], view: View) -> int:
    """How many of its first words the one before it has as its last, at the same times: recognised in windows that overlap."""
    line = view.around.line(utterance.uid)
    if line is None or not words or utterance.event.source == CHAT:
        return 0
    most = 0
    for uid in view.around.near(line):
        before, other = view.around.line(uid), view.said(uid)
        if before is None or other is None or before.track != line.track or before.source == CHAT:
            continue
        if before.start < line.start < before.end < line.end and view.around.stands_for(uid)[0] is None:
            segment, mended = placed(other, view.origin, view.config)
            said = _words(other.event, segment, view.origin, mended=mended)
            most = max(most, _shared(said, words, view.config))
    return most


def _shared(before: Sequence[Word], after: Sequence[Word], config: MeetingConfig) -> int:
    most = min(len(before), len(after), config.seam_words)
    return next((n for n in range(most, 0, -1) if _same(before[-n:], after[:n], config.seam)), 0)


def _same(left: Sequence[Word], right: Sequence[Word], apart: float) -> bool:
    return all(
        words_of(one.text) == words_of(other.text) and abs(one.segment.start - other.segment.start) <= apart
        for one, other in zip(left, right, strict=True)
    )


def _words(event: Uttered, segment: Segment, origin: Origin, *, mended: bool) -> tuple[Word, ...]:
    """None where the times as told were not possible: those of the words are not, either."""
    if mended:
        return ()
    times = [[origin.seconds(time, event.base) for time in (w.segment.start, w.segment.end)] for w in event.words]
    return tuple(
        replace(word, segment=Segment(max(0.0, start), max(0.0, start, end)))
        for word, (start, end) in zip(event.words, times, strict=True)
    )


def _copy(uid: str, view: View) -> Copy:
    line = view.around.line(uid)
    assert line is not None  # it stands among the copies
    return Copy(uid, line.track or nobody(uid), line.source)


def _by_bot(event: Uttered, presence: Presence | None) -> bool:
    return event.speaker.is_bot or (presence is not None and presence.is_bot)


def _is_marked(track: str, view: View) -> bool:
    presence = view.present(track)
    return presence is not None and presence.is_marked
