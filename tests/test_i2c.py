"""The sensor bus: registers, sentences for errnos, and the fake that answers like a kernel."""

from __future__ import annotations

import errno
from datetime import UTC, datetime
from pathlib import Path

import pytest
import smbus2
from luma.core.interface.serial import i2c as luma_i2c
from luma.core.render import canvas
from luma.oled.device import ssd1309

from firmware.buses.chips_fake import Bh1750Model, Ds3231Model, Ssd1309Model
from firmware.buses.i2c import Chip, Field, I2cBus, I2cError, PanelBus, Register
from firmware.buses.i2c_fake import FakeI2cBus
from firmware.clock import ManualClock
from firmware.errors import BusError, SledwardenError

SECONDS = Register("SECONDS", 0x00)
STATUS = Register("STATUS", 0x0F)
STOPPED = Field("OSF", STATUS, 7)
ALARM_1_2 = Field("A1F-A2F", STATUS, 0, 2)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def fake(clock: ManualClock) -> FakeI2cBus:
    bus = FakeI2cBus(clock)
    bus.attach(0x68, Ds3231Model(clock, datetime(2026, 1, 17, 23, 59, 58, tzinfo=UTC)))
    return bus


@pytest.fixture
def chip(fake: FakeI2cBus) -> Chip:
    return Chip(I2cBus(1, fake), 0x68, "rtc (ds3231)")


def test_a_register_encodes_its_width_in_its_order() -> None:
    assert Register("A", 0, 2, "big").encode(0x1234) == b"\x12\x34"
    assert Register("A", 0, 2, "little").encode(0x1234) == b"\x34\x12"
    assert Register("A", 0, 2, "big").decode(b"\x12\x34") == 0x1234
    with pytest.raises(ValueError, match=r"^A: got 1 bytes, not 2$"):
        Register("A", 0, 2).decode(b"\x12")


@pytest.mark.parametrize("value", [-1, 256])
def test_a_register_refuses_a_value_that_does_not_fit(value: int) -> None:
    with pytest.raises(ValueError, match=rf"^STATUS = {value}: must be 0 to 255$"):
        STATUS.encode(value)


def test_a_field_refuses_a_value_that_does_not_fit_before_the_wire_is_touched(
    chip: Chip, fake: FakeI2cBus
) -> None:
    with pytest.raises(ValueError, match=r"^A1F-A2F = 4: must be 0 to 3$"):
        chip.set(ALARM_1_2, 4)
    assert fake.transfers == 0


def test_a_field_leaves_its_neighbours_alone() -> None:
    field = Field("MIDDLE", STATUS, 2, 3)
    assert field.put(0b1110_0011, 0b101) == 0b1111_0111
    assert field.of(0b1111_0111) == 0b101


def test_fields_are_read_and_written_on_the_wire(chip: Chip, fake: FakeI2cBus) -> None:
    model = Ds3231Model(ManualClock())
    fake.attach(0x68, model)
    assert chip.get(STOPPED) == 1
    chip.set(STOPPED, 0)
    assert not model.has_stopped
    assert chip.get(SECONDS) == 0


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (
            121,
            "rtc (ds3231) at 0x68 on i2c-1: does not answer (errno 121)."
            " Check its power, its wires and its address.",
        ),
        (
            6,
            "rtc (ds3231) at 0x68 on i2c-1: does not answer (errno 6)."
            " Check its power, its wires and its address.",
        ),
        (
            5,
            "rtc (ds3231) at 0x68 on i2c-1: failed in mid-transfer (errno 5). Look for a loose"
            " plug, water in a connector or a wire longer than the harness has.",
        ),
        (
            110,
            "rtc (ds3231) at 0x68 on i2c-1: timed out, the bus is held low (errno 110). One chip"
            " holds the line: unplug the sensors one by one, or cut their power once.",
        ),
        (
            16,
            "rtc (ds3231) at 0x68 on i2c-1: is held by the kernel's own driver (errno 16). Take"
            " the chip's dtoverlay line (i2c-rtc for a DS3231) out of config.txt and restart, or"
            " take the part out of the configuration.",
        ),
    ],
)
def test_an_errno_becomes_one_sentence(
    chip: Chip, fake: FakeI2cBus, number: int, sentence: str
) -> None:
    fake.fail_next(0x68, [number, number])
    with pytest.raises(BusError) as caught:
        chip.get(SECONDS)
    assert str(caught.value) == sentence
    assert isinstance(caught.value, I2cError)
    assert caught.value.errno == number


