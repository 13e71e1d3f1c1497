"""Which words are never names, though they stand where names do? Generic labels, badges, forms of address, nations, trades."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


GENERIC_LABELS = _words(
    """
    speaker speakers spk sprecher sprecherin hablante locutor locutora orador oradora interlocutor intervenant locuteur
    parlante relatore guest guests gast gäste invitado invitada invité invitée ospite visitor besucher besucherin
    visitante visiteur unknown unbekannt unbekannte unbekannter desconocido desconocida inconnu inconnue sconosciuto none
    null nil nan undefined unnamed untitled na n/a nobody somebody someone anonymous anonym anonyme anónimo anónima
    anonimo host hosts co-host cohost gastgeber gastgeberin anfitrión anfitriona anfitrion hôte moderator moderatorin
    moderador moderadora organizer organiser organisator presenter participant participants participante teilnehmer
    teilnehmerin teilnehmende attendee attendees user users username benutzer benutzerin usuario usuaria utilisateur
    member mitglied miembro person people persona personne caller callers anrufer anruferin llamante agent customer client
    kunde kundin cliente interviewer interviewee operator admin administrator bot notetaker recorder assistant assistent
    asistente note taker transcriber me myself you yourself ich du sie yo tú tu usted moi toi we us them they self local
    remote near far far-end near-end iphone ipad ipod android galaxy pixel macbook imac mac laptop pc desktop computer
    tablet phone telefon teléfono telefono handy móvil movil mobile mobil windows chromebook samsung huawei xiaomi lenovo
    oneplus device gerät dispositivo appareil zoom teams meet webex skype discord meeting besprechung reunión reunion room
    raum zimmer sala salle boardroom conference konferenz conferencia conférence konferenzraum besprechungsraum
    meetingraum office büro oficina desk lobby studio kitchen wohnzimmer voice stimme voz voix channel kanal canal
    unlabelled unlabeled label track spur pista audio mic mike mikrofon microphone micrófono left right links rechts
    izquierda derecha male female man woman mann frau männlich weiblich hombre mujer masculine feminine boy girl child
    kind niño niña other others another andere anderer otro otra multiple several various mehrere varios all everyone
    everybody alle todos crowd audience publikum público group gruppe grupo team test tester demo new neu nuevo external
    extern externe externo спикер говорящий диктор неизвестный неизвестно участник гость пользователь internal intern
    unverified unfamiliar verified pending default system narrator erzähler narrador music musik música noise silence the
    a an of von de del la el der die das des le el's s no number nr
    """
)
"""Words of which no label is a name; one that does not stand here be one."""

PLACES = _words("room boardroom conference konferenz konferenzraum besprechungsraum meetingraum lobby")
"""Words that make a place of the whole label, whatever stands beside them."""

BADGES = _words(
    """
    guest gast invitado invitada invité invitée ospite 访客 訪客 嘉宾 来宾 游客 ゲスト external extern externe externo
    esterno 外部 unverified unfamiliar host co-host cohost gastgeber gastgeberin anfitrión anfitriona hôte 主持人
    联席主持人 organizer organiser organisator organizador presenter moderator me you ich du yo tú moi toi 我 你 self
    owner admin bot verified internal intern interno presenting muted she/her he/him they/them she/they he/they sie/ihr
    er/ihm ella elle/ella él
    """
)
"""What platforms write in brackets behind a name."""

DOUBTS = _words("unverified unfamiliar external")
"""Platforms also write these without brackets; nobody is called so, as people are called Guest and Host."""

LOWERS_TRUST = _words("unverified unfamiliar")
"""The platform says itself that it does not know whether the name is true."""

NOT_NAMES_EN = _words(
    """
    ok okay yes no yeah yep nope sure well so oh ah um uh hey hi hello thanks thank please sorry right fine good great
    cool nice wow sir madam ma'am miss doctor professor captain officer boss chief coach teacher nurse mom mum mommy mummy
    dad daddy mama papa grandma grandpa granny nana auntie aunt uncle sis bro son daughter baby honey darling sweetheart
    dear love babe buddy pal dude man mate folks guys everyone everybody all team ladies gentlemen people kids god
    christ lord santa batman superman monday tuesday wednesday thursday friday saturday sunday january february march
      july september october november december today tomorrow yesterday english american british irish
    scottish welsh french german austrian swiss italian spanish portuguese dutch belgian danish swedish norwegian finnish
    polish russian ukrainian greek turkish arab arabic jewish muslim catholic protestant buddhist hindu chinese
    japanese korean indian pakistani mexican canadian australian brazilian african asian european latino latina hispanic
    californian texan democrat republican internet google apple amazon microsoft alexa siri cortana zoom facebook youtube
    netflix covid christmas easter halloween thanksgiving aries taurus gemini cancer virgo libra scorpio sagittarius
    capricorn aquarius pisces gonna just not really also still here there back home done ready late early in on at from
    with the a an my your his her our their this that these those it its i i'm you he she we they me him them who what
    when where why how which and or but if because speaking calling chair chairman chairwoman president director manager
    head ceo cto cfo hr uk us usa eu tv dj mc
    """
)
"""Written large in English, and not a name: forms of address, nations, days, brands, roles."""

NOT_NAMES_DE = _words(
    """
    ja nein doch genau also naja gut super prima klasse danke bitte entschuldigung hallo hi hey moin servus tschüss ciao
    grüezi mensch leute kinder jungs mädels mädchen freunde alle herr frau fräulein doktor professor chef chefin boss
    meister schatz schatzi liebling liebe lieber süsse süsser mama papa mutti vati mutter vater oma opa tante onkel bruder
    schwester sohn tochter cousin cousine enkel enkelin neffe nichte schwager schwägerin schwiegermutter schwiegervater
    mann ehemann ehefrau partner partnerin freund freundin kumpel kollege kollegin mitarbeiter mitarbeiterin nachbar
    nachbarin mitbewohner mitbewohnerin verlobte verlobter verlobten ex lehrer lehrerin schüler schülerin student
    studentin studierende arzt ärztin zahnarzt zahnärztin tierarzt tierärztin anwalt anwältin ingenieur ingenieurin
    informatiker informatikerin programmierer programmiererin entwickler entwicklerin techniker technikerin mechaniker
    elektriker tischler maler bäcker bäckerin koch köchin kellner kellnerin fahrer fahrerin polizist polizistin soldat
    soldatin beamter beamtin pfleger pflegerin krankenschwester krankenpfleger hebamme apotheker apothekerin künstler
    künstlerin musiker musikerin sänger sängerin schauspieler schauspielerin autor autorin journalist journalistin rentner
    rentnerin pensionist pensionistin hausfrau hausmann unternehmer unternehmerin berater beraterin verkäufer verkäuferin
    trainer trainerin assistent assistentin praktikant praktikantin azubi lehrling leiter leiterin direktor direktorin
    präsident präsidentin vorsitzender vorsitzende sprecher sprecherin gast gastgeber gastgeberin zeuge zeugin patient
    patientin kunde kundin mitglied fan single vegetarier vegetarierin veganer veganerin christ christin katholik
    katholikin protestant moslem muslim muslima jude jüdin atheist atheistin deutscher deutsche österreicher
    österreicherin schweizer schweizerin berliner berlinerin wiener wienerin hamburger münchner bayer bayerin italiener
    italienerin franzose französin engländer engländerin amerikaner amerikanerin spanier spanierin türke türkin pole polin
    russe russin ukrainer ukrainerin chinese chinesin steinbock wassermann fische widder stier zwilling zwillinge krebs
    löwe jungfrau waage skorpion schütze linkshänder rechtshänder einzelkind anfänger anfängerin experte expertin profi
    laie optimist optimistin pessimist teil meinung zeit ende anfang neue neuer letzte letzter erste erster zweite zweiter
    einzige einziger richtige richtiger falsche falscher nächste nächster beste bester gleiche andere anderer fall ansicht
    auffassung weg stau urlaub büro haus hause dran fertig sie ihnen euch dich uns ihn ihm ich du er wir ihr es man wer
    was wann wo warum wie und oder aber montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar märz
     mai juni juli september oktober november dezember weihnachten ostern
    """
)
"""The same of German, where every noun is written large: kin, trades, nations."""

NOT_NAMES_ES = _words(
    """
    sí si no claro vale bueno bien gracias hola adiós perdón disculpa disculpe oye oiga mira señor señora señorita don
    doña doctor doctora profesor profesora jefe jefa mamá papá mami papi abuela abuelo tía tío hermano hermana hijo hija
    primo prima amigo amiga amigos amigas cariño amor cielo corazón guapa guapo chicos chicas chico chica niños muchachos
    todos todas gente hombre mujer dios lunes martes miércoles jueves viernes sábado domingo enero febrero marzo abril
    mayo junio julio agosto septiembre octubre noviembre diciembre español española mexicano mexicana argentino argentina
    colombiano colombiana chileno chilena peruano peruana cubano cubana venezolano venezolana católico católica yo tú
    usted él ella nosotros ellos ustedes el la los las un una de del que quien quién cómo cuándo
    """
)
"""The same of Spanish."""

NOT_NAMES_FR = _words(
    """
    oui non bonjour bonsoir salut merci monsieur madame mademoiselle docteur professeur maman papa mamie papi chéri chérie
    français française belge suisse canadien canadienne je tu il elle nous vous ils elles le la les un une de du des lundi
    mardi mercredi jeudi vendredi samedi dimanche
    """
)
"""The same of French."""

NOT_NAMES = NOT_NAMES_EN | NOT_NAMES_DE | NOT_NAMES_ES | NOT_NAMES_FR

AMBIGUOUS = _words("april august chance christian dean faith grace hope jesus joy june leo may virginia")
"""Names, and in the same place often something else."""

ALSO_WORDS = _words(
    """
    amber angel art august autumn bill bliss brook brooks buck bud chance chase cherry chip chuck cliff clay colt coral
    crystal dale dash dawn dean destiny dick dolly don drew duke earl ebony eden faith fern flora forest frank gale gay gene
    ginger glen grace grant guy hank harmony hazel heath heather honor hope hunter iris ivy jack jade jasmine jay jet jewel
    joy june lance laurel lily lucky mark marks mason may mercy merit miles mint misty moss oak olive opal page pansy pat
    patience pearl penny peg pepper pierce piper poppy price prince queen ray red reed rich river rob robin rock rod roman
    rose ruby rusty sage sandy scarlet scout serenity sharp skip sky sonny spike star stew stone storm sue summer sunny tad
    tiger trace trip trinity van victor violet wade ward warren west will willow winter woody young ernst wolf engel klein
    kurz lang stark sommer herbst blanca luz pilar rosa sol paz consuelo
    """
)
"""Names that are words of the same letters, wherever they stand."""

TITLES = _words(
    """
    mr mrs ms miss mister dr doctor prof professor sir dame herr frau señor señora señorita sr sra srta don doña monsieur
    madame mme
    """
)
"""Before a name, and no part of it."""

SURNAMES = _words(
    """
    王 李 张 張 刘 劉 陈 陳 杨 楊 赵 趙 吴 吳 周 徐 孙 孫 朱 胡 郭 何 林 罗 羅 郑 鄭 梁 谢 謝 宋 唐 许 許 邓 鄧 冯 馮 韩
    韓 曹 曾 彭 萧 蕭 肖 蔡 潘 田 董 袁 余 叶 葉 蒋 蔣 杜 苏 蘇 魏 程 吕 呂 丁 沈 任 姚 卢 盧 傅 钟 鍾 姜 崔 谭 譚 廖 范
    汪 陆 陸 石 戴 贾 賈 韦 韋 邱 方 侯 邹 鄒 熊 孟 秦 江 尹 薛 闫 閻 段 雷 龙 龍 黎 史 陶 贺 賀 顾 顧 毛 郝 龚 龔 邵 万
    萬 覃 武 钱 錢 戚 严 嚴 莫 孔 汤 湯 柯 欧阳 歐陽 司马 司馬 上官 诸葛 諸葛 高 马 馬 黄 黃 金 白 安 于 文 夏 施 温 溫 岳
    齐 齊 庄 莊 俞 章 鲁 魯 葛 倪 阎 饶 翁 简 卓 童 佟 尤 聂 焦 柳 邢 祝 辛 管 骆 梅 盛 霍 冉 常 康 季 樊 路 洪 包 左
    """
)
"""Chinese surnames, the commonest (over nine in ten people); compound ones too."""

NOT_NAMES_ZH = _words(
    """
    高兴 高興 高中 高级 高級 高手 高管 高三 高二 高一 马上 馬上 马来 安全 安心 白天 白领 白領 白人 黄种 金融 金牌 文盲
    文员 文科 万能 万人 于是 方便 方面 方案 钱包 江苏 江西 江南 石头 武汉 武術 武术 毛病 龙虾 雷锋 温州 洪水 路过 路人
    常常 常客 常来 包子 左边 左撇 左手 石油 周一 周二 周三 周四 周五 周六 周日 周末 周围 程序 林业 田径 史学 史上 钟表
    任何 任务 何时 何必 何况 许多 许可 曾经 于此 齐全 庄家 章程 简单 简直 管理 管家 盛大 康复 季度 夏天 夏季 安徽 安卓
    金色 文化 文明 高考 高个 高端 白色 黄色 黄金 路上 方向 梅花 尤其 施工 童年 童话 余下 余额 孙子 孙女 范围 陆续 陆军
    汤圆 段子 武器 莫非 严肃 严格 孔子 胡说 胡闹 谢谢 罗马 韩国 唐人 宋朝 江湖 吴语 辛苦 祝你 祝大家 祝福 常年 盛情 翁婿
    柳州 左右 顾客 顾问 田地 石家 石匠
    """
)
"""Chinese words that begin like a name."""
