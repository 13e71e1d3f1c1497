"""Which English words tell a feeling, a liking or a trait, and how strongly? Our own list, by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from service.memory.facts.english import words
from service.types.affect import Emotion

J, C, S, A, X, T, L = (
    Emotion.JOY,
    Emotion.CALM,
    Emotion.SADNESS,
    Emotion.ANGER,
    Emotion.ANXIETY,
    Emotion.TIREDNESS,
    Emotion.LONELINESS,
)


@dataclass(frozen=True, slots=True)
class MarkConfig:
    """What no single word of this list decides: by hand, as the list is; right on tests/unit/memory/right_brain, 2026-11."""

    fed_up: float = 0.7  # intensity of "I'm fed up with", and how unpleasant
    unbearable: float = -0.9  # liking of what one cannot stand
    missing: float = 0.6  # intensity of missing somebody
    missed: float = 0.5  # liking of whom one misses
    into: float = 0.6  # liking of what one is into
    favourite: float = 0.8  # of a favourite
    trait: float = 0.6  # intensity of what one says to be
    over: float = 0.5  # of what was so and is no more
    driven: float = 0.6  # how unpleasant it is to be driven mad
    driven_arousal: float = 0.7
    not_liking: float = 0.7  # dislike by "I don't like", of the liking denied
    more: float = 0.15  # added to an intensity by "so", "really"
    less: float = 0.2  # taken by "a bit"
    least: float = 0.1  # intensity of a feeling that is said at all


MARKS = MarkConfig()


@dataclass(frozen=True, slots=True)
class Feeling:
    emotion: Emotion
    valence: float
    """[-1, 1]."""
    arousal: float
    """[0, 1]; 0.4 is everyday talk."""

    @property
    def intensity(self) -> float:
        return abs(self.valence)


_STATES: tuple[tuple[Emotion, float, float, str], ...] = (
    (J, 0.9, 0.9, "thrilled ecstatic overjoyed elated euphoric"),
    (J, 0.7, 0.7, "delighted excited happy proud cheerful joyful pumped stoked"),
    (J, 0.5, 0.45, "glad pleased content hopeful optimistic grateful thankful satisfied merry amused relieved"),
    (C, 0.4, 0.1, "calm relaxed peaceful serene rested composed chilled"),
    (S, -0.9, 0.4, "devastated heartbroken miserable hopeless desperate"),
    (S, -0.7, 0.35, "sad depressed unhappy gutted crushed tearful"),
    (S, -0.5, 0.3, "down blue low gloomy disappointed hurt discouraged homesick melancholy upset"),
    (A, -0.9, 0.95, "furious livid enraged outraged fuming"),
    (A, -0.7, 0.8, "angry mad pissed resentful"),
    (A, -0.5, 0.6, "annoyed irritated frustrated cross grumpy irritable cranky bitter jealous"),
    (X, -0.9, 0.95, "terrified petrified panicked panicky"),
    (X, -0.7, 0.75, "scared afraid frightened anxious stressed overwhelmed"),
    (X, -0.5, 0.65, "nervous worried tense uneasy insecure apprehensive restless frantic"),
    (T, -0.6, 0.1, "exhausted drained shattered knackered"),
    (T, -0.4, 0.15, "tired sleepy weary worn"),
    (L, -0.7, 0.3, "lonely lonesome isolated abandoned"),
)
STATES: Mapping[str, Feeling] = {
    word: Feeling(emotion, valence, arousal) for emotion, valence, arousal, said in _STATES for word in words(said)
}
"""What "I am …", "I feel …" tells."""

FELT: Mapping[str, Feeling] = {
    **dict.fromkeys(("great", "wonderful", "fantastic", "amazing", "good"), Feeling(J, 0.6, 0.6)),
    **dict.fromkeys(("awful", "terrible", "horrible", "dreadful"), Feeling(S, -0.6, 0.4)),
}
"""What only "I feel …" tells: "I'm good" is said of anything."""

EXPERIENCES: Mapping[str, Feeling] = {
    "worry": Feeling(X, -0.5, 0.65),
    "fear": Feeling(X, -0.7, 0.75),
    "dread": Feeling(X, -0.7, 0.7),
    "panic": Feeling(X, -0.9, 0.95),
    "stress": Feeling(X, -0.6, 0.7),
    "cry": Feeling(S, -0.8, 0.6),
    "grieve": Feeling(S, -0.8, 0.4),
    "mourn": Feeling(S, -0.8, 0.4),
    "resent": Feeling(A, -0.6, 0.6),
    "rejoice": Feeling(J, 0.8, 0.8),
}
"""Verbs whose subject feels it: I worry about …"""

CAUSES: Mapping[str, Feeling] = {
    **dict.fromkeys(("annoy", "irritate", "bother", "bug", "frustrate"), Feeling(A, -0.5, 0.6)),
    **dict.fromkeys(("enrage", "infuriate", "anger"), Feeling(A, -0.8, 0.9)),
    **dict.fromkeys(("scare", "frighten", "terrify"), Feeling(X, -0.7, 0.8)),
    **dict.fromkeys(("worry", "unsettle", "overwhelm", "stress"), Feeling(X, -0.6, 0.7)),
    **dict.fromkeys(("depress", "sadden", "disappoint", "hurt", "upset"), Feeling(S, -0.6, 0.45)),
    **dict.fromkeys(("delight", "thrill", "cheer", "excite"), Feeling(J, 0.7, 0.75)),
    **dict.fromkeys(("calm", "soothe", "relax"), Feeling(C, 0.4, 0.1)),
    **dict.fromkeys(("exhaust", "drain", "tire"), Feeling(T, -0.5, 0.2)),
}
"""Verbs whose object feels it: … annoys me."""

LIKING: Mapping[str, float] = {
    **dict.fromkeys(("love", "adore", "worship"), 0.9),
    **dict.fromkeys(("like", "enjoy", "fancy", "prefer"), 0.6),
    **dict.fromkeys(("trust", "admire", "respect"), 0.7),
    **dict.fromkeys(("dislike", "distrust", "mistrust"), -0.6),
    **dict.fromkeys(("hate", "detest", "loathe", "despise", "abhor"), -0.9),
}
"""Verbs: I … it → how much for or against."""

INCLINED: Mapping[tuple[str, str], float] = {
    ("fond", "of"): 0.6,
    ("keen", "on"): 0.6,
    ("crazy", "about"): 0.9,
    ("mad", "about"): 0.9,
    ("passionate", "about"): 0.9,
    ("obsessed", "with"): 0.8,
    ("fan", "of"): 0.7,
    ("into", ""): 0.6,
}
"""I am … of it."""

TOWARD: Mapping[Emotion, frozenset[str]] = {
    A: frozenset({"at", "with"}),
    X: frozenset({"of", "about", "by", "for"}),
    S: frozenset({"about", "with", "in", "for", "by"}),
    J: frozenset({"about", "with", "for", "of"}),
    T: frozenset({"of"}),
    C: frozenset({"about"}),
    L: frozenset(),
}
"""Prepositions after which stands whom or what a feeling is toward; after any other, and "because", stands its cause."""

_TRAITS = words(
    """shy quiet outgoing introverted extroverted talkative sociable reserved impatient patient stubborn lazy organised
    disorganised messy tidy punctual forgetful clumsy curious adventurous cautious careful competitive ambitious creative
    practical sensitive emotional moody pessimistic sceptical honest direct blunt generous frugal thrifty independent
    indecisive spontaneous superstitious vegetarian vegan religious sporty"""
)
TRAITS: Mapping[str, str] = {
    **{word: word for word in sorted(_TRAITS)},
    **{"organized": "organised", "disorganized": "disorganised", "skeptical": "sceptical"},
}
"""Adjectives that tell what somebody is like; those of STATES do only after "always", "usually" and the like."""

TRAIT_NOUNS = words(
    "worrier perfectionist optimist pessimist introvert extrovert homebody workaholic bookworm foodie procrastinator"
)
TRAIT_COMPOUNDS = {
    ("person", w): f"{w} person" for w in words("morning night dog cat people evening city outdoor family private")
} | {("owl", "night"): "night owl", ("bird", "early"): "early bird", ("riser", "early"): "early riser"}

ALWAYS = words("always usually generally naturally often constantly")
"""With these "I am …" tells a trait, not a state."""
MOMENTARY = (
    "today", "tonight", "right now", "at the moment", "this morning", "this afternoon", "this evening", "this week", "just now",
    "for once", "yesterday", "last night",
)  # fmt: skip
"""With these a liking is a mood."""
MORE = words("so very really extremely absolutely totally completely incredibly terribly deeply truly such super")
LESS = words("bit little slightly somewhat kind sort kinda fairly rather quite")
NO_TARGETS = words(
    """it that this them they he she him her himself herself itself themselves myself yourself one which what who there these
    those something someone somebody anything anyone anybody nothing nobody none thing way lot bit idea fact everything
    everyone everybody people time moment day life yourselves ourselves us we me i all"""
)
"""What a feeling toward says nothing of, or what only its context tells."""

WORDS: Mapping[str, float] = {
    **{word: feeling.valence for word, feeling in STATES.items()},
    **{word: value for word, value in LIKING.items() if word not in ("like", "fancy", "prefer")},
    **dict.fromkeys(words("wonderful fantastic brilliant amazing awesome perfect beautiful excellent superb marvellous"), 0.8),
    **dict.fromkeys(
        words("great lovely fun nice good delicious sweet funny kind cosy charming enjoyable win won success"), 0.5
    ),
    **dict.fromkeys(words("thanks thank congratulations hooray yay laugh smile hug welcome enjoyed loved"), 0.5),
    **dict.fromkeys(words("fine okay better helpful easy"), 0.25),
    **dict.fromkeys(words("terrible horrible awful dreadful disgusting nightmare disaster tragedy hateful hated"), -0.8),
    **dict.fromkeys(words("bad worse worst ugly nasty rude unfair cruel stupid idiot ridiculous pain painful sick ill"), -0.5),
    **dict.fromkeys(words("died dead death funeral cancer accident crash divorce fired lost cried crying"), -0.7),
    **dict.fromkeys(words("problem trouble wrong broken fail failed annoying boring difficult hard unfortunately sorry"), -0.3),
    **dict.fromkeys(words("damn hell shit fuck fucking crap bloody"), -0.5),
}
"""Words that colour a turn, whoever feels it → valence."""
