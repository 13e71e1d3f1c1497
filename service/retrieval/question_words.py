"""Which words show what a question wants? English first; German, Spanish and Chinese as far as `questions` uses them."""

from __future__ import annotations

import re


def words_of(text: str) -> frozenset[str]:
    """Its words, as a set."""
    return frozenset(text.split())


TELL = words_of(
    """tell tells told telling ask asks asked asking inform informs informed remind reminds reminded promise promises promised
    warn warns warned advise advises advised assure assured invite invites invited persuade persuaded convince convinced thank
    thanked erzählt gefragt versprochen gewarnt erinnert mitgeteilt geraten"""
)
"""Whom it is said to stands right behind, or before in the passive: Ana told Bo, Bo was told."""
SPANISH_SAY = words_of(
    "dijo dijeron dije dijiste contó contaron conté preguntó prometió comentó mencionó sugirió recomendó dicho contado"
)
SAY = SPANISH_SAY | words_of(
    """say says said saying mention mentions mentioned mentioning suggest suggests suggested explain explains explained
    announce announces announced complain complains complained recommend recommends recommended propose proposes
    proposed claim claims claimed admit admits admitted reply replied respond responded answer answered agree agrees
    agreed offer offers offered volunteer volunteered insist insisted report reported swear swore point pointed confess
    confessed guess guessed decide decided own owned turn turned refuse refused decline declined object objected joke
    joked confide confided blame blamed apologise apologised apologize apologized remark remarked comment commented
    stress stressed gesagt gemeint erwähnt vorgeschlagen empfohlen geantwortet angeboten"""
)
TALK = words_of(
    "talk talks talked talking speak speaks spoke spoken chat chatted discuss discusses discussed gesprochen geredet"
)
"""With one another, where two are named."""
HEAR = words_of("hear heard learn learned learnt erfahren gehört supo")
"""Whoever stands before was told; who told stands behind "from"."""
PROMISE = words_of(
    """promise promises promised agree agrees agreed offer offers offered volunteer volunteered commit committed pledge pledged
    swear swore owe owes versprochen zugesagt prometió prometido"""
)
BE = words_of("was were been is are be being wurde wurden")
HAVE = words_of("did does do has have had will would can could should hat habe haben hast")
GERMAN_HAVE = words_of("hat haben habe hast")
SKIPPED = (
    BE
    | HAVE
    | words_of(
        """already ever also just really once not never again first originally actually both all even still recently last denn
        eigentlich schon le les se"""
    )
)
"""May stand between a verb and who belongs to it."""
AND = words_of("and & or und y ,")
WHO = words_of("who whom wer wem quién quien")
TO = words_of("to with zu mit")
IDEA = re.compile(
    r"^\W*whose (?:idea|suggestion|plan|proposal)\b|^\W*who (?:had the (?:\w+ )?idea|came up with)\b", re.IGNORECASE
)
"""Asks who said it first, without a word for saying."""
BY = words_of("by von por")
FROM = words_of("from von de")

