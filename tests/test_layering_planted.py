"""The test of layers, tried on a planted violation of each rule."""

from __future__ import annotations

import pytest
from test_layering import complaints_of, cycles_of


@pytest.mark.parametrize(
    ("module", "source", "complaint"),
    [
        (
            "firmware.units",
            "import firmware.gps.nmea",
            "imports firmware.gps.nmea: layer 0 may not import layer 1",
        ),
        ("firmware.gps.epochs", "import pynmea2", "imports pynmea2: only firmware.gps.nmea may"),
        (
            "firmware.readings",
            "import msgspec",
            "imports msgspec: the words import the standard library and each other",
        ),
        (
            "firmware.gps.nmea",
            "from firmware.config import schema",
            "imports firmware.config.schema: layer 1 may not import layer 2",
        ),
        (
            "firmware.maps.zones",
            "from firmware.config.schema import load",
            "imports firmware.config.schema: layer 1 may not import layer 2",
        ),
        (
            "firmware.config.schema",
            "from firmware.rules import base",
            "imports firmware.rules.base: layer 2 may not import layer 3",
        ),
        (
            "firmware.rules.lamp",
            "from firmware.sources.base import Post",
            "imports firmware.sources.base: rules and sources never import one another",
        ),
        (
            "firmware.sources.gps",
            "from ..journal import record",
            "imports firmware.journal.record: sources and journal never import one another",
        ),
        (
            "firmware.journal.writer",
            "from firmware.rules import base",
            "imports firmware.rules.base: journal and rules never import one another",
        ),
        (
            "firmware.sources.gps",
            "from . import tether",
            "imports firmware.sources.tether: a sibling is never imported, base.py excepted",
        ),
        (
            "firmware.rules.lamp",
            "def f():\n    import firmware.rules.tether",
            "imports firmware.rules.tether: a sibling is never imported, base.py excepted",
        ),
        (
            "firmware.journal.record",
            "from firmware.journal import seal",
            "imports firmware.journal.seal: the journal's order is the other way",
        ),
        (
            "firmware.journal.extra",
            "from firmware.journal import seal",
            "imports firmware.journal.seal: give the file its place in JOURNAL_ORDER",
        ),
        (
            "firmware.rules.lamp",
            "import firmware.alerts.table",
            "imports firmware.alerts.table: layer 3 may not import layer 4",
        ),
        (
            "firmware.alerts.table",
            "import firmware.outputs.leds",
            "imports firmware.outputs.leds: layer 4 may not import layer 5",
        ),
        (
            "firmware.outputs.leds",
            "import firmware.monitor",
            "imports firmware.monitor: layer 5 may not import layer 6",
        ),
        (
            "firmware.monitor",
            "import firmware.daemon",
            "imports firmware.daemon: layer 6 may not import layer 7",
        ),
        (
            "firmware.dash.main",
            "import firmware.monitor",
            "imports firmware.monitor: dash reaches the unit through its socket and files",
        ),
        (
            "firmware.link.serve",
            "import firmware.journal.writer",
            "imports firmware.journal.writer: link reaches the unit through its socket and files",
        ),
        (
            "firmware.page.app",
            "import firmware.dash.main",
            "imports firmware.dash.main: page reaches the unit through its socket and files",
        ),
        (
            "firmware.daemon",
            "import firmware.dash.screen",
            "imports firmware.dash.screen: the daemon never waits for the dash",
        ),
        (
            "firmware.daemon",
            "from host_tools import cli",
            "imports host_tools.cli: firmware never imports host_tools",
        ),
        (
            "host_tools.cli",
            "import firmware.buses.i2c",
            "imports firmware.buses.i2c: host_tools may not",
        ),
        (
            "host_tools.cli",
            "import firmware.sources.gps",
            "imports firmware.sources.gps: host_tools may not",
        ),
        (
            "host_tools.cli",
            "import firmware.outputs.leds",
            "imports firmware.outputs.leds: host_tools may not",
        ),
        ("host_tools.cli", "import firmware.daemon", "imports firmware.daemon: host_tools may not"),
        (
            "firmware.sources.gps",
            "import serial",
            "imports serial: only firmware.buses.uart, firmware.buses.uart_fake may",
        ),
        (
            "firmware.sources.rtc_ds3231",
            "from smbus2 import SMBus",
            "imports smbus2: only firmware.buses.i2c, firmware.buses.i2c_fake may",
        ),
        (
            "firmware.outputs.leds",
            "from gpiozero import LED",
            "imports gpiozero: only firmware.buses.pins, firmware.buses.pins_fake may",
        ),
        (
            "firmware.monitor",
            "import luma.oled.device",
            "imports luma.oled.device: only firmware.dash.panel_* may",
        ),
        (
            "firmware.monitor",
            "import requests",
            "imports requests: this library has no door in DOORS",
        ),
        ("firmware.novelty", "", "has no layer: give it its line in LAYERS"),
        (
            "firmware.monitor",
            "import importlib\nimportlib.import_module('serial')",
            "line 2: only firmware.parts, host_tools.cli may import by name",
        ),
        (
            "firmware.monitor",
            "import time\ntime.monotonic()",
            "line 2: only firmware.clock asks what time it is",
        ),
        (
            "firmware.monitor",
            "from time import sleep",
            "line 1: only firmware.clock asks what time it is",
        ),
        (
            "firmware.gps.fixes",
            "from datetime import UTC, datetime\ndatetime.now(UTC)",
            "line 2: only firmware.clock asks what time it is",
        ),
    ],
)
def test_each_rule_complains_of_a_planted_violation(
    module: str, source: str, complaint: str
) -> None:
    planted = {"firmware.config.schema", "firmware.rules.base", "firmware.journal.record",
               "firmware.journal.seal", "firmware.sources.tether", "host_tools.cli"}  # fmt: skip
    assert f"{module}: {complaint}" in complaints_of(module, source, planted)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        (
            "firmware.sources.gps",
            "from firmware.sources.base import Post\nfrom firmware import nmea",
        ),
        ("firmware.journal.writer", "from firmware.journal import record, seal"),
        ("firmware.page.app", "import firmware.dash.screen"),
        ("firmware.link.serve", "import firmware.journal.reader"),
        (
            "host_tools.replay.replaying",
            "import firmware.monitor, firmware.sources.drive",
        ),
        ("firmware.buses.i2c_fake", "import smbus2, time\ntime.sleep(1)"),
    ],
)
def test_what_the_layers_allow_is_let_through(module: str, source: str) -> None:
    assert complaints_of(module, source, {"firmware.journal.record", "firmware.journal.seal"}) == []


def test_a_ring_of_imports_is_found() -> None:
    planted = {
        "a": "import b",
        "b": "def f():\n    from c import x",
        "c": "import a",
        "d": "import a",
    }
    assert cycles_of(planted) == ["a -> b", "b -> c", "c -> a"]
