"""The papers of the box agree: pinout, harness, bill of materials, boot settings, configuration.

Each check returns its complaints, and is tried once on papers that were doctored to be wrong.
"""

from __future__ import annotations

import copy
import csv
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from gpiozero.pins.pi import PiBoardInfo

from firmware.config.faults import PIN_DUTIES
from firmware.parts import PARTS

HARDWARE = Path(__file__).parent.parent / "hardware"
ZERO_2_W = 0x902120  # the revision code of a Raspberry Pi Zero 2 W 1.0
I2C_LENGTH_M = 2.5  # at 50 kHz with 2.2 k pull-ups: 400 pF at most (UM10204, table 10)
COLDEST_C = -30


@dataclass(slots=True)
class Papers:
    """All that `hardware/` says, read but not believed."""

    pinout: list[dict[str, str]]
    bom: list[dict[str, str]]
    harness: dict[str, Any]
    config: dict[str, Any]
    boot: str

    def pins(self) -> Iterator[tuple[str, int]]:
        """Each pin of the configuration: ("tether.pin", 17)."""
        for section, table in self.config.items():
            for key, value in table.items():
                if key == "pin" or section == "leds":
                    yield f"{section}.{key}", value

    def chips(self) -> Iterator[tuple[str, int]]:
        """Each chip of the configuration and its address."""
        config = self.config
        for table in (*config["light"].values(), config["adc"], config["rtc"]):
            yield table["chip"], table["address"]
        yield self.config["dash"]["panel"], self.config["dash"]["address"]

    def wires(self) -> Iterator[tuple[str, str, str, str, str]]:
        """Each core: ("W2:1", "X1", "TETHER", "TETHER_SWITCH", "SENSE")."""
        connectors = self.harness["connectors"]
        for (near, near_pins), (cable, cores), (far, far_pins) in (
            [next(iter(end.items())) for end in row] for row in self.harness["connections"]
        ):
            for near_pin, core, far_pin in zip(near_pins, cores, far_pins, strict=True):
                near_label = connectors[near]["pinlabels"][near_pin - 1]
                far_label = connectors[far]["pinlabels"][far_pin - 1]
                yield f"{cable}:{core}", near, near_label, far, far_label


def read(folder: Path = HARDWARE) -> Papers:
    with (folder / "pinout.csv").open(newline="") as pinout, (folder / "bom.csv").open() as bom:
        return Papers(
            pinout=list(csv.DictReader(pinout, strict=True)),
            bom=list(csv.DictReader(bom, strict=True)),
            harness=yaml.safe_load((folder / "harness.yml").read_text()),
            config=tomllib.loads((folder / "sledwarden.toml").read_text()),
            boot=(folder / "config.txt").read_text(),
        )


def check_header(papers: Papers) -> Iterator[str]:
    """Header and BCM numbers belong together, by gpiozero's own table of the board."""
    header = PiBoardInfo.from_revision(ZERO_2_W).headers["J8"].pins
    seen: set[str] = set()
    for row in papers.pinout:
        name = f"GPIO{row['bcm']}" if row["bcm"] else row["signal"]
        if header[int(row["header_pin"])].name != name:
            yield f"pinout.csv: {row['signal']}: header pin {row['header_pin']} is not {name}"
        for said in (f"header pin {row['header_pin']}", name, row["signal"]):
            if said in seen and said != row["signal"]:
                yield f"pinout.csv: {row['signal']}: {said} is given twice"
        seen |= {f"header pin {row['header_pin']}", name, row["signal"]}


def check_config_pins(papers: Papers) -> Iterator[str]:
    """Every pin of the configuration is in the pinout, and the other way round."""
    configured = dict(papers.pins())
    drawn = {row["config_key"]: row for row in papers.pinout if row["config_key"]}
    for key, pin in configured.items():
        if key not in drawn:
            yield f"sledwarden.toml: {key} = {pin}: pinout.csv has no row for it"
        elif drawn[key]["bcm"] != str(pin):
            yield f"sledwarden.toml: {key} = {pin}: pinout.csv says {drawn[key]['bcm']}"
    for key in drawn.keys() - configured.keys() - {"config.txt", "i2c.bus", "gps.port"}:
        yield f"pinout.csv: {key}: sledwarden.toml does not have it"
    pairs = {(row["bcm"], row["config_key"]) for row in papers.pinout}
    for bcm, duty in PIN_DUTIES.items():
        key = "i2c.bus" if "sensor bus" in duty else "gps.port" if "GPS" in duty else ""
        if key and (str(bcm), key) not in pairs:
            yield f"pinout.csv: GPIO{bcm} must be the {key} pin: {duty}"


