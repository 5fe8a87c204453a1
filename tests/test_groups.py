"""What a run that several workers share is told of its modules."""

from __future__ import annotations

import pytest

from tests import groups


def test_a_long_module_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch):
    groups.arrange([])
    monkeypatch.setattr(groups, "LONG", (*groups.LONG, "plans/test_nowhere"))
    with pytest.raises(pytest.UsageError, match="there is no module plans/test_nowhere"):
        groups.arrange([])
