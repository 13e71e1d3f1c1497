"""What happens in the demo? Policies, enrolments, recordings and questions, all over the service's own HTTP API."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from service.demo.client import Client
from service.demo.reference import Clip, Household, Recording
from service.demo.score import Heard, Match, match
from service.errors import VoicegraphError
from service.types.audio import Progress, Segment

CONSENT = {"textVersion": "household-1", "channel": "spoken"}
POLL_SECONDS = 0.3
"""Between looks at a job; progress is written once a second."""


class DemoBroken(VoicegraphError):
    code = "demo_broken"
    says = "{what} came to {outcome}. Run the demo again; if it stays so, `voicegraph doctor` may tell why."
    http_status = 500


@dataclass(frozen=True, slots=True)
class Recorded:
    id: str
    title: str
    note: str
    seconds: float
    """Of sound."""
    took: float
    """Seconds of waiting, until it was stored and could be searched."""
    num_messages: int
    people_created: int
    people_linked: int


@dataclass(frozen=True, slots=True)
class Met:
    """One person of the graph. `really` is whom the reference calls so: known to the demo only, for the comparison."""

    id: str
    name: str
    kind: str
    num_turns: int
    net_speech: float
    really: str | None


@dataclass(frozen=True, slots=True)
class SaidTo:
    speaker: str
    addressee: str
    turns: int


@dataclass(frozen=True, slots=True)
class Cited:
    speaker: str | None
    said_at: str
    session: str | None
    text: str | None


@dataclass(frozen=True, slots=True)
class Asked:
    question: str
    by: str
    """Who asks."""
    means: str
    """voice: a clip of it is all that the service got · token: one that may ask for this person."""
    listening: str | None
    taken_for: str | None
    """Whom the service took the asker for."""
    visible: int | None
    """Messages that asker and listeners may read."""
    outcome: str
    """answered, nothing_found, not_allowed, or the code of the refusal."""
    answer: str
    reason: str
    citations: tuple[Cited, ...]


@dataclass(frozen=True, slots=True)
class Story:
    space: dict[str, str]
    recordings: tuple[Recorded, ...]
    people: tuple[Met, ...]
    said_to: tuple[SaidTo, ...]
    match: tuple[Match, ...]
    questions: tuple[Asked, ...]


@dataclass(frozen=True, slots=True)
class ByVoice:
    clip: str
    """Id of the recorded question: its voice is all that the service gets of the asker."""
    listener: str | None = None
    """Id of a recording of somebody else in the room."""


@dataclass(frozen=True, slots=True)
class ByToken:
    person: str
    text: str


QUESTIONS = (
    ByVoice("ask_surprise_ben"),
    ByVoice("ask_surprise_ruth"),
    ByVoice("ask_surprise_nora"),
    ByVoice("ask_surprise_nora", listener="ask_surprise_ben"),
    ByVoice("ask_surprise_nora", listener="ask_surprise_stranger"),
    ByVoice("ask_teapot_ben"),
    ByVoice("ask_teapot_nora"),
    ByToken("ruth", "When is Nora's dentist appointment?"),
    ByVoice("ask_piano_victor"),
    ByVoice("ask_surprise_victor"),
    ByVoice("ask_surprise_stranger"),
)


def tell(client: Client, home: Household, others: Sequence[Recording], bar: Callable[[str], Progress]) -> Story:
    """Blocks until all is done; raises DemoBroken, RequestFailed. `client` holds a token with the scopes admin and read_all."""
    space = _open_space(client)
    _enrol(client, home, bar("The three members agree and are enrolled"))
    recordings = (*others, *home.recordings)
    jobs = [(recording, _ingest(client, recording, bar(recording.title))) for recording in recordings]
    heard = {recording.id: [_heard(m) for m in _messages(client, job["sessionId"])] for recording, job in jobs}
    matches = (match("household", home.recordings, heard), *(match(r.id, (r,), heard) for r in others))
    really = {person: home.names.get(who, who) for one in matches for person, who in one.really.items()}
    people = _people(client, really)
    names = {p.id: p.name for p in people}
    return Story(
        space,
        tuple(_recorded(recording, job) for recording, job in jobs),
        people,
        _said_to([h for r in home.recordings for h in heard[r.id]], names),
        matches,
        _ask_all(client, home, people, bar("Questions")),
    )


SET_POLICY = """
mutation ($key: String!) {
  setSpacePolicy(policy: {access: ATTENDED, voiceAccess: OPEN, anonymousVoices: KEEP}, idempotencyKey: $key) {
    __typename ... on Space { name access voiceAccess anonymousVoices } ... on Problem { code message }
  }
}"""


def _open_space(client: Client) -> dict[str, str]:
    space = _only(client.query(SET_POLICY, key="demo-policy")["setSpacePolicy"], "Space", "Setting the policies")
    return {"name": space["name"], **{k: space[k].lower() for k in ("access", "voiceAccess", "anonymousVoices")}}


ENROL = """
mutation ($name: String!, $clip: ID!, $consent: ConsentInput!, $key: String!) {
  enrol(name: $name, uploadId: $clip, consent: $consent, idempotencyKey: $key) {
    __typename ... on Enrolled { personId } ... on Problem { code message }
  }
}"""


def _enrol(client: Client, home: Household, report: Progress) -> None:
    for number, clip in enumerate(home.enrolments):
        name = home.names[clip.speaker]
        report(number / len(home.enrolments), name)
        upload = client.upload(clip.path)
        answer = client.query(ENROL, name=name, clip=upload, consent=CONSENT, key=f"demo-{clip.id}")
        _only(answer["enrol"], "Enrolled", f"Enrolling {name}")
    report(1.0, "done")


INGEST = """
mutation ($input: IngestInput!, $key: String!) {
  ingest(input: $input, idempotencyKey: $key) { __typename ... on Job { id } ... on Problem { code message } }
}"""

JOB = """
query ($id: ID!) {
  job(id: $id) {
    status stage progress error sessionId result { numMessages peopleCreated peopleLinked seconds }
  }
}"""


def _ingest(client: Client, recording: Recording, report: Progress) -> dict[str, Any]:
    started = time.monotonic()
    wanted = {
        "uploadId": client.upload(recording.path),
        "title": recording.title,
        "startedAt": recording.started_at.isoformat(),
    }
    answer = client.query(INGEST, input=wanted, key=f"demo-{recording.id}")["ingest"]
    id = _only(answer, "Job", f"Ingesting {recording.title}")["id"]
    while True:
        job: dict[str, Any] = client.query(JOB, id=id)["job"]
        report(job["progress"], job["stage"])
        if job["status"] == "COMPLETE":
            report(1.0, "done")
            return job | {"took": time.monotonic() - started}
        if job["status"] in ("FAILED", "INTERRUPTED"):
            raise DemoBroken(what=f"Ingesting {recording.title}", outcome=job["error"] or job["status"].lower())
        time.sleep(POLL_SECONDS)


def _recorded(recording: Recording, job: dict[str, Any]) -> Recorded:
    result = job["result"]
    seconds = max(turn.segment.end for turn in recording.turns)
    numbers = (result["numMessages"], result["peopleCreated"], result["peopleLinked"])
    return Recorded(recording.id, recording.title, recording.note, seconds, job["took"], *numbers)


MESSAGES = """
query ($session: ID!, $after: String) {
  messages(sessionId: $session, first: 50, after: $after) {
    edges { node { id start end speaker { id } addressees { confidence how person { id } } decision { kind } } }
    pageInfo { hasNextPage endCursor }
  }
}"""


def _messages(client: Client, session_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    after = None
    while True:
        page = client.query(MESSAGES, session=session_id, after=after)["messages"]
        found += (edge["node"] for edge in page["edges"])
        if not page["pageInfo"]["hasNextPage"]:
            return found
        after = page["pageInfo"]["endCursor"]


def _heard(message: dict[str, Any]) -> Heard:
    to = tuple(a["person"]["id"] for a in message["addressees"] if a["person"] and a["how"] != "ALL")
    speaker = message["speaker"] and message["speaker"]["id"]
    decision = message["decision"]["kind"] if message["decision"] else "unresolved"
    return Heard(Segment(message["start"], message["end"]), speaker, decision, to)


PEOPLE = "{ people(first: 50) { edges { node { id displayName kind numTurns netSpeech } } } }"


def _people(client: Client, really: dict[str, str]) -> tuple[Met, ...]:
    nodes = [edge["node"] for edge in client.query(PEOPLE)["people"]["edges"]]
    strangers = [node["id"] for node in nodes if not node["displayName"]]
    return tuple(
        Met(
            node["id"],
            node["displayName"] or f"Voice {strangers.index(node['id']) + 1}",
            node["kind"],
            node["numTurns"],
            node["netSpeech"],
            really.get(node["id"]),
        )
        for node in nodes
    )


def _said_to(heard: Sequence[Heard], names: dict[str, str]) -> tuple[SaidTo, ...]:
    pairs = Counter((h.speaker, to) for h in heard if h.speaker for to in h.to)
    return tuple(SaidTo(names[speaker], names[to], n) for (speaker, to), n in sorted(pairs.items(), key=lambda p: -p[1]))


ASK = """
query ($question: String!, $asker: AskerInput) {
  viewer(asker: $asker) { __typename ... on Viewer { person { id } numVisibleMessages } }
  ask(question: $question, asker: $asker) {
    __typename
    ... on Answer {
      status text reason
      citations { message { text saidAt speaker { id } session { title } } }
    }
    ... on Problem { code message }
  }
}"""


def _ask_all(client: Client, home: Household, people: Sequence[Met], report: Progress) -> tuple[Asked, ...]:
    asked = []
    for number, question in enumerate(QUESTIONS):
        report(number / len(QUESTIONS), f"{number + 1} of {len(QUESTIONS)}")
        match question:
            case ByVoice(clip, listener):
                heard = home.questions[listener] if listener else None
                asked.append(_ask_by_voice(Client(client.url), home.questions[clip], heard, home, people))
            case ByToken(person, text):
                id = next(p.id for p in people if p.name == home.names[person])
                asked.append(
                    _ask(client, text, {"actingFor": id}, people, by=home.names[person], means="token", listening=None)
                )
    report(1.0, "done")
    return tuple(asked)


def _ask_by_voice(client: Client, clip: Clip, listener: Clip | None, home: Household, people: Sequence[Met]) -> Asked:
    """Who asks is taken from the clip; what is asked, from the script."""
    asker = {"voiceUploadId": client.upload(clip.path), "heardByVoices": [client.upload(listener.path)] if listener else []}
    listening = home.names[listener.speaker] if listener else None
    return _ask(client, clip.text, asker, people, by=home.names[clip.speaker], means="voice", listening=listening)


def _ask(
    client: Client, question: str, asker: dict[str, Any], people: Sequence[Met], *, by: str, means: str, listening: str | None
) -> Asked:
    names = {p.id: p.name for p in people}
    found = client.query(ASK, question=question, asker=asker)
    viewer, answer = found["viewer"], found["ask"]
    person = viewer.get("person")
    return Asked(
        question=question,
        by=by,
        means=means,
        listening=listening,
        taken_for=names[person["id"]] if person else None,
        visible=viewer.get("numVisibleMessages"),
        outcome=answer["status"].lower() if "status" in answer else answer["code"],
        answer=answer.get("text", ""),
        reason=answer.get("reason") or answer.get("message", ""),
        citations=tuple(_cited(c["message"], names) for c in answer.get("citations", ())),
    )


def _cited(message: dict[str, Any], names: dict[str, str]) -> Cited:
    speaker = message["speaker"] and names.get(message["speaker"]["id"])
    return Cited(speaker, message["saidAt"], message["session"] and message["session"]["title"], message["text"])


def _only(answer: dict[str, Any], wanted: str, what: str) -> dict[str, Any]:
    """`answer` when it is the expected type; raises DemoBroken with the problem otherwise."""
    if answer["__typename"] != wanted:
        raise DemoBroken(what=what, outcome=f"{answer.get('code')}: {answer.get('message')}")
    return answer
