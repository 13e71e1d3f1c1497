"""Does somebody say in Chinese what they are called? Without blanks and capitals a name is known by its surname, its length
and what may follow it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from service.memory.name_phrases import Introduction, Says
from service.memory.name_words import NOT_NAMES, NOT_NAMES_ZH, SURNAMES

_HELLO = (
    "你好|您好|大家好|各位好|各位|嗨|嘿|哈喽|喂|早上好|下午好|晚上好|嗯|哦|啊|呃|那|那么|对|對|好|好的|其实|对了|對了|我先来"
)
_PHRASE = re.compile(
    rf"^(?:{_HELLO})*(?:(?P<no>我不是|我不叫|我才不是|别叫我|別叫我)|(?P<is>我是|我就是|这里是|這裡是)"
    r"|(?:我的名字(?:叫做?|是)|我名叫|我叫做?|(?:你|您|你们|大家)?(?:都|也)?(?:可以|就|请)?叫我))(?P<rest>.+)$"
)
_REPORTS = re.compile(
    r"说|說|问|問|告诉|告訴|以为|以為|觉得|覺得|如果|假如|要是|假装|假裝|想象|梦见|是不是|难道|\ufffc"  # the last: a quotation
)
_CONTINUES = (
    "来自", "來自", "从", "從", "在", "今年", "是", "很高兴", "很高興", "想", "负责", "負責", "做", "啊", "呀", "哦", "哈",
    "啦", "呢", "跟", "我", "也", "就", "吧", "先生", "女士", "老师", "老師", "同学", "同學",
)  # fmt: skip
_LATIN = re.compile(r"^([A-Z][a-zà-ÿ]+(?: ?[A-Z][a-zà-ÿ]+){0,3})")
_NOT_IN_NAMES = re.compile(r"[的了過过着著吗嗎么麼什甚谁誰你您他她它我们們不没沒来來去吃喝车車外卖賣哪这這那個个怎几幾名字]")
_NOUN = re.compile(r"[人生师師员員者长長手客友迷工粉党黨族派机機]$")
_HAN = re.compile(r"^[\u3400-\u9fff]+$")
_ANY_HAN = re.compile(r"[\u3400-\u9fff]")
_SENTENCE = re.compile(r"([^.!?。！？…\n]+)([.!?。！？…\n]*)")


def chinese_introductions(text: str) -> Iterator[Introduction]:
    """Of `text` without quotations (introductions.unquoted)."""
    if not _ANY_HAN.search(text):
        return
    tight = re.sub(r"(?<=[\u3400-\u9fff])\s+|\s+(?=[\u3400-\u9fff])", "", text)
    for sentence, marks in _SENTENCE.findall(tight):
        clauses = [clause for clause in re.split(r"[，,；;、：:—–-]+", sentence) if clause]
        for position, clause in enumerate(clauses):
            found = _PHRASE.match(clause)
            asked = position + 1 == len(clauses) and "?" in marks.replace("？", "?")
            if found is None or asked or any(_REPORTS.search(earlier) for earlier in clauses[:position]):
                continue
            name = _name(found["rest"], needs_surname=found["is"] is not None or found["no"] is not None)
            if name is not None:
                yield Introduction(name, Says.IS_NOT if found["no"] else Says.IS if _is_surely_a_name(name) else Says.MAY_BE)


def _name(rest: str, *, needs_surname: bool) -> str | None:
    """The name that `rest` begins with; `needs_surname` after 我是, which any noun may follow."""
    latin = _LATIN.match(rest)
    if latin:
        words = {word.casefold() for word in latin[1].split()}
        return latin[1] if _may_end(rest[latin.end() :]) and not words & NOT_NAMES else None
    for length in (4, 3, 2):
        name, left = rest[:length], rest[length:]
        fits = len(name) == length and _HAN.match(name) and not _NOT_IN_NAMES.search(name) and _may_end(left)
        if not fits or name.startswith(tuple(NOT_NAMES_ZH)) or (length == 4 and name[:2] not in SURNAMES):
            continue
        if needs_surname and (not _is_surely_a_name(name) or _NOUN.search(name)):
            continue
        return name
    return None


def _is_surely_a_name(name: str) -> bool:
    """It has a surname, or is written in Latin letters, or is one as 小明, 阿强, 老李, which only people are called."""
    return not _HAN.match(name) or name[:2] in SURNAMES or name[0] in SURNAMES or name[0] in "小阿老"


def _may_end(left: str) -> bool:
    return not left or left.startswith(_CONTINUES)
