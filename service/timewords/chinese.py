"""How does Chinese say when? Days, weeks, months, years and dates; clock times stay unread."""

from __future__ import annotations

from service.timewords.calendar import AUTUMN, SPRING, SUMMER, WINTER, Unit, Which, months, years
from service.timewords.grammar import Bounds, Grammar, one_of, pattern, rule
from service.timewords.words import Words, numbered

_DIGITS = "一,二 两,三,四,五,六,七,八,九,十,十一,十二"
WORDS = Words(
    days={"今天": 0, "今日": 0, "昨天": -1, "昨日": -1, "前天": -2, "明天": 1, "明日": 1, "后天": 2},
    which={
        "上个": Which.LAST, "上": Which.LAST, "这个": Which.THIS, "这": Which.THIS,
        "本": Which.THIS, "下个": Which.NEXT, "下": Which.NEXT,
    },
    weekdays={
        prefix + name: number
        for prefix in ("星期", "礼拜", "周")
        for name, number in numbered("一,二,三,四,五,六,日 天", 0).items()
        if (prefix, name) != ("周", "天")
    },
    months={name + "月": number for name, number in numbered(_DIGITS, 1).items() if name != "两"},
    seasons={"春天": SPRING, "夏天": SUMMER, "秋天": AUTUMN, "冬天": WINTER},
    units={
        "天": Unit.DAY, "周": Unit.WEEK, "个星期": Unit.WEEK, "星期": Unit.WEEK, "个礼拜": Unit.WEEK, "礼拜": Unit.WEEK,
        "个月": Unit.MONTH, "月": Unit.MONTH, "年": Unit.YEAR, "个小时": Unit.HOUR, "小时": Unit.HOUR, "分钟": Unit.MINUTE,
    },
    numbers=numbered(_DIGITS, 1),
    weekend="周末",
    bound="",
    blank="",
)  # fmt: skip
_N, _U = rf"(?P<count>\d{{1,3}}|{one_of(WORDS.numbers)})", rf"(?P<unit>{one_of(WORDS.units)})"
_YEARS = {"前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}
_Y = one_of(_YEARS)
GRAMMAR = Grammar(
    days=(
        *WORDS.rules(),
        rule(rf"(?P<year>{_Y})", lambda g, m: years(m.now.year + _YEARS[g["year"] or ""])),
        rule(
            rf"(?P<year>{_Y})(?P<month>\d{{1,2}}月|{one_of(WORDS.months)})",
            lambda g, m: months(
                m.now.year + _YEARS[g["year"] or ""], WORDS.months.get(g["month"] or "") or int((g["month"] or "")[:-1])
            ),
        ),
        rule(rf"{_N}{_U}(?:以)?前", WORDS.ago),
        rule(rf"{_N}{_U}(?:以)?后", WORDS.ahead),
        rule(rf"(?:最近|过去){_N}{_U}", WORDS.lately),
        rule(r"(?:(?P<year>(?:19|20)\d\d)年)?(?P<month>\d{1,2})月(?P<day>\d{1,2})[日号]", WORDS.dated),
        rule(r"(?P<year>(?:19|20)\d\d)年(?P<month>\d{1,2})月(?!\d)", WORDS.month_of),
        rule(r"(?P<year>(?:19|20)\d\d)年(?!\d)", lambda g, _: years(int(g["year"] or ""))),
        rule(r"(?<![\d年个])(?P<month>\d{1,2})月(?!\d)", WORDS.month_of),
    ),
    parts=pattern(r"(?P<morning>早上|上午|早晨)|(?P<afternoon>下午)|(?P<evening>晚上)|(?P<night>夜里)"),
    clocks=(),
    joins=pattern(r"\s*"),
    bounds=Bounds(
        since=pattern(r"(?:自从?|从)$"),
        after=pattern(r"在(?!.)$"),
        before=pattern(r"(?!.)早于$"),
        until=pattern(r"(?:直到|到)$"),
        between=pattern(r"(?:从|在)$"),
        to=pattern(r"(?:到|至|和|-|–)"),
    ),
)
