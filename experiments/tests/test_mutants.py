from experiments.mutants import cover, mutations

TEXT = """
def share(a, b):
    if not a > 3:
        raise ValueError(a + 1)
    return a / b
"""


def test_each_change_is_one_expression_and_leaves_errors() -> None:
    made = dict(mutations(TEXT))
    assert sorted(made) == [
        "3: 3  ->  4",
        "3: a > 3  ->  a >= 3",
        "3: not a > 3  ->  not not a > 3",
        "5: a / b  ->  a * b",
    ]
    assert "if not a >= 3:" in made["3: a > 3  ->  a >= 3"]
    assert all("a + 1" in text for text in made.values())


def test_a_few_tests_notice_what_all_notice() -> None:
    noticing = [{"a", "b"}, {"b", "c"}, {"c"}, set(), {"b"}]
    assert cover(noticing) == ["b", "c"]
