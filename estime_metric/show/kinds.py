"""Why a word of a summary may be an error: it is a name, a number or another word that the source does
not have, or it raises an alarm. The rules need no model; they are made for English.
"""

from __future__ import annotations

from estime_metric.novelty import lower_words

#: Reasons to look at a word, the likeliest errors first.
KINDS = ("new name", "new number", "new word", "alarm")

#: Words that say more about grammar than about facts: articles, pronouns, prepositions, conjunctions, auxiliary
#: verbs, and what an apostrophe cuts off. Negations, words of time and place such as ``before``, and
#: ``may`` and ``us``, which may be a month and a country, are not among them.
FUNCTION_WORDS = frozenset(
    lower_words(
        """
    a an the this that these those such
    i me my mine myself you your yours yourself yourselves he him his himself she her hers herself
    it its itself we our ours ourselves they them their theirs themselves one ones
    who whom whose which what there here
    and or but if because as while so though although whether than then when where how why
    of at by for with about to from in on into onto upon via per
    am is are was were be been being have has had having do does did doing done
    will would shall should can could might must
    also just very too own s t d m o ll re ve didn doesn don isn wasn weren hasn haven hadn wouldn
    couldn shouldn aren
    """
    )
)


def content_words(text: str) -> list[str]:
    """The lower-cased words of a text without `FUNCTION_WORDS`.

    Example:
        >>> content_words("It's Anna's 1,200 boats, isn't it?")
        ['anna', '1', '200', 'boats']
    """
    return [word for word in lower_words(text) if word not in FUNCTION_WORDS]


def new_kind(text: str, start: int, end: int, known: frozenset[str]) -> str | None:
    """One of `KINDS` if the word ``text[start:end]`` has a content word that is not ``known``,
    otherwise ``None``.

    A number has a digit in what is new. A name begins with a capital letter, and not with a
    sentence: at the beginning of the text, of a line, or after one of ``.!?:``, capitals say nothing.

    Example:
        >>> summary = "Repairs by Smith cost 40 dollars."
        >>> known = frozenset({"repairs", "cost", "dollars"})
        >>> spans = {"Repairs": (0, 7), "Smith": (11, 16), "40": (22, 24)}
        >>> {word: new_kind(summary, *span, known) for word, span in spans.items()}
        {'Repairs': None, 'Smith': 'new name', '40': 'new number'}
    """
    new = [word for word in content_words(text[start:end]) if word not in known]
    if not new:
        return None
    if any(character.isnumeric() for word in new for character in word):
        return "new number"
    before = text[:start].rstrip(" \t\"'\u201c\u2018([")
    begins_sentence = not before or before[-1] in ".!?:\n"
    return "new name" if text[start].isupper() and not begins_sentence else "new word"
