"""Who says what they are called, and what only sounds like it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.memory.introductions import MAX_TEXT, Introduction, Says, introductions

IS = {
    # English
    "I'm Dana.": "Dana",
    "I'm Dana": "Dana",
    "I’m Dana.": "Dana",
    "I am Dana Smith, nice to meet you.": "Dana Smith",
    "Hi, I'm Dana.": "Dana",
    "Hi everyone, I'm Dana from accounting.": "Dana",
    "Hi Tom, I'm Dana.": "Dana",
    "Hi Tom I'm Dana.": "Dana",
    "Hello all I'm Dana and I work with Tom.": "Dana",
    "So, um, I'm Dana.": "Dana",
    "My name is Dana.": "Dana",
    "My name's Jean-Luc Picard.": "Jean-Luc Picard",
    "Good morning. My name is Siobhan O'Brien, and I run the lab.": "Siobhan O'Brien",
    "The name's Bond.": "Bond",
    "You can call me Mel.": "Mel",
    "Everybody calls me late, but please call me Mel.": "Mel",
    "I go by Mel.": "Mel",
    "This is Tom speaking.": "Tom",
    "Hello, this is Tom speaking, how can I help?": "Tom",
    "It's Tom calling.": "Tom",
    "Hi, Dana here, can you hear me?": "Dana",
    "Dana Smith speaking, how can I help?": "Dana Smith",
    "I'm Dana, what's your name?": "Dana",
    "I'm Dana, and you?": "Dana",
    "I'm Dr. Smith.": "Smith",
    "I'm Professor Ada Lovelace.": "Ada Lovelace",
    "I'm J. Smith.": "J Smith",
    "I'm Vincent van Gogh, pleased to meet you.": "Vincent van Gogh",
    "I'm Dana, Tom's sister.": "Dana",
    "Nice to meet you, I'm Dana.": "Dana",
    "Nice to meet you! I'm Dana.": "Dana",
    "Yes, sir. I'm Dana.": "Dana",
    "No, I'm Dana, not Tom.": "Dana",
    '"Hi, I\'m Dana."': "Dana",
    "I'm Łukasz.": "Łukasz",
    "I'm Zoë and I'm new here.": "Zoë",
    # German
    "Ich heiße Dana.": "Dana",
    "Ich heisse Dana Müller und komme aus Graz.": "Dana Müller",
    "Mein Name ist Dana.": "Dana",
    "Guten Tag, mein Name ist Jürgen Groß.": "Jürgen Groß",
    "Hallo, ich bin Dana.": "Dana",
    "Hallo zusammen, ich bin die Dana.": "Dana",
    "Servus, ich bin der Franz aus Wien.": "Franz",
    "Hallo! Ich bin Dana.": "Dana",
    "Hallo, ich bin Dana von der Buchhaltung.": "Dana",
    "Hier spricht Dana.": "Dana",
    "Du kannst mich Dana nennen.": "Dana",
    "Nennen Sie mich einfach Dana.": "Dana",
    "Grüß Gott, ich bin Dana, und wer sind Sie?": "Dana",
    # Spanish
    "Me llamo Dana.": "Dana",
    "Hola, me llamo José Luis.": "José Luis",
    "Mi nombre es Dana Pérez.": "Dana Pérez",
    "Soy Dana.": "Dana",
    "Hola, soy Dana, de contabilidad.": "Dana",
    "Hola a todos, yo soy Dana y trabajo aquí.": "Dana",
    "Buenas tardes, le habla Dana Ruiz.": "Dana Ruiz",
    "Puedes llamarme Dani.": "Dani",
    "Hola, soy Dana, ¿y tú?": "Dana",
    "Llámame Dani.": "Dani",
    # French
    "Je m'appelle Dana.": "Dana",
    "Bonjour, moi c'est Dana.": "Dana",
    "Bonjour, je suis Dana.": "Dana",
    # Chinese
    "我叫王伟。": "王伟",
    "我是王伟": "王伟",
    "大家好，我是王小明。": "王小明",
    "你好我叫佳琪，很高兴认识你。": None,
    "我的名字是李娜。": "李娜",
    "我的名字叫Jiaqi。": "Jiaqi",
    "我是Jiaqi。": "Jiaqi",
    "我叫 Jiaqi Li。": "Jiaqi Li",
    "我是欧阳娜娜。": "欧阳娜娜",
    "大家可以叫我小明。": "小明",
    "我是王伟来自北京。": "王伟",
    "我叫張偉，你呢？": "張偉",
    "请叫我老李。": "老李",
}
MAY_BE = {
    "Ich bin Dana.": "Dana",
    "Ich bin die Dana.": "Dana",
    "Hallo, ich bin Zahntechniker.": "Zahntechniker",
    "Hallo, ich bin Peter.": "Peter",
    "Hi, this is Tom.": "Tom",
    "Hallo, hier ist Dana.": None,
    "I'm Christian.": "Christian",
    "我叫佳琪。": "佳琪",
}
IS_NOT = {
    "I'm not Dana.": "Dana",
    "I am not Dana Smith!": "Dana Smith",
    "No, no, I'm not Dana.": "Dana",
    "My name isn't Dana.": "Dana",
    "Ich bin nicht Dana.": "Dana",
    "Ich heiße nicht Dana.": "Dana",
    "No soy Dana.": "Dana",
    "No me llamo Dana.": "Dana",
    "Je ne suis pas Dana.": "Dana",
    "我不是王伟。": "王伟",
    "我不叫Jiaqi。": "Jiaqi",
}
NOTHING = [
    # possessives and other people
    "I'm Dana's colleague.",
    "I’m Dana’s colleague.",
    "I'm James' brother.",
    "I'm Dana and Tom's mother.",
    "I'm a friend of Dana.",
    "I'm with Dana.",
    "This is Dana.",
    "This is Tom, my brother.",
    "This is my friend Tom.",
    "This is Tom speaking about his trip.",
    "Her name is Dana.",
    "My sister's name is Dana.",
    "My dog's name is Rex.",
    "Meet Dana.",
    "You're Dana.",
    "Are you Dana?",
    "Ich bin Danas Kollegin.",
    "Ich bin die Kollegin von Dana.",
    "Ich bin der Bruder von Dana.",
    "Das ist Dana.",
    "Sie heißt Dana.",
    "Soy la hermana de Dana.",
    "Soy amigo de Dana.",
    "Ella se llama Dana.",
    "Te presento a Dana.",
    "我是Jiaqi的同学",
    "我是王伟的同学。",
    "我是他的同学。",
    "他叫王伟。",
    "这是王伟。",
    "她是王伟吗？",
    # questions
    "What's my name?",
    "Do you know my name?",
    "My name is what?",
    "I'm Dana?",
    "I'm Dana, right?",
    "Am I Dana?",
    "Wie heiße ich?",
    "Ich bin Dana, oder?",
    "Bin ich Dana?",
    "¿Soy Dana?",
    "¿Cómo me llamo?",
    "Soy Dana, ¿verdad?",
    "我叫什么名字？",
    "我叫什么名字",
    "我是谁？",
    "我是王伟吗？",
    "你知道我叫王伟吗",
    "我叫甚麼",
    # states, trades, nations, sayings
    "I'm OK with that.",
    "I'm OK.",
    "I'm fine.",
    "I'm Fine, thanks.",
    "I'm German.",
    "I'm Irish and proud.",
    "I'm Catholic.",
    "I'm on Zoom.",
    "I'm CEO of a company.",
    "I'm Head of Sales.",
    "I'm Mom now.",
    "I'm Batman.",
    "I'm done.",
    "I'm Earl Grey than coffee.",
    "I'm not sure.",
    "I'm not German.",
    "I'm from Berlin.",
    "My name is on the list.",
    "My name is Earl is a show.",
    "Call me tomorrow.",
    "Call me Monday.",
    "Call me back, Dana.",
    "It's Dana.",
    "Dana here.",
    "Same here!",
    "Looky here, I got this new pup for you!",
    "Generally speaking, no.",
    "It's Monday.",
    "Ich bin Lehrer.",
    "Hallo, ich bin Lehrerin.",
    "Ich bin der Meinung, dass es reicht.",
    "Ich bin die Neue.",
    "Ich bin Österreicherin.",
    "Ich heiße Sie willkommen.",
    "Ich heiße euch willkommen.",
    "Ich bin müde.",
    "Ich bin Vegetarier.",
    "Soy médico.",
    "Soy Español.",
    "Soy de Madrid.",
    "Soy yo.",
    "我是老师。",
    "我是中国人。",
    "我是学生",
    "我是高兴的",
    "我是高中生。",
    "我是江苏人。",
    "我是司机。",
    "我是说明天去。",
    "我是OK的。",
    "我叫了一辆车。",
    "我叫你来。",
    "我叫外卖。",
    "我叫他王伟。",
    # other people's words, suppositions
    "He said 'I'm Dana'.",
    'She said, "I\'m Dana."',
    "He said “I'm Dana” and left.",
    "He said I'm Dana.",
    "He said, I'm Dana.",
    "She told me I'm Dana.",
    "He was like, I'm Dana.",
    "I'm Dana, he said.",
    "I'm Dana, just kidding.",
    "They think I'm Dana.",
    "If I'm Dana, who are you?",
    "Pretend I'm Dana.",
    "I wish I was Dana.",
    "Er sagte: „Ich heiße Dana.“",
    "Er sagte, ich heiße Dana.",
    "Wenn ich Dana wäre.",
    "Dijo: «Me llamo Dana».",
    "Dijo que soy Dana.",
    "他说：“我是王伟。”",
    "他说我是王伟。",
    "他说，我是王伟。",
    "如果我是王伟",
    # nothing at all
    "",
    None,
    "?",
    "I'm",
    "My name is",
    "我是",
    "我叫",
]


def said(text: str | None, says: Says) -> list[str]:
    return [i.name for i in introductions(text) if i.says is says]


@pytest.mark.parametrize(("text", "name"), [(t, n) for t, n in IS.items() if n])
def test_somebody_says_what_they_are_called(text: str, name: str) -> None:
    assert introductions(text) == (Introduction(name, Says.IS),)


@pytest.mark.parametrize(("text", "name"), [(t, n) for t, n in MAY_BE.items() if n])
def test_what_may_be_a_name_or_something_else_counts_less(text: str, name: str) -> None:
    assert introductions(text) == (Introduction(name, Says.MAY_BE),)


@pytest.mark.parametrize(("text", "name"), IS_NOT.items())
def test_somebody_says_what_they_are_not_called(text: str, name: str) -> None:
    assert introductions(text) == (Introduction(name, Says.IS_NOT),)


@pytest.mark.parametrize("text", NOTHING)
def test_what_only_sounds_like_it_is_nothing(text: str | None) -> None:
    assert introductions(text) == ()


def test_the_table_is_large_enough() -> None:
    assert len(IS) + len(MAY_BE) + len(IS_NOT) + len(NOTHING) >= 120


def test_several_things_may_be_said_at_once() -> None:
    assert introductions("I'm not Dana. I'm Tom.") == (Introduction("Dana", Says.IS_NOT), Introduction("Tom", Says.IS))


@given(st.text(max_size=300))
def test_any_text_gives_names_that_stand_in_it(text: str) -> None:
    for found in introductions(text):
        assert 2 <= len(found.name) <= 100 and found.name.strip() == found.name


@given(st.sampled_from(["I'm ", "Hi, I'm ", "我是", "ich heiße ", "soy ", "“", "'", "Mr. "]), st.text(max_size=100))
def test_anything_may_stand_behind_a_phrase(phrase: str, rest: str) -> None:
    for found in introductions(phrase + rest):
        assert not any(c in found.name for c in '\n\t,.;:!?"“”')


@pytest.mark.parametrize("piece", ["I'm ", "'I'm Dana", "“", "hi ", "Dana and ", "a, ", "我是", "Mr. ", "so so ", "A"])
def test_long_texts_take_no_longer_than_short_ones(piece: str) -> None:
    began = time.process_time()
    introductions(piece * (20 * MAX_TEXT // len(piece)))
    assert time.process_time() - began < 0.5
