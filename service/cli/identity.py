"""Commands about who is who: what waits to be known, why it is thought so, and putting it right."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from service.cli.running import AsJson, SpaceName, with_services
from service.cli.shown import show, table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from service.graph.corrections import Correction
    from service.graph.explain import Decided, Explanation
    from service.graph.inbox import UnknownVoice
    from service.graph.names import ProposedName
    from service.pipelines.correct import Correct, Corrected
    from service.pipelines.naming import NameVerdict
    from service.types.memory import Message
    from service.types.people import Person
    from service.wiring import Services

SomebodyArgument = Annotated[str, typer.Argument(metavar="PERSON", help="A name or an id.")]
OtherArgument = Annotated[str, typer.Argument(metavar="OTHER", help="A name or an id.")]
ProposalArgument = Annotated[
    str, typer.Argument(metavar="PROPOSAL", help="Id of the proposal, from `voicegraph people names`.")
]
WhyOption = Annotated[str, typer.Option(metavar="TEXT", help="For whoever looks at it later.")]
MessageOptions = Annotated[list[str] | None, typer.Option("--message", metavar="ID", help="A message. May be repeated.")]
LABELS = {"merge": "one person", "split": "a new person", "reassign": "messages given", "not_same": "not the same"}


def add_to(app: typer.Typer, people: typer.Typer) -> None:
    app.command("explain")(explain)
    people.command("who")(who)
    people.command("names")(names)
    people.command("accept-name")(accept_name)
    people.command("reject-name")(reject_name)
    people.command("merge")(merge)
    people.command("split")(split)
    people.command("reassign")(reassign)
    people.command("not-same")(not_same)
    people.command("corrections")(corrections)
    people.command("undo")(undo)


def who(space: SpaceName = None, as_json: AsJson = False) -> None:
    """Who is this? Voices that nobody has a name for, with whom they may be.

    Example: voicegraph people who --space home
    """

    async def work(services: Services) -> tuple[list[UnknownVoice], dict[str, Message]]:
        from service.cli.who import every, scope_of_all
        from service.graph.inbox import list_unknown
        from service.graph.messages import find_messages

        found: list[UnknownVoice] = await every(services, list_unknown)
        turns = [id for voice in found for id in voice.turns]
        return found, await services.graph.read(find_messages, await scope_of_all(services), turns)

    found, turns = with_services(work, space=space)

    def said(voice: UnknownVoice) -> str:
        texts = (turns[id].text for id in voice.turns if id in turns)
        return next((text for text in texts if text), "–")

    rows = [
        (
            v.id,
            v.kind.value.replace("_", " "),
            v.num_turns,
            f"{v.net_speech:.0f} s",
            f"{v.first_heard:%Y-%m-%d %H:%M} – {v.last_heard:%Y-%m-%d %H:%M}",
            ", ".join(f"{_called(s.person)}{_number(s.cosine)}" for s in v.people) or None,
            ", ".join(f"{n.name} ({n.confidence:.2f})" for n in v.names) or None,
            said(v),
        )
        for v in found
    ]
    columns = ("id", "what", "turns", "speech", "heard", "may be", "called", "said")
    show(found, as_json, lambda: table(columns, rows, empty="Everybody who was heard is known."))


def explain(
    message: Annotated[str, typer.Argument(metavar="MESSAGE", help="Id of the message.")],
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Why is a message held to be its speaker's?

    Example: voicegraph explain 0199-… --json
    """

    async def work(services: Services) -> Explanation:
        from service.cli.who import scope_of_all
        from service.graph.explain import get_explanation

        return await services.graph.read(get_explanation, await scope_of_all(services), message)

    why = with_services(work, space=space)
    show(why, as_json, lambda: _explained(why))


