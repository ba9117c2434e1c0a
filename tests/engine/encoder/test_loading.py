"""Loading: what is read off a model, and every way in which a model cannot be had."""

from __future__ import annotations

import json
import logging
import os
import shutil
import traceback
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import huggingface_hub.file_download
import pytest
import safetensors.torch
import torch
import transformers

from estime_metric import EncoderUnavailableError, EstimeConfig, embedded
from estime_metric.config import default_layer
from estime_metric.engine.encoder.folder import EncoderInfo, location
from estime_metric.engine.encoder.foreign import load_pretrained
from estime_metric.engine.encoder.hub import revision_of
from tests.command import run_python
from tests.families import BLOCKS, POSITIONS, WIDTH, make_tokenizer, save_encoder
from tests.local_hub import COMMIT, LocalHub, serve


@pytest.fixture
def copy(bert_folder: str, tmp_path: Path) -> Path:
    return Path(shutil.copytree(bert_folder, tmp_path / "copy"))


def load(folder: object):
    return load_pretrained(str(folder), None, torch.float32)


def rewrite(file: Path, **changes: object) -> None:
    """Lays changes over the settings in a file; ``None`` takes one out."""
    settings = {**json.loads(file.read_text(encoding="utf-8")), **changes}
    kept = {name: value for name, value in settings.items() if value is not None}
    file.write_text(json.dumps(kept), encoding="utf-8")


def test_what_is_read_off_every_family(family: str, folder: str, capfd, caplog) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    capfd.readouterr()
    loaded = load(folder)
    assert capfd.readouterr() == ("", "")
    assert not caplog.records
    info, model = loaded.info, loaded.model
    assert (loaded.name, info.blocks, info.width) == (folder, BLOCKS, WIDTH)
    assert (info.positions, info.layer) == (POSITIONS, default_layer(BLOCKS))
    assert (info.special.before, info.special.after) == (
        (tokenizer.cls_token_id,),
        (tokenizer.sep_token_id,),
    )
    assert (info.special.mask, info.special.padding) == (
        tokenizer.mask_token_id,
        tokenizer.pad_token_id,
    )
    assert not model.training
    assert model.config.reference_compile is False  # otherwise ModernBERT compiles itself
    ids = torch.full((1, info.positions), 7)  # the longest window runs
    with torch.no_grad():
        assert model(input_ids=ids).last_hidden_state.shape == (1, POSITIONS, WIDTH)


def test_weights_come_in_the_dtype_asked_for_whatever_is_stored(copy: Path) -> None:
    weights = safetensors.torch.load_file(copy / "model.safetensors")
    halves = {name: weight.half() for name, weight in weights.items()}
    safetensors.torch.save_file(halves, copy / "model.safetensors", metadata={"format": "pt"})
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        pretrained = load_pretrained(str(copy), None, dtype)
        assert (
            {weight.dtype for weight in pretrained.model.parameters()}
            == {pretrained.dtype}
            == {dtype}
        )


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("paper", "connect to the Hugging Face Hub once"),
        ("x" * 500, "pass a local folder"),
        (__file__, "it is not a folder"),
    ],
)
def test_a_model_that_cannot_be_had(
    model: str, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))  # is empty
    with pytest.raises(
        EncoderUnavailableError, match=rf"The encoder {model!r} cannot be loaded: "
    ) as caught:
        load(model)
    assert all(part in str(caught.value) for part in (message, "`model`", 'model="embedded"'))
    assert "".join(traceback.format_exception(caught.value)).count("Traceback") == 1


