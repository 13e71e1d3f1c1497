"""With which words do people say what they are called? Phrases of English, German, Spanish and French as data; Chinese, which
writes neither blanks nor capitals, stands in chinese_introductions.py."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Says(StrEnum):
    IS = "is"
    """I'm Dana."""
    MAY_BE = "may_be"
    """Ich bin Dana, where Dana could be a trade as well; Hi, this is Tom: on the telephone oneself, in a room the neighbour."""
    IS_NOT = "is_not"
    """I'm not Dana."""


@dataclass(frozen=True, slots=True)
class Introduction:
    name: str
    says: Says


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words at the begin of a clause after which a name stands."""

    opens: re.Pattern[str]
    says: Says = Says.IS
    greeted: bool = False
    """After a greeting it says IS, whatever `says` is."""
    only_greeted: bool = False
    """Without a greeting it says nothing."""
    closes: re.Pattern[str] | None = None
    """What has to stand after the name."""


def _phrase(words: str, says: Says = Says.IS, *, closes: str | None = None, **given: bool) -> Phrase:
    after = re.compile(rf"(?:{closes})(?=$|\s)", re.IGNORECASE) if closes else None
    return Phrase(re.compile(rf"(?:{words})\s+", re.IGNORECASE), says, closes=after, **given)


_JUST = r"(?: just| simply| einfach| gern| gerne| ruhig| nur)?"
PHRASES: Sequence[Phrase] = (
    # denials first: they begin like the others
    _phrase(r"i'm not|i am not|i ain't|my name's not|my name is not|my name isn't|don't call me|i'm not called", Says.IS_NOT),
    _phrase(r"ich bin nicht(?: der| die)?|ich hei(?:ß|ss)e nicht|mein name ist nicht", Says.IS_NOT),
    _phrase(r"(?:yo )?no soy|(?:yo )?no me llamo|mi nombre no es", Says.IS_NOT),
    _phrase(r"je ne suis pas|je suis pas|je ne m'appelle pas|je m'appelle pas", Says.IS_NOT),
    # English
    _phrase(r"my (?:full )?name is|my (?:full )?name's|the name is|the name's|i'm called|i am called|i go by"),
    _phrase(rf"(?:(?:you can|you may|please|people|friends|they|everybody|everyone|my friends) )?(?:just )?call me{_JUST}"),
    _phrase(r"this is|it's|it is", closes="speaking|calling|here"),
    _phrase(r"this is", Says.MAY_BE, only_greeted=True),
    _phrase(r"i'm|i am"),
    # German
    _phrase(r"mein name ist|mein name wäre|ich hei(?:ß|ss)e|ich nenne mich|man nennt mich|alle nennen mich"),
    _phrase(r"hier spricht|es spricht"),
    _phrase(rf"(?:ihr könnt|du kannst|sie können|ihr dürft|du darfst|sie dürfen) mich{_JUST}", closes="nennen"),
    _phrase(rf"(?:nennt|nenn|nennen sie) mich{_JUST}"),
    _phrase(r"hier ist(?: der| die)?", Says.MAY_BE, only_greeted=True),
    _phrase(r"ich bin (?:der|die)|ich bin", Says.MAY_BE, greeted=True),
    # Spanish
    _phrase(r"(?:yo )?me llamo|mi nombre (?:completo )?es|me llaman|me dicen|(?:te |le |les )?habla"),
    _phrase(r"(?:puedes|podéis|pueden|puede) llamarme|ll[aá]m[ae]n?me"),
    _phrase(r"(?:yo )?soy"),
    # French
    _phrase(r"(?:moi )?je m'appelle|mon nom est|moi c'est|appelez-moi|appelle-moi"),
    _phrase(r"je suis"),
)
BACKWARDS = re.compile(r"^(?P<name>.{2,60}?)\s+(?:here|speaking|am apparat|à l'appareil)$", re.IGNORECASE)
"""Hi, Dana here. Dana Smith speaking. Not without a greeting or a full name: every sentence begins with a large letter."""

_GREETINGS = (
    r"hi|hey|hello|hallo|hola|salut|bonjour|bonsoir|moin|servus|grüezi|grüß gott|grüß euch|good (?:morning|afternoon|evening)|"
    r"guten (?:morgen|tag|abend)|buenos días|buenas tardes|buenas noches|buenas|welcome|willkommen|bienvenidos|"
    r"nice to meet you|pleased to meet you|mucho gusto|encantad[oa]|freut mich|enchantée?"
)
_FILLERS = (
    r"so|well|ok|okay|sure|alright|yes|yeah|oh|ah|um|uh|and|but|right|now|actually|then|also|ja|na|nun|gut|und|aber|genau|äh|ähm|bueno|pues|sí|"
    r"y|este|eh|mira|claro|alors|et|oui|bon|euh|everyone|everybody|all|there|folks|guys|team|again|alle|zusammen|miteinander|leute|"
    r"todos|a todos|tout le monde|à tous"
)
OPENERS = re.compile(rf"^(?:(?P<greets>{_GREETINGS})|(?:{_FILLERS}))\b\s*", re.IGNORECASE)
"""What may stand before a phrase within its clause. Not "no": "no soy Dana"."""
GREETS = re.compile(rf"^(?:(?:{_FILLERS})\s+)*(?:{_GREETINGS})\b", re.IGNORECASE)
GREETED_NAME = re.compile(
    r"^[^\W\d_]+\s+(?=i'm\b|i am\b|my name|ich bin\b|ich hei|mein name|soy\b|me llamo|mi nombre|je )", re.IGNORECASE
)
"""Hi Tom I'm Dana."""

