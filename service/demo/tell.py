"""How is the demo's story told in a terminal?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from service.demo.score import Match
from service.demo.story import Asked, Met, Recorded, SaidTo, Story

OUTCOMES = ("link", "create", "assigned", "corrected", "unresolved")


def told(story: Story) -> RenderableType:
    return Group(*_parts(story))


def _parts(story: Story) -> Iterator[RenderableType]:
    space = story.space
    yield Text(
        f"Space {space['name']}: voice_access is {space['voiceAccess']} (a voice alone may ask), anonymous_voices is "
        f"{space['anonymousVoices']} (people never asked are kept, too), access is {space['access']}. Your own spaces begin "
        "with narrow and expire.",
        style="dim",
    )
    yield from (Rule("What was remembered"), _recordings(story.recordings))
    yield from (Rule("Who was found"), _people(story.people))
    yield from (Rule("Who spoke to whom in the household (turns; nobody in particular left out)"), _matrix(story.said_to))
    yield from (Rule("Compared with what was really said"), _matches(story.match))
    yield Text(
        "The household's voices are synthetic, and easier to tell apart than people's; the telephone call is real.", "dim"
    )
    yield Rule("Asked over GraphQL, by voice alone where nothing else is said: each is told what they may know")
    yield Text(
        "A voice is a recorded clip, all that the service has of the asker; the words it is asked with are the clip's script. "
        "A token is one that may ask for that person.",
        style="dim",
    )
    for asked in story.questions:
        yield from _asked(asked)


def _table(*columns: str) -> Table:
    return Table(*columns, box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))


def _recordings(recordings: Sequence[Recorded]) -> Table:
    drawn = _table("recording", "sound", "took", "messages", "met", "known", "")
    for r in recordings:
        numbers = (str(r.num_messages), str(r.people_created), str(r.people_linked))
        drawn.add_row(r.title, f"{r.seconds:.0f} s", f"{r.took:.1f} s", *numbers, Text(r.note, style="dim"))
    return drawn


def _people(people: Sequence[Met]) -> Table:
    drawn = _table("person", "kind", "turns", "speech", "really")
    for p in people:
        drawn.add_row(p.name, p.kind, str(p.num_turns), f"{p.net_speech:.0f} s", p.really or "–")
    return drawn


def _matrix(said_to: Sequence[SaidTo]) -> Table:
    turns = {(s.speaker, s.addressee): s.turns for s in said_to}
    everybody = sorted({name for pair in turns for name in pair})
    drawn = _table("from \\ to", *everybody)
    for speaker in everybody:
        drawn.add_row(speaker, *(str(turns.get((speaker, to), "·")) for to in everybody))
    return drawn


def _matches(matches: Sequence[Match]) -> Table:
    drawn = _table("", "turns", "right person", "B³ precision", "recall", "F1", "said to the right one", "decisions")
    for m in matches:
        addressed = "–" if m.addressees is None else f"{m.addressees:.1%}"
        decisions = ", ".join(f"{m.decisions[o]} {o}" for o in OUTCOMES if m.decisions.get(o))
        shares = (f"{m.attribution:.1%}", f"{m.b3_precision:.3f}", f"{m.b3_recall:.3f}", f"{m.b3_f1:.3f}")
        drawn.add_row(m.name, str(m.turns), *shares, addressed, decisions)
    return drawn


def _asked(asked: Asked) -> Iterator[RenderableType]:
    who = f"{asked.by} asks{'' if asked.means == 'voice' else ' by ' + asked.means}" + (
        f" while {asked.listening} listens" if asked.listening else ""
    )
    taken = f"taken for {asked.taken_for}, " if asked.taken_for else ""
    seen = "" if asked.visible is None else f" ({taken}{asked.visible} messages may be told)"
    yield Text.assemble((who, "bold cyan"), (seen, "dim"), f": “{asked.question}”")
    if asked.answer:
        yield from (Text(f"   {line}", "green") for line in asked.answer.splitlines())
        where = dict.fromkeys(f"{_day(c.said_at)}, {c.session}" for c in asked.citations)
        yield Text(f"   from: {'; '.join(where)}", "dim")
    else:
        yield Text(f"   {asked.outcome}: {asked.reason}", "yellow")


def _day(time: str) -> str:
    return f"{datetime.fromisoformat(time):%A %H:%M}"
