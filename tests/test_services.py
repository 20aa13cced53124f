"""The services and the installer: what systemd takes, what the sandbox leaves, twice the same."""

from __future__ import annotations

import configparser
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from firmware.config.schema import Config, Feed, Journal

ROOT = Path(__file__).parent.parent
SYSTEMD = ROOT / "hardware" / "systemd"
UNITS = sorted(SYSTEMD.glob("*.service"))
BIN = "/opt/sledwarden/venv/bin/"


def check_unit(text: str) -> Iterator[str]:
    """What only a real kernel shows: the settings that would take the unit's devices away."""
    if "DeviceAllow=char-gpio " in text:
        yield "char-gpio matches no device: the kernel's name is char-gpiochip"
    touches_devices = "\nDeviceAllow=" in text
    for setting, why in {
        "ProcSubset=pid": "gpiozero reads the board's revision in /proc/cpuinfo",
        "PrivateDevices=yes": "it takes the GPIO chip and the sensor bus away",
        "DynamicUser=yes": "the journal's owner would change",
    }.items():
        is_for_devices = setting != "DynamicUser=yes"
        if re.search(rf"^{setting}$", text, re.M) and (touches_devices or not is_for_devices):
            yield f"{setting}: {why}"
    for setting in ("ProtectSystem=strict", "NoNewPrivileges=yes", "Restart=always"):
        if f"\n{setting}\n" not in text:
            yield f"{setting} is missing"
    if "GPIOZERO_PIN_FACTORY=lgpio" in text and "\nWorkingDirectory=/run/sledwarden\n" not in text:
        yield "lgpio makes a pipe in its working folder, which must be writable"
    if not re.search(r"^DevicePolicy=closed$", text, re.M):
        yield "DevicePolicy=closed is missing"


EXPOSURE = {"sledwarden-link.service": 14}
"""In tenths; what speaks to a network can't be below 1.0 (PrivateNetwork, AF_INET)."""


def test_the_services_are_there() -> None:
    assert {unit.name for unit in UNITS} >= {
        "sledwarden-dash.service",
        "sledwarden-link.service",
        "sledwarden-page.service",
        "sledwardend.service",
    }


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_the_sandbox_leaves_the_unit_its_devices(unit: Path) -> None:
    assert list(check_unit(unit.read_text())) == []


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("char-gpiochip", "char-gpio",
         "char-gpio matches no device: the kernel's name is char-gpiochip"),
        ("PrivateTmp=yes", "ProcSubset=pid",
         "ProcSubset=pid: gpiozero reads the board's revision in /proc/cpuinfo"),
        ("PrivateTmp=yes", "PrivateDevices=yes",
         "PrivateDevices=yes: it takes the GPIO chip and the sensor bus away"),
        ("WorkingDirectory=/run/sledwarden", "",
         "lgpio makes a pipe in its working folder, which must be writable"),
        ("ProtectSystem=strict", "ProtectSystem=no", "ProtectSystem=strict is missing"),
        ("DevicePolicy=closed", "", "DevicePolicy=closed is missing"),
    ],
)  # fmt: skip
def test_the_check_complains_of_a_unit_that_would_not_work(
    old: str, new: str, complaint: str
) -> None:
    text = (SYSTEMD / "sledwardend.service").read_text()
    assert old in text
    assert complaint in list(check_unit(text.replace(old, new)))


def test_the_daemon_is_watched_and_says_when_it_is_ready() -> None:
    unit = (SYSTEMD / "sledwardend.service").read_text()
    assert "\nType=notify\n" in unit
    assert "\nWatchdogSec=5\n" in unit
    for device in ("gpiochip", "i2c", "ttyAMA", "ttyS", "ttyUSB", "ttyACM"):
        assert f"\nDeviceAllow=char-{device} rw\n" in unit


def test_the_glass_may_touch_its_panel_s_bus_alone() -> None:
    unit = (SYSTEMD / "sledwarden-dash.service").read_text()
    assert re.findall(r"^DeviceAllow=(.*)$", unit, re.M) == ["char-i2c rw"]


def test_the_service_port_may_touch_serial_lines_alone_and_no_internet() -> None:
    unit = (SYSTEMD / "sledwarden-link.service").read_text()
    devices = re.findall(r"^DeviceAllow=(.*)$", unit, re.M)
    assert devices == ["char-ttyGS rw", "char-ttyAMA rw", "char-ttyS rw", "char-ttyUSB rw"]
    assert "\nIPAddressDeny=any\n" in unit


def test_the_page_has_no_device_no_journal_and_a_near_network_alone() -> None:
    unit = (SYSTEMD / "sledwarden-page.service").read_text()
    assert "DeviceAllow=" not in unit
    assert "\nInaccessiblePaths=-/var/lib/sledwarden\n" in unit
    assert "\nIPAddressDeny=any\n" in unit
    assert "0.0.0.0/0" not in unit


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_service_starts_a_program_that_the_package_has(unit: Path) -> None:
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    scripts = setup["options.entry_points"]["console_scripts"]
    (program,) = re.findall(rf"^ExecStart={BIN}(\S+) --config /etc/sledwarden/sledwarden.toml$",
                            unit.read_text(), re.M)  # fmt: skip
    assert re.search(rf"^{program} =", scripts, re.M)