REPORTS = re.compile(
    r"\b(?:said|says?|saying|told|tells|asked|asks|thinks?|thought|goes|went|like|wrote|writes|claims?|claimed|pretend\w*|"
    r"imagine|suppose|wish|if|whether|as though|joked|replied|answered|shouted|called|introduc\w+|"
    r"sagte?n?|meinte?|frag(?:t|te)|denkt|dachte|glaubt|wenn|falls|ob|als ob|stell dir vor|behauptet\w*|schreibt|schrieb|"
    r"dice|dijo|dicen|dijeron|decía|piensa|cree|creía|si|como si|pregunt\w+|imagin\w+|dit|disait|pense|croit)\b",
    re.IGNORECASE,
)
"""In a clause before a phrase: then somebody else's words follow, or a supposition."""
SAID_AFTER = re.compile(
    r"^(?:(?:he|she|they|it|[^\W\d_]+) (?:said|says|told|goes|wrote|claimed|whispered|shouted|replied)|"
    r"(?:said|says|sagte|sagt|dijo|dice|dit)\b|(?:just |nur )?(?:kidding|joking|a joke|spaß|scherz)|es broma)",
    re.IGNORECASE,
)
TAGS = re.compile(
    r"^(?:right|ok|okay|huh|correct|yes|no|yeah|eh|aren't i|am i|oder|ne|nicht wahr|gell|stimmt's|ja|verdad|no es así|non|"
    r"n'est-ce pas)$",
    re.IGNORECASE,
)
"""Before a question mark they make a question of what stood before them."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CONTINUES = _words(
    """
    and from with at here speaking calling by your the i i'm i'll i've we we're but so nice who pleased thanks thank hi hello
    also again und von vom aus hier aber euer eure ihr dein deine ich am freut nett schön der die y de del desde aquí pero
    uh um vuestro vuestra tu su el la encantado encantada mucho un una et je du votre ton
    """
)
"""Words before which a name may be over without a comma; before any other it was none ("I'm Earl Grey than coffee")."""
AND = _words("and und y et")
PARTICLES = _words("van der den al bin el la di da le du dos ter ten ibn abu mac")
"""Small words inside names: Vincent van Gogh. Not "von" and "de": Dana von der Buchhaltung."""
NOUN_ENDINGS = (
    "er", "erin", "ist", "istin", "ent", "entin", "ant", "antin", "or", "orin", "eur", "iker", "loge", "login", "ling", "ung",
)  # fmt: skip
"""Of German trades and origins, and of some names."""