def test_a_bus_that_the_machine_does_not_have_is_one_sentence() -> None:
    number = next(n for n in range(200, 300) if not Path(f"/dev/i2c-{n}").exists())
    with pytest.raises(BusError) as caught:
        Chip(I2cBus(number), 0x23, "light.head (bh1750)").opcode(0x01)
    assert str(caught.value) == (
        f"light.head (bh1750) at 0x23 on i2c-{number}: can't be reached, there is no such bus"
        " (errno 2). Switch I2C on (dtparam=i2c_arm=on in config.txt) or correct [i2c] bus."
    )


def test_a_failed_transfer_is_tried_once_more_and_counted(chip: Chip, fake: FakeI2cBus) -> None:
    fake.fail_next(0x68, [121, 0])
    assert chip.get(SECONDS) == 0x58
    assert chip.failures == 1
    fake.fail_next(0x68, [121, 5])
    with pytest.raises(BusError):
        chip.get(SECONDS)
    assert chip.failures == 3


def test_a_hung_bus_costs_its_second_only_once(
    chip: Chip, fake: FakeI2cBus, clock: ManualClock
) -> None:
    fake.fault(0x68, "hang")
    with pytest.raises(BusError, match="held low"):
        chip.get(SECONDS)
    assert clock.mono_s() == 1.0
    assert fake.transfers == 1


@pytest.mark.parametrize(
    ("kind", "number"), [("eio", 5), ("nack", 121), ("hang", 110), ("busy", 16)]
)
def test_a_fault_answers_with_the_kernels_number_until_it_is_cleared(
    fake: FakeI2cBus, kind: str, number: int
) -> None:
    fake.fault(0x68, kind)
    with pytest.raises(OSError) as caught:
        fake.read_i2c_block_data(0x68, 0, 1)
    assert caught.value.errno == number
    fake.fault(0x68, "clear")
    assert fake.read_i2c_block_data(0x68, 1, 1) == [0x59]


def test_a_bus_that_is_held_low_is_opened_again_at_the_next_transfer(clock: ManualClock) -> None:
    adapters: list[FakeI2cBus] = []

    def opened(number: int) -> FakeI2cBus:
        assert number == 1
        adapters.append(FakeI2cBus(clock))
        adapters[-1].attach(0x68, Ds3231Model(clock, datetime(2026, 1, 17, tzinfo=UTC)))
        return adapters[-1]

    bus = I2cBus(1, opened=opened)
    chip = Chip(bus, 0x68, "rtc (ds3231)")
    assert chip.get(SECONDS) == 0
    adapters[0].fault(0x68, "hang")
    with pytest.raises(BusError, match="held low"):
        chip.get(SECONDS)
    assert (bus.recoveries, adapters[0].is_closed) == (1, True)
    assert chip.get(SECONDS) == 0  # through a new one, which is no longer held
    assert len(adapters) == 2


@pytest.mark.parametrize("number", [errno.EREMOTEIO, errno.EIO])
def test_a_chip_that_fails_alone_leaves_the_bus_open(clock: ManualClock, number: int) -> None:
    fake = FakeI2cBus(clock)
    fake.attach(0x68, Ds3231Model(clock))
    bus = I2cBus(1, opened=lambda _: fake)
    fake.fail_next(0x68, [number, number])
    with pytest.raises(BusError):
        Chip(bus, 0x68, "rtc (ds3231)").get(SECONDS)
    assert (bus.recoveries, fake.is_closed) == (0, False)