def names(
    status: Annotated[str, typer.Option(metavar="STATUS", help="open, applied or rejected.")] = "open",
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """List names that were heard or read, and for whom.

    Example: voicegraph people names --status applied
    """
    if status not in ("open", "applied", "rejected"):
        raise typer.BadParameter("--status is open, applied or rejected.")

    async def work(services: Services) -> list[ProposedName]:
        from service.cli.who import every
        from service.graph.names import list_names

        return await every(services, list_names, status=status)

    found = with_services(work, space=space)
    rows = [
        (
            n.id,
            n.name,
            f"{n.confidence:.2f}",
            ", ".join(n.sources),
            n.num_evidence,
            _called(n.person) if n.person else f"voice {n.local_speaker}",
            n.person.id if n.person else None,
            n.held,
        )
        for n in found
    ]
    columns = ("id", "name", "confidence", "from", "messages", "of", "person", "held")
    show(found, as_json, lambda: table(columns, rows, empty=f"No name is {status}."))


def accept_name(proposal: ProposalArgument, space: SpaceName = None, as_json: AsJson = False) -> None:
    """A proposed name is right.

    Example: voicegraph people accept-name 0199-…
    """
    _name_decided(proposal, space, as_json, accepted=True)


def reject_name(proposal: ProposalArgument, space: SpaceName = None, as_json: AsJson = False) -> None:
    """A proposed name is wrong. It is taken back where it is shown, and never given by itself again.

    Example: voicegraph people reject-name 0199-…
    """
    _name_decided(proposal, space, as_json, accepted=False)


def _name_decided(proposal: str, space: str | None, as_json: bool, *, accepted: bool) -> None:
    async def work(services: Services) -> NameVerdict:
        from service.cli.who import ACCOUNT
        from service.pipelines import naming

        decide = naming.apply_name if accepted else naming.reject_name
        return await decide(services.graph, space=services.settings.space, proposal_id=proposal, actor=ACCOUNT)

    verdict = with_services(work, space=space)
    shown = f"{verdict.person_id} is shown as {verdict.shown}" if verdict.shown else f"{verdict.person_id} has no name"
    show(verdict, as_json, lambda: f"“{verdict.name}” is {verdict.status}: {shown}.")


def merge(
    person: SomebodyArgument,
    into: Annotated[str, typer.Argument(metavar="INTO", help="Whom they are shown as from now on: a name or an id.")],
    confirmed: Annotated[
        bool, typer.Option("--confirmed/--unconfirmed", help="Confirmed: each may read what the other may.")
    ] = True,
    why: WhyOption = "",
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Two people are one. No message moves, and undoing it is exact.

    Example: voicegraph people merge 0199-… Dana --why "the same voice on the phone"
    """

    async def change(services: Services, correct: Correct, actor: str) -> Corrected:
        from service.cli.who import the_person

        one, other = await the_person(services, person), await the_person(services, into)
        return await correct.merge(services.settings.space, one, other, actor=actor, why=why, confirmed=confirmed)

    _corrected(change, space, as_json, settling=False)


def not_same(
    person: SomebodyArgument, other: OtherArgument, why: WhyOption = "", space: SpaceName = None, as_json: AsJson = False
) -> None:
    """Two people are not the same: never merged nor proposed again.

    Example: voicegraph people not-same Nora Cora --why twins
    """

    async def change(services: Services, correct: Correct, actor: str) -> Corrected:
        from service.cli.who import the_person

        one, another = await the_person(services, person), await the_person(services, other)
        return await correct.not_same(services.settings.space, one, another, actor=actor, why=why)

    _corrected(change, space, as_json, settling=False)


def split(
    person: SomebodyArgument,
    message: MessageOptions = None,
    voice: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="All by this voice of a session, instead. May be repeated.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="How the new person is called, if known.")] = None,
    why: WhyOption = "",
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Some of what a person said was said by somebody else: a new person, remembered not to be the same.

    Example: voicegraph people split Dana --voice 0199-… --name Cora
    """

    async def change(services: Services, correct: Correct, actor: str) -> Corrected:
        from service.cli.who import the_person

        one = await the_person(services, person)
        return await correct.split(
            services.settings.space,
            one,
            actor=actor,
            why=why,
            messages=message or (),
            local_speakers=voice or (),
            name=name,
        )

    _corrected(change, space, as_json, settling=True)


def reassign(
    message: Annotated[list[str], typer.Argument(metavar="MESSAGE…", help="Ids of the messages.")],
    to: Annotated[str | None, typer.Option(metavar="PERSON", help="Whose they are: a name or an id.")] = None,
    nobody: Annotated[bool, typer.Option("--nobody", help="They are not whose we thought; whose, nobody knows.")] = False,
    why: WhyOption = "",
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Messages are somebody else's. Who may read what is settled again at once.

    Example: voicegraph people reassign 0199-… 0199-… --to Dana
    """
    if (to is None) != nobody:
        raise typer.BadParameter("Say whose the messages are: --to PERSON, or --nobody.")

    async def change(services: Services, correct: Correct, actor: str) -> Corrected:
        from service.cli.who import the_person

        whose = await the_person(services, to) if to else None
        return await correct.reassign(services.settings.space, message, whose, actor=actor, why=why)

    _corrected(change, space, as_json, settling=True)


def undo(
    correction: Annotated[str, typer.Argument(metavar="CORRECTION", help="Its id, from `voicegraph people corrections`.")],
    why: WhyOption = "",
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Take a correction back: all is as it was, and what came since stays.

    Example: voicegraph people undo 0199-…
    """

    async def change(services: Services, correct: Correct, actor: str) -> Corrected:
        return await correct.undo(services.settings.space, correction, actor=actor, why=why)

    _corrected(change, space, as_json, settling=True, undone=True)


def corrections(
    undone: Annotated[bool, typer.Option("--undone", help="Also those that were taken back.")] = False,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """List what was corrected and can be undone, newest first.

    Example: voicegraph people corrections --undone
    """

    async def work(services: Services) -> list[Correction]:
        from service.cli.who import every
        from service.graph.corrections import list_corrections

        return await every(services, list_corrections, standing=not undone)

    found = with_services(work, space=space)
    columns = ("id", "what", "turns", "people", "by", "at", "why", "undone")
    rows = [
        (
            c.id,
            LABELS.get(c.kind, c.kind),
            c.num_turns,
            "\n".join(c.people),
            c.actor,
            f"{c.created_at:%Y-%m-%d %H:%M}",
            c.why or None,
            c.undone_at and f"{c.undone_at:%Y-%m-%d %H:%M}",
        )
        for c in found
    ]
    show(found, as_json, lambda: table(columns, rows, empty="Nothing was corrected."))


def _corrected(
    change: Callable[[Services, Correct, str], Awaitable[Corrected]],
    space: str | None,
    as_json: bool,
    *,
    settling: bool,
    undone: bool = False,
) -> None:
    async def work(services: Services) -> Corrected:
        from service.cli.who import ACCOUNT

        return await change(services, await services.correct(settling=settling), ACCOUNT)

    done = with_services(work, space=space)
    show(done, as_json, lambda: _told(done, undone))


def _told(done: Corrected, undone: bool) -> str:
    what = LABELS.get(done.kind, done.kind) + (f", {done.person_id}" if done.person_id and not undone else "")
    turns = f"; {done.num_turns} messages changed hands" if done.num_turns else ""
    if not undone:
        return f"{what}{turns}. `voicegraph people undo {done.correction_id}` takes it back."
    verdict = f" The two are remembered not to be the same ({done.verdict_id})." if done.verdict_id else ""
    return f"Taken back: {what}{turns}.{verdict}"


def _explained(why: Explanation) -> RenderableType:
    from rich.console import Group

    rows = [("turn", *_decision(why.turn))]
    if why.voice:
        rows.append(("its voice", *_decision(why.voice)))
    columns = ("about", "whose", "decision", "cosine", "threshold", "runner-up", "margin", "by", "reason", "with")
    known_by = f"Known by {len(why.evidence)} other messages and {why.from_enrolment} pieces of an enrolment clip"
    sound = ", ".join(
        f"{value:.1f} {unit}"
        for value, unit in ((why.net_speech, "s alone"), (why.overlapped, "s overlapped"), (why.snr_db, "dB over noise"))
        if value is not None
    )
    parts: list[Any] = [
        table(columns, rows),
        f"{known_by}{'; this message is one that the voice is known by' if why.learned else ''}.",
    ]
    if sound:
        parts.append(f"The message: {sound}{f', {why.channel}' if why.channel else ''}.")
    parts += [
        f"Merged by {m.by}{'' if m.confirmed else ' (nobody confirmed it)'}{f': {m.why}' if m.why else ''}." for m in why.merges
    ]
    if why.suggestions:
        parts.append("May be: " + ", ".join(f"{_called(s.person)}{_number(s.cosine)}" for s in why.suggestions))
    return Group(*parts)


def _decision(decided: Decided) -> tuple[object, ...]:
    runner_up = None
    if decided.runner_up is not None:
        whose = f" {_called(decided.runner_up_person)}" if decided.runner_up_person else ""
        runner_up = f"{decided.runner_up:.2f}{whose}"
    return (
        _called(decided.person) if decided.person else "nobody's",
        decided.decision,
        *(None if number is None else f"{number:.2f}" for number in (decided.cosine, decided.threshold)),
        runner_up,
        None if decided.margin is None else f"{decided.margin:.2f}",
        decided.by,
        decided.reason,
        ", ".join(part for part in (decided.policy, decided.encoder, decided.channels) if part) or None,
    )


def _called(person: Person) -> str:
    return person.display_name or f"anonymous {person.id[:8]}"


def _number(cosine: float | None) -> str:
    return "" if cosine is None else f" ({cosine:.2f})"
