"""The first line of an answer: how much of the whole list it shows."""

from __future__ import annotations

from kgnav_mcp.model import Certainty, Completeness, Count, Stop

_NOT_SORTED = "it cannot be continued: the store could not sort it. Narrow it by relation, match or node_type"


def completeness_line(completeness: Completeness, noun: str, offset: int = 0) -> str:
    """The first line of an answer: how much of the whole list it shows, and the cursor of the next page."""
    shown, total = completeness.shown, completeness.total
    if completeness.stop is Stop.ROW_CAP:
        return f"partial: the endpoint stopped after {offset + shown:,} {noun}"
    if completeness.stop is Stop.TIME_OUT:
        return f"partial: the store ran out of time after {offset + shown:,} {noun}; what is missing is unknown"
    total_text = _total_text(total, offset + shown, noun)
    if completeness.stop is Stop.COMPLETE and not offset:
        return total_text
    shown_text = (
        f"showing {noun} {offset + 1:,} to {offset + shown:,} of {total_text}"
        if offset
        else f"showing {shown:,} of {total_text}"
    )
    if completeness.stop is Stop.COMPLETE:
        return f"{shown_text}; that is the end"
    if completeness.cursor:
        return f'{shown_text}; next: cursor "{completeness.cursor}"'
    return f"{shown_text}; {_NOT_SORTED}" if completeness.stop is Stop.UNORDERED else shown_text


def _total_text(total: Count, known: int, noun: str) -> str:
    noun = singular(noun) if total == Count(1) else noun
    match total.certainty:
        case Certainty.EXACT:
            return f"{total.value:,} {noun}"
        case Certainty.AT_LEAST:
            return f"at least {max(total.value, known):,} {noun}"
        case Certainty.UNKNOWN:
            return f"an unknown number of {noun}"


def singular(noun: str) -> str:
    """The singular of a plural noun used in answers: row, relation, entity."""
    return f"{noun[:-3]}y" if noun.endswith("ies") else noun.removesuffix("s")
