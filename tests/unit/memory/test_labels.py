"""Which labels are names, and what platforms glue onto them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.memory.labels import Label, is_generic, without_badge

GENERIC = [
    None,
    "",
    " ",
    "null",
    "None",
    "Unknown",
    "Unknown Speaker",
    "Speaker 1",
    "SPEAKER_00",
    "spk_1",
    "Guest",
    "Guest-2",
    "Host",
    "Host (me)",
    "(Guest)",
    "Participant 7",
    "Teilnehmer 2",
    "Sprecherin",
    "Gast 3",
    "Unbekannter Sprecher 1",
    "Invitado",
    "Hablante 2",
    "发言人1",
    "说话人 2",
    "嘉宾",
    "匿名用户",
    "会议室A",
    "会议室 Wien",
    "iPhone",
    "iPhone von Dana",
    "Dana's iPhone",
    "iPad (2)",
    "张三的iPhone",
    "Galaxy S21",
    "DESKTOP-4F2",
    "Conference Room 4",
    "Meeting Room Vienna",
    "Them",
    "You",
    "Ich",
    "Yo",
    "我",
    "A",
    "B2",
    "MEE068",
    "user_17",
    "voice_1",
    "channel_1/voice_2",
    "unlabelled@12.30",
    "+43 660 1234567",
    "dana@acme.com",
    "#4",
    "?",
    "5f2a7b1e-6b0c-5c0e-9d3f-9a4a3f6c2e10@local",
    "Dana & Tom",
    "Dana and Tom",
    "Dana und Tom",
    "Notetaker",
    "Спикер 2",
    "N/A",
    "...",
]
NAMES = [
    "Dana",
    "dana",
    "Dana Smith",
    "Smith, Dana",
    "Maria Guestrin",
    "Christopher Guest",
    "Hans Zimmer",
    "Hosta Gast-Miller",
    "O'Brien",
    "Jean-Luc",
    "Vincent van Gogh",
    "Amr E.",
    "Dana Smith 2",
    "Nora",
    "Will Host",
    "王伟",
    "小明",
    "欧阳娜娜",
    "山田太郎",
    "Łukasz",
    "Zoë",
    "Андрей Иванов",
    "محمد",
    "דנה",
    "Ramón y Cajal",
    "Dr. Ada Lovelace",
    "Bo",
    "Frau Müller",
]


@pytest.mark.parametrize("label", GENERIC)
def test_a_role_a_number_a_device_or_a_place_is_nobodys_name(label: str | None) -> None:
    assert is_generic(label)


@pytest.mark.parametrize("label", NAMES)
def test_a_name_is_a_name(label: str) -> None:
    assert not is_generic(label)


@pytest.mark.parametrize(
    ("label", "name", "trusted"),
    [
        ("Jonny (Guest)", "Jonny", True),
        ("Dana (she/her) (Guest)", "Dana", True),
        ("Tom (Host, me)", "Tom", True),
        ("Dana [External]", "Dana", True),
        ("Dana Smith (Gast)", "Dana Smith", True),
        ("王伟（主持人）", "王伟", True),
        ("Marc Unverified", "Marc", False),
        ("Dana (Unverified)", "Dana", False),
        ("Amr E. External unfamiliar", "Amr E.", False),
        ("Maria Guestrin", "Maria Guestrin", True),
        ("Christopher Guest", "Christopher Guest", True),
        ("Dana (Acme)", "Dana (Acme)", True),
        ("(Guest)", "(Guest)", True),
        ("Unverified", "Unverified", True),
        ("  Dana   Smith ", "Dana Smith", True),
    ],
)
def test_known_badges_at_the_end_come_off_and_names_stay_whole(label: str, name: str, trusted: bool) -> None:
    assert without_badge(label) == Label(name, trusted)


@given(st.text(max_size=120))
def test_any_label_is_judged_and_taking_badges_off_twice_is_taking_them_off_once(label: str) -> None:
    is_generic(label)
    once = without_badge(label).name
    assert without_badge(once).name == once and len(once) <= len(label)


@given(st.sampled_from(["Speaker", "Guest", "Teilnehmer", "发言人", "Hablante"]), st.integers(0, 10_000))
def test_a_numbered_role_is_generic(role: str, number: int) -> None:
    assert is_generic(f"{role} {number}") and is_generic(f"{role}{number}") and is_generic(f"{role}_{number:02d}")
