"""What a boot knows of the one before it: how that ended, and what is not as it was then."""

from __future__ import annotations

from firmware.journal.finish import LastWords
from firmware.journal.record import Note, Start
from firmware.journal.seal import Key, fingerprint

BY = "journal"


def beginnings(start: Start, last: LastWords, key: Key, boot: str) -> list[Note]:
    """The notes with which a boot begins: `last` are the last words of the boot of that name."""
    why = last.why or "how it ended is not known"
    notes = [Note("start", f"boot {boot} ended: {why}", BY, {"before": boot})]
    if last.start is not None:
        notes += _changed(start, last.start)
    if last.public_key and last.public_key != key.public:
        what = {"was": fingerprint(last.public_key), "is": key.fingerprint}
        notes.append(Note("key", "the key that seals is another one", BY, what))
    return notes


def _changed(now: Start, was: Start) -> list[Note]:
    """What of software, configuration and laws is not as it was."""
    notes = []
    if now.software != was.software:
        what = {"was": was.software, "is": now.software}
        notes.append(Note("software", "the software is another version", BY, what))
    if (now.unit, now.vehicle) != (was.unit, was.vehicle):
        what = {"was": f"{was.unit} {was.vehicle}", "is": f"{now.unit} {now.vehicle}"}
        notes.append(Note("unit", "the unit's name or vehicle was changed", BY, what))
    for kind, before, after in (
        ("configuration", was.attachments, now.attachments),
        ("packs", was.packs, now.packs),
    ):
        for name in sorted(before.keys() | after.keys()):
            if before.get(name) != after.get(name):
                what = {"was": before.get(name, "absent"), "is": after.get(name, "absent")}
                notes.append(Note(kind, f"{name} was changed", BY, what))
    for zone in sorted({*was.consents, *now.consents}):
        if (zone in was.consents) is not (zone in now.consents):
            said = "given" if zone in now.consents else "taken back"
            notes.append(Note("consent", f"the consent for {zone} was {said}", BY, {"zone": zone}))
    return notes
