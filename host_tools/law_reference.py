"""Writes `docs/law.md` from the law packs, so that neither can lag.

Run it as `python -m host_tools.law_reference > docs/law.md`; with `--checked` it writes the list of
packs that were checked whole, `firmware/laws/checked.sha256`.
"""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from collections.abc import Iterator

from firmware.config.faults import law_packs
from firmware.errors import LawError
from firmware.law.packs import COVERAGES, Clause, Law, load, path_of, read_live
from host_tools.law_rows import figures, judged, needs, zones

HEAD = """\
# The law, paragraph by paragraph

Written from `firmware/laws` by `python -m host_tools.law_reference > docs/law.md`: change it there.
This is no legal advice; where a row and the text of a law differ, the text is right.

`sledwarden law` prints the same, `sledwarden law "350.10(1)(g)"` one paragraph in full with the
rides that prove it, and `sledwarden law --json` all of it for programs. Every paragraph has one of
six coverages:

| coverage | what it means |
| --- | --- |
| MONITORED | judged while riding, by sensors alone; two rows by `sledwarden inspect` |
| ZONE | judged while riding, where a zone pack tells what lies there |
| MODE | an exemption or a duty that is declared, standing; it ends at power-off |
| INFORM | no sensor sees it: said at start, once a day, or told here |
| INSPECTED | looked at or measured by a person with `sledwarden inspect` |
| OUT | out of reach, with the reason |
"""


def reference() -> str:
    """The whole text of `docs/law.md`."""
    packs = [load(word) for word in law_packs()]
    return HEAD + _overview(packs) + "".join("".join(_chapter(pack)) for pack in packs)


def checked() -> str:
    """The packs' digests, each as it is found whole and read alike by the unit; for `CHECKED`.

    Raises LawError for a pack of which the unit's quick reading would miss a clause.
    """
    lines = []
    for word in law_packs():
        text = path_of(word).read_bytes()
        if read_live(text) != load(word).live:
            raise LawError(
                str(path_of(word)),
                ["its judged clauses are not found by their lines `kind = ` and `notice = `."],
                "Write those keys at the start of a line, with one blank on either side of =.",
            )
        lines.append(f"{hashlib.sha256(text).hexdigest()}  {word}.toml\n")
    return "".join(lines)


def _overview(packs: list[Law]) -> str:
    rows = []
    for pack in packs:
        counts = Counter(str(one.coverage) for one in pack.clause)
        figures_ = " | ".join(str(counts[one] or "") for one in COVERAGES)
        rows.append(f"| `{pack.id}` | {_cell(pack.title)} | {figures_} | {pack.checked_on} |\n")
    columns = " | ".join(COVERAGES)
    rule = " | ".join("---:" for _ in COVERAGES)
    return (
        f"\n| law | what it is | {columns} | checked on |\n| --- | --- | {rule} | --- |\n"
        + "".join(rows)
    )


def _chapter(pack: Law) -> Iterator[str]:
    yield f"\n## `{pack.id}`: {pack.title}\n"
    for coverage in COVERAGES:
        clauses = [one for one in pack.clause if one.coverage == coverage]
        if not clauses:
            continue
        yield f"\n### {coverage}\n\n"
        if coverage == "OUT":
            yield "| paragraph | in a rider's words | why it is out of reach |\n"
            yield "| --- | --- | --- |\n"
            for one in clauses:
                yield f"| {_cell(one.citation)} | {_cell(one.plain)} | {_cell(one.how)} |\n"
            continue
        yield "| paragraph | in a rider's words | how it is covered | figures | exempt |\n"
        yield "| --- | --- | --- | --- | --- |\n"
        for one in clauses:
            yield _row(one)
    if pack.unverified:
        yield "\n### Not verified, and not judged\n\n| what | what is said | why not |\n"
        yield "| --- | --- | --- |\n"
        for claim in pack.unverified:
            yield f"| {_cell(claim.title)} | {_cell(claim.said)} | {_cell(claim.why)} |\n"


def _row(clause: Clause) -> str:
    how = [clause.how]
    if clause.kind:
        how.append(f"Judged: {judged(clause)}.")
        how.append(f"Needs: {'; '.join(needs(clause))}.")
    if zones(clause):
        how.append(f"Zones: {', '.join(f'`{kind}`' for kind in zones(clause))}.")
    cells = [
        f"{clause.citation} {clause.title}",
        clause.plain,
        " ".join(how),
        "; ".join(figures(clause)),
        "; ".join(clause.exemptions),
    ]
    return "| " + " | ".join(_cell(one) for one in cells) + " |\n"


def _cell(words: str) -> str:
    return words.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


if __name__ == "__main__":
    sys.stdout.write(checked() if "--checked" in sys.argv else reference())
