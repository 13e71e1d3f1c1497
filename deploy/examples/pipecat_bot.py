"""Pass on what a Pipecat pipeline hears and says. Needs `pipecat-ai`, and passing_on.py beside it.

    [sources.bot]                                  # hooks.toml of the service
    provider = "pipecat"
    space = "home"
    secrets = ["env:BOT_SECRET"]                   # whsec_…

    async with Sender("https://…/v1/hooks/bot", standard_webhooks(os.environ["BOT_SECRET"])) as sender:
        worker = PipelineWorker(pipeline, observers=[passing_on("meeting-42", sender)])   # PipelineTask before Pipecat 1.0

An observer sees every frame, wherever it is consumed, and holds none up. Who comes and goes is told by the transport:

    @transport.event_handler("on_participant_joined")
    async def joined(_, participant):
        sender.put(person("meeting-42", "ParticipantJoined", participant["id"], participant["info"]["userName"]))
"""

from typing import Any

from passing_on import Sender

TEXT = ("TranscriptionFrame", "InterimTranscriptionFrame")
ENDS = ("StartFrame", "EndFrame", "CancelFrame")


def message_of(meeting: str, frame: Any) -> dict[str, Any] | None:
    """None for what tells nothing: a pipeline is full of frames."""
    kind = type(frame).__name__
    if kind in TEXT:
        language = getattr(frame, "language", None)
        return {
            "meeting": meeting,
            "frame": kind,
            "text": frame.text,
            "user_id": frame.user_id,
            "timestamp": frame.timestamp,
            "language": None if language is None else str(getattr(language, "value", language)),
        }
    if kind == "AggregatedTextFrame" and getattr(frame, "will_be_spoken", False):
        return {"meeting": meeting, "frame": kind, "text": frame.text}
    return {"meeting": meeting, "frame": kind} if kind in ENDS else None


def person(meeting: str, kind: str, id: str, name: str | None = None) -> dict[str, Any]:
    """`kind`: ParticipantJoined or ParticipantLeft."""
    return {"meeting": meeting, "frame": kind, "user_id": id, "name": name}


def passing_on(meeting: str, sender: Sender) -> Any:
    """An observer for a pipeline's worker."""
    from pipecat.observers.base_observer import BaseObserver, FramePushed  # here: the functions above need no Pipecat

    class PassingOn(BaseObserver):
        async def on_push_frame(self, data: FramePushed) -> None:
            told = message_of(meeting, data.frame) if data.first_push else None
            if told is not None:
                sender.put(told)

    return PassingOn()