def test_ones_and_zeros_are_what_a_broken_wire_reads(fake: FakeI2cBus) -> None:
    fake.fault(0x68, "ones")
    assert fake.read_i2c_block_data(0x68, 0, 3) == [0xFF, 0xFF, 0xFF]
    fake.fault(0x68, "zeros")
    assert fake.read_i2c_block_data(0x68, 0, 3) == [0, 0, 0]


def test_a_fault_that_does_not_exist_is_refused(fake: FakeI2cBus) -> None:
    with pytest.raises(ValueError, match=r"^fault melt: must be one of eio, nack, hang, busy"):
        fake.fault(0x68, "melt")
    with pytest.raises(ValueError, match=r"^fault saturate: no light sensor at 0x68$"):
        fake.fault(0x68, "saturate")


def test_an_empty_address_does_not_answer(fake: FakeI2cBus) -> None:
    with pytest.raises(OSError) as caught:
        fake.write_byte(0x23, 0x01)
    assert caught.value.errno == errno.EREMOTEIO


def test_two_parts_at_one_address_are_refused_and_both_named(fake: FakeI2cBus) -> None:
    bus = I2cBus(1, fake)
    Chip(bus, 0x29, "light.tail (tcs34725)")
    with pytest.raises(SledwardenError) as caught:
        Chip(bus, 0x29, "light.head (tcs34725)")
    assert str(caught.value) == (
        "light.head (tcs34725): address 0x29 on i2c-1: is taken by light.tail (tcs34725)."
        " Give one of them another address, or put it on another bus."
    )


def test_an_address_that_no_chip_can_have_is_refused(fake: FakeI2cBus) -> None:
    with pytest.raises(SledwardenError) as caught:
        I2cBus(1, fake).claim(0x78, "panel (ssd1309)")
    assert str(caught.value) == (
        "panel (ssd1309): address 0x78: must be 0x08 to 0x77. See the part's label."
    )


def test_a_closed_bus_hands_the_wire_back(fake: FakeI2cBus) -> None:
    bus = I2cBus(1, fake)
    bus.close()
    assert not fake.is_closed  # it was handed in
    fake.close()
    with pytest.raises(I2cError) as caught:
        bus.read(0x68, 0, 1)
    assert caught.value.errno == errno.EBADF


@pytest.mark.parametrize("count", [0, 33])
def test_a_transfer_longer_than_the_kernel_takes_is_refused(fake: FakeI2cBus, count: int) -> None:
    with pytest.raises(ValueError, match=r"must be 1 to 32$"):
        I2cBus(1, fake).read(0x68, 0, count)
    with pytest.raises(ValueError, match=r"must be 1 to 32$"):
        I2cBus(1, fake).write(0x68, 0, bytes(count))


def test_the_fake_takes_what_the_real_bus_takes(fake: FakeI2cBus) -> None:
    for name in ("write_byte", "read_i2c_block_data", "write_i2c_block_data", "i2c_rdwr", "close"):
        assert callable(getattr(smbus2.SMBus, name))
        assert callable(getattr(fake, name))
    write, read = smbus2.i2c_msg.write(0x68, [0x01]), smbus2.i2c_msg.read(0x68, 2)
    fake.i2c_rdwr(write, read)
    assert list(read) == [0x59, 0x23]


def test_a_bh1750_keeps_its_old_value_until_the_conversion_ends(clock: ManualClock) -> None:
    model = Bh1750Model(clock, lux=100.0)
    model.write(b"\x01")
    model.write(b"\x10")
    clock.advance(0.119)
    assert model.read(2) == b"\x00\x00"
    clock.advance(0.002)
    assert model.read(2) == (120).to_bytes(2, "big")
    model.lux = 200.0
    clock.advance(0.100)
    assert model.read(2) == (120).to_bytes(2, "big")
    clock.advance(0.020)
    assert model.read(2) == (240).to_bytes(2, "big")


