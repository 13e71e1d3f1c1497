"""Commands about who is who as it is held to be: what waits to be known, which names were heard, why it is thought so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from service.cli.running import AsJson, SpaceName, with_services
from service.cli.shown import plain, show, table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from service.graph.explain import Decided, Explanation
    from service.graph.inbox import UnknownVoice
    from service.graph.names import ProposedName
    from service.pipelines.explain import ThresholdsNow
    from service.pipelines.naming import NameVerdict
    from service.types.memory import Message
    from service.types.people import Person
    from service.wiring import Services

ProposalArgument = Annotated[
    str, typer.Argument(metavar="PROPOSAL", help="Id of the proposal, from `voicegraph people names`.")
]


def add_to(app: typer.Typer, people: typer.Typer) -> None:
    app.command("explain")(explain)
    people.command("who")(who)
    people.command("names")(names)
    people.command("accept-name")(accept_name)
    people.command("reject-name")(reject_name)


def who(space: SpaceName = None, as_json: AsJson = False) -> None:
    """List voices that nobody has a name for, with whom they may be.

    `voicegraph people name` names a person; `people reassign --voice` says whose a local speaker is.

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
    message: Annotated[str, typer.Argument(metavar="MESSAGE", help="Id of the message, as in `voicegraph ask … --json`.")],
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Tell why a message is held to be its speaker's, and what that would take today.

    Example: voicegraph explain 0199-… --json
    """

    async def work(services: Services) -> tuple[Explanation, ThresholdsNow | None]:
        from service.cli.who import scope_of_all
        from service.graph.explain import get_explanation
        from service.pipelines.explain import thresholds_now

        scope = await scope_of_all(services)
        why = await services.graph.read(get_explanation, scope, message)
        return why, await thresholds_now(services.graph, scope, why, services.thresholds)

    why, now = with_services(work, space=space)
    show({**plain(why), "thresholds_now": now}, as_json, lambda: _explained(why, now))


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
    """Accept a proposed name: the person is called so from now on.

    Example: voicegraph people accept-name 0199-…
    """
    _name_decided(proposal, space, as_json, accepted=True)


def reject_name(proposal: ProposalArgument, space: SpaceName = None, as_json: AsJson = False) -> None:
    """Reject a proposed name. It is taken back where it is shown, and never given by itself again.

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


def _explained(why: Explanation, now: ThresholdsNow | None) -> RenderableType:
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
    parts: list[Any] = [table(columns, rows)]
    if why.turn.person:
        parts.append(f"{known_by}{'; this message is one that the voice is known by' if why.learned else ''}.")
    if sound:
        parts.append(f"The message: {sound}{f', {why.channel}' if why.channel else ''}.")
    parts += [
        f"Merged by {m.by}{'' if m.confirmed else ' (nobody confirmed it)'}{f': {m.why}' if m.why else ''}." for m in why.merges
    ]
    if now:
        parts.append(
            f"Today, {now.gallery_size} people known, {now.encoder} {now.channels}: linked from {now.link:.2f} on, "
            f"somebody new below {now.create:.2f}, learnt from at {now.update:.2f}, asking by voice from {now.access:.2f} on."
        )
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
