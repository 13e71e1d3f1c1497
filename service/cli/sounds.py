"""Commands about how people sound in what they said: agreeing to it, finding it, and having one's own piece of sound."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from service.cli.consents import Channel, Person, Version, record
from service.cli.questions import AskAs, AskedAt, HeardBy, InSession, Options, SaidBy, Since, Until, Zone, time_of
from service.cli.running import AsJson, SpaceName, with_services
from service.cli.shown import plain, show, table
from service.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from service.types.people import SpaceSettings
    from service.types.sounds import SoundHit
    from service.wiring import Services

LabelName = Annotated[
    list[str] | None, typer.Option("--label", metavar="NAME", help="laughing, whispering, music, … May be repeated.")
]

sounds = typer.Typer(rich_markup_mode=None, help="How people sound in what they said, and what sounds around them.")


def add_to(app: typer.Typer) -> None:
    app.add_typer(sounds, name="sounds")


@sounds.command()
def agree(
    person: Person, consent: Version, channel: Channel = "spoken", space: SpaceName = None, as_json: AsJson = False
) -> None:
    """Record that somebody lets be kept how they sound. Without it nothing is listened for.

    What was remembered before is heard when its recording is ingested again.

    Example: voicegraph sounds agree Nora --consent 2026-11
    """
    id, _ = record(person, "granted", "keep_audio", consent, channel, space)
    show({"id": id}, as_json, lambda: "Recorded. `voicegraph ingest` of a recording that is known listens to it for them.")


@sounds.command()
def withdraw(
    person: Person, consent: Version, channel: Channel = "spoken", space: SpaceName = None, as_json: AsJson = False
) -> None:
    """Record that somebody took that back: their sounds are gone at once.

    Example: voicegraph sounds withdraw Nora --consent 2026-11
    """
    id, _ = record(person, "withdrawn", "keep_audio", consent, channel, space)
    show({"id": id}, as_json, lambda: "Recorded; their sounds are gone.")


@sounds.command("find")
def find(
    about: Annotated[str | None, typer.Argument(help="What was spoken of then. Without it: the newest.")] = None,
    label: LabelName = None,
    like: Annotated[
        str | None,
        typer.Option(metavar="ID", help="One's own sound whose piece is kept, instead of words: one's others like it."),
    ] = None,
    first: Annotated[int, typer.Option(help="How many, 50 at most.")] = 10,
    person: AskAs = None,
    heard_by: HeardBy = None,
    by: SaidBy = None,
    session: InSession = None,
    since: Since = None,
    until: Until = None,
    asked_at: AskedAt = None,
    zone: Zone = None,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Find when somebody laughed, whispered, or a telephone rang, as far as the asker may read what was said.

    Example: voicegraph sounds find "the trip" --label laughing --as Dana
    """
    options = Options.of(person, None, heard_by, None, by, None, None, session, since, until, None)
    moment = time_of("--asked-at", asked_at)

    async def work(services: Services) -> tuple[tuple[SoundHit, ...], dict[str, str]]:
        from service.graph.people import find_people
        from service.types.sounds import SoundLabel, SoundsAsked

        known = {one.value for one in SoundLabel}
        if unknown := set(label or ()) - known:
            raise InvalidInput(what="--label", given=sorted(unknown)[0], needed=", ".join(sorted(known)))
        asked = SoundsAsked(
            tuple(SoundLabel(name) for name in label or ()), about, like.removeprefix("Sound:") if like else None
        )
        scope, filters = await options.scope(services), await options.filters(services)
        found = await services.sounds.find()(scope, asked, filters, first=first, asked_at=moment, zone=zone)
        ids = sorted({hit.message.speaker_id for hit in found if hit.message.speaker_id})
        people = await services.graph.read(find_people, scope, ids)
        return found, {id: one.display_name for id, one in people.items() if one.display_name}

    found, names = with_services(work, space=space)
    columns = ("sound", "when", "by", "said", "piece", "id")
    empty = "Nothing of it is known. `voicegraph sounds agree` is asked of each speaker first."
    show(plain(found), as_json, lambda: table(columns, [_row(hit, names) for hit in found], empty=empty))


@sounds.command()
def save(
    sound: Annotated[str, typer.Argument(metavar="ID", help="Id of a sound (`sounds find` shows it).")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to, as Ogg Opus; must not be there yet.")],
    person: Annotated[str, typer.Option("--as", metavar="PERSON", help="Whose voice it is: nobody else gets it.")],
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Write a piece of one's own sound to a file, where the space keeps these (`sounds keep`).

    Example: voicegraph sounds save SOUND-ID laugh.ogg --as Nora
    """

    async def work(services: Services) -> bytes | None:
        from service.cli.who import scope_of

        scope = await scope_of(services, person=person, voice=None, heard_by=(), heard_by_voices=())
        return await services.sounds.find().piece(scope, sound.removeprefix("Sound:"))

    piece = with_services(work, space=space)
    if piece is None:
        raise NotFound(kind="piece of sound", id=sound)
    try:
        with file.open("xb") as target:
            target.write(piece)
    except FileExistsError:
        raise InvalidInput(what="FILE", given=f"{file}, which is there", needed="a new file") from None
    show({"file": str(file), "bytes": len(piece)}, as_json, lambda: f"{file}: {len(piece)} bytes.")


@sounds.command()
def keep(
    pieces: Annotated[
        bool | None, typer.Option("--pieces/--no-pieces", help="Keep pieces of sound themselves, or delete those there are.")
    ] = None,
    days: Annotated[int | None, typer.Option(min=1, max=3_650, help="Days that sounds are kept.")] = None,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Show or change what this space keeps of the sound of those who agreed.

    Example: voicegraph sounds keep --pieces --days 7
    """

    async def work(services: Services) -> SpaceSettings:
        from dataclasses import replace

        from service.graph.spaces import ensure_space, save_space
        from service.types.people import SpaceSettings

        before = await services.graph.write(ensure_space, SpaceSettings(services.settings.space))
        if pieces is None and days is None:
            return before
        kept = before.keeps_sound if pieces is None else pieces
        after = replace(before, keeps_sound=kept, sound_days=before.sound_days if days is None else days)
        return await services.graph.write(save_space, after)

    now = with_services(work, space=space)
    what = "What is heard, and the pieces of sound" if now.keeps_sound else "What is heard, and no piece of sound,"
    shown = {"keeps_sound": now.keeps_sound, "sound_days": now.sound_days}
    show(shown, as_json, lambda: f"{what} are kept for {now.sound_days} days, of those who agreed.")


def _row(hit: SoundHit, names: dict[str, str]) -> tuple[Any, ...]:
    message, sound = hit.message, hit.sound
    by = names.get(message.speaker_id or "")
    return (
        sound.label.value,
        f"{message.said_at:%Y-%m-%d %H:%M}",
        by,
        message.text,
        "kept" if sound.has_piece else None,
        sound.id,
    )