def check_boot(papers: Papers) -> Iterator[str]:
    """config.txt speaks of the same pins, and leaves the clock chip to the unit."""
    rows = {row["signal"]: row for row in papers.pinout}
    for setting, signal in (("gpio_pin", "POWER_FAIL"), ("gpiopin", "POWER_OFF")):
        found = re.search(rf"\b{setting}=(\d+)", papers.boot)
        if not found or found[1] != rows[signal]["bcm"]:
            yield f"config.txt: {setting} must be {rows[signal]['bcm']}, the pin of {signal}"
    dark = re.search(r"^gpio=([\d,]+)=op,dl$", papers.boot, re.M)
    low = set(dark[1].split(",")) if dark else set()
    keys = {key for key, _ in papers.pins()}
    outputs = {
        row["bcm"] for row in papers.pinout
        if row["direction"] == "out" and row["config_key"] in keys
    }  # fmt: skip
    if low != outputs:
        want, have = " ".join(sorted(outputs)), " ".join(sorted(low))
        yield f"config.txt: gpio=...=op,dl must name the outputs {want}, not {have}"
    if "rtc" in papers.config and re.search(r"^dtoverlay=i2c-rtc", papers.boot, re.M):
        yield "config.txt: dtoverlay=i2c-rtc takes the clock chip away from the unit (EBUSY)"


def check_wires(papers: Papers) -> Iterator[str]:
    """Every wire of the pinout is in the harness at that signal, and the other way round."""
    harness = {core: signal for core, _, signal, _, _ in papers.wires()}
    drawn = {
        core: row["signal"] for row in papers.pinout for core in row["wire"].split()
        if core != "carrier"
    }  # fmt: skip
    for core, signal in drawn.items():
        if harness.get(core) != signal:
            yield f"pinout.csv: {signal} on {core}: harness.yml has {harness.get(core)} there"
    for core, signal in harness.items():
        if core not in drawn and signal in {row["signal"] for row in papers.pinout}:
            yield f"harness.yml: {core} carries {signal}: pinout.csv does not list it"
    for name, cable in papers.harness["cables"].items():
        cores = {core for core in harness if core.startswith(f"{name}:")}
        if cores != {f"{name}:{number}" for number in range(1, len(cable["colors"]) + 1)}:
            yield f"harness.yml: {name}: a core is not connected, or has no colour"
    for name, connector in papers.harness["connectors"].items():
        for label in connector["pinlabels"]:
            if not isinstance(label, str):  # YAML reads NO as false
                yield f"harness.yml: {name}: the pin label {label!r} must be text"
    length_m = sum(
        papers.harness["cables"][core.partition(":")[0]]["length"]
        for core, signal in harness.items() if signal == "SDA"
    )  # fmt: skip
    if length_m > I2C_LENGTH_M:
        yield f"harness.yml: {length_m:.2f} m of sensor bus: at most {I2C_LENGTH_M} m"


def check_chips(papers: Papers) -> Iterator[str]:
    """Chips and addresses are the same in the configuration, the bill and the harness."""
    known = {word for section in ("light", "adc", "rtc", "panel") for word in PARTS[section]}
    configured = {f"{chip} at {address:#04x}" for chip, address in papers.chips()}
    bought = {f"{row['chip']} at {row['address']}" for row in papers.bom if row["chip"]}
    wired = {
        connector["notes"] for connector in papers.harness["connectors"].values()
        if " at 0x" in connector.get("notes", "")
    }  # fmt: skip
    for where, have in (("bom.csv", bought), ("harness.yml", wired)):
        for chip in sorted(configured - have):
            yield f"{where}: {chip} is missing: sledwarden.toml has it"
        for chip in sorted(have - configured):
            yield f"{where}: {chip} is not in sledwarden.toml"
    for chip in sorted(configured):
        if chip.partition(" ")[0] not in known:
            yield f"sledwarden.toml: {chip}: parts.py does not have it"
    for connector in papers.harness["connectors"].values():
        notes, ref = connector.get("notes", ""), connector["type"]
        part = next((row for row in papers.bom if row["ref"] == ref), None)
        if " at 0x" in notes and (part is None or f"{part['chip']} at {part['address']}" != notes):
            yield f"harness.yml: {ref} is {notes}: bom.csv says otherwise"


