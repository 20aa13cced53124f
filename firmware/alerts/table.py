"""The alert table: which finding raises which alert, and what that one does.

Change what the rider sees, or how soon, by changing one row. Who follows the table is
`alerting.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from firmware.findings import HapticCue, LightCue, ToneCue, Verdict


@dataclass(frozen=True, slots=True)
class Row:
    """One alert: on which findings it is raised, and what it does.

    It is raised once its verdict has stood for `raise_s`, and cleared once it has not stood for
    `clear_s`: a speed that wavers about the limit is one exceedance. `words` may use the finding's
    {value}, {limit}, {at} (the limit as the glass says it, with a unit where it is not mph), its
    {thing}, {away}: how far the edge is that lies ahead, {what}: its reason up to the colon, as a
    lamp says it ("head lamp out: ..."), and {unmapped}: that no map has the place, or that zones are
    not watched for another reason. At most two lines of 16 letters.
    """

    name: str
    topic: str
    verdicts: frozenset[Verdict]
    words: str
    light: LightCue
    haptic: HapticCue
    tone: ToneCue
    priority: int
    raise_s: float = 0.0
    clear_s: float = 0.0
    climbs: bool = False


OVER = frozenset({Verdict.UNSURE, Verdict.VIOLATION})
NEAR = frozenset({Verdict.APPROACHING})
BLIND = frozenset({Verdict.UNKNOWN})

_RED, _FLASH = LightCue.RED_FLASH, LightCue.AMBER_FLASH
_AMBER, _DARK = LightCue.AMBER, LightCue.OFF
_PULSES, _TAP, _STILL = HapticCue.PULSES, HapticCue.TAP, HapticCue.OFF
_ALARM, _CHIRP, _QUIET = ToneCue.ALARM, ToneCue.CHIRP, ToneCue.OFF

# One line an alert is the point of the table.
# fmt: off
TABLE = (
    #   name                      topic         on     words                                     light   haptic   tone    priority
    Row("tether-out",             "tether",     OVER,  "TETHER OUT\nSTOP ENGINE",                _RED,   _PULSES, _ALARM, 120, clear_s=1.5),
    Row("zone-speed",             "zone",       OVER,  "SLOW TO {at}\n{thing}",                  _RED,   _PULSES, _ALARM, 110, clear_s=1.5, climbs=True),
    Row("over-speed",             "speed",      OVER,  "SLOW DOWN\nLIMIT {at}",                  _RED,   _PULSES, _ALARM, 100, clear_s=1.5, climbs=True),
    Row("over-road-speed",        "road-speed", OVER,  "SLOW DOWN\nLIMIT {at}",                  _RED,   _PULSES, _ALARM,  98, clear_s=1.5, climbs=True),
    Row("no-crossing",            "crossing",   OVER,  "DO NOT CROSS\nTHIS HIGHWAY",             _RED,   _PULSES, _ALARM,  95, clear_s=1.5),
    Row("no-crossing-ahead",      "crossing",   NEAR,  "CROSSING AHEAD\nDO NOT CROSS",           _FLASH, _TAP,    _CHIRP,  91),
    Row("zone-ahead",             "zone-ahead", NEAR,  "{thing} {away}\nSLOW TO {at}",           _FLASH, _TAP,    _CHIRP,  90),
    Row("road-not-allowed",       "road",       OVER,  "THIS ROAD IS\nNOT ALLOWED",              _FLASH, _TAP,    _CHIRP,  72, raise_s=1.0, clear_s=3.0),
    Row("curfew",                 "curfew",     OVER,  "CURFEW\nNO RIDING NOW",                  _FLASH, _TAP,    _CHIRP,  68, clear_s=3.0),
    Row("zone-entered",           "entry",      OVER,  "{thing}\nKEEP OUT",                      _FLASH, _TAP,    _CHIRP,  80, clear_s=1.5),
    Row("sign-passed",            "sign",       OVER,  "STOP SIGN\nPASSED",                      _FLASH, _TAP,    _CHIRP,  75),
    Row("sign-ahead",             "sign-ahead", NEAR,  "{thing}\n{away}",                        _FLASH, _TAP,    _CHIRP,  70),
    Row("head-lamp-out",          "head-lamp",  OVER,  "{what}",                                 _FLASH, _TAP,    _CHIRP,  62, clear_s=1.5),
    Row("tail-lamp-out",          "tail-lamp",  OVER,  "{what}",                                 _FLASH, _TAP,    _CHIRP,  61, clear_s=1.5),
    Row("law-not-watched",        "law",        BLIND, "NO LAW KNOWN\nHERE",                     _AMBER, _TAP,    _QUIET,  56, raise_s=2.0),
    Row("speed-not-watched",      "speed",      BLIND, "SPEED NOT\nWATCHED",                     _AMBER, _TAP,    _QUIET,  55),
    Row("tether-not-watched",     "tether",     BLIND, "TETHER NOT\nWATCHED",                    _AMBER, _TAP,    _QUIET,  45),
    Row("road-speed-not-watched", "road-speed", BLIND, "ROAD LIMIT\nNOT WATCHED",                _DARK,  _STILL,  _QUIET,  43),
    Row("road-not-watched",       "road",       BLIND, "ROADS NOT\nWATCHED",                     _DARK,  _STILL,  _QUIET,  42),
    Row("crossing-not-watched",   "crossing",   BLIND, "CROSSINGS NOT\nWATCHED",                 _DARK,  _STILL,  _QUIET,  41),
    Row("zone-not-watched",       "zone",       BLIND, "{unmapped}",                             _DARK,  _STILL,  _QUIET,  40),
    Row("head-lamp-not-watched",  "head-lamp",  BLIND, "HEAD LAMP\nNOT WATCHED",                 _AMBER, _STILL,  _QUIET,  39),
    Row("tail-lamp-not-watched",  "tail-lamp",  BLIND, "TAIL LAMP\nNOT WATCHED",                 _AMBER, _STILL,  _QUIET,  38),
    Row("journal-not-kept",       "journal",    BLIND, "JOURNAL NOT\nKEPT",                      _AMBER, _STILL,  _QUIET,  35),
    Row("curfew-not-watched",     "curfew",     BLIND, "CURFEW NOT\nWATCHED",                    _DARK,  _STILL,  _QUIET,  34),
    Row("law-changed",            "law",        NEAR,  "{what}",                                 _AMBER, _TAP,    _CHIRP,  30),
    Row("curfew-ahead",           "curfew",     NEAR,  "CURFEW IS NEAR\nSTOP RIDING",            _AMBER, _STILL,  _QUIET,  24, clear_s=3.0),
    Row("near-road-limit",        "road-speed", NEAR,  "LIMIT {at}",                             _AMBER, _STILL,  _QUIET,  22),
    Row("near-zone-limit",        "zone",       NEAR,  "LIMIT {at}",                             _AMBER, _STILL,  _QUIET,  21),
    Row("near-limit",             "speed",      NEAR,  "LIMIT {at}",                             _AMBER, _STILL,  _QUIET,  20),
    Row("beyond-the-lamp",        "stopping",   NEAR,  "TO STOP {value:.0f} FT\nLAMP {limit:.0f} FT", _DARK,  _STILL,  _QUIET,  10),
)
# fmt: on

THINGS = {
    "family_land": "HOME LAND",
    "indian_land": "TRIBE LAND",
    "race_course": "RACE TRACK",
    "ski_slide_skate": "SKI AREA",
    "stop": "STOP SIGN",
    "yield": "YIELD SIGN",
}
"""The word for a kind of zone whose own is over 10 letters, so that AHEAD fits on its line, or is
not what a rider calls it."""
