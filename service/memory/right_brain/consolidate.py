"""What of many turns stays? A liking said on two occasions, a feeling toward somebody on three, a mood on three over a week or
more and in a good part of all there were (VoiceMem). One bad day is one occasion, however many sessions it had; what is
said of one person is no trait; a newer liking takes the older one's place once it is said to have changed, or said twice."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

from service.types.affect import Aspect, Emotion, Persona, PersonaKind, Shown, heard_on


@dataclass(frozen=True, slots=True)
class ConsolidateConfig:
    """Right on all of tests/unit/memory/right_brain/persona_cases.json, 2026-11; the half-lives are VoiceMem's 30 days for what
    is felt (there: of its edges), and six times that for what is liked, which changes more slowly."""

    occasion: timedelta = timedelta(hours=12)  # sessions that begin within it of the first are one occasion: one day, any zone
    attitudes: int = 2  # occasions on which the same is said: the fewest that are several
    feelings: int = 3  # occasions of the same feeling: two bad days are no trait
    mood_span: timedelta = timedelta(days=7)  # from the first to the last: else it is one bad week
    mood_share: float = 0.3  # of the occasions on which the person was heard, the newer the heavier
    toward_share: float = 0.5  # of the occasions on which the same target was felt or thought anything of
    general: int = 3  # targets of one feeling from which on it is the person's, not the targets'
    situation: float = 0.5  # share of turns with one and the same cause above which a mood is that cause's
    attitude_half_life: timedelta = timedelta(days=180)
    feeling_half_life: timedelta = timedelta(days=30)
    window: timedelta = timedelta(days=1_800)  # ten of the longer half-lives: an occasion before that weighs a thousandth
    faded: float = 0.25  # occasions, each halved by its age: below it is forgotten
    doubted: float = 0.5  # of the intensity while the last occasion said the opposite
    undecided: float = 0.1  # summed polarity of an occasion below which it says neither
    max_evidence: int = 20  # turns named, the newest


@dataclass(frozen=True, slots=True)
class _Heard:
    """On which occasion each session was, and when the occasions began."""

    of: Mapping[str, int]
    began: Sequence[datetime]


def consolidate(
    shown: Iterable[Shown], heard: Mapping[str, datetime], now: datetime, config: ConsolidateConfig = ConsolidateConfig()
) -> tuple[Persona, ...]:
    """Of one person, the strongest first. `heard`: when they were first heard in each session, also in those where nothing was
    shown; it holds every session of `shown`. `now`: what has faded by then is left out; nothing after it is looked at."""
    shown = sorted((s for s in shown if s.said_at <= now), key=lambda s: (s.said_at, s.message_id))
    if not shown:
        return ()
    occasions = _occasions(heard, config)
    found = [
        *_attitudes(shown, occasions, now, config),
        *_toward(shown, occasions, now, config),
        *_moods(shown, occasions, now, config),
    ]
    return tuple(sorted(found, key=lambda p: (-p.intensity, p.key)))


_INGS = re.compile(r"(?<=\w\w\w)(?:ies|ing|es|s|e|y)$")


def target_key(words: str) -> str:
    """What is one with what else, whatever its number and article: dogs, the dog; dancing, to dance."""
    kept = [
        word for word in re.findall(r"[^\W_]+(?:['’][^\W_]+)*", words.casefold()) if word not in ("the", "a", "an", "my", "our")
    ]
    return " ".join(_INGS.sub("", word.removesuffix("'s")) for word in kept) or words.casefold()


def _occasions(heard: Mapping[str, datetime], config: ConsolidateConfig) -> _Heard:
    of: dict[str, int] = {}
    began: list[datetime] = []
    for session, at in sorted(heard.items(), key=lambda item: (item[1], item[0])):
        if not began or at - began[-1] >= config.occasion:
            began.append(at)
        of[session] = len(began) - 1
    return _Heard(of, began)


# ---- likes, dislikes, and what somebody says they are


def _attitudes(shown: Sequence[Shown], heard: _Heard, now: datetime, config: ConsolidateConfig) -> Iterable[Persona]:
    groups: dict[tuple[Aspect, str], list[Shown]] = defaultdict(list)
    for one in shown:
        if one.mark.aspect is not Aspect.FEELING and one.target is not None:
            groups[one.mark.aspect, one.target].append(one)
    for (aspect, target), said in groups.items():
        run, doubted = _standing(said, heard, config)
        agreed = len({heard.of[one.session_id] for one in run})
        if agreed >= config.attitudes and _weight(run, heard, now, config.attitude_half_life) >= config.faded:
            kind = PersonaKind.CROSS_ENTITY if aspect is Aspect.ATTITUDE else PersonaKind.INDEPENDENT
            yield _persona(kind, aspect, target, None, run, now, config, doubted=doubted)


def _standing(said: Sequence[Shown], heard: _Heard, config: ConsolidateConfig) -> tuple[list[Shown], bool]:
    """What agrees with what holds now, and whether the last that was said does not."""
    run: list[list[Shown]] = []
    against: list[list[Shown]] = []
    side = 0
    for _, group in groupby(said, key=lambda one: heard.of[one.session_id]):
        here = list(group)
        leaning = sum(one.mark.polarity * one.mark.intensity for one in here)
        now = 0 if abs(leaning) < config.undecided else 1 if leaning > 0 else -1
        if any(one.mark.changed for one in here) and now != side:
            run, against, side = [here] if now else [], [], now
        elif now and side in (0, now):
            run, against, side = [*run, here], [], now
        elif now:
            against.append(here)
            if len(against) >= config.attitudes:
                run, against, side = against, [], now
    agreeing = [one for here in run for one in here if one.mark.polarity * side > 0]
    return agreeing, bool(against)


# ---- feelings


def _toward(shown: Sequence[Shown], heard: _Heard, now: datetime, config: ConsolidateConfig) -> Iterable[Persona]:
    """Of something or somebody: angry with Ben, anxious about the exam."""
    groups: dict[tuple[Emotion, str], list[Shown]] = defaultdict(list)
    spoken_of: dict[str, set[int]] = defaultdict(set)
    for one in shown:
        if one.target is None or one.mark.aspect is Aspect.SELF:
            continue
        spoken_of[one.target].add(heard.of[one.session_id])
        if one.mark.emotion is not None:
            groups[one.mark.emotion, one.target].append(one)
    for (emotion, target), felt in groups.items():
        on = {heard.of[one.session_id] for one in felt}
        enough = len(on) >= config.feelings and len(on) >= config.toward_share * len(spoken_of[target])
        if enough and _weight(felt, heard, now, config.feeling_half_life) >= config.faded:
            yield _persona(PersonaKind.CROSS_ENTITY, Aspect.FEELING, target, emotion, felt, now, config)


def _moods(shown: Sequence[Shown], heard: _Heard, now: datetime, config: ConsolidateConfig) -> Iterable[Persona]:
    """Of nothing in particular, or of everything."""
    felt = [one for one in shown if one.mark.aspect is Aspect.FEELING]
    targets: dict[Emotion | None, set[str]] = defaultdict(set)
    for one in felt:
        if one.target is not None:
            targets[one.mark.emotion].add(one.target)
    untargeted = [one for one in felt if one.target is None or len(targets[one.mark.emotion]) >= config.general]
    strength: dict[int, dict[Emotion, float]] = defaultdict(lambda: defaultdict(float))
    for one in untargeted:
        if one.mark.emotion is not None:
            strength[heard.of[one.session_id]][one.mark.emotion] += one.mark.intensity
    for emotion in Emotion:
        on = {occasion for occasion, here in strength.items() if _leads(emotion, here)}
        run = [one for one in untargeted if one.mark.emotion is emotion and heard.of[one.session_id] in on]
        if len(on) >= config.feelings and _lasting(run, on, heard, now, config):
            yield _persona(PersonaKind.INDEPENDENT, Aspect.FEELING, None, emotion, run, now, config)


def _lasting(run: Sequence[Shown], on: set[int], heard: _Heard, now: datetime, config: ConsolidateConfig) -> bool:
    began, half_life = [heard.began[occasion] for occasion in sorted(on)], config.feeling_half_life
    weight = sum(_left(at, now, half_life) for at in began)
    share = weight / sum(_left(at, now, half_life) for at in heard.began if at <= now)
    causes: dict[str, int] = defaultdict(int)
    for one in run:
        if one.mark.cause:
            causes[target_key(one.mark.cause)] += 1
    of_one_cause = max(causes.values(), default=0) > config.situation * len(run)
    long = began[-1] - began[0] >= config.mood_span
    return long and weight >= config.faded and share >= config.mood_share and not of_one_cause


_PLEASANT = frozenset({Emotion.JOY, Emotion.CALM})


def _leads(emotion: Emotion, here: Mapping[Emotion, float]) -> bool:
    """It was felt on that occasion, and its opposites less."""
    opposite = sum(value for other, value in here.items() if (other in _PLEASANT) != (emotion in _PLEASANT))
    return here.get(emotion, 0.0) > opposite


# ---- weighing


def _left(at: datetime, now: datetime, half_life: timedelta) -> float:
    """What time has left of something of weight 1."""
    return float(0.5 ** (max(timedelta(0), now - at) / half_life))


def _weight(run: Sequence[Shown], heard: _Heard, now: datetime, half_life: timedelta) -> float:
    return sum(_left(heard.began[occasion], now, half_life) for occasion in {heard.of[one.session_id] for one in run})


def _persona(
    kind: PersonaKind,
    aspect: Aspect,
    target: str | None,
    emotion: Emotion | None,
    run: Sequence[Shown],
    now: datetime,
    config: ConsolidateConfig,
    *,
    doubted: bool = False,
) -> Persona:
    half_life = config.feeling_half_life if aspect is Aspect.FEELING else config.attitude_half_life
    weights = [_left(one.said_at, run[-1].said_at, half_life) for one in run]
    total = sum(weights)
    polarity = sum(w * one.mark.polarity for w, one in zip(weights, run, strict=True)) / total
    intensity = sum(w * one.mark.intensity for w, one in zip(weights, run, strict=True)) / total
    intensity *= _left(run[-1].said_at, now, half_life) * (config.doubted if doubted else 1.0)
    turns = list(dict.fromkeys(one.message_id for one in reversed(run)))
    return Persona(
        kind=kind,
        aspect=aspect,
        target=target,
        words=next((one.mark.target for one in reversed(run) if one.mark.target), None) if target is not None else None,
        emotion=emotion,
        polarity=round(polarity, 4),
        intensity=round(intensity, 4),
        support=len(turns),
        num_sessions=heard_on(run),
        since=run[0].said_at,
        last=run[-1].said_at,
        evidence=tuple(turns[: config.max_evidence]),
    )