def check_parts(papers: Papers) -> Iterator[str]:
    """Every part that a note or a connector names is bought, once, and stands the cold."""
    refs = [row["ref"] for row in papers.bom]
    yield from (
        f"bom.csv: {ref} is there twice" for ref in sorted({r for r in refs if refs.count(r) > 1})
    )
    connectors = papers.harness["connectors"]
    said = [
        *((f"pinout.csv: {row['signal']}", row["note"]) for row in papers.pinout),
        *(
            (f"harness.yml: {name}", f"{name} {one['type']} {one.get('notes', '')}")
            for name, one in connectors.items()
        ),
    ]  # fmt: skip
    for where, words in said:
        for ref in re.findall(r"\b(?:[ABCDEFHLMQRUX]|BZ|SW)\d+\b", words):
            if ref not in refs:
                yield f"{where}: {ref} is not in bom.csv"
    for row in papers.bom:
        if int(row["min_c"]) > COLDEST_C and not row["note"]:
            yield f"bom.csv: {row['ref']}: rated to {row['min_c']} C: say what makes that right"


def check_engine_is_never_driven(papers: Papers) -> Iterator[str]:
    """Nothing that reaches the tether switch or the engine's coil is an output or a supply."""
    direction = {row["signal"]: row["direction"] for row in papers.pinout}
    for core, _, signal, far, _ in papers.wires():
        is_tap = far in ("TETHER_SWITCH", "LIGHTING_COIL", "LAMP_TAPS")
        if is_tap and direction.get(signal, "in") != "in":
            yield f"{core}: {signal} is {direction[signal]} at {far}: the unit only listens there"


CHECKS = (
    check_header, check_config_pins, check_boot, check_wires, check_chips, check_parts,
    check_engine_is_never_driven,
)  # fmt: skip


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_papers_of_the_box_agree(check: Callable[[Papers], Iterator[str]]) -> None:
    assert list(check(read())) == []


def _row(rows: list[dict[str, str]], key: str, value: str) -> dict[str, str]:
    return next(row for row in rows if row[key] == value)


def _a_pin_is_moved(papers: Papers) -> None:
    _row(papers.pinout, "signal", "TETHER")["header_pin"] = "12"


def _a_pin_is_given_twice(papers: Papers) -> None:
    papers.pinout.append(dict(_row(papers.pinout, "signal", "ENGINE"), signal="OTHER"))


def _a_config_pin_is_changed(papers: Papers) -> None:
    papers.config["engine"]["pin"] = 5


def _a_config_section_is_taken_out(papers: Papers) -> None:
    del papers.config["haptic"]


def _a_config_pin_has_no_row(papers: Papers) -> None:
    papers.pinout.remove(_row(papers.pinout, "signal", "BUTTON"))


def _the_bus_is_not_drawn(papers: Papers) -> None:
    papers.pinout.remove(_row(papers.pinout, "signal", "SDA"))


def _the_shutdown_pin_is_changed(papers: Papers) -> None:
    papers.boot = papers.boot.replace("gpio_pin=4", "gpio_pin=5")


def _an_output_is_not_dark_at_boot(papers: Papers) -> None:
    papers.boot = papers.boot.replace("gpio=12,13,", "gpio=12,")


def _the_kernel_takes_the_clock(papers: Papers) -> None:
    papers.boot += "dtoverlay=i2c-rtc,ds3231\n"


def _two_wires_are_swapped(papers: Papers) -> None:
    papers.harness["connectors"]["X5"]["pinlabels"][2:4] = ["LED_RED", "LED_AMBER"]


def _a_wire_is_not_in_the_pinout(papers: Papers) -> None:
    _row(papers.pinout, "signal", "SCL")["wire"] = "W5:4 W6:4 W7:4 W8:4"


def _a_core_hangs_free(papers: Papers) -> None:
    papers.harness["cables"]["W2"]["colors"].append("GN")


def _a_label_is_no_text(papers: Papers) -> None:
    papers.harness["connectors"]["TETHER_SWITCH"]["pinlabels"][0] = False


def _the_bus_is_too_long(papers: Papers) -> None:
    papers.harness["cables"]["W7"]["length"] = 2.2


def _an_address_is_changed(papers: Papers) -> None:
    papers.config["light"]["head"]["address"] = 0x5C


def _a_chip_is_not_bought(papers: Papers) -> None:
    papers.bom.remove(_row(papers.bom, "chip", "ds3231"))


def _a_chip_is_unknown(papers: Papers) -> None:
    papers.config["rtc"]["chip"] = "ds9999"


def _two_sensors_are_swapped(papers: Papers) -> None:
    papers.harness["connectors"]["HEAD"]["type"] = "U6"


def _a_part_is_not_bought(papers: Papers) -> None:
    papers.bom.remove(_row(papers.bom, "ref", "U3"))


