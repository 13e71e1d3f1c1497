"""What a turn shows of its speaker, construction by construction; and what it does not, being asked, supposed or reported."""

from __future__ import annotations

import pytest

from service.language.parser import SpacyParser
from service.memory.right_brain.affect import AffectConfig, affect, usual
from service.memory.right_brain.feelings import marks
from service.types.affect import Aspect, Prosody
from service.types.facts import ADDRESSEE
from tests import models


@pytest.fixture(scope="module")
def parser() -> SpacyParser:
    return models.parser()


SHOWN = {
    "I love hiking.": ("attitude", "+", "hiking"),
    "I love to dance.": ("attitude", "+", "dance"),
    "I enjoy cooking for friends.": ("attitude", "+", "cooking for friends"),
    "I really like Ruth's garden.": ("attitude", "+", "Ruth's garden"),
    "I can't stand early meetings.": ("attitude", "-", "early meetings"),
    "I don't trust Ben.": ("attitude", "-", "Ben"),
    "I think I hate Mondays.": ("attitude", "-", "Mondays"),
    "I've always loved the sea.": ("attitude", "+", "sea"),
    "I no longer like coffee.": ("attitude", "-", "coffee"),
    "I used to love coffee.": ("attitude", "0", "coffee"),
    "My favourite drink is green tea.": ("attitude", "+", "green tea"),
    "I'm not a fan of jazz.": ("attitude", "-", "jazz"),
    "I'm into photography.": ("attitude", "+", "photography"),
    "I hate you.": ("attitude", "-", ADDRESSEE),
    "I'm so angry at Ben.": ("anger", "-", "Ben"),
    "I'm angry with you.": ("anger", "-", ADDRESSEE),
    "I'm angry with everybody.": ("anger", "-", None),
    "You make me so happy.": ("joy", "+", ADDRESSEE),
    "Ben drives me crazy.": ("anger", "-", "Ben"),
    "Early meetings annoy me.": ("anger", "-", "Early meetings"),
    "I'm fed up with the neighbours.": ("anger", "-", "neighbours"),
    "I've had it with Ben, he is always late.": ("anger", "-", "Ben"),
    "I'm really anxious about the exam.": ("anxiety", "-", "exam"),
    "I worry about my mother a lot.": ("anxiety", "-", "my mother"),
    "I'm so proud of my daughter.": ("joy", "+", "my daughter"),
    "I miss my sister.": ("sadness", "+", "my sister"),
    "I feel lonely.": ("loneliness", "-", None),
    "I feel great today.": ("joy", "+", None),
    "I'm stressed out.": ("anxiety", "-", None),
    "I'm a morning person.": ("self", "+", "morning person"),
    "I'm always late.": ("self", "+", "always late"),
    "I'm very impatient.": ("self", "+", "impatient"),
    "I'm not shy any more.": ("self", "0", "shy"),
}
NOTHING = [
    "I'm not angry.",
    "Are you angry with me?",
    "Ben says he hates dogs.",
    "Ruth is angry with me.",
    "If I were angry, I'd tell you.",
    "I'd love a coffee.",
    "I was so sad yesterday.",
    "I hate you today.",
    "I love it.",
    "I don't mind the rain.",
    "I don't hate it.",
    "I'm afraid I can't come.",
    'She said "I hate dogs".',
    "Ben thinks I love jazz.",
    "The dentist who I hate is ill.",
    "I appreciate your help.",
    "I had to miss the match.",
    "I'm too lazy to cook.",
    "I gotta be more careful.",
    "I'm glad to hear it.",
    "I'm happy to help.",
    "I love this song.",
    "The train leaves at nine.",
    "",
]


@pytest.mark.parametrize("text", SHOWN)
def test_what_a_turn_shows(text: str, parser: SpacyParser) -> None:
    (mark,) = marks(parser([text])[0])
    side = "0" if mark.polarity == 0 else "+" if mark.polarity > 0 else "-"
    assert (mark.emotion or mark.aspect, side, mark.target) == SHOWN[text]
    assert 0 < mark.intensity <= 1


@pytest.mark.parametrize("text", NOTHING)
def test_what_it_does_not(text: str, parser: SpacyParser) -> None:
    assert marks(parser([text])[0]) == ()


def test_a_feeling_keeps_its_cause_and_how_strong_it_is(parser: SpacyParser) -> None:
    plain, strong = (marks(parser([t])[0])[0] for t in ("I'm a bit sad.", "I'm so sad because the train was cancelled."))
    assert strong.cause == "the train was cancelled" and plain.cause is None
    assert strong.intensity > plain.intensity and strong.aspect is Aspect.FEELING


def test_words_say_whether_it_is_pleasant_and_denying_them_turns_them(parser: SpacyParser) -> None:
    texts = ("This is wonderful, thank you!", "The cake was good.", "It leaves at nine.", "That's not good.", "How awful.")
    valence = [affect(said, marks(said)).valence for said in parser(texts)]
    assert valence == sorted(valence, reverse=True) and valence[2] == 0 and valence[3] < 0


def spoken(pitch: float | None, level: float = -20.0) -> Prosody:
    return Prosody(pitch, None if pitch is None else 6.0, level, 3.0)


def test_a_voice_stirs_only_against_its_own_usual(parser: SpacyParser) -> None:
    (said,) = parser(["It leaves at nine."])
    everyday, low = AffectConfig().everyday, usual([spoken(p) for p in (118, 120, 121, 119, 122, 120)])
    high = usual([spoken(p) for p in (218, 220, 221, 219, 222, 220)])
    assert usual([spoken(120.0)] * 5) is None
    assert affect(said, (), spoken(220), None).arousal == affect(said, (), spoken(220), high).arousal == everyday
    assert (
        affect(said, (), spoken(220), low).arousal
        > everyday + 0.2
        > everyday - 0.2
        > affect(said, (), spoken(150), high).arousal
    )
    assert affect(said, (), spoken(220), low).valence == 0, "a voice does not say whether it pleases"
    assert affect(said, (), spoken(None, -10.0), low).arousal > everyday