def pickled(copy: Path, shards: bool = False) -> None:
    weights = safetensors.torch.load_file(copy / "model.safetensors")
    (copy / "model.safetensors").unlink()
    torch.save(weights, copy / "pytorch_model.bin")
    if shards:
        index = {"metadata": {}, "weight_map": dict.fromkeys(weights, "pytorch_model.bin")}
        (copy / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")


#: What is done to a folder, and what is said of it.
SPOILT: dict[str, tuple[Callable[[Path], object], str]] = {
    "nothing": (
        lambda copy: [file.unlink() for file in copy.iterdir()],
        "the folder does not contain anything",
    ),
    "no weights": (
        lambda copy: (copy / "model.safetensors").unlink(),
        "the folder does not contain weights in safetensors",
    ),
    "no configuration": (
        lambda copy: (copy / "config.json").unlink(),
        r"the folder does not contain a config\.json",
    ),
    "no tokenizer": (lambda copy: [file.unlink() for file in copy.glob("*token*")], "`model`"),
    "broken weights": (
        lambda copy: (copy / "model.safetensors").write_bytes(b"x"),
        'cannot be loaded.*"embedded"',
    ),
    "pickled": (pickled, r'weights in safetensors.*model="embedded"'),
    "pickled shards": (
        lambda copy: pickled(copy, True),
        r"not in safetensors: .* names pytorch_model\.bin",
    ),
}


@pytest.mark.parametrize("how", SPOILT)
def test_a_folder_that_cannot_be_loaded(copy: Path, how: str) -> None:
    spoil, message = SPOILT[how]
    spoil(copy)
    logger = logging.getLogger("transformers.modeling_utils")
    before = list(logger.filters)
    with pytest.raises((EncoderUnavailableError, ValueError), match=f"(?s){message}") as caught:
        load(copy)
    assert how == "no tokenizer" or caught.type is EncoderUnavailableError
    assert "".join(traceback.format_exception(caught.value)).count("Traceback") == 1
    assert logger.filters == before  # others report theirs
    assert transformers.logging.is_progress_bar_enabled()


def test_no_code_from_a_folder_is_run(copy: Path, tmp_path: Path, capfd) -> None:
    rewrite(
        copy / "config.json",
        auto_map={"AutoModelForMaskedLM": "evil.Model", "AutoConfig": "evil.Config"},
    )
    (copy / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n", encoding="utf-8")
    load(copy)  # the family's own class serves
    rewrite(copy / "config.json", model_type="of-their-own")
    with pytest.raises(EncoderUnavailableError, match="`model`"):
        load(copy)
    assert capfd.readouterr().out == ""  # nor is anyone asked
    assert not (tmp_path / "ran").exists()


def leave_out(copy: Path, part: str, **metadata: str) -> int:
    """Takes weights out of a folder; returns how many."""
    weights = safetensors.torch.load_file(copy / "model.safetensors")
    kept = {name: weight for name, weight in weights.items() if part not in name}
    metadata = {"format": "pt", **metadata}
    safetensors.torch.save_file(kept, copy / "model.safetensors", metadata=metadata)
    return len(weights) - len(kept)


def test_a_missing_head_is_no_matter_but_no_weight_is_made_up(
    bert_folder: str, copy: Path, tmp_path: Path
) -> None:
    assert leave_out(copy, "cls.")
    transformers.AutoModel.from_pretrained(bert_folder).save_pretrained(tmp_path / "base")
    transformers.AutoTokenizer.from_pretrained(bert_folder).save_pretrained(tmp_path / "base")
    whole = load(bert_folder).model.state_dict()
    for folder in (copy, tmp_path / "base"):
        loaded = load(folder)
        assert loaded.headed is None
        assert all(
            torch.equal(weight, loaded.model.state_dict()[name]) for name, weight in whole.items()
        )
    left_out = leave_out(copy, "layer.2.")
    message = (
        rf"`model` to name a complete encoder, but .* lacks {left_out} of its weights: .*layer\.2\."
    )
    with pytest.raises(ValueError, match=message):
        load(copy)


def test_a_tokenizer_without_a_mask_token_or_padding(copy: Path) -> None:
    rewrite(
        copy / "tokenizer_config.json", pad_token=None, tokenizer_class="PreTrainedTokenizerFast"
    )
    (copy / "special_tokens_map.json").unlink(missing_ok=True)
    pretrained = load(copy)
    assert pretrained.tokenizer.pad_token_id is None
    assert 0 <= pretrained.info.special.padding < pretrained.model.config.vocab_size
    rewrite(copy / "tokenizer_config.json", mask_token=None)
    with pytest.raises(
        ValueError, match=r"`model` to name an encoder with a mask token, but .* has none"
    ):
        load(copy)


def test_a_model_that_is_no_masked_language_model(tmp_path: Path) -> None:
    tokenizer = make_tokenizer("roberta")
    small = {"n_layer": 2, "n_embd": 32, "n_head": 2}
    config = transformers.AutoConfig.for_model("gpt2", vocab_size=len(tokenizer), **small)
    transformers.AutoModel.from_config(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    message = r"cannot be loaded: it is not a masked language model: GPT2\. Pass as `model`"
    with pytest.raises(EncoderUnavailableError, match=message):
        load(tmp_path)


@pytest.fixture(scope="module")
def infos(bert_folder: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, EncoderInfo]:
    """Of a usual encoder, one of few positions and one of many."""
    folder = tmp_path_factory.mktemp("positions")
    few = save_encoder(folder / "few", "bert", max_position_embeddings=128)
    many = save_encoder(folder / "many", "modernbert", max_position_embeddings=4096)
    folders = {"usual": bert_folder, "few": few, "many": many}
    return {name: load(folder).info for name, folder in folders.items()}


@pytest.mark.parametrize(
    ("encoder", "options", "resolved"),
    [
        ("usual", {}, {"layers": (default_layer(BLOCKS),), "window": 450, "margin": 50}),
        ("usual", {"layers": [BLOCKS, 0], "window": POSITIONS - 2}, {"layers": (BLOCKS, 0)}),
        ("few", {}, {"window": 126, "margin": 14, "distance": 8}),
        ("few", {"window": 90}, {"window": 90, "margin": 10}),
        ("few", {"margin": 62}, {"window": 126, "margin": 62}),
        ("many", {"window": 4000}, {"window": 4000, "margin": 50}),
    ],
)
def test_options_follow_the_encoder(
    encoder: str, options: dict, resolved: dict, infos: dict[str, EncoderInfo]
) -> None:
    info = infos[encoder]
    config = info.resolve(EstimeConfig(model=encoder, **options))
    assert {name: getattr(config, name) for name in resolved} == resolved
    assert f"@{info.revision}|layers:" in config.signature()
    assert "default" not in config.signature()


@pytest.mark.parametrize(
    ("encoder", "options", "message"),
    [
        ("usual", {"layers": [1, BLOCKS + 1]}, r"`layers` to be within 0\.\.4, .* got 5"),
        ("usual", {"window": POSITIONS - 1}, "`window` to be at most 510, .* got 511"),
        ("few", {"margin": 63}, "`margin` to be less than half of .*, which is 126 .* got 63"),
    ],
)
def test_options_that_do_not_fit_the_encoder_are_refused(
    encoder: str, options: dict, message: str, infos: dict[str, EncoderInfo]
) -> None:
    info = infos[encoder]
    with pytest.raises(ValueError, match=message):
        info.resolve(EstimeConfig(model=encoder, **options))


@pytest.mark.slow
def test_a_load_from_the_hub_changes_no_log_level_and_serves_a_branch_its_commit_and_offline(
    bert_folder: str, tmp_path: Path
) -> None:
    script = """
        import logging, sys, warnings
        import torch, transformers
        from transformers import AutoConfig, AutoModelForMaskedLM, AutoTokenizer
        warnings.simplefilter("error")
        names = ["", "transformers", "transformers.modeling_utils", "huggingface_hub", "torch"]
        def state():
            loggers = [logging.getLogger(name) for name in names]
            levels = [(logger.level, logger.propagate, len(logger.handlers), len(logger.filters), logger.disabled) for logger in loggers]
            bars = transformers.utils.logging.is_progress_bar_enabled()
            return levels, transformers.logging.get_verbosity(), bars
        before = state()
        import estime_metric
        named = [estime_metric.EstimeScorer(model="user/bert", revision=name) for name in (None, "main", sys.argv[1])]
        assert all(scorer.encoder is named[0].encoder for scorer in named)
        named[0].score(["The cat sat on the mat."], ["A dog saw the cat on the mat " * 100])
        assert before == state(), (before, state())
        print({scorer.signature.split("|")[1] for scorer in named})
    """
    offline = """
        import sys
        from estime_metric import EstimeScorer
        scorer = EstimeScorer(model="user/bert", layers=1)
        assert not {"transformers", "huggingface_hub.hf_api"} & sys.modules.keys()
        scorer.score(["The cat sat."], ["The cat sat there."])
    """
    with serve(LocalHub({"user/bert": Path(bert_folder)}, {})) as hub:
        where = {"HF_HUB_OFFLINE": "0", "HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path)}
        run = run_python(script, COMMIT, **where)
    assert run.stdout == f"{{'model:user/bert@{COMMIT}'}}\n"
    run_python(offline, HF_HUB_OFFLINE="1", HF_HOME=str(tmp_path))


def test_what_changes_revision_and_location(bert_folder: str, copy: Path) -> None:
    def state() -> tuple[str, tuple[str, ...]]:
        return revision_of(str(copy), None), location(str(copy))

    assert revision_of(str(copy), None) == revision_of(bert_folder, None)
    seen = [state()]
    (copy / "README.md").write_text("a card", encoding="utf-8")
    assert state() == seen[0]  # says nothing of tokens or weights
    (copy / "model.safetensors").rename(copy / "weights")
    (copy / "shards").mkdir()  # weights in a folder below
    index = {"metadata": {}, "weight_map": {"one": "shards/one.safetensors"}}
    (copy / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    for name in ("special_tokens_map.json", "merges.txt", *2 * ["shards/one.safetensors"]):
        with (copy / name).open("a", encoding="utf-8") as file:
            file.write("\n")
        seen.append(state())
    assert len({revision for revision, _ in seen}) == len({where for _, where in seen}) == len(seen)
    os.utime(copy / "shards" / "one.safetensors", ns=(1, 1))
    assert state()[0] == seen[-1][0]
    assert state()[1] != seen[-1][1]


def test_a_folder_may_begin_with_the_home_folder(
    copy: Path, bert_folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(copy.parent))
    monkeypatch.setenv("USERPROFILE", str(copy.parent))
    short = f"~/{copy.name}"
    assert location(short) == location(str(copy))
    assert load(short).info.revision == load(bert_folder).info.revision
    with pytest.raises(EncoderUnavailableError, match=r"'~/nothing' .* there is no such folder"):
        revision_of("~/nothing", None)


def test_special_tokens_that_are_not_around_a_text_are_refused(copy: Path) -> None:
    tokenizer = json.loads((copy / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer["post_processor"] = {  # says nothing of the text
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}],
        "pair": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}],
        "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]}},
    }
    (copy / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    rewrite(copy / "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast")
    with pytest.raises(ValueError, match="with a tokenizer that puts its special tokens around"):
        load(copy)


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("could not create a primitive")])
def test_too_little_memory_to_load_is_said(bert_folder: str, error: Exception) -> None:
    with (
        mock.patch.object(transformers.AutoModelForMaskedLM, "from_pretrained", side_effect=error),
        pytest.raises(MemoryError, match="not enough memory to load the encoder"),
    ):
        load(bert_folder)


@pytest.fixture
def use_hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Makes the Hub another one, with an empty cache."""

    def use(url: str) -> None:
        for name, value in {
            "ENDPOINT": url,
            "HUGGINGFACE_CO_URL_TEMPLATE": url + "/{repo_id}/resolve/{revision}/{filename}",
            "HF_HUB_CACHE": str(tmp_path),
            "HF_HUB_OFFLINE": False,
        }.items():
            monkeypatch.setattr(f"huggingface_hub.constants.{name}", value)
            if hasattr(huggingface_hub.file_download, name):  # before version 1
                monkeypatch.setattr(huggingface_hub.file_download, name, value)

    return use


def test_the_commit_that_a_branch_had_is_used_if_the_hub_does_not_answer(
    bert_folder: str, use_hub: Callable[[str], None]
) -> None:
    with serve(LocalHub({"user/bert": Path(bert_folder)}, {})) as hub:
        use_hub(hub.url)
        assert revision_of("user/bert", None) == COMMIT
    use_hub("http://127.0.0.1:9")  # where nothing listens
    assert revision_of("user/bert", None) == revision_of("user/bert", COMMIT) == COMMIT


def test_of_a_hub_model_only_what_the_encoder_needs_is_downloaded(
    copy: Path, use_hub: Callable[[str], None]
) -> None:
    weights = safetensors.torch.load_file(copy / "model.safetensors")
    (copy / "model.safetensors").unlink()
    safetensors.torch.save_file(weights, copy / "one-of-one.safetensors", metadata={"format": "pt"})
    index = {"metadata": {}, "weight_map": dict.fromkeys(weights, "one-of-one.safetensors")}
    (copy / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    for other in ("pytorch_model.bin", "other.safetensors", "README.md"):
        (copy / other).write_bytes(b"x")
    hub = LocalHub({"user/bert": copy}, {})
    with serve(hub):
        use_hub(hub.url)
        assert load("user/bert").info.revision == COMMIT
    fetched = {Path(path).name for _, path, _ in hub.requests if "/resolve/" in path}
    assert "one-of-one.safetensors" in fetched
    assert not fetched & {"pytorch_model.bin", "other.safetensors", "README.md"}


def test_a_hub_that_does_not_answer_is_asked_once(
    use_hub: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, capfd
) -> None:
    """Left alone, `transformers` asks again and again."""
    requests: list[str] = []

    def hang_up(hub: LocalHub, path: str) -> None:
        requests.append(path)
        raise ConnectionAbortedError

    monkeypatch.setattr(LocalHub, "answer", hang_up)
    with serve(LocalHub({}, {})) as hub:
        use_hub(hub.url)
        with pytest.raises(EncoderUnavailableError, match="'user/none' cannot be loaded"):
            load("user/none")
    assert "Retrying" not in capfd.readouterr().err
    assert 1 <= len(requests) <= 2


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_int8_weights_are_scaled_by_row(tmp_path: Path, dtype: torch.dtype) -> None:
    folder = Path(shutil.copytree(embedded.SMALL, tmp_path / "copy"))
    stored = safetensors.torch.load_file(folder / "model.safetensors")
    loaded = load_pretrained(str(folder), None, dtype).headed.state_dict()
    name = next(name for name, weight in stored.items() if weight.dtype == torch.int8)
    exact = stored[name].float() * stored[f"{name}.scale"].float()[:, None]
    assert torch.equal(loaded[name], exact.to(dtype))
    assert {weight.dtype for weight in loaded.values() if weight.is_floating_point()} == {dtype}
    left_out = leave_out(folder, "layer.2.", weights="int8")
    with pytest.raises(ValueError, match="lacks 16 of its weights"):
        load_pretrained(str(folder), None, dtype)
    assert left_out > 16  # with the scales
