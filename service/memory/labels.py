"""Is the label that a platform, a diariser or a transcript gives a voice somebody's name? Most are places, roles, devices
and numbers; what a platform glues onto names comes off."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from service.memory.name_words import BADGES, DOUBTS, GENERIC_LABELS, LOWERS_TRUST, PLACES

_WORDS = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*", re.UNICODE)

_GENERIC_CJK = re.compile(
    r"^(?:未知|不明|匿名|无名|無名|游客|遊客|访客|訪客|嘉宾|嘉賓|来宾|來賓|客人|主持人|主持|发言人|發言人|说话人|說話人|讲话人|講話人"
    r"|发言者|講者|讲者|演讲者|参会人|参会者|參會者|与会者|参与者|參與者|参加者|用户|用戶|使用者|成员|成員|会议室|會議室|电话|電話|手机|手機"
    r"|麦克风|麥克風|声音|聲音|我|你|您|他|她|本人|男|女|男声|女声|男生|女生|客户|客服|坐席|主席|助手|机器人|機器人|话者|話者|ゲスト|不明な話者)"
    r"(?:用户|用戶|人|者|发言人|说话人)?$"
)
_CJK = r"\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff"

_BRACKETED = re.compile(r"\s*(?:\(([^()]*)\)|\[([^\[\]]*)\]|（([^（）]*)）|【([^【】]*)】)\s*$")
_SEVERAL = re.compile(r"\s(?:\+|/|and|und)\s|&|、", re.IGNORECASE)
_MACHINE = re.compile(
    r"@|://|^\W*[0-9a-f]{8}-[0-9a-f]{4}-|^[\d\W_]+$|^\+?\d[\d\s().-]{5,}$"  # addresses, UUIDs, numbers
    r"|\b(?:iphone|ipad|ipod|android|galaxy|pixel|macbook|imac|laptop|handy|device)\b"
    rf"|^[{_CJK}\w]+的\s*(?:iphone|ipad|macbook|手机|手機|电脑|電腦|设备)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Label:
    """A label with what a platform glued on taken off."""

    name: str
    trusted: bool
    """False where the platform says itself that it does not know whether the name is true."""


def without_badge(label: str) -> Label:
    """'Jonny (Guest)' is Jonny; 'Maria Guestrin' and 'Christopher Guest' stay: only known badges at the end come off, and
    those that may be a surname only with their brackets."""
    name, trusted = " ".join(label.split()), True
    while True:
        bracketed = _BRACKETED.search(name)
        if bracketed and (inside := next((g for g in bracketed.groups() if g is not None), "")) is not None:
            badges = [word for word in re.split(r"[\s,;·|]+", inside.casefold()) if word]
            if bracketed.start() > 0 and all(badge in BADGES for badge in badges):
                trusted = trusted and not LOWERS_TRUST.intersection(badges)
                name = name[: bracketed.start()].rstrip()
                continue
        rest, _, last = name.rpartition(" ")
        if rest and last.casefold() in DOUBTS:
            trusted = trusted and last.casefold() not in LOWERS_TRUST
            name = rest.rstrip(" ,-–·|")
            continue
        return Label(name, trusted)


def is_generic(label: str | None) -> bool:
    """Whether the label is nobody's name: nothing, a role, a number, a device, a room, or several people at once."""
    name = unicodedata.normalize("NFKC", label or "").strip(" \t\n-_.*#·<>\"'")
    if not name or _MACHINE.search(name) or _SEVERAL.search(name):
        return True
    bare = re.sub(r"[\s\d_#.-]+", "", name)
    if _GENERIC_CJK.match(bare) or "会议室" in bare or "會議室" in bare:
        return True
    words = [_bare(word) for word in _WORDS.findall(name)]
    if PLACES.intersection(words):
        return True
    telling = [word for word in words if not _says_nothing(word)]
    return not any(sum(c.isalpha() for c in word) >= 2 or re.match(f"[{_CJK}]", word) for word in telling)


def is_place(label: str | None) -> bool:
    """Whether it says that it is a room: whoever speaks under it may be several people."""
    name = unicodedata.normalize("NFKC", label or "")
    return bool(PLACES.intersection(map(_bare, _WORDS.findall(name)))) or "会议室" in name or "會議室" in name


def _bare(word: str) -> str:
    folded = word.casefold().strip(".'’-")
    return folded.removesuffix("'s").removesuffix("’s")


def _says_nothing(word: str) -> bool:
    """Generic, alone or with a number or an index glued to it (speaker1, spk_00, MEE068, voice_2, 发言人1)."""
    return word in GENERIC_LABELS or any(c.isdigit() for c in word) or re.sub(r"[\d_-]+", "", word) in GENERIC_LABELS
