"""Which common nouns name something worth remembering, of which type, and of which theme? Lists of our own, of everyday
talk."""

from __future__ import annotations

from service.memory.facts.english import FAMILY, JOBS, NO_REFERENTS, PEOPLE, PETS, words

EMPTY = NO_REFERENTS | words(
    """thing stuff people person guy man woman somebody someone anybody anyone name word idea question answer thought
    feeling chance plenty couple pair number piece level luck mind hope sense place fun love talk news thank thanks help
    look try use set rest top bottom back middle head hand face eye line size shape amount range average total example
    instance issue matter topic subject detail difference choice option decision opinion view mistake trouble care
    attention effort work job part role step process result effect change plan goal purpose aim experience memory story
    second season century future past present period age date time turn order list note sign mark point spot area side
    kind type form style group member guess bet deal while moment break glad sir madam fellow folk dude buddy honey
    darling dear joy pleasure pride honor honour strength power energy support inspiration motivation passion dream
    confidence courage balance peace growth success challenge journey impact opportunity possibility importance value
    meaning reminder appreciation positivity vibe mood spirit heart soul smile laugh tear kindness happiness okay yeah
    hey wow hmm uh um er ah oh mhm sorry hello goodbye bye welcome good bad best worst most least lots whole ton bunch bit yes
    no maybe everything nothing something anything"""
)
"""Nouns that everybody says of everything: they would link all with all."""

KIN = FAMILY | (PEOPLE - PETS - JOBS) | words("family baby toddler")
"""People by what they are to whoever speaks: my sister and your sister are two, and neither is an entity by that word."""

EVENTS = words(
    """party wedding birthday anniversary funeral meeting appointment interview exam test concert festival holiday
    vacation trip visit dinner lunch breakfast supper picnic barbecue game match race tournament marathon show play
    performance exhibition conference workshop class lesson course ceremony graduation parade date flight delivery
    operation surgery checkup rehearsal recital premiere opening launch sale auction fair election vote strike storm
    flood accident fire reunion camp hike tour excursion cruise walk run swim session deadline presentation review
    audition competition contest retreat sleepover getaway roadtrip christmas easter thanksgiving halloween hanukkah
    diwali"""
)
PLACES = words(
    """kitchen garden attic cellar basement bathroom bedroom house flat apartment room garage balcony yard office school
    university college library museum gallery theatre theater cinema church mosque synagogue temple hospital clinic
    pharmacy shop store supermarket market mall bakery restaurant cafe café bar pub hotel hostel airport station stop
    street road park beach forest wood lake river sea mountain hill valley island village town city country farm zoo gym
    pool stadium studio workshop shelter bank factory warehouse kindergarten nursery playground campsite trail cabin
    cottage harbour harbor bridge square"""
)
ORGANISATIONS = words(
    """company team club committee agency council government charity union department ministry band orchestra choir
    startup firm corporation association society police army league"""
)
TOPICS_ENDING = ("tion", "sion", "ness", "ity", "ism", "ment", "ance", "ence", "ship", "hood", "logy", "graphy", "ics", "ing",
                 "ture", "dom", "phy", "acy")  # fmt: skip
TOPICS = words(
    """music art science history politics religion weather climate sport football soccer tennis basketball baseball yoga
    chess poetry literature film movie fashion health diet money tax debt budget salary rent law crime war tradition
    culture language english german french spanish math physics chemistry biology software code design research business
    career stress sleep pain grief anger fear"""
)

