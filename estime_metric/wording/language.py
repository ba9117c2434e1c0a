"""Whether a text is in English: in running text, a good share of the words are function words."""

from __future__ import annotations

import re
from collections.abc import Set

from estime_metric.wording.english import FUNCTION_WORDS

_WORD, _NUMBER = re.compile(r"[^\W\d_]+"), re.compile(r"\d+")
_BEFORE_A_WORD = re.compile(r"[^\W\d_](?= [^\W\d_])")

#: Function words that are rare in other languages: not single letters, nor "at" and "per" and what else is frequent
#: in Danish, Italian, Portuguese and Turkish.
_ENGLISH = frozenset(
    word for word in FUNCTION_WORDS if len(word) > 1 and word not in {"at", "do", "per", "ve"}
)

#: The least share of English function words. Single texts were judged: 2 in 1,000 summaries of FRANK and 16 in 1,000
#: claims of one sentence are taken for foreign, no article of SummEval and RAGTruth. Of paragraphs of manual pages 10% in
#: Dutch, 9% in Danish, 8% in Italian, 7% in German, 3% and fewer in French, Spanish and Portuguese are taken for English.
_LEAST_SHARE = 0.1
_LEAST_WORDS = 5  # below which a text passes: a headline or a name may have none
_LEAST_LETTERS = 4  # below which a text in another script passes


#: A text with fewer words next to a longer one in English is judged by its script alone: a headline or a list of names
#: has no function words.
_SHORT = 12


def is_foreign_pair(prediction: str, source: str, foreign: Set[str]) -> bool:
    """Whether a summary or its source does not seem to be in English, by the texts that `is_foreign` says are not.

    Example:
        >>> headline = "Apple unveils new iPhone, shares jump"
        >>> is_foreign_pair(headline, "The new phone is on sale, and the shares rose by a lot.", {headline})
        False
    """
    shorter, longer = sorted((prediction, source), key=len)
    is_long = len(shorter.split()) >= _SHORT
    return longer in foreign or (shorter in foreign and (is_long or is_in_other_script(shorter)))


def is_in_other_script(text: str) -> bool:
    """Whether most letters of a text are in another script than Latin."""
    letters = "".join(_WORD.findall(text))
    return len(letters) >= _LEAST_LETTERS and 2 * len(letters.encode("ascii", "ignore")) < len(
        letters
    )


def is_foreign(text: str) -> bool:
    """Whether a text does not seem to be in English.

    A text in another script than Latin is not, however short. In Latin script the share of function
    words decides. A table is taken for English: in running text at least half of the words and numbers are
    words with a space and another word behind them.

    Example:
        >>> is_foreign("Die Brücke wird im Frühjahr eröffnet."), is_foreign("мэр сказал")
        (True, True)
        >>> is_foreign("The bridge opens in spring."), is_foreign("Lowry | PTS 24 | AST 10 | REB 5")
        (False, False)
    """
    words = _WORD.findall(text.lower())
    if is_in_other_script(text):
        return True
    function_words = sum(map(_ENGLISH.__contains__, words))
    if len(words) < _LEAST_WORDS or function_words >= _LEAST_SHARE * len(words):
        return False
    return 2 * len(_BEFORE_A_WORD.findall(text)) >= len(words) + len(_NUMBER.findall(text))