def test_a_bh1750_that_is_not_powered_on_takes_no_mode(clock: ManualClock) -> None:
    model = Bh1750Model(clock, lux=100.0)
    model.write(b"\x10")
    clock.advance(1.0)
    assert model.read(2) == b"\x00\x00"


def test_a_one_time_mode_of_the_bh1750_measures_once(clock: ManualClock) -> None:
    model = Bh1750Model(clock, lux=100.0)
    model.write(b"\x01")
    model.write(b"\x20")
    clock.advance(0.2)
    assert model.read(2) == (120).to_bytes(2, "big")
    model.lux = 500.0
    clock.advance(1.0)
    assert model.read(2) == (120).to_bytes(2, "big")


# luma.oled 3.16 still asks Pillow for getdata(), which Pillow 14 will take away.
@pytest.mark.filterwarnings("ignore:Image.Image.getdata is deprecated:DeprecationWarning")
def test_luma_draws_on_the_bus_and_the_chip_shows_the_picture(fake: FakeI2cBus) -> None:
    model = Ssd1309Model()
    fake.attach(0x3C, model)
    panel = PanelBus(I2cBus(1, fake), 0x3C, "panel (ssd1309)")
    device = ssd1309(luma_i2c(bus=panel, address=0x3C))
    with canvas(device) as draw:
        draw.rectangle((0, 0, 127, 63), outline="white")
        draw.line((10, 5, 40, 5), fill="white")
    rows = model.rows()
    assert model.is_on
    assert model.contrast == 0xCF
    assert all(rows[0])
    assert all(rows[63])
    assert [x for x in range(128) if rows[5][x]] == [0, *range(10, 41), 127]
    assert [x for x in range(128) if rows[6][x]] == [0, 127]
    assert model.pbm().startswith(b"P4\n128 64\n" + b"\xff" * 16 + b"\x80")
    device.hide()
    assert not any(any(row) for row in model.rows())
    device.persist = True  # its exit handler would write to a bus that is gone


def test_the_panel_also_takes_page_and_vertical_addressing() -> None:
    model = Ssd1309Model()
    model.write(bytes([0x00, 0xAF, 0xA1, 0xC8, 0xB3, 0x05, 0x11]))
    model.write(bytes([0x40, 0x01]))
    rows = model.rows()
    assert [(x, y) for y in range(64) for x in range(128) if rows[y][x]] == [(21, 24)]
    model.write(bytes([0x00, 0x20, 0x01, 0x21, 0, 1, 0x22, 0, 1]))
    model.write(bytes([0x40, 1, 2, 3, 4]))
    assert (model.memory[0], model.memory[128], model.memory[1], model.memory[129]) == (1, 2, 3, 4)


def test_a_panel_that_is_gone_is_a_bus_error_and_no_bare_oserror(fake: FakeI2cBus) -> None:
    panel = PanelBus(I2cBus(1, fake), 0x3C, "panel (ssd1309)")
    with pytest.raises(BusError) as caught:
        ssd1309(luma_i2c(bus=panel, address=0x3C))
    assert str(caught.value).startswith("panel (ssd1309) at 0x3C on i2c-1: does not answer")


def test_a_panel_bus_serves_its_own_address_only(fake: FakeI2cBus) -> None:
    panel = PanelBus(I2cBus(1, fake), 0x3C, "panel (ssd1309)")
    with pytest.raises(ValueError, match=r"^address 0x3D: this panel is at another$"):
        panel.write_i2c_block_data(0x3D, 0, [0xAE])


def test_no_block_read_of_smbus_is_ever_used() -> None:
    folder = Path(__file__).parent.parent / "firmware"
    for path in folder.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "read_block_data" not in text.replace("read_i2c_block_data", ""), path
