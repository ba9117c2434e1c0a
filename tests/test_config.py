"""Options: defaults, refusals, signature; checks of texts: the argument, the index, what was
expected, what came.
"""

from __future__ import annotations

import dataclasses
import inspect
import pickle
import re

import numpy as np
import pandas as pd
import pytest
import torch

from estime_metric import EstimeConfig, EstimeScorer, __version__, estime
from estime_metric.checks import check_choice, check_pairs, check_text, check_texts
from estime_metric.config import EstimeOptions, default_layer
from estime_metric.engine.splitter import split_words
from tests.command import run_python
from tests.families import toy_tagger


def test_the_default_is_the_bundled_encoder_and_what_belongs_to_it_is_open() -> None:
    config = EstimeConfig()
    assert config.model == "embedded"
    assert config.schedule == {"window": None, "margin": None, "distance": None}
    assert (config.unit, config.normalize, config.dtype) == ("token", False, "float32")
    assert (config.layers, config.layer_tuple) == (None, ())
    depths = {24: 21, 12: 10, 6: 5, 22: 19, 4: 4, 2: 2, 1: 1}
    assert {blocks: default_layer(blocks) for blocks in depths} == depths
    assert EstimeConfig(window=101, margin=50).window == 101  # the least that are legal
    assert EstimeConfig(window=1, margin=0, distance=1, token_budget=1).window == 1


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        (0, (0,)),
        (iter([4]), (4,)),
        (torch.tensor([2, 5]), (2, 5)),
        ([np.int32(1), 2], (1, 2)),
    ],
)
def test_layers_may_be_one_or_several(layers: object, expected: tuple[int, ...]) -> None:
    named = EstimeConfig(layers=layers).layer_tuple  # type: ignore[arg-type]
    assert named == expected
    assert {type(layer) for layer in named} == {int}


def test_values_of_numpy_and_torch_and_generators_are_taken() -> None:
    converted = EstimeConfig(
        window=np.int64(200),
        margin=np.int32(10),
        distance=torch.tensor(4),
        dtype=torch.bfloat16,  # type: ignore[arg-type]
        device=torch.device("cuda", 1),  # type: ignore[arg-type]
        tagger="nltk",
        keep_tags=(tag for tag in ("NN", "VB")),  # type: ignore[arg-type]
    )
    schedule = {"window": 200, "margin": 10, "distance": 4}
    tags = {"tagger": "nltk", "keep_tags": {"NN", "VB"}}
    same = EstimeConfig(**schedule, **tags, dtype="bfloat16", device="cuda:1")
    assert (converted, converted.signature(), hash(converted)) == (
        same,
        same.signature(),
        hash(same),
    )
    assert pickle.loads(pickle.dumps(converted)) == same
    with pytest.raises(dataclasses.FrozenInstanceError):
        converted.window = 3  # type: ignore[misc]
    assert len({EstimeConfig(layers=layers) for layers in ([1, 2], (1, 2), (2, 1))}) == 2


def test_it_is_pickled_alike_in_every_process() -> None:
    """A set of strings has another order in each; `datasets` finds what it computed by a hash."""
    script = """
        import pickle
        from estime_metric import EstimeConfig

        tags = {"NN", "VB", "JJ", "DT", "IN"}
        print(pickle.dumps(EstimeConfig(tagger="nltk", keep_tags=tags)).hex())
    """
    assert len({run_python(script, PYTHONHASHSEED=seed).stdout for seed in ("1", "2")}) == 1