def _a_part_is_there_twice(papers: Papers) -> None:
    papers.bom.append(papers.bom[0])


def _a_part_freezes(papers: Papers) -> None:
    _row(papers.bom, "ref", "Q1")["min_c"] = "0"


def _the_kill_circuit_is_driven(papers: Papers) -> None:
    _row(papers.pinout, "signal", "TETHER")["direction"] = "out"


@pytest.mark.parametrize(
    ("check", "doctor", "complaint"),
    [
        (check_header, _a_pin_is_moved, "pinout.csv: TETHER: header pin 12 is not GPIO17"),
        (check_header, _a_pin_is_given_twice, "pinout.csv: OTHER: header pin 13 is given twice"),
        (
            check_config_pins,
            _a_config_pin_is_changed,
            "sledwarden.toml: engine.pin = 5: pinout.csv says 27",
        ),
        (
            check_config_pins,
            _a_config_section_is_taken_out,
            "pinout.csv: haptic.pin: sledwarden.toml does not have it",
        ),
        (
            check_config_pins,
            _a_config_pin_has_no_row,
            "sledwarden.toml: button.pin = 22: pinout.csv has no row for it",
        ),
        (
            check_config_pins,
            _the_bus_is_not_drawn,
            "pinout.csv: GPIO2 must be the i2c.bus pin: SDA of the sensor bus",
        ),
        (
            check_boot,
            _the_shutdown_pin_is_changed,
            "config.txt: gpio_pin must be 4, the pin of POWER_FAIL",
        ),
        (
            check_boot,
            _an_output_is_not_dark_at_boot,
            "config.txt: gpio=...=op,dl must name the outputs 12 13 23 24 25, not 12 23 24 25",
        ),
        (
            check_boot,
            _the_kernel_takes_the_clock,
            "config.txt: dtoverlay=i2c-rtc takes the clock chip away from the unit (EBUSY)",
        ),
        (
            check_wires,
            _two_wires_are_swapped,
            "pinout.csv: LED_AMBER on W10:3: harness.yml has LED_RED there",
        ),
        (
            check_wires,
            _a_wire_is_not_in_the_pinout,
            "harness.yml: W9:4 carries SCL: pinout.csv does not list it",
        ),
        (
            check_wires,
            _a_core_hangs_free,
            "harness.yml: W2: a core is not connected, or has no colour",
        ),
        (
            check_wires,
            _a_label_is_no_text,
            "harness.yml: TETHER_SWITCH: the pin label False must be text",
        ),
        (check_wires, _the_bus_is_too_long, "harness.yml: 3.49 m of sensor bus: at most 2.5 m"),
        (check_chips, _an_address_is_changed, "bom.csv: bh1750 at 0x23 is not in sledwarden.toml"),
        (
            check_chips,
            _a_chip_is_not_bought,
            "bom.csv: ds3231 at 0x68 is missing: sledwarden.toml has it",
        ),
        (
            check_chips,
            _a_chip_is_unknown,
            "sledwarden.toml: ds9999 at 0x68: parts.py does not have it",
        ),
        (
            check_chips,
            _two_sensors_are_swapped,
            "harness.yml: U6 is bh1750 at 0x23: bom.csv says otherwise",
        ),
        (check_parts, _a_part_is_not_bought, "pinout.csv: ENGINE: U3 is not in bom.csv"),
        (check_parts, _a_part_is_there_twice, "bom.csv: A1 is there twice"),
        (check_parts, _a_part_freezes, "bom.csv: Q1: rated to 0 C: say what makes that right"),
        (
            check_engine_is_never_driven,
            _the_kill_circuit_is_driven,
            "W2:1: TETHER is out at TETHER_SWITCH: the unit only listens there",
        ),
    ],
    ids=lambda one: getattr(one, "__name__", "complaint"),
)
def test_each_check_complains_of_doctored_papers(
    check: Callable[[Papers], Iterator[str]], doctor: Callable[[Papers], None], complaint: str
) -> None:
    papers = copy.deepcopy(read())
    doctor(papers)
    assert complaint in list(check(papers))


def test_wireviz_draws_the_harness(tmp_path: Path) -> None:
    if shutil.which("dot") is None:
        pytest.skip("graphviz is not installed (apt-get install graphviz)")
    shutil.copy(HARDWARE / "harness.yml", tmp_path)
    wireviz = Path(sys.executable).with_name("wireviz")
    done = subprocess.run(
        [wireviz, "-f", "st", "harness.yml"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    drawing = (tmp_path / "harness.svg").read_text()
    for _, _, _, far, label in read().wires():
        assert far in drawing
        assert label in drawing
