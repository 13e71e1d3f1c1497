"""Commands that ask of what is remembered: an answer, the messages that fit, or who said it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from service.cli.running import AsJson, EncoderName, SpaceName, with_services
from service.cli.shown import show, table
from service.errors import InvalidInput

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.types.search import Answer, Filters, Hit, Round, SearchResult
    from service.wiring import Services

Question = Annotated[str, typer.Argument(help="In anybody's words.")]
AskAs = Annotated[str | None, typer.Option("--as", metavar="PERSON", help="Ask as this person: a name or an id.")]
AskByVoice = Annotated[
    Path | None, typer.Option("--voice", metavar="FILE", exists=True, help="Ask as whoever speaks in this clip.")
]
HeardBy = Annotated[
    list[str] | None,
    typer.Option("--heard-by", metavar="PERSON", help="Somebody else who hears it: a name or an id. May be repeated."),
]
HeardByVoice = Annotated[
    list[Path] | None,
    typer.Option("--heard-by-voice", metavar="FILE", exists=True, help="A clip of somebody who hears it too. May be repeated."),
]
SaidBy = Annotated[list[str] | None, typer.Option("--by", metavar="PERSON", help="Only said by them. May be repeated.")]
SaidTo = Annotated[list[str] | None, typer.Option("--to", metavar="PERSON", help="Only said to them. May be repeated.")]
ByOrTo = Annotated[list[str] | None, typer.Option("--by-or-to", metavar="PERSON", help="Said by or to them. May be repeated.")]
InSession = Annotated[list[str] | None, typer.Option("--session", metavar="ID", help="Only in this session. May be repeated.")]
Since = Annotated[str | None, typer.Option(metavar="TIME", help="Said from then on: ISO 8601 with its zone.")]
Until = Annotated[str | None, typer.Option(metavar="TIME", help="Said before then: ISO 8601 with its zone.")]
LayerName = Annotated[
    list[str] | None, typer.Option("--layer", metavar="NAME", help="interactions, facts, profiles or images. May be repeated.")
]
AskedAt = Annotated[str | None, typer.Option(metavar="TIME", help='When it is asked: what "yesterday" counts from. Now.')]
Zone = Annotated[str | None, typer.Option(metavar="NAME", help="Time zone of who asks, such as Europe/Berlin. UTC.")]
Explain = Annotated[bool, typer.Option("--explain", help="Show the rounds, what found each message, and why it may be seen.")]


@dataclass(frozen=True, slots=True)
class Options:
    """Who asks, who hears it, and what narrows it."""

    person: str | None
    voice: Path | None
    heard_by: tuple[str, ...]
    heard_by_voice: tuple[Path, ...]
    by: tuple[str, ...]
    to: tuple[str, ...]
    by_or_to: tuple[str, ...]
    sessions: tuple[str, ...]
    since: datetime | None
    until: datetime | None
    layers: tuple[str, ...]

    @classmethod
    def of(
        cls, person: str | None, voice: Path | None, heard_by: list[str] | None, heard_by_voice: list[Path] | None,
        by: list[str] | None, to: list[str] | None, by_or_to: list[str] | None, sessions: list[str] | None,
        since: str | None, until: str | None, layers: list[str] | None,
    ) -> Options:  # fmt: skip
        """Raises BadParameter, and InvalidInput for what is no time."""
        if person and voice:
            raise typer.BadParameter("--as and --voice both say who asks; give one of them.")
        return cls(
            person, voice, tuple(heard_by or ()), tuple(heard_by_voice or ()), tuple(by or ()), tuple(to or ()),
            tuple(by_or_to or ()), tuple(sessions or ()), time_of("--since", since), time_of("--until", until),
            tuple(layers or ()),
        )  # fmt: skip

    async def scope(self, services: Services) -> ReadScope:
        from service.cli.who import scope_of

        return await scope_of(
            services, person=self.person, voice=self.voice, heard_by=self.heard_by, heard_by_voices=self.heard_by_voice
        )

    async def filters(self, services: Services) -> Filters:
        from service.cli.who import the_person
        from service.types.search import Filters, Layer

        known = {layer.value for layer in Layer}
        if unknown := set(self.layers) - known:
            raise InvalidInput(what="--layer", given=sorted(unknown)[0], needed=", ".join(sorted(known)))
        by, to, by_or_to = [
            tuple([await the_person(services, name) for name in names]) for names in (self.by, self.to, self.by_or_to)
        ]
        return Filters(by, to, self.sessions, self.since, self.until, by_or_to, tuple(Layer(name) for name in self.layers))


def ask(
    question: Question, person: AskAs = None, voice: AskByVoice = None, heard_by: HeardBy = None,
    heard_by_voice: HeardByVoice = None, by: SaidBy = None, to: SaidTo = None, by_or_to: ByOrTo = None,
    session: InSession = None, since: Since = None, until: Until = None, layer: LayerName = None, asked_at: AskedAt = None,
    zone: Zone = None, explain: Explain = False, space: SpaceName = None, encoder: EncoderName = None, as_json: AsJson = False,
) -> None:  # fmt: skip
    """Answer from what the asker may know.

    And from what all who listen may know. Without --as and --voice: from everything.

    Example: voicegraph ask "When is Nora's dentist appointment?" --as Ruth --heard-by Ben
    """
    options = Options.of(person, voice, heard_by, heard_by_voice, by, to, by_or_to, session, since, until, layer)
    moment = time_of("--asked-at", asked_at)

    async def work(services: Services) -> tuple[Answer, dict[str, str]]:
        scope, filters = await options.scope(services), await options.filters(services)
        answer = await (await services.answer())(scope, question, filters, asked_at=moment, zone=zone)
        return answer, await _names(services, scope, answer.citations)

    answer, names = with_services(work, space=space, encoder=encoder)
    show(answer, as_json, lambda: _drawn_answer(answer, names, explain))


def search(
    question: Question, first: Annotated[int, typer.Option(help="How many messages, 15 at most.")] = 15,
    person: AskAs = None, voice: AskByVoice = None, heard_by: HeardBy = None,
    heard_by_voice: HeardByVoice = None, by: SaidBy = None, to: SaidTo = None, by_or_to: ByOrTo = None,
    session: InSession = None, since: Since = None, until: Until = None, layer: LayerName = None, asked_at: AskedAt = None,
    zone: Zone = None, explain: Explain = False, space: SpaceName = None, encoder: EncoderName = None, as_json: AsJson = False,
) -> None:  # fmt: skip
    """Show the messages that fit, the best first.

    Of what the asker and all who listen may know. Without --as and --voice: of everything.

    Example: voicegraph search "dentist" --by Ruth --since 2026-05-01T00:00+02:00 --explain
    """
    options = Options.of(person, voice, heard_by, heard_by_voice, by, to, by_or_to, session, since, until, layer)
    moment = time_of("--asked-at", asked_at)

    async def work(services: Services) -> tuple[SearchResult, dict[str, str]]:
        scope, filters = await options.scope(services), await options.filters(services)
        result = await (await services.search())(scope, question, filters, first, asked_at=moment, zone=zone)
        return result, await _names(services, scope, result.hits)

    result, names = with_services(work, space=space, encoder=encoder)
    show(result, as_json, lambda: _drawn_hits(result.hits, result.rounds, names, explain))


def who(
    said: Annotated[str, typer.Argument(help='What was said ("the trip"), or the question ("who told Bo about the trip?").')],
    person: AskAs = None, voice: AskByVoice = None, heard_by: HeardBy = None, heard_by_voice: HeardByVoice = None,
    by: Annotated[list[str] | None, typer.Option("--by", metavar="PERSON", help="Said by them: to whom?")] = None,
    to: SaidTo = None, session: InSession = None, since: Since = None, until: Until = None, asked_at: AskedAt = None,
    zone: Zone = None, space: SpaceName = None, encoder: EncoderName = None, as_json: AsJson = False,
) -> None:  # fmt: skip
    """Say who said it or, with --by, to whom it was said.

    From who spoke and to whom, as far as the asker may know. Without --as and --voice: from everything.

    Example: voicegraph who "the trip to Rome" --to Bo --as Ana
    """
    options = Options.of(person, voice, heard_by, heard_by_voice, by, to, None, session, since, until, None)
    moment = time_of("--asked-at", asked_at)

    async def work(services: Services) -> tuple[Any, dict[str, str]]:
        scope, filters = await options.scope(services), await options.filters(services)
        found = await (await services.answer()).who(scope, said, filters, asked_at=moment, zone=zone)
        ids = [one.person_id for one in found.people if one.person_id]
        return found, await _names(services, scope, [hit for one in found.people for hit in one.hits], ids)

    found, names = with_services(work, space=space, encoder=encoder)
    rows = [
        (names.get(one.person_id or "", "somebody"), f"{one.score:.2f}", one.hits[0].message.text or "") for one in found.people
    ]
    title = {"speaker": "said by", "addressee": "said to"}[found.wants.value]
    show(found, as_json, lambda: table((title, "score", "words"), rows, empty="Nothing found tells who it was."))


def time_of(option: str, text: str | None) -> datetime | None:
    """Raises InvalidInput for what is no time, or has no zone."""
    if text is None:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise InvalidInput(what=option, given=repr(text), needed="a time with its zone, such as 2026-11-02T18:30+01:00")
    return time


async def _names(
    services: Services, scope: ReadScope, hits: tuple[Hit, ...] | list[Hit], ids: list[str] | None = None
) -> dict[str, str]:
    from service.graph.people import find_people

    speakers = {hit.message.speaker_id for hit in hits if hit.message.speaker_id} | set(ids or ())
    found = await services.graph.read(find_people, scope, sorted(speakers))
    return {id: person.display_name or f"anonymous {id[:8]}" for id, person in found.items()}


def _drawn_answer(answer: Answer, names: dict[str, str], explain: bool) -> Any:
    from rich.console import Group
    from rich.text import Text

    said = Text(answer.text or f"{answer.status}: {answer.reason}", style="bold")
    drawn = _drawn_hits(answer.citations, answer.rounds, names, explain)
    return Group(said, "", drawn) if answer.citations or explain else said


def _drawn_hits(hits: tuple[Hit, ...], rounds: tuple[Round, ...], names: dict[str, str], explain: bool) -> Any:
    from rich.console import Group

    columns = ("said by", "at", "words", "score", *(("found by", "seen because", "round") if explain else ()))
    rows = []
    for hit in hits:
        by = names.get(hit.message.speaker_id or "", "somebody")
        row = (by, f"{hit.message.said_at:%Y-%m-%d %H:%M}", hit.message.text or "", f"{hit.score:.2f}")
        tools = ", ".join(f"{found.tool.value} {found.rank}" for found in hit.found)
        rows.append((*row, *((tools, hit.visible_because, str(hit.round)) if explain else ())))
    drawn = table(columns, rows, empty="Nothing that fits.")
    if not explain:
        return drawn
    made = [(str(r.number), r.query, r.why, ", ".join(r.legs), str(r.new), r.ended or "no") for r in rounds]
    return Group(drawn, "", table(("round", "looked for", "why", "searches", "new", "enough"), made))
