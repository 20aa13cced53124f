"""The names that both ends of the service port speak: our SMP group, and the index of the journal.

docs/link.md is their description for others.
"""

from __future__ import annotations

from enum import IntEnum

GROUP = 64
"""The first of the groups that SMP leaves to its users."""

INDEX = "/journal/index.json"
INDEX_FORMAT = 1

PLACE = "^[1-9][0-9]{0,8}(/[1-9][0-9]{0,5})?\\Z"
"""A boot by its number, or a segment of it by its own: 17, or 17/2."""

REQUEST_BYTES = 2048
"""The longest request that a unit takes."""

PACKED_BYTES = 1 << 16
"""The longest stretch of a file that one packed answer holds."""


class Command(IntEnum):
    """The commands of group 64."""

    IDENTITY = 0
    HEALTH = 1
    SESSION = 2
    PROOF = 3
    HOST = 4
    PACKED = 5
    INSTALL = 6
    UNDO = 7
    SHOW_KEY = 8
    FORGET = 9
