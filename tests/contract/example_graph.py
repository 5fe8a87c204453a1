"""The toy graph as the dict of the example adapter."""

from tests.contract import toy_views

_VIEW = toy_views.view(toy_views.PROPERTY_GRAPH)
GRAPH = {"nodes": {node: sorted(labels) for node, labels in _VIEW.types.items()}, "rows": _VIEW.rows}
