"""The fixtures of the project's tests that the tests of experiments need."""

from tests.conftest import _seeds, bert_folder, encoder_folder, small_folder

__all__ = ["_seeds", "bert_folder", "encoder_folder", "small_folder"]
