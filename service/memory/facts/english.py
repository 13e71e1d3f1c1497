"""Which English words does the reading of facts lean on?"""

from __future__ import annotations

import re


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTION_WORDS = words(
    """a an the this that these those some any no every each either neither both all half such another other others what
    which who whom whose when where why how if whether because since although though while until till unless as
    than so and or but nor yet for of in on at by with without about against between into through during before
    after above below to from up down out off over under again further then once here there not n't never i me my
    mine myself you your yours yourself yourselves he him his himself she her hers herself it its itself we us our
    ours ourselves they them their theirs themselves themself one ones am is are was were be been being 'm 're 's
    have has had having 've do does did doing done 'd can could ca will wo 'll would shall should may might must
    ought need dare going gon na let 's please just only also too very really quite rather pretty even still
    already much many more most less least few own same well now yes no yeah okay ok oh um uh hmm ' " there's
    that's it's"""
)
"""Words that tell nothing alone; all others are content."""

EMPTY_VERBS = words("know see mean guess suppose bet wonder agree understand care mind matter seem say tell")
"""A clause of such a verb and nothing else says nothing: I know, I see, I agree."""
EMPTY_STATES = words(
    """right wrong sorry sure fine good great okay ok glad happy welcome kidding joking serious ready here back home
    done afraid best angel star sweet hero genius kind lucky funny alright coming listening"""
)
"""What "I'm" and "you're" are in passing: I'm sorry, you're right, you're the best."""
SMALL_TALK = re.compile(
    r"^(?:how\s+(?:are|is|was|were)\s+(?:you|things|it|everything|life|your\s+day|work)\b|how(?:'s|\s+is)\s+it\b|what's\s+(?:up|new|wrong)|"
    r"what\s+(?:about|if|else)\b|how\s+about\b|how\s+come\b|(?:do\s+)?you\s+know\s+(?:what|that)\?|guess\s+what|see\s+what\s+i\s+mean|"
    r"(?:do|can)\s+(?:you|we)\s+(?:hear|see)\s+me\b|is\s+(?:that|this|it)\s+(?:ok|okay|all\s+right|alright|you|clear)\b|"
    r"any\s+questions|(?:are\s+)?you\s+(?:ok|okay|sure|kidding|serious|ready|joking)\b|did\s+(?:you|i)\s+(?:know|tell\s+you)\?|"
    r"isn't\s+(?:it|that)\?|what\s+do\s+you\s+(?:think|mean)\?|can\s+i\s+ask\s+you|shall\s+we\?|ready\?)",
    re.IGNORECASE,
)
"""Questions that nobody needs to remember."""
EMPTY_IMPERATIVES = words(
    """look wait listen come guess see hear hang imagine hold relax sit enjoy take have let mind believe excuse shut"""
)
OFFERS = words(
    """bring help take pick drive send make cook do give lend carry call phone ask pay buy get fetch show check cover
    book fix look bake write email forward collect feed water walk print order prepare clean share drop teach
    post talk text order organise organize arrange sort handle finish repair wash lend clear babysit host"""
)
"""Verbs that make "I can …" an offer: "I can speak French" is none."""
NO_PROMISES = words(
    """be have see need know miss love like hate remember think die feel lose fail want forget understand become turn
    live stay probably maybe regret wait hope believe guess admit"""
)
"""Verbs after "I'll" that promise nothing."""
LIKED = words("loved liked preferred hated enjoyed disliked adored loathed detested")
"""Which the lemmatiser takes apart wrongly now and then."""
LIKING = words("love like prefer hate enjoy dislike adore loathe detest fancy")
PLANNING = words("plan intend want hope aim decide arrange")

