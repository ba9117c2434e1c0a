"""What is known of English: function words, numbers in words, abbreviations, and names that belong together."""

from __future__ import annotations

_FUNCTION_WORDS = """
    a an the this that these those such
    i me my mine myself you your yours yourself yourselves he him his himself she her hers herself
    it its itself we our ours ourselves they them their theirs themselves one ones
    who whom whose which what there here
    and or but if because as while so though although whether than then when where how why
    of at by for with about to from in on into onto upon via per
    am is are was were be been being have has had having do does did doing done
    will would shall should can could might must
    also just very too own s d m o ll re ve nt ca wo sha
"""
#: Words that say more about grammar than about facts: articles, pronouns, prepositions, conjunctions, auxiliary
#: verbs, and what an apostrophe cuts off, such as ``nt`` and the ``ca`` of "can't". Other negations, words of time and place such as ``before``, and
#: ``may`` and ``us``, which may be a month and a country, are not among them.
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")

#: Number word -> its value.
CARDINALS = {word: value for value, word in enumerate(_SMALL.split())} | {
    word: 10 * value for value, word in enumerate(TENS, start=2)
}
ORDINALS = (
    {"first": 1, "third": 3, "fifth": 5, "eighth": 8, "ninth": 9, "twelfth": 12}
    | {f"{word}th": CARDINALS[word] for word in ["four", "six", "seven", "ten", "eleven"]}
    | {f"{word}th": CARDINALS[word] for word in _SMALL.split()[13:]}
    | {f"{word[:-1]}ieth": CARDINALS[word] for word in TENS}
)
SCALES = {
    "dozen": 12,
    "hundred": 1e2,
    "thousand": 1e3,
    "million": 1e6,
    "billion": 1e9,
    "trillion": 1e12,
}

#: Letters directly behind digits that can stand for a scale.
SCALE_LETTERS = {"k": 1e3, "m": 1e6, "mn": 1e6, "bn": 1e9, "tn": 1e12}

#: Roman numeral -> its value; single letters are mostly something else.
ROMAN_NUMERALS = {
    "ii": 2,
    "iii": 3,
    "iv": 4,
    "vi": 6,
    "vii": 7,
    "viii": 8,
    "ix": 9,
    "xi": 11,
    "xii": 12,
    "xiii": 13,
    "xiv": 14,
    "xv": 15,
}

#: Words that mostly are something else than a number or a month, so alone they never stand for one.
AMBIGUOUS = frozenset({"zero", "one", "second", "may", "march"})

#: Numbers that a summary has without counting anything new: "the first", "the two of them", "a million times".
NOT_NEW = frozenset({"first", "two", *SCALES})

#: Abbreviation -> what it stands for.
ABBREVIATIONS = {
    short: full
    for full, shorts in {
        "january": "jan",
        "february": "feb",
        "march": "mar",
        "april": "apr",
        "june": "jun",
        "july": "jul",
        "august": "aug",
        "september": "sep sept",
        "october": "oct",
        "november": "nov",
        "december": "dec",
        "monday": "mon",
        "tuesday": "tue tues",
        "wednesday": "wed",
        "thursday": "thu thur thurs",
        "friday": "fri",
        "saturday": "sat",
        "sunday": "sun",
        "senator": "sen",
        "governor": "gov",
        "representative": "rep",
        "doctor": "dr",
        "professor": "prof",
        "general": "gen",
        "lieutenant": "lt",
        "sergeant": "sgt",
        "captain": "capt",
        "president": "pres",
        "saint": "st",
        "mister": "mr",
        "us": "usa",
    }.items()
    for short in shorts.split()
}

#: Abbreviations behind which a period does not end the sentence.
WITH_PERIOD = frozenset(
    {*ABBREVIATIONS, "mrs", "ms", "jr", "col", "rev", "hon", "vs", "mt", "ft", "no"}
)

#: Titles that say nothing of a person.
TITLES = frozenset({"mister", "mrs", "ms"})

#: Ending of a name -> of what belongs to it, or of its plural: Venezuela, Venezuelan. What is left has `LEAST` letters.
ENDINGS = (
    ("", "s"),
    ("", "es"),
    ("y", "ies"),
    ("", "n"),
    ("", "an"),
    ("e", "an"),
    ("o", "an"),
    ("um", "an"),
    ("", "ian"),
    ("a", "ian"),
    ("e", "ian"),
    ("s", "ian"),
    ("y", "ian"),
    ("", "ese"),
    ("a", "ese"),
    ("", "lese"),
    ("", "i"),
    ("", "ish"),
    ("", "ic"),
    ("ia", "ic"),
    ("us", "iot"),
)
LEAST = 4

#: The same for names that no such ending makes.
PEOPLES = {
    "afghan": "afghanistan",
    "argentine": "argentina",
    "british": "britain",
    "briton": "britain",
    "brit": "britain",
    "chinese": "china",
    "dane": "denmark",
    "danish": "denmark",
    "dutch": "netherlands",
    "filipino": "philippines",
    "finn": "finland",
    "finnish": "finland",
    "french": "france",
    "german": "germany",
    "greek": "greece",
    "irish": "ireland",
    "norwegian": "norway",
    "peruvian": "peru",
    "pole": "poland",
    "polish": "poland",
    "portuguese": "portugal",
    "scot": "scotland",
    "scottish": "scotland",
    "spaniard": "spain",
    "spanish": "spain",
    "swede": "sweden",
    "swedish": "sweden",
    "swiss": "switzerland",
    "texan": "texas",
    "thai": "thailand",
    "turk": "turkey",
    "turkish": "turkey",
    "welsh": "wales",
}