OTHER = "other"
THEMES: dict[str, frozenset[str]] = {
    "home": words(
        """house flat apartment room kitchen bathroom bedroom attic cellar basement garage balcony garden yard furniture
        sofa couch table chair bed lamp shelf cupboard wardrobe carpet curtain window door roof wall floor heating
        boiler pipe tap sink shower toilet washing laundry dishwasher fridge oven stove microwave vacuum cleaning mop
        rubbish bin key lock rent landlord mortgage plumber electrician builder painter renovation paint hammer ladder
        tool repair neighbour neighbor teapot vase cup plate candle plant flower tree lawn hedge cottage cabin household
        move removal"""
    ),
    "food": words(
        """food meal breakfast lunch dinner supper picnic barbecue recipe cooking baking kitchen restaurant cafe café
        bar pub bakery coffee tea water juice milk beer wine bread cake pie cookie biscuit chocolate cheese butter egg
        meat chicken beef pork fish salmon rice pasta pizza soup salad sauce sandwich burger fruit apple banana orange
        lemon strawberry berry vegetable potato tomato carrot onion garlic mushroom nut peanut honey sugar salt pepper
        spice dessert snack sushi taco curry allergy menu chef cook waiter vegan vegetarian diet"""
    ),
    "health": words(
        """health doctor dentist nurse hospital clinic pharmacy medicine pill tablet surgery operation checkup
        appointment pain headache fever cold flu cough injury knee leg arm back shoulder foot tooth skin blood heart
        allergy asthma diabetes cancer therapy therapist counselling counseling psychologist anxiety depression stress
        sleep insomnia diet exercise gym yoga meditation vaccine vaccination pregnancy baby weight fitness wellness
        rehab bandage crutch wheelchair ambulance symptom diagnosis treatment"""
    ),
    "work": words(
        """job work office boss manager colleague coworker team meeting project deadline client customer company firm
        startup business career salary promotion interview contract report presentation email document budget sale
        marketing product software code bug release design prototype engineer developer designer conference department
        training internship shift overtime invoice proposal strategy server database spreadsheet remote button interface"""
    ),
    "money": words(
        """money bank account loan debt mortgage tax insurance pension saving savings budget price cost bill invoice
        payment salary rent refund discount coupon investment stock share fund card cash euro dollar pound cheque
        receipt"""
    ),
    "learning": words(
        """school university college class lesson course teacher professor student pupil exam test grade degree homework
        essay thesis study studies research science history math mathematics physics chemistry biology language english
        german french spanish book novel library reading literature poetry poem lecture seminar tutor kindergarten
        education graduation diploma curriculum textbook scholarship"""
    ),
    "leisure": words(
        """music song album band concert guitar piano violin drum cello choir orchestra singing dance dancing ballet
        film movie cinema series show television tv game videogame chess puzzle toy sport football soccer tennis
        basketball baseball swimming running marathon race cycling bike bicycle hiking climbing skiing surfing sailing
        fishing yoga painting drawing photo photograph photography camera pottery clay craft sewing knitting writing art
        exhibition museum gallery theatre theater play telescope star festival picnic camping tent campfire hobby club
        match tournament trophy medal collection"""
    ),
    "travel": words(
        """trip travel journey holiday vacation flight airport plane train station bus car drive road ticket passport
        visa luggage suitcase hotel hostel campsite beach sea mountain lake island city country village town map tour
        tourist cruise boat ship ferry roadtrip getaway taxi bike motorcycle"""
    ),
    "celebrations": words(
        """party wedding birthday anniversary funeral christmas easter thanksgiving halloween hanukkah diwali gift
        present surprise cake invitation guest ceremony graduation reunion card balloon bride groom parade tradition"""
    ),
    "nature": words(
        """dog cat puppy kitten pet rabbit hamster parrot horse bird fish animal wildlife zoo turtle snake lizard bear
        forest wood tree flower plant mountain hill valley river lake sea beach ocean sky sun sunset sunrise moon star
        weather rain snow storm wind climate environment nature park trail waterfall shelter vet"""
    ),
    "community": words(
        """charity volunteer volunteering donation shelter church mosque synagogue temple religion faith prayer politics
        election vote government council law court police crime war strike protest campaign rights equality community
        adoption agency refugee homeless education committee union"""
    ),
}
"""Theme → words that speak of it; of a compound the head counts first. A word of two themes is of the first here."""
