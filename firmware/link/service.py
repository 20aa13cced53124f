"""What an opened port may change: files that are brought, settings, the date, a restart."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from msgspec import Meta, Struct
from smp.error import MGMT_ERR
from smp.header import OP, CommandId, GroupId

from firmware.link.door import Client, Door
from firmware.link.frames import Body, Refusal
from firmware.link.handling import ROOM_FOR_NAMES, Handler, Name, Offset, Way, taken
from firmware.link.intake import Intake
from firmware.link.settings import Settings
from firmware.port.messages import GROUP, PLACE, Command


class Write(Struct):
    """A stretch of a file that is brought; `len` is the whole file's."""

    name: str
    off: Offset
    data: bytes
    len: Offset | None = None


class _Install(Name):
    sha256: Annotated[bytes, Meta(min_length=32, max_length=32)]


class _Place(Struct):
    place: Annotated[str, Meta(pattern=PLACE)]


class _Setting(Name):
    val: bytes


class _Date(Struct):
    datetime: Annotated[str, Meta(max_length=40)]


class Service:
    """The handlers of what changes the unit; each change is told to the journal."""

    def __init__(self, door: Door, intake: Intake | None) -> None:
        self._door = door
        self._taken_in = intake
        self._settings = None if intake is None else Settings(intake)
        setting, settings = GroupId.SETTINGS_MANAGEMENT, CommandId.SettingsManagement
        os = CommandId.OSManagement
        self.handlers: dict[tuple[int, int, int], Handler] = {
            (GroupId.OS_MANAGEMENT, os.DATETIME_STRING, OP.WRITE): self._set_date,
            (GroupId.OS_MANAGEMENT, os.RESET, OP.WRITE): self._restart,
            (setting, settings.READ_WRITE_SETTING, OP.READ): self._read_setting,
            (setting, settings.READ_WRITE_SETTING, OP.WRITE): self._write_setting,
            (setting, settings.DELETE_SETTING, OP.WRITE): self._delete_setting,
            (setting, settings.LOAD_SAVE_SETTINGS, OP.READ): self._load_settings,
            (setting, settings.LOAD_SAVE_SETTINGS, OP.WRITE): self._save_settings,
            (GROUP, Command.INSTALL, OP.READ): self._installed,
            (GROUP, Command.INSTALL, OP.WRITE): self._install,
            (GROUP, Command.UNDO, OP.WRITE): self._undo,
            (GROUP, Command.SHOW_KEY, OP.WRITE): self._show_key,
            (GROUP, Command.FORGET, OP.WRITE): self._forget,
        }

    def forget(self, who: str) -> None:
        """Lets go what a client had begun: its line is gone."""
        if self._settings is not None:
            self._settings.forget(who)

    @property
    def intake(self) -> Intake:
        if self._taken_in is None:
            raise Refusal(
                MGMT_ERR.ENOTSUP, "this port was started without --config: it takes nothing."
            )
        return self._taken_in

    @property
    def _drafts(self) -> Settings:
        return self._settings or Settings(self.intake)

    def _installed(self, _body: Body, _client: Client, _way: Way) -> Body:
        intake = self.intake
        return {
            "staged": [{"name": name, "len": size} for name, size in intake.staged],
            "installed": [
                {
                    "name": one.name,
                    "len": one.size_bytes,
                    "before": one.has_before,
                    "named": one.is_named,
                    "path": str(one.path),
                }
                for one in intake.installed()
            ],
        }

    def _install(self, body: Body, client: Client, _way: Way) -> Body:
        wanted = taken(body, _Install)
        place, notes = self.intake.install(wanted.name, wanted.sha256)
        self._door.tell(client, f"{place.name} was put in use, sha256 {wanted.sha256.hex()}")
        return {"path": str(place), "notes": notes}

    def _undo(self, body: Body, client: Client, _way: Way) -> Body:
        place = self.intake.undo(taken(body, Name).name)
        self._door.tell(client, f"{place.name} was put back as it was before")
        return {"path": str(place)}

    def _read_setting(self, body: Body, client: Client, way: Way) -> Body:
        told = self._drafts.read(client.name, taken(body, Name).name).encode()
        if len(told) > way.reply_bytes - ROOM_FOR_NAMES:
            raise Refusal(MGMT_ERR.ENOMEM, "is too long for an answer: ask for a part of it.")
        return {"val": told}

    def _write_setting(self, body: Body, client: Client, _way: Way) -> Body:
        wanted = taken(body, _Setting)
        try:
            value = wanted.val.decode()
        except UnicodeDecodeError as fault:
            raise Refusal(MGMT_ERR.EINVAL, "val: must be a value of TOML, in UTF-8.") from fault
        self._drafts.write(client.name, wanted.name, value)
        return {}

    def _delete_setting(self, body: Body, client: Client, _way: Way) -> Body:
        self._drafts.delete(client.name, taken(body, Name).name)
        return {}

    def _load_settings(self, _body: Body, client: Client, _way: Way) -> Body:
        self._drafts.forget(client.name)
        return {}

    def _save_settings(self, _body: Body, client: Client, _way: Way) -> Body:
        if self._drafts.save(client.name):
            self._door.tell(client, f"settings were saved in {self.intake.config_path.name}")
        return {}

    def _show_key(self, _body: Body, client: Client, _way: Way) -> Body:
        self._door.tell(client, "the key was asked for on the glass")
        self._request("key")
        return {}

    def _forget(self, body: Body, client: Client, _way: Way) -> Body:
        place = taken(body, _Place).place
        self._door.tell(client, f"a deletion of {place} was asked for")
        self._request("forget", place)
        return {}

    def _request(self, action: str, argument: str = "") -> None:
        if not self._door.request(action, argument):
            raise Refusal(MGMT_ERR.EBADSTATE, "the unit's daemon is not heard.")

    def _restart(self, _body: Body, client: Client, _way: Way) -> Body:
        self._door.tell(client, "a restart was asked for")
        self._request("restart")
        return {}

    def _set_date(self, body: Body, client: Client, _way: Way) -> Body:
        """Sets the battery clock; the satellites' date needs nobody's help."""
        try:
            utc = datetime.fromisoformat(taken(body, _Date).datetime)
            utc = utc.replace(tzinfo=UTC) if utc.tzinfo is None else utc.astimezone(UTC)
        except (ValueError, OverflowError) as fault:  # before the year 1, or after 9999
            raise Refusal(MGMT_ERR.EINVAL, f"datetime: {fault}.") from fault
        state = self._door.state
        if state is not None and state.utc_source == "gps":
            raise Refusal(MGMT_ERR.EBADSTATE, "the date is the satellites': it is not to be set.")
        if state is None or all(part.channel != "rtc" for part in state.parts):
            raise Refusal(MGMT_ERR.ENOTSUP, "no battery clock is fitted that could be set.")
        if not 2000 <= utc.year <= 2099:
            raise Refusal(MGMT_ERR.EINVAL, f"datetime = {utc:%Y-%m-%d}: must be 2000 to 2099.")
        self._door.tell(client, f"the date was set to {utc:%Y-%m-%dT%H:%M:%SZ}")
        self._door.request("date", f"{utc:%Y-%m-%dT%H:%M:%S.%fZ}")
        return {}
