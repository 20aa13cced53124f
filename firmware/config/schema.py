"""The configuration as frozen structs: the sections of `sledwarden.toml`, and the whole of it.

Each key's type, bounds and meaning stand once: here, in parts.py and in choices.py. From them
`python -m host_tools.config_reference` writes `docs/config.md`. A section that is left out is a
part that is not fitted, or one that keeps its defaults.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from msgspec import Meta
from msgspec.structs import replace

from firmware import __released__
from firmware.config.choices import Rules
from firmware.config.parts import (
    Adc,
    Address,
    Button,
    Buzzer,
    Chip,
    Engine,
    Haptic,
    I2c,
    Leds,
    Lights,
    Rtc,
    Section,
    Supplies,
    Tether,
)
from firmware.gps.fixes import FixSettings

BUILD_DATE = date.fromisoformat(__released__)
"""No satellite date below this one is believed, unless `[clock] floor` says otherwise."""


PathText = Annotated[str, Meta(pattern="^[^\0\n]+\\Z", title="a path")]
ZoneId = Annotated[str, Meta(pattern="^[^\0-\x1f]{1,100}\\Z", title="a zone's id")]
CircleText = Annotated[str, Meta(pattern="^[-0-9. ]{5,40}\\Z", title="a place and its metres")]
LawName = Annotated[str, Meta(pattern="^([a-z][a-z0-9_-]*|[^\0\n]+\\.toml)\\Z")]


class Unit(Section, frozen=True):
    """Which sled this is, and whose law it is judged by."""

    id: Annotated[
        str,
        Meta(
            pattern="^[A-Za-z0-9][A-Za-z0-9._-]{0,31}\\Z",
            title="1 to 32 letters, digits, dots, dashes or underscores",
            description="The unit's name in its journals; give each sled its own.",
        ),
    ]
    vehicle: Annotated[
        Literal["snowmobile", "low_speed_vehicle", "motor_vehicle"],
        Meta(description="The kind of vehicle; clauses that bind another kind are not judged."),
    ] = "snowmobile"
    year: (
        Annotated[
            int,
            Meta(
                ge=1900,
                le=2100,
                description="Year of make, as its plate says; `sledwarden inspect` goes by it, and "
                "so does a law that lets off old sleds.",
            ),
        ]
        | None
    ) = None
    law: Annotated[
        Annotated[tuple[LawName, ...], Meta(min_length=1)] | Literal["auto"],
        Meta(
            title='"auto" or a list of law packs, like ["wi"]',
            description="The laws judged everywhere, each with the packs that go with it, as `wi` "
            'brings `wi_act311`; "auto" judges each law inside its outline only, as a zone pack '
            "draws it.",
        ),
    ] = ("wi",)
    time_zone: Annotated[
        str,
        Meta(
            title='an IANA time zone, like "America/Chicago"',
            description="The civil time by which hours in the law are told.",
        ),
    ] = "America/Chicago"


class Rider(Section, frozen=True):
    """Who rides."""

    born: (
        Annotated[
            date,
            Meta(
                description="Date of birth. Who is younger than a duty says is told of it at the "
                "start, as of 0.0 below 19; so is everyone while this is not given."
            ),
        ]
        | None
    ) = None


KeyHex = Annotated[
    str, Meta(pattern="^[0-9a-f]{64}\\Z", title="a public key, 64 hex digits in small letters")
]


class Race(Section, frozen=True):
    """Whose word proves a sanctioned race. A race that the rider sets is self-declared."""

    organizers: Annotated[
        tuple[KeyHex, ...],
        Meta(
            title="a list of public keys, each 64 hex digits in small letters",
            description="The organizers' keys, as `sledwarden race token` prints them.",
        ),
    ] = ()


class Clock(Section, frozen=True):
    """What is believed about the date."""

    floor: Annotated[
        date,
        Meta(
            description="No satellite date below it is believed. Leave it out but to play an old "
            "recording: the default is the build's date.",
        ),
    ] = BUILD_DATE


class Gps(Section, frozen=True):
    """The GPS receiver and what its figures are worth."""

    port: Annotated[
        PathText, Meta(description="The receiver's serial line; /dev/serial0 is the header's UART.")
    ] = "/dev/serial0"
    baud: Annotated[
        Literal[4800, 9600, 19200, 38400, 57600, 115200, 230400, 460800],
        Meta(
            description="Bits a second on that line; tried first. With `configure` the receiver is "
            "found at the others too, and asked for more where `rate_hz` needs it."
        ),
    ] = 9600
    configure: Annotated[
        bool,
        Meta(
            title="true or false",
            description="Ask a u-blox, MediaTek or Quectel receiver for `rate_hz` and for RMC, "
            "GGA, GSA and GST alone. Without it the receiver is listened to, at `baud`.",
        ),
    ] = True
    rate_hz: Annotated[
        float,
        Meta(
            ge=0.1,
            le=25,
            description="Fixes a second that the receiver is asked for, 10 at most; then 5, then "
            "1. The unit judges by the rate that it sees. Without `configure`, what it sends.",
        ),
    ] = 10.0
    speed_error_mph: Annotated[
        float,
        Meta(
            ge=0, le=10, description="Error of a speed from RMC or VTG; held in the rider's favour."
        ),
    ] = 0.5
    derived_error_mph: Annotated[
        float, Meta(ge=0, le=20, description="Error of a speed computed from positions.")
    ] = 2.0
    hdop_m: Annotated[
        float,
        Meta(
            gt=0, le=50, description="Position error for each unit of HDOP where GST is not sent."
        ),
    ] = 2.5
    position_error_m: Annotated[
        float,
        Meta(gt=0, le=1000, description="Position error where neither GST nor HDOP is sent."),
    ] = 10.0
    max_accel_mps2: Annotated[
        float,
        Meta(
            ge=1,
            le=100,
            description="A change of speed faster than this is a receiver's spike, not a ride.",
        ),
    ] = 15.0
    max_turn_mps2: Annotated[
        float,
        Meta(
            ge=1,
            le=100,
            description="A turn sharper than this is one too; one that changes the speed as well "
            "has a share of both figures.",
        ),
    ] = 13.0


class Zones(Section, frozen=True):
    """What lies near."""

    packs: Annotated[
        tuple[PathText, ...],
        Meta(
            title="a list of paths",
            description="Zone packs (GeoPackage), as `sledwarden zones build` makes them.",
        ),
    ] = ()
    consents: Annotated[
        tuple[ZoneId, ...],
        Meta(
            title="a list of zones' ids, like parcel-17 or private:parcel-17",
            description="Zones whose owner consents to the ride, where the law asks for consent; "
            "each by its id in the pack, which its kind may precede. It stands in every journal.",
        ),
    ] = ()
    person_mark_min: Annotated[
        float,
        Meta(gt=0, le=1440, description="How long a marked person stands, in minutes."),
    ] = 10.0
    shanty_mark_h: Annotated[
        float, Meta(gt=0, le=2160, description="How long a marked shanty stands, in hours.")
    ] = 72.0


class Journal(Section, frozen=True):
    """Where the ride is kept."""

    folder: Annotated[
        PathText, Meta(description="Made if it is not there; one daemon at a time writes to it.")
    ] = "/var/lib/sledwarden/journal"
    quota_mb: Annotated[
        int,
        Meta(ge=1, le=10_000_000, description="The most that the folder may hold."),
    ] = 4096
    owner_key: (
        Annotated[
            PathText,
            Meta(
                description="The owner's public age key, in a file, to which closed segments are "
                "encrypted. Needs pyrage."
            ),
        ]
        | None
    ) = None


class Privacy(Section, frozen=True):
    """What a copy of the ride for other eyes hides. The journal itself stays whole."""

    circles: Annotated[
        tuple[CircleText, ...],
        Meta(
            title="a list of places, like '45.9231 -89.4874 300': degrees north, degrees east and "
            "50 to 5000 metres",
            description="Exports and reports tell nothing of where, how fast or when in there.",
        ),
    ] = ()


class Feed(Section, frozen=True):
    """The socket by which the screens follow the daemon."""

    path: Annotated[
        str,
        Meta(
            pattern="^[^\0\n]+\\Z",
            max_length=107,  # sun_path of unix(7) holds 108 bytes with its closing zero
            title="a path of at most 107 characters",
            description="The Unix socket's path.",
        ),
    ] = "/run/sledwarden/feed.sock"


class Link(Section, frozen=True):
    """The service port (docs/link.md); each way in is shut until it is named."""

    serial: (
        Annotated[PathText, Meta(description="A serial line, like /dev/ttyGS0 (USB gadget).")]
        | None
    ) = None
    udp: (
        Annotated[int, Meta(ge=1, le=65535, description="A UDP port; 1337 is SMP's own.")] | None
    ) = None
    baud: Annotated[
        Literal[9600, 19200, 38400, 57600, 115200, 230400, 460800, 921600],
        Meta(description="Bits a second on the serial line; a USB gadget has no pace of its own."),
    ] = 115200
    host: Annotated[
        str,
        Meta(
            pattern=r"^[0-9A-Fa-f.:]+\Z",
            title="an IP address of this machine",
            description="Where the UDP port listens; 0.0.0.0 is everywhere.",
        ),
    ] = "0.0.0.0"


class Page(Section, frozen=True):
    """The live web page. Over anything but 127.0.0.1 whoever reaches it can look."""

    host: Annotated[
        str,
        Meta(
            pattern=r"^[A-Za-z0-9.:_-]+\Z",
            title="a host name or an address",
            description="Where it listens; 127.0.0.1 keeps it on the unit.",
        ),
    ] = "127.0.0.1"
    port: Annotated[int, Meta(ge=1, le=65535, description="The TCP port.")] = 8350


class Dash(Section, frozen=True):
    """The glass in front of the rider."""

    panel: Annotated[
        Chip, Meta(description="The panel: ssd1309, or terminal where there is no glass.")
    ] = "terminal"
    address: Annotated[
        Address, Meta(description="Where a panel on the sensor bus answers; others ignore it.")
    ] = 0x3C


class Config(Section, frozen=True):
    """The whole file."""

    unit: Unit
    rider: Rider = Rider()
    race: Race = Race()
    clock: Clock = Clock()
    gps: Gps = Gps()
    i2c: I2c = I2c()
    light: Lights = Lights()
    adc: Adc | None = None
    supply: Supplies = Supplies()
    rtc: Rtc | None = None
    tether: Tether | None = None
    engine: Engine | None = None
    button: Button | None = None
    leds: Leds = Leds()
    buzzer: Buzzer | None = None
    haptic: Haptic | None = None
    zones: Zones = Zones()
    journal: Journal = Journal()
    privacy: Privacy = Privacy()
    feed: Feed = Feed()
    link: Link = Link()
    page: Page = Page()
    dash: Dash = Dash()
    rules: Rules = Rules()


def fix_settings(config: Config, *, source: str, trust_dates: bool = False) -> FixSettings:
    """What makes a fix trusted on a unit with this configuration; `source` names its receiver."""
    gps = config.gps
    return FixSettings(
        floor=config.clock.floor,
        trust_dates=trust_dates,
        speed_error_mph=gps.speed_error_mph,
        derived_speed_error_mph=gps.derived_error_mph,
        hdop_m=gps.hdop_m,
        default_error_m=gps.position_error_m,
        max_accel_mps2=gps.max_accel_mps2,
        max_turn_mps2=gps.max_turn_mps2,
        source=source,
    )


def with_floor(config: Config, floor: date | None) -> Config:
    """The same configuration with another floor for dates, where one is given."""
    return config if floor is None else replace(config, clock=Clock(floor=floor))