def test_the_default_folders_are_the_ones_that_systemd_makes() -> None:
    unit = (SYSTEMD / "sledwardend.service").read_text()
    assert "\nRuntimeDirectory=sledwarden\n" in unit
    assert "\nStateDirectory=sledwarden\n" in unit
    assert Feed().path.startswith("/run/sledwarden/")
    assert Journal().folder.startswith("/var/lib/sledwarden/")
    assert Config.__struct_fields__  # the structs above are those of the configuration


def _analyze(*words: str) -> subprocess.CompletedProcess[str]:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed (apt-get install systemd)")
    return subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, check=False)


def _verified(folder: Path, text: str) -> str:
    """What systemd says of a unit whose program is there."""
    path = folder / "tried.service"
    path.write_text(re.sub(rf"{BIN}\S+", "/bin/true", text))
    done = _analyze("verify", "--man=no", str(path))
    return done.stdout + done.stderr + (f"exit {done.returncode}" if done.returncode else "")


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_takes_every_line_of_the_unit(unit: Path, tmp_path: Path) -> None:
    shutil.copy(SYSTEMD / "sledwardend.service", tmp_path)
    said = _verified(tmp_path, unit.read_text())
    lines = [line for line in said.splitlines() if "sledwardend is not executable" not in line]
    assert lines == []


def test_systemd_says_when_a_line_is_wrong(tmp_path: Path) -> None:
    text = (SYSTEMD / "sledwardend.service").read_text()
    said = _verified(tmp_path, text.replace("WatchdogSec=5", "WatchdogSecs=5"))
    assert "Unknown key 'WatchdogSecs'" in said, said


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_the_exposure_is_at_most_one_of_ten(unit: Path) -> None:
    most = EXPOSURE.get(unit.name, 10)
    done = _analyze("security", "--offline=true", f"--threshold={most}", "--no-pager", str(unit))
    assert done.returncode == 0, done.stdout[-300:] + done.stderr


def test_the_exposure_is_told_when_the_sandbox_is_open(tmp_path: Path) -> None:
    opened = tmp_path / "sledwardend.service"
    text = (SYSTEMD / "sledwardend.service").read_text()
    opened.write_text(re.sub(r"^(Protect|Restrict|SystemCall).*\n", "", text, flags=re.M))
    done = _analyze("security", "--offline=true", "--threshold=10", "--no-pager", str(opened))
    assert done.returncode == 1


STUB = """#!/bin/sh
# stands for python3: makes what `python3 -m venv` makes, and says what pip was asked for
[ "$1" = -c ] && exit 0
folder=$(eval echo "\\${$#}")
mkdir -p "$folder/bin"
printf '#!/bin/sh\\necho "$@" >>"%s/pip.log"\\n' "$folder" >"$folder/bin/pip"
printf '#!/bin/sh\\n' >"$folder/bin/python"
chmod +x "$folder/bin/pip" "$folder/bin/python"
"""


def _install(folder: Path) -> str:
    stubs = folder / "stubs"
    stubs.mkdir(exist_ok=True)
    (stubs / "python3").write_text(STUB)
    (stubs / "python3").chmod(0o755)
    root = folder / "root"
    done = subprocess.run(
        ["sh", ROOT / "hardware" / "install.sh"], capture_output=True, text=True, check=False,
        env={"ROOT": str(root), "PATH": f"{stubs}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def _tree(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*")) if path.is_file() and path.name != "pip.log"
    }  # fmt: skip


@pytest.fixture
def card(tmp_path: Path) -> Path:
    """The root of a fresh Raspberry Pi OS, as far as the installer looks at it."""
    boot = tmp_path / "root" / "boot" / "firmware"
    boot.mkdir(parents=True)
    (boot / "config.txt").write_text("# the maker's own line\ndtparam=spi=on\n")
    (boot / "cmdline.txt").write_text("console=serial0,115200 console=tty1 root=/dev/mmcblk0p2\n")
    return tmp_path / "root"


def test_the_installer_is_a_shell_script() -> None:
    done = subprocess.run(["sh", "-n", ROOT / "hardware" / "install.sh"], check=False)
    assert done.returncode == 0


def test_the_installer_lays_everything_and_a_second_run_changes_nothing(card: Path) -> None:
    _install(card.parent)
    first = _tree(card)
    assert {"etc/sledwarden/sledwarden.toml", "etc/systemd/system/sledwardend.service",
            "etc/systemd/system/sledwarden-dash.service",
            "etc/systemd/system/sledwarden-link.service",
            "etc/systemd/system/sledwarden-page.service",
            "etc/modules-load.d/sledwarden.conf",
            "etc/systemd/system.conf.d/10-sledwarden-watchdog.conf",
            "etc/udev/rules.d/60-sledwarden.rules"} <= first.keys()  # fmt: skip
    assert f"{ROOT}[unit]" in (card / "opt/sledwarden/venv/pip.log").read_text()
    boot = first["boot/firmware/config.txt"].decode()
    assert boot.startswith("# the maker's own line\ndtparam=spi=on\n")
    assert boot.count("gpio-shutdown") == 1
    assert first["boot/firmware/cmdline.txt"] == b"console=tty1 root=/dev/mmcblk0p2\n"
    _install(card.parent)
    assert _tree(card) == first


def test_the_installer_keeps_the_owner_s_configuration(card: Path) -> None:
    (card / "etc/sledwarden").mkdir(parents=True)
    (card / "etc/sledwarden/sledwarden.toml").write_text("# mine\n")
    said = _install(card.parent)
    assert (card / "etc/sledwarden/sledwarden.toml").read_text() == "# mine\n"
    assert "sledwarden.toml is kept" in said
