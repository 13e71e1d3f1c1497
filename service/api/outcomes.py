"""What else may come out than what was asked for? Expected outcomes as types, so that clients can tell them apart."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, TypeAlias

import strawberry

from service.api.context import ViewerNotAccepted, global_id
from service.errors import VoicegraphError
from service.types.people import VoiceOutcome

strawberry.enum(VoiceOutcome, name="VoiceOutcome", description="What asking by voice came to.")


@strawberry.interface(description="Why the answer is not what was asked for.")
class Problem:
    code: str = strawberry.field(description="Stable, for programs.")
    message: str = strawberry.field(description="What was given, what was needed, what to do; for people.")


@strawberry.type(description="There is no such thing, or the viewer may not see it; the two cannot be told apart.")
class NotFound(Problem):
    pass


@strawberry.type(description="The token, or who asks and who listens, does not allow it.")
class NotAllowed(Problem):
    pass


@strawberry.type(description="The voice was not taken for anybody's. How near it came is not told: it would teach an impostor.")
class VoiceNotAccepted(Problem):
    outcome: VoiceOutcome = strawberry.field(description="What the comparison came to.")


@strawberry.type(
    description="The idempotency key belongs to another request, that request is still running, or what is there already "
    "stands against it."
)
class Conflict(Problem):
    undo_first: strawberry.ID | None = strawberry.field(
        default=None, description="The correction that stands against it, where it is one."
    )


@strawberry.type(description="Something in the request cannot be used.")
class InvalidInput(Problem):
    pass


@strawberry.type(description="Too much is waiting already; ask again later with the same key.")
class Busy(Problem):
    pass


ReadProblem: TypeAlias = NotFound | NotAllowed | VoiceNotAccepted | InvalidInput
WriteProblem: TypeAlias = NotFound | NotAllowed | Conflict | InvalidInput | Busy
AnyProblem: TypeAlias = ReadProblem | WriteProblem

_BY_STATUS: dict[int, type[NotFound | NotAllowed | Conflict | InvalidInput | Busy]] = {
    400: InvalidInput,
    401: NotAllowed,
    403: NotAllowed,
    404: NotFound,
    409: Conflict,
    413: InvalidInput,
    415: InvalidInput,
    422: InvalidInput,
    429: Busy,
}


def problem(error: VoicegraphError) -> AnyProblem:
    """The type of an expected error; raises it again when it is the service's own fault."""
    if isinstance(error, ViewerNotAccepted):
        verdict, code = error.refused.verdict, error.refused.code.value
        if verdict is None or verdict.outcome is VoiceOutcome.ACCEPT:  # not the voice's fault
            return NotAllowed(code=code, message=error.message)
        return VoiceNotAccepted(code=code, message=error.message, outcome=verdict.outcome)
    kind = _BY_STATUS.get(error.http_status)
    if kind is None:
        raise error
    if kind is Conflict and (correction := error.facts.get("correction")):
        return Conflict(
            code=error.code, message=error.message, undo_first=strawberry.ID(global_id("Correction", str(correction)))
        )
    return kind(code=error.code, message=error.message)


async def expected(work: Awaitable[object]) -> Any:
    """What `work` gives, or the problem it met: a member of the caller's union either way."""
    try:
        return await work
    except VoicegraphError as error:
        return problem(error)
