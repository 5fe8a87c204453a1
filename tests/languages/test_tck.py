"""The count of openCypher's scenarios, on a few of our own."""

from collections import Counter
from pathlib import Path

from tests.languages.tck import judged, queries

FEATURE = '''
Feature: Ours

  Background:
    Given an empty graph

  Scenario: [1] Read
    Given having executed:
      """
      CREATE (:A)
      """
    When executing query:
      """
      MATCH (a)
      RETURN a
      """
    Then the result should be, in any order:
      | a |

  Scenario: [2] Write
    When executing query:
      """
      CREATE (a)
      """
    Then no side effects

  Scenario: [3] Fail
    When executing query:
      """
      RETURN a
      """
    Then a SyntaxError should be raised at compile time: UndefinedVariable

  Scenario Outline: [4] Several
    When executing query:
      """
      MATCH (a<labels>)
      RETURN a
      """
    Then the result should be, in any order:
      | a |

    Examples:
      | labels |
      | :A     |
      | :A\\|B  |
      | :A-B   |
'''


def test_queries_are_counted_by_what_became_of_them(tmp_path: Path):
    (tmp_path / "ours.feature").write_text(FEATURE, encoding="utf-8")
    found = list(queries(tmp_path))
    assert found[4].text == "MATCH (a:A|B)\n      RETURN a"
    kinds = Counter(judged(query)[0] for query in found)
    assert kinds == {"read": 3, "refused on purpose": 1, "refused, as the TCK wants": 1, "fails": 1}
