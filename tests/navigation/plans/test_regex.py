"""Regular expressions of plans: they match whole texts as in Java, and take time linear in the text."""

from __future__ import annotations

import subprocess
import sys
from time import perf_counter

import pytest

from kgnav_mcp.errors import InvalidArgument
from kgnav_mcp.values.texts import matches_whole


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("A.*", True),
        ("Ada", False),
        ("", False),
        ("(?i)ada.*", True),
        ("(?i:ADA) stone", False),
        ("[A-Z*+(]da [^x]+", True),
        ("(Ada|Ben) .*", True),
        (r"(?<first>\w+)\s\w{5}", True),
        (r"\p{Lu}\p{Ll}+ .*", True),
        (r"\QAda Stone\E", True),
        (r"\Q(?=\E", False),
        (r"Ada\+\+|.*e", True),
        (r"[\[\]&]+.*", False),
        ("(A{1,9}da ?){1,9}S.*", True),
    ],
)
def test_regular_expressions_match_whole_texts(expression: str, expected: bool):
    assert matches_whole("Ada Stone", expression) is expected


def test_letters_beyond_ascii_are_single_characters():
    assert matches_whole("Zoë Šimůnek", "Zo. .im.nek")
    assert matches_whole("ŠIMŮNEK", "(?i)šimůnek")
    assert matches_whole("\ud800x", ".x"), "half of a pair, as a damaged source has it"
    assert not matches_whole("a\nb", "a.b")
    assert matches_whole("a\nb", "(?s)a.b")
    assert not matches_whole("٣", r"\d"), "digits are those of ASCII, as in Java"


@pytest.mark.parametrize(
    "expression", ["(?:(a?){35}b)", "(a|aa){35}b", ".*.*.*.*b", "(a+)+", "((a?b?)*)*c", "(a|a)*.{200}c", "a*a*a*a*a*b"]
)
def test_an_expression_that_backtracks_takes_a_moment(expression: str):
    begun = perf_counter()
    assert not matches_whole("a" * 100_000 + "!", expression)
    assert perf_counter() - begun < 1


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        (".*(?=a)", r"uses \(\?=, which is not supported \(no look-ahead"),
        ("(?<!a)b", r"uses \(\?<!"),
        (r"(a)\1", r"uses \\1"),
        (r"(?<n>a)\k<n>", r"uses \\k"),
        ("(?>a)", r"uses \(\?>"),
        ("a++", r"uses \+\+"),
        ("a{2}+", r"uses \{2\}\+"),
        ("(?x)a b", r"the flags \(\?x\)"),
        ("[a-z&&[^e]]+", "combines sets of characters"),
        (r"[\\[a]]", "combines sets of characters"),
        ("(", r"is not valid in RE2: missing \)"),
        ("a{1001}", "invalid repetition size"),
        ("((a{9}){9}){999}", "invalid repetition size"),
        (r"\p{Alpha}", "invalid character class range"),
    ],
)
def test_what_re2_lacks_or_reads_in_another_way_is_refused_with_an_alternative(expression: str, reason: str):
    with pytest.raises(InvalidArgument, match=reason) as caught:
        matches_whole("Ada Stone", expression)
    assert "CONTAINS" in caught.value.next_step


@pytest.mark.slow
def test_a_plan_without_a_regular_expression_does_not_import_re2():
    code = "import sys, kgnav_mcp.server.plan_runner as _; print('re2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