LEAD = re.compile(
    r"^(?:(?:hey|hi|hello|so|ok|okay|please|and|but)[\s,]+)*"
    r"(?:(?:can|could|would|will) you (?:please )?(?:tell|remind|show) me\s+"
    r"|(?:please )?(?:tell|remind|show) me(?: again)?\s+"
    r"|do you (?:happen to )?(?:know|remember|recall)\s+"
    r"|i(?:'d like| would like| want) to know\s+"
    r"|i(?: wonder| was wondering|'m wondering)\s+(?:(?:if|whether)\s+)?)?",
    re.IGNORECASE,
)
ABSENT = re.compile(
    r",?\s*\b(?:when|as long as)\s+(?:i|we)\s+(?:was|were)\s+(?:out|away|gone|absent|not (?:there|here|around|in))\b[^,?.;]*"
    r"|,?\s*\b(?:while|whilst)\s+(?:i|we)\s+(?:was|were|am|are)\s+"
    r"(?:out|away|gone|absent|off|elsewhere|on leave|on holiday|not (?:there|here|around|in)"
    r"|at (?:work|school|lunch|the \w+)|in the \w+|on the phone|asleep)\b[^,?.;]*"
    r"|,?\s*\b(?:while|when)\s+(?:i|we)\s+(?:wasn't|weren't)\s+(?:there|here|around|in|present|listening)\b[^,?.;]*"
    r"|,?\s*\bin (?:my|our) absence\b"
    r"|,?\s*\b(?:before|until) i (?:came|arrived|got|joined|was back)(?: \w+)?"
    r"|,?\s*\b(?:after|since) i (?:left|went(?: out| home| away| to bed)?|had (?:left|gone))\b"
    r"|,?\s*\bbehind my back\b|,?\s*\bwithout me\b"
    r"|,?\s*\bwährend ich (?:weg|fort|nicht da|unterwegs|abwesend) war\b|,?\s*\bin meiner abwesenheit\b"
    r"|,?\s*\bmientras (?:yo )?(?:no estaba|estaba fuera)\b|我不在(?:的时候|时)?",
    re.IGNORECASE,
)
MISSED = re.compile(
    r"\b(?:did|have|had) (?:i|we) miss(?:ed)?\b|\bi (?:have )?missed\b|\b(?:habe ich verpasst|me perdí|me he perdido)\b|我错过",
    re.IGNORECASE,
)
WHEN = re.compile(
    r"\bwhen\b(?! (?:i|we) (?:was|were|am|are)\b)|\bhow long ago\b|\bsince when\b|\bhow (?:soon|recently)\b"
    r"|\b(?:what|which) (?:exact )?(?:day|date|time|year|month|week|weekday|season|weekend)\b"
    r"|\bwann\b|\bcuándo\b|什么时候|哪天|几点|何时",
    re.IGNORECASE,
)
OPEN = re.compile(
    r"^\W*(?:would|could|might|may|should|is it (?:likely|possible|probable))\b"
    r"|\b(?:would|might|likely|probably|presumably|potentially|infer|considered|personality|do you think"
    r"|does (?:it|this) (?:seem|suggest)|wahrscheinlich|probablemente)\b|可能",
    re.IGNORECASE,
)
COMMITMENT = re.compile(
    r"\b(?:(?:supposed|have|need) to (?:do|bring|get|buy|make|send|call)|to-?dos?|action items?|(?:my|our|\w+'s) tasks?"
    r"|commitments?|promises?|owes?|versprechen|zusagen|promesas?)\b",
    re.IGNORECASE,
)
UNDERTAKEN = re.compile(
    r"\b(?:say|said|tell|told|agreed?|offer(?:ed)?|mention(?:ed)?)\b(?: \w+){0,3}?"
    r"(?: would| will| was going to| were going to|'d|'ll)"
    r" (?!like\b|love\b|prefer\b|rather\b|be\b|have\b|hate\b)\w+"
    r"|\b(?:sign(?:ed)? up (?:for|to)|t(?:ake|ook|aken) on|in charge of|responsible for)\b"
    r"|\b(?:am|are|is|was|were) \w+ (?:supposed|meant|expected|due) to"
    r" (?:do|bring|get|buy|make|send|call|fetch|take|prepare|cook|book|pay)\b",
    re.IGNORECASE,
)
"""Asks for what somebody took upon themselves: "what did I say I would do?"."""
ERRANDS = words_of("do doing bring bringing get make handle help promise promises promised agree agreed")
"""Which say nothing of what was promised: "what did I say I would do or bring?"."""
_PLURAL = r"(?!is\b|was\b|does\b|has\b|this\b|its\b|his\b|news\b|bus\b)(?:\w{2,}[^\Wsui]s|people|children|places|activities)"
LIST = re.compile(
    r"\b(?:in common|how many|list (?:all|the|of)|what all|what else|all (?:the|of the)|both)\b"
    rf"|^\W*(?:in |on |at |for |with |to )?(?:what|which)\s+(?:\w+\s+){{0,2}}?{_PLURAL}\b|哪些|\bwelche[ns]?\b.*\balles?\b",
    re.IGNORECASE,
)
"""Asks for several things: "what kinds of books", "which places"; not "which book"."""
PARTS = re.compile(
    r"[?？]\s*|,?\s+\band\s+(?=(?:what|who|whom|when|where|why|how|which|did|does|do|is|was|were|are)\b)", re.IGNORECASE
)
