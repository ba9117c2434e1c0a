"""Loading: what is read off a model, and every way in which a model cannot be had."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import socket
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest
import safetensors.torch
import torch
import transformers

from estime_metric import EncoderUnavailableError, EstimeConfig
from estime_metric.config import default_layer
from estime_metric.engine.loading import load_pretrained, location, revision_of
from tests.families import BLOCKS, FAMILIES, POSITIONS, WIDTH, make_config, make_tokenizer, save_encoder

OFFLINE = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}


@pytest.fixture
def copy(bert_folder: str, tmp_path: Path) -> Path:
    """A copy of the small BERT that a test may spoil."""
    return Path(shutil.copytree(bert_folder, tmp_path / "copy"))


def load(folder: object):
    return load_pretrained(str(folder), None, torch.float32)


def test_the_facts_of_every_family(family: str, folder: str) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    pretrained = load(folder)
    info = pretrained.info
    assert (info.name, info.blocks, info.width) == (folder, BLOCKS, WIDTH)
    assert info.positions == POSITIONS
    assert info.layer == default_layer(BLOCKS)
    assert info.special.before == (tokenizer.cls_token_id,)
    assert info.special.after == (tokenizer.sep_token_id,)
    assert info.special.mask == tokenizer.mask_token_id
    assert info.special.padding == tokenizer.pad_token_id
    assert info.revision.startswith("sha256-")


@pytest.mark.slow
def test_no_head_is_kept_and_the_model_is_in_eval_mode(family: str, folder: str) -> None:
    model = load(folder).model
    assert not model.training
    whole = transformers.AutoModelForMaskedLM.from_pretrained(folder)
    assert type(model) is type(whole.base_model)
    assert set(model.state_dict()) == set(whole.base_model.state_dict())
    for name, weight in whole.base_model.state_dict().items():
        assert torch.equal(weight, model.state_dict()[name]), name


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_weights_come_in_the_dtype_asked_for(bert_folder: str, dtype: torch.dtype) -> None:
    pretrained = load_pretrained(bert_folder, None, dtype)
    assert {weight.dtype for weight in pretrained.model.parameters()} == {dtype}
    assert pretrained.dtype == dtype


def test_weights_stored_in_half_are_read_in_float32(copy: Path) -> None:
    weights = safetensors.torch.load_file(copy / "model.safetensors")
    halves = {name: weight.half() for name, weight in weights.items()}
    safetensors.torch.save_file(halves, copy / "model.safetensors", metadata={"format": "pt"})
    assert {weight.dtype for weight in load(copy).model.parameters()} == {torch.float32}


@pytest.mark.parametrize("model", ["no-such-folder/here", "nobody/nothing-of-the-kind", "/no/such/folder"])
def test_a_model_that_cannot_be_had(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(
        EncoderUnavailableError, match=r'(?s)The encoder .* cannot be loaded: .*model="embedded"'
    ) as caught:
        load(model)
    assert model in str(caught.value)
    assert "`model`" in str(caught.value)


@pytest.mark.slow
def test_the_default_model_offline_says_what_to_do(tmp_path: Path) -> None:
    script = textwrap.dedent("""
        import estime_metric
        try:
            estime_metric.EstimeScorer().score(["a"], ["a"])
        except estime_metric.EncoderUnavailableError as error:
            print(error)
    """)
    run = subprocess.run(
        [sys.executable, "-c", script],
        env={**OFFLINE, "HF_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "bert-large-uncased-whole-word-masking" in run.stdout
    assert 'model="embedded"' in run.stdout
    assert len(run.stdout.strip().splitlines()) == 1


def test_pickled_weights_are_refused(copy: Path) -> None:
    weights = safetensors.torch.load_file(copy / "model.safetensors")
    (copy / "model.safetensors").unlink()
    torch.save(weights, copy / "pytorch_model.bin")
    with pytest.raises(EncoderUnavailableError, match=r'(?s)safetensors.*model="embedded"'):
        load(copy)


@pytest.mark.parametrize("file", ["model.safetensors", "config.json"])
def test_a_folder_that_lacks_a_file(copy: Path, file: str) -> None:
    (copy / file).unlink()
    with pytest.raises(EncoderUnavailableError, match='model="embedded"'):
        load(copy)


def test_a_folder_without_a_tokenizer(family: str, folder: str, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt", "special_tokens_map.json"):
        (copy / name).unlink(missing_ok=True)
    with pytest.raises((EncoderUnavailableError, ValueError), match="`model`"):
        load(copy)


def test_a_spoilt_weights_file(copy: Path) -> None:
    (copy / "model.safetensors").write_bytes(b"not weights at all")
    with pytest.raises(EncoderUnavailableError, match=r'(?s)cannot be loaded.*model="embedded"'):
        load(copy)


def test_missing_weights_are_not_made_up(copy: Path) -> None:
    weights = safetensors.torch.load_file(copy / "model.safetensors")
    left_out = [name for name in weights if "layer.2." in name]
    kept = {name: weight for name, weight in weights.items() if name not in left_out}
    safetensors.torch.save_file(kept, copy / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(
        ValueError,
        match=rf"`model` to name a complete encoder, but .* lacks {len(left_out)} of its weights: .*layer\.2\.",
    ):
        load(copy)


def test_a_missing_head_is_no_matter(copy: Path) -> None:
    weights = safetensors.torch.load_file(copy / "model.safetensors")
    kept = {name: weight for name, weight in weights.items() if not name.startswith("cls.")}
    assert len(kept) < len(weights)
    safetensors.torch.save_file(kept, copy / "model.safetensors", metadata={"format": "pt"})
    assert load(copy).info.blocks == BLOCKS


def test_a_base_model_without_a_head_loads(bert_folder: str, tmp_path: Path) -> None:
    transformers.AutoModel.from_pretrained(bert_folder).save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(bert_folder).save_pretrained(tmp_path)
    base, whole = load(tmp_path), load(bert_folder)
    for name, weight in whole.model.state_dict().items():
        assert torch.equal(weight, base.model.state_dict()[name]), name


def without(copy: Path, token: str) -> None:
    """Takes a special token out of the tokenizer's settings."""
    settings = json.loads((copy / "tokenizer_config.json").read_text(encoding="utf-8"))
    settings.pop(token)
    settings["tokenizer_class"] = "PreTrainedTokenizerFast"
    (copy / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    (copy / "special_tokens_map.json").unlink(missing_ok=True)


def test_a_tokenizer_without_a_mask_token(copy: Path) -> None:
    without(copy, "mask_token")
    with pytest.raises(ValueError, match=r"`model` to name an encoder with a mask token, but .* has none"):
        load(copy)


@pytest.mark.parametrize("kind", ["gpt2", "t5"])
def test_a_model_that_is_no_masked_language_model(kind: str, tmp_path: Path) -> None:
    tokenizer = make_tokenizer("roberta")
    small = {"n_layer": 2, "n_embd": 32, "n_head": 2, "d_model": 32, "num_layers": 2, "num_heads": 2, "d_ff": 32}
    config = transformers.AutoConfig.for_model(kind, vocab_size=len(tokenizer), **small)
    transformers.AutoModel.from_config(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(EncoderUnavailableError, match=r"(?s)cannot be loaded: .*`model`"):
        load(tmp_path)


def test_a_tokenizer_without_a_padding_token_loads(copy: Path) -> None:
    without(copy, "pad_token")
    pretrained = load(copy)
    assert pretrained.tokenizer.pad_token_id is None
    assert 0 <= pretrained.info.special.padding < pretrained.model.config.vocab_size


def test_layers_out_of_range_and_windows_too_long_are_refused(bert_folder: str) -> None:
    info = load(bert_folder).info
    assert info.resolve(EstimeConfig(model=bert_folder)).layers == (default_layer(BLOCKS),)
    assert info.resolve(EstimeConfig(model=bert_folder, layers=[BLOCKS, 0])).layers == (BLOCKS, 0)
    assert info.resolve(EstimeConfig(model=bert_folder, window=POSITIONS - 2)).window == POSITIONS - 2
    with pytest.raises(ValueError, match=rf"`layers` to lie within 0\.\.{BLOCKS}, .*but got {BLOCKS + 1}"):
        info.resolve(EstimeConfig(model=bert_folder, layers=[1, BLOCKS + 1]))
    with pytest.raises(ValueError, match=rf"`window` to be at most {POSITIONS - 2}, .*but got {POSITIONS - 1}"):
        info.resolve(EstimeConfig(model=bert_folder, window=POSITIONS - 1))


def test_the_longest_window_runs_in_every_family(family: str, folder: str) -> None:
    pretrained = load(folder)
    ids = torch.full((1, pretrained.info.positions), 7)
    with torch.no_grad():
        assert pretrained.model(input_ids=ids).last_hidden_state.shape == (1, POSITIONS, WIDTH)


def test_a_folders_revision_changes_with_its_content(bert_folder: str, copy: Path, tmp_path: Path) -> None:
    original = load(bert_folder).info.revision
    assert load(copy).info.revision == original
    (copy / "README.md").write_text("a note", encoding="utf-8")
    assert load(copy).info.revision == original
    other = save_encoder(tmp_path / "other", "bert", seed=1)
    assert load(other).info.revision != original


def test_a_changed_folder_is_another_location(copy: Path) -> None:
    before = location(str(copy))
    assert location(str(copy)) == before
    assert location("some/model") == ("some/model",)
    os.utime(copy / "model.safetensors", ns=(1, 1))
    assert location(str(copy)) != before


def test_the_resolved_signature_names_the_revision(bert_folder: str) -> None:
    info = load(bert_folder).info
    assert (
        f"@{info.revision}|layers:{default_layer(BLOCKS)}|" in info.resolve(EstimeConfig(model=bert_folder)).signature()
    )


@pytest.mark.slow
def test_a_load_says_nothing_and_changes_no_log_level(encoder_folder) -> None:
    script = textwrap.dedent("""
        import logging, sys, warnings
        import torch, transformers
        from transformers import AutoConfig, AutoModelForMaskedLM, AutoTokenizer
        warnings.simplefilter("error")
        names = ["", "transformers", "transformers.modeling_utils", "huggingface_hub", "torch"]
        def state():
            loggers = [logging.getLogger(name) for name in names]
            levels = [(one.level, one.propagate, len(one.handlers), len(one.filters), one.disabled) for one in loggers]
            bars = transformers.utils.logging.is_progress_bar_enabled()
            return levels, transformers.logging.get_verbosity(), bars
        before = state()
        import estime_metric
        for folder in sys.argv[1:]:
            scorer = estime_metric.EstimeScorer(model=folder)
            scorer.score(["The cat sat on the mat."], ["A dog saw the cat on the mat " * 100])
        if before != state():
            print(before, state())
    """)
    folders = [encoder_folder(family) for family in FAMILIES]
    run = subprocess.run(
        [sys.executable, "-c", script, *folders], env=OFFLINE, capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_an_error_while_loading_is_still_reported_by_others(copy: Path) -> None:
    before = list(logging.getLogger("transformers.modeling_utils").filters)
    (copy / "model.safetensors").unlink()
    with pytest.raises(EncoderUnavailableError):
        load(copy)
    assert logging.getLogger("transformers.modeling_utils").filters == before
    assert transformers.logging.is_progress_bar_enabled()


def test_no_code_from_a_folder_is_run(tmp_path: Path, capfd) -> None:
    tokenizer = make_tokenizer("bert")
    folder = save_encoder(tmp_path / "custom", "bert", tokenizer)
    settings = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    settings["auto_map"] = {"AutoModelForMaskedLM": "evil.Model", "AutoConfig": "evil.Config"}
    (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    (folder / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n", encoding="utf-8")
    load(folder)  # the family's own class serves
    assert not (tmp_path / "ran").exists()
    settings["model_type"] = "of-their-own"
    (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    with pytest.raises(EncoderUnavailableError, match="`model`"):
        load(folder)
    assert capfd.readouterr().out == ""  # nor is anyone asked
    assert not (tmp_path / "ran").exists()


def test_a_model_of_unlimited_positions_takes_any_window(tmp_path: Path) -> None:
    tokenizer = make_tokenizer("deberta-v2")
    config = make_config("deberta-v2", tokenizer)
    assert config.position_biased_input is False
    info = load(save_encoder(tmp_path / "long", "modernbert", max_position_embeddings=4096)).info
    assert info.positions == 4096
    assert info.resolve(EstimeConfig(model="x", window=4000)).window == 4000


# What the revision of a folder stands for


@pytest.mark.parametrize("name", ["tokenizer_config.json", "special_tokens_map.json", "merges.txt", "vocab.json"])
def test_files_that_change_tokens_change_revision_and_location(copy: Path, name: str) -> None:
    revision, where = revision_of(str(copy), None), location(str(copy))
    file = copy / name
    file.write_text((file.read_text(encoding="utf-8") if file.exists() else "") + "\n", encoding="utf-8")
    assert location(str(copy)) != where
    assert revision_of(str(copy), None) != revision


def test_weights_in_a_folder_below_change_revision_and_location(copy: Path) -> None:
    (copy / "shards").mkdir()
    (copy / "model.safetensors").rename(copy / "shards" / "one.safetensors")
    names = safetensors.torch.load_file(copy / "shards" / "one.safetensors")
    index = {"metadata": {}, "weight_map": dict.fromkeys(names, "shards/one.safetensors")}
    (copy / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    revision, where = revision_of(str(copy), None), location(str(copy))
    names = {name: weight + 1 for name, weight in names.items()}
    safetensors.torch.save_file(names, copy / "shards" / "one.safetensors", metadata={"format": "pt"})
    assert location(str(copy)) != where
    assert revision_of(str(copy), None) != revision


def test_what_says_nothing_of_tokens_or_weights_changes_nothing(copy: Path) -> None:
    revision, where = revision_of(str(copy), None), location(str(copy))
    (copy / "README.md").write_text("a card", encoding="utf-8")
    assert (revision_of(str(copy), None), location(str(copy))) == (revision, where)


def test_pickled_shards_behind_an_index_are_refused(copy: Path) -> None:
    weights = safetensors.torch.load_file(copy / "model.safetensors")
    (copy / "model.safetensors").unlink()
    torch.save(weights, copy / "pytorch_model.bin")
    index = {"metadata": {}, "weight_map": dict.fromkeys(weights, "pytorch_model.bin")}
    (copy / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    with pytest.raises(EncoderUnavailableError, match=r"not in safetensors: .* names pytorch_model\.bin"):
        load(copy)


# What the message says


def test_a_name_close_to_the_embedded_one() -> None:
    with pytest.raises(EncoderUnavailableError, match="Did you mean model='embedded'"):
        load("embedd")


@pytest.mark.parametrize("name", ["./nodir", "/no/dir", "~/nodir", "one/two/three"])
def test_a_folder_that_is_not_there(name: str) -> None:
    with pytest.raises(EncoderUnavailableError, match="there is no such folder"):
        load(name)


def test_a_name_too_long_for_any_file() -> None:
    with pytest.raises(EncoderUnavailableError):
        load("x" * 500)


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("could not create a primitive")])
def test_too_little_memory_to_load_is_said(bert_folder: str, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(*given: object, **named: object) -> None:
        raise error

    monkeypatch.setattr(transformers.AutoModelForMaskedLM, "from_pretrained", fail)
    with pytest.raises(MemoryError, match="not enough memory to load the encoder"):
        load(bert_folder)


@pytest.mark.slow
def test_a_hub_that_does_not_answer_is_asked_once(tmp_path: Path) -> None:
    """Left alone, `transformers` asks again and again; each attempt here would be counted by the server."""
    script = "import estime_metric; estime_metric.EstimeScorer(model='user/none').signature"
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        attempts: list[object] = []
        done = threading.Event()

        def count() -> None:
            while not done.is_set():
                with contextlib.suppress(TimeoutError):
                    connection, _ = server.accept()
                    attempts.append(connection.close())

        thread = threading.Thread(target=count)
        thread.start()
        environment = {**os.environ, "HF_HUB_OFFLINE": "0", "HF_HOME": str(tmp_path)}
        environment["HF_ENDPOINT"] = f"http://127.0.0.1:{server.getsockname()[1]}"
        run = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
        done.set()
        thread.join()
    assert "EncoderUnavailableError: The encoder 'user/none' cannot be loaded" in run.stderr
    assert "Retrying" not in run.stderr
    assert 1 <= len(attempts) <= 2
