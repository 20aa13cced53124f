"""CBOR as both ends of the port may say it: looked at before a decoder does anything with it."""

from __future__ import annotations

MOST_DEEP = 4
"""How deep a message may be; ours are three deep."""

_STRINGS, _CONTAINERS, _ENDLESS = (2, 3), (4, 5), (2, 3, 4, 5)
_MAP, _TAG, _SIMPLE = 5, 6, 7
_NO_END = 31


def is_plain(octets: bytes) -> bool:
    """Whether bytes are one item of CBOR (RFC 8949) as a message has it: whole, with nothing after
    it, `MOST_DEEP` deep at most, and without tags.

    A tag has a decoder calculate with what it is given: powers of ten, dates, patterns, loops.
    Versions of it differ in what they raise then, and in how deep they follow.
    """
    left = [1]  # how many items are still to come at each depth; below 0 where a break ends them
    at = 0
    while left:
        if left[-1] == 0:
            left.pop()
            continue
        if at >= len(octets):
            return False
        kind, count = octets[at] >> 5, octets[at] & 31
        at += 1
        if kind == _SIMPLE and count == _NO_END:  # a break
            if left.pop() >= 0:
                return False
            continue
        left[-1] -= left[-1] > 0
        if 24 <= count <= 27:
            size = 1 << count - 24
            count = int.from_bytes(octets[at : at + size])
            at += size
        elif count > 27:
            if count != _NO_END or kind not in _ENDLESS:
                return False
            count = -1
        if kind == _TAG:
            return False
        if kind in _CONTAINERS or count < 0:
            left.append(count * 2 if kind == _MAP and count > 0 else count)
            if len(left) > MOST_DEEP + 1 or count > len(octets):
                return False
        elif kind in _STRINGS:
            at += count
    return at == len(octets)
