"""The bundled encoders in plain torch: tokens and hidden states equal those of ``transformers``."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from estime_metric import EncoderUnavailableError, embedded
from estime_metric.config import EstimeConfig
from estime_metric.engine.encoder.foreign import load_pretrained
from estime_metric.engine.encoder.masked import MaskedEncoder
from estime_metric.engine.encoder.own import load_bundled
from estime_metric.engine.masking import mask_units
from estime_metric.engine.units import tokenize
from tests.families import SENTENCES

pytestmark = pytest.mark.slow

ODD = (
    "",
    " \n\t",
    "<s> [CLS]a [MASK]b</s> <mask> <pad>[PAD] <unk> [UNK]",
    "Caf\u00e9 cafe\u0301 \u00c5ngstr\u00f6m",
    "\u4eca\u65e5\u306f 東京 🙂👩‍👩‍👧 \ufeff\u200b\xa0end",
    "x" * 150,
    "a\x00b\x07c\ud7ff",
    "It's 3.5% -- well-known…",
)


@pytest.mark.parametrize(
    ("model", "dtype", "rounding"),
    [
        ("embedded", torch.float32, 3e-5),
        ("embedded-small", torch.bfloat16, 0.1),
    ],
)
def test_tokens_and_hidden_states_are_those_of_transformers(
    model: str, dtype: torch.dtype, rounding: float
) -> None:
    theirs = load_pretrained(model, None, dtype)
    own = load_bundled(model, theirs.info.revision, dtype)
    assert own.info == theirs.info
    texts = [*ODD, *SENTENCES]
    for special in (False, True):
        how = {
            "add_special_tokens": special,
            "split_special_tokens": True,
            "return_offsets_mapping": True,
        }
        expected = theirs.tokenizer(texts, **how)
        encoded = own.tokenizer(texts, **how)
        assert encoded == {name: expected[name] for name in encoded}
    assert set(own.tokenizer.all_special_ids) == set(theirs.tokenizer.all_special_ids)
    states = []
    for loaded in (own, theirs):
        encoder = MaskedEncoder(loaded, loaded.info.blocks, torch.device("cpu"))
        assert encoder.takes_padding
        config = EstimeConfig(window=40, margin=10, distance=8)
        units = tokenize([" ".join(SENTENCES[:3]), SENTENCES[0]], encoder.tokenizer)
        masked = [mask_units(some, config) for some in units]
        states.append(torch.cat(encoder.encode(masked, range(loaded.info.blocks + 1)), dim=1))
        ids = torch.tensor([text.ids[0] for text in masked])
        states[-1] = torch.cat([states[-1].flatten(0, 1), encoder.input_embeddings(ids)]).float()
    torch.testing.assert_close(*states, rtol=rounding, atol=rounding)


def test_a_damaged_installation_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(embedded.PATHS, "embedded", tmp_path)
    with pytest.raises(
        EncoderUnavailableError, match=r"'embedded' cannot be loaded: .*config\.json"
    ):
        load_bundled("embedded", "commit", torch.float32)