FEMALE = words(
    """mother mum mom mam mama mommy mummy sister daughter aunt auntie grandmother grandma granny niece wife girlfriend
    girl woman lady queen mrs ms miss bride stepmother stepsister landlady waitress"""
)
MALE = words(
    """father dad daddy papa brother son uncle grandfather grandpa granddad nephew husband boyfriend boy man guy king
    mr groom stepfather stepbrother waiter"""
)
PEOPLE = (
    FEMALE
    | MALE
    | words(
        """cousin parent child kid baby toddler friend colleague coworker boss manager supervisor teacher professor doctor
    dentist nurse neighbour neighbor landlord flatmate roommate housemate partner fiance fiancee client customer
    guest assistant plumber electrician lawyer trainer coach student pupil person somebody someone therapist vet
    driver tenant intern twin grandparent relative ex sibling uncle dog cat puppy kitten rabbit hamster pet
    parrot horse director chairman secretary engineer"""
    )
)
"""He and she are these, or somebody with a name."""
PETS = words("dog cat puppy kitten rabbit hamster pet parrot horse baby")
"""People, and things at times."""
NO_REFERENTS = words(
    """mile kilometre kilometer metre meter kilo gram pound euro dollar penny cent degree percent inch litre liter half
    time way lot bit thing kind sort idea day week month year hour minute moment morning evening afternoon night
    weekend today tomorrow yesterday problem fact reason point case part side end start beginning course
    everything nothing something anything everybody everyone nobody anybody people guy front while home work
    school"""
)
"""Nouns that "it" and "they" are hardly ever said of."""
FAMILY = FEMALE | MALE
JOBS = words(
    """teacher doctor nurse dentist engineer lawyer gardener baker butcher carpenter plumber electrician mechanic driver pilot
    waiter waitress cook chef designer developer programmer scientist researcher professor student accountant banker
    journalist writer editor translator librarian architect musician actor actress artist painter photographer policeman
    policewoman firefighter soldier farmer fisherman hairdresser cashier salesman saleswoman manager director consultant
    therapist psychologist psychiatrist vet pharmacist paramedic midwife surgeon coach trainer cleaner secretary receptionist
    tailor builder bricklayer joiner roofer postman postwoman author tutor lecturer physicist chemist biologist economist"""
)
"""What "I'm a …" tells the job with."""
UNSURE = words("maybe perhaps probably possibly might hopefully supposedly apparently")

JUDGING = words(
    """amazing awesome great good nice cool fun tough hard exciting excited interesting wonderful fantastic incredible
    lovely beautiful brilliant perfect terrible awful horrible bad sad scary weird strange funny crazy cute sweet
    rewarding inspiring refreshing relaxing stressful important crucial essential true right wrong worth difficult
    easy challenging hectic impressive helpful special tricky rough overwhelming thrilling therapeutic peaceful
    magical unreal epic insane wild serious normal possible impossible late early cold hot warm dark sunny windy
    time okay ok fine clear settled over cold annoying frustrating enjoyable key all everything nothing something
    way"""
)
"""What "it is" for the whole of what was said, and not for one thing."""
MOVING = words(
    """make break kill help mean remind feel take bring give show inspire keep let teach seem sound matter suck rain snow
    depend happen hurt turn motivate encourage cheer touch change boost push calm look get hit say warm allow fill
    lift amaze blow surprise"""
)
"""Verbs whose "it" is mostly the whole of what was said."""

_SIBILANT = re.compile(r"(?:s|x|z|ch|sh|o)$")
_CONSONANT_Y = re.compile(r"[^aeiou]y$")
_IRREGULAR = {
    "be": "is",
    "have": "has",
    "do": "does",
    "go": "goes",
    "am": "is",
    "are": "is",
    "'m": "is",
    "'re": "is",
    "'ve": "has",
}


_PAST = words(
    """went saw came took made gave found thought told said left felt kept held brought bought caught taught sold swam
    sang drank ran began wrote drove rode rose spoke broke chose froze stole woke wore tore flew grew knew threw
    drew blew won lost met sent spent built slept meant heard ate fell sat stood understood paid laid led fed
    got forgot shot"""
)
"""What a small parser sometimes takes for the present."""


def third_person(verb: str) -> str:
    """love → loves, carry → carries, have → has; a past form stays."""
    if verb in _PAST:
        return verb
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if _CONSONANT_Y.search(verb):
        return verb[:-1] + "ies"
    return verb + ("es" if _SIBILANT.search(verb) else "s")