def test_the_typed_keywords_are_the_fields() -> None:
    fields = [field.name for field in dataclasses.fields(EstimeConfig)]
    assert list(EstimeOptions.__annotations__) == fields
    assert EstimeOptions.__required_keys__ == frozenset()
    for function in (EstimeScorer.__init__, estime):
        assert (
            inspect.signature(function).parameters["options"].annotation == "Unpack[EstimeOptions]"
        )


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("layer_index", "layers"),
        ("batch_size", "token_budget"),
        ("preset", "distance"),
    ],
)
def test_an_option_that_is_nearly_right_is_suggested(name: str, meant: str) -> None:
    with pytest.raises(TypeError, match=f"but got `{name}`. Did you mean `{meant}`"):
        EstimeScorer(**{name: 3})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"but got `stemmer`\.$"):
        EstimeScorer(stemmer=3)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"model": "  "}, ValueError, "`model` not to be blank, but got '  '"),
        ({"revision": 3}, TypeError, "`revision` to be a str, but got int"),
        ({"layers": "21"}, TypeError, "`layers` to be one or more integers, but got '21'"),
        ({"layers": -1}, ValueError, "`layers` to contain only non-negative integers, but got -1"),
        ({"layers": []}, ValueError, "`layers` to name at least one layer, but got none"),
        (
            {"layers": [3, 3]},
            ValueError,
            re.escape("`layers` to name each layer once, but got [3, 3]"),
        ),
        ({"unit": "sentence"}, ValueError, "`unit` to be one of token.*, but got 'sentence'"),
        ({"window": 450.0}, TypeError, "`window` to be an integer, but got 450.0"),
        ({"window": 0, "margin": 0}, ValueError, "`window` to be at least 1, but got 0"),
        (
            {"window": 100, "margin": 50},
            ValueError,
            r"`window` to be more than twice `margin` \(50\), but got 100",
        ),
        ({"margin": -1}, ValueError, "`margin` to be at least 0, but got -1"),
        ({"distance": 0}, ValueError, "`distance` to be at least 1, but got 0"),
        ({"normalize": 1}, TypeError, "`normalize` to be a bool, but got 1"),
        (
            {"splitter": "nltk"},
            ValueError,
            "`unit` to be 'word' or `tagger` .* is 'nltk', but got unit 'token'",
        ),
        (
            {"dtype": "int8"},
            ValueError,
            "`dtype` to be one of float32, bfloat16, float16, auto, but got 'int8'",
        ),
        (
            {"layers": torch.tensor(True)},
            TypeError,
            "`layers` to be one or more integers, but got ",
        ),
        ({"measures": ["soft", 3]}, TypeError, "`measures` to contain only names, but got 3"),
        ({"keep_tags": "NN"}, TypeError, "`keep_tags` to be a set of tags, but got 'NN'"),
        ({"token_budget": 0}, ValueError, "`token_budget` to be at least 1, but got 0"),
    ],
)
def test_a_bad_value_is_refused_by_name(
    options: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        EstimeConfig(**options)  # type: ignore[arg-type]


def test_options_are_laid_over_a_configuration() -> None:
    base = EstimeConfig(window=200, distance=4)
    laid = EstimeConfig.from_options(base, {"distance": 6})
    assert (laid.window, laid.distance, base.distance) == (200, 6, 4)
    assert EstimeConfig.from_options(None, {}) == EstimeConfig()
    with pytest.raises(TypeError, match="`config` to be an EstimeConfig, but got dict"):
        EstimeConfig.from_options({"window": 450}, {})  # type: ignore[arg-type]


def test_the_signature_is_this_line() -> None:
    config = EstimeConfig(
        model="org/name", revision="0a1b", layers=[12, 21], normalize=True, dtype="bfloat16"
    )
    options = (
        "layers:12,21|unit:token|window:default|margin:default|distance:default|normalize:yes"
        "|dtype:bfloat16"
    )
    assert config.signature() == f"ESTIME|model:org/name@0a1b|{options}|version:{__version__}"
    assert "@default|layers:default|" in EstimeConfig().signature()


def test_what_changes_a_score_changes_the_signature_and_nothing_else_does() -> None:
    tagged: dict = {"tagger": toy_tagger}
    settings: list[dict] = [
        {},
        {"model": "embedded-small"},
        {"revision": "x"},
        {"layers": 12},
        {"layers": "all"},
        {"window": 400},
        {"margin": 49},
        {"distance": 9},
        {"normalize": True},
        {"dtype": "bfloat16"},
        {"unit": "word"},
        tagged,
        *({"unit": "word", "splitter": splitter} for splitter in ("nltk", split_words, str.split)),
        {"tagger": str.split},
        {"tagger": "nltk"},
        {**tagged, "splitter": "nltk"},
        {**tagged, "keep_tags": set()},
        {**tagged, "keep_tags": {"X"}},
        {**tagged, "drop_tags": {"X"}},
        {"measures": ["soft"]},
        {"measures": ["soft"], "soft_model": "bert-base-uncased"},
    ]
    signatures = [EstimeConfig(**setting).signature() for setting in settings]
    assert len(set(signatures)) == len(settings)
    for same in (
        {"measures": "coherence, alarms"},
        {"soft_model": "x"},
        {"device": "cpu", "token_budget": 7},
    ):
        assert EstimeConfig(**same).signature() == signatures[0]
    assert not any(part in signatures[0] for part in ("splitter", "tagger", "keep", "drop", "soft"))
    assert "|soft:bert-base-uncased@default|" in signatures[-1]
    tags = {"keep_tags": {"X", "NN"}, "drop_tags": {"DT"}}
    words = EstimeConfig(unit="word", **tagged, **tags, measures=["soft"]).signature()
    for part in ("unit:word", "splitter:regex", "toy_tagger", "keep:NN,X", "drop:DT", "soft:own"):
        assert part in words


def test_no_name_breaks_the_line() -> None:
    signatures = {
        EstimeConfig(model=name).signature() for name in ("a|b", "a@b", "a%7Cb", "a\nb", "ü|\t")
    }
    assert len(signatures) == 5  # escaping keeps names apart
    separators = EstimeConfig().signature().count("|")
    for signature in signatures:
        counts = [signature.count(character) for character in "\n|@"]
        assert counts == [0, separators, 1]


@pytest.mark.parametrize(
    "texts",
    [
        ["a", ""],
        iter(["a", ""]),
        np.array(["a", ""]),
        pd.Series(["a", ""], [5, 6]),
    ],
)
def test_iterables_of_strings_become_lists(texts: object) -> None:
    assert check_texts("predictions", texts) == ["a", ""]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("abc", "`sources` to be a list of strings, but got a single str."),
        (7, "`sources` to be a list of strings, but got int."),
        ({"a": 1}, "`sources` to be a list of strings, but got dict."),
        (np.array([["a", "b"]]), "`sources` to be a list of strings, but got ndarray."),
        (
            pd.DataFrame({"source": ["a"]}),
            "`sources` to be a list of strings, but got DataFrame; pass one of its col",
        ),
        (["a", b"b"], "`sources` to contain only strings, but got bytes at index 1."),
    ],
)
def test_other_things_are_refused(texts: object, message: str) -> None:
    with pytest.raises(TypeError, match=re.escape(message)):
        check_texts("sources", texts)


def test_characters_choices_and_lengths() -> None:
    with pytest.raises(
        ValueError, match=r"`source` to be valid Unicode, but got the lone .* at index 3"
    ):
        check_text("source", "a \ud800", 3)
    with pytest.raises(ValueError, match="`layer` to be one of 2, 5, but got '2'"):
        check_choice("layer", "2", (2, 5))
    with pytest.raises(
        ValueError, match="`predictions` and `sources` to have the same length, but got 1 and 2"
    ):
        check_pairs(["a"], ["b", "c"])
