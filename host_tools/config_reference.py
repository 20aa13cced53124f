"""Writes `docs/config.md` from the structs of `firmware.config.schema`, so that neither can lag.

Run it as `python -m host_tools.config_reference > docs/config.md`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from msgspec import NODEFAULT, Struct, inspect, structs

from firmware.config.faults import law_packs, limit_of, section_of, shown
from firmware.config.schema import Config
from firmware.parts import PARTS

HEAD = """\
# The configuration: `sledwarden.toml`

Written from `firmware/config/` by `python -m host_tools.config_reference > docs/config.md`: change
it there.

The unit reads one file, which `--config` names: the services name
`/etc/sledwarden/sledwarden.toml`.
`hardware/sledwarden.toml` is an annotated one to start from. The file is TOML. A section that is
left out is a part that is not fitted, or one that keeps its defaults; only what says *must be
given* has to be there. A key or a section that is not listed here is an error, and so is a wrong
type or a value out of range. All faults are told at once:

    sledwarden.toml: [gps] rate_hz = 90: must be a number from 0.1 to 25.
    sledwarden.toml: [light.head] address = 0x80: must be an I2C address from 0x08 to 0x77.

Keys are also checked against each other: no pin twice, none that carries the sensor bus or the
GPS line, no two chips at one address, a GPS line that can carry its rate, chips, time zones and
law packs that exist.
"""

WORDS_HEAD = """
## Words for chips, panels and laws

| key | one of |
| --- | --- |
"""


def sections(struct: type[Struct] = Config, path: str = "") -> Iterator[tuple[str, type[Struct]]]:
    """Every section that holds keys, by its name in the file, in the file's order."""
    for field in structs.fields(struct):
        section = section_of(field.type)
        if section is not None:
            name = f"{path}.{field.name}" if path else field.name
            if any(section_of(one.type) is None for one in structs.fields(section)):
                yield name, section
            yield from sections(section, name)


def reference() -> str:
    """The whole text of `docs/config.md`."""
    chapters = "".join(_chapter(name, section) for name, section in sections())
    return HEAD + chapters + _words()


def _words() -> str:
    rows = [
        (
            "`[light.head] chip`, `[light.tail] chip`, `[light.ambient] chip`",
            sorted(PARTS["light"]),
        ),
        ("`[adc] chip`", sorted(PARTS["adc"])),
        ("`[rtc] chip`", sorted(PARTS["rtc"])),
        ("`[dash] panel`", sorted(PARTS["panel"])),
        ("`[unit] law`", law_packs()),
    ]
    lines = [f"| {keys} | {', '.join(f'`{word}`' for word in words)} |" for keys, words in rows]
    return WORDS_HEAD + "\n".join(lines) + "\n"


def _chapter(name: str, section: type[Struct]) -> str:
    words = " ".join((section.__doc__ or "").split())
    table = "| key | default | must be | meaning |\n| --- | --- | --- | --- |"
    lines = [f"\n## [{name}]\n\n{words}\n\n{table}"]
    for field in structs.fields(section):
        limit = limit_of(field.type)
        if field.required:
            default = "*must be given*"
        elif field.default is None or field.default is NODEFAULT:
            default = "*none*"
        else:
            default = f"`{shown(field.default, limit)}`"
        lines.append(f"| `{field.name}` | {default} | {limit} | {meaning_of(field.type)} |")
    return "\n".join(lines) + "\n"


def meaning_of(field_type: object) -> str:
    """What a key is for, as its type says it; empty where it says nothing."""
    return _meaning(inspect.type_info(field_type))


def _meaning(of: inspect.Type) -> str:
    if isinstance(of, inspect.Metadata):
        return str((of.extra_json_schema or {}).get("description", ""))
    if isinstance(of, inspect.UnionType):
        return next(filter(None, map(_meaning, of.types)), "")
    return ""


if __name__ == "__main__":
    sys.stdout.write(reference())
