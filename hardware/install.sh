#!/bin/sh
# Installs sledwarden on Raspberry Pi OS (bookworm or later), from a clone of the repository:
#
#     sudo sh hardware/install.sh
#
# Safe to run again, and how a unit is updated: it keeps /etc/sledwarden/sledwarden.toml and the
# journal as they are. ROOT=/some/folder lays the files under that folder instead, and leaves this
# machine's packages, users and services alone.

set -eu

ROOT=${ROOT:-}
HERE=$(cd "$(dirname "$0")" && pwd)
SOURCE=$(dirname "$HERE")
VENV=$ROOT/opt/sledwarden/venv
BEGIN='# >>> sledwarden'
END='# <<< sledwarden'

say() { printf 'install.sh: %s\n' "$*"; }
stop() { printf 'install.sh: %s\n' "$*" >&2; exit 1; }

[ "$(id -u)" = 0 ] || [ -n "$ROOT" ] || stop 'this is not root: run it as sudo sh hardware/install.sh.'
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    stop 'python3 is older than 3.11: Raspberry Pi OS bookworm or later is needed.'

if [ -z "$ROOT" ]; then
    say 'packages'
    # the system's lgpio: PyPI has no wheel of it for every Python that Raspberry Pi OS ships
    apt-get install -y --no-install-recommends python3-venv python3-lgpio tzdata

    say 'user and groups'
    for group in dialout gpio i2c; do
        getent group "$group" >/dev/null || groupadd --system "$group"
    done
    getent passwd sledwarden >/dev/null ||
        adduser --system --group --no-create-home --home /var/lib/sledwarden sledwarden
    for group in dialout gpio i2c; do
        adduser --quiet sledwarden "$group"
    done
fi

say 'programs'
mkdir -p "$ROOT/opt/sledwarden"
[ -x "$VENV/bin/python" ] || python3 -m venv --system-site-packages "$VENV"
"$VENV/bin/pip" install --quiet --upgrade "$SOURCE[unit]"

say 'configuration'
mkdir -p "$ROOT/etc/sledwarden"
if [ -e "$ROOT/etc/sledwarden/sledwarden.toml" ]; then
    say "$ROOT/etc/sledwarden/sledwarden.toml is kept"
else
    install -m 0644 "$HERE/sledwarden.toml" "$ROOT/etc/sledwarden/sledwarden.toml"
fi

# the service port puts a configuration there that a person brings
[ -n "$ROOT" ] || chown sledwarden:sledwarden /etc/sledwarden /etc/sledwarden/sledwarden.toml

say 'boot'
BOOT=$ROOT/boot/firmware
[ -d "$BOOT" ] || BOOT=$ROOT/boot
if [ -f "$BOOT/config.txt" ]; then
    # our block is taken out and laid anew, so that a second run changes nothing
    sed "/^$BEGIN/,/^$END/d" "$BOOT/config.txt" >"$BOOT/config.txt.new"
    { printf '%s\n[all]\n' "$BEGIN"; cat "$HERE/config.txt"; printf '%s\n' "$END"; } >>"$BOOT/config.txt.new"
    mv "$BOOT/config.txt.new" "$BOOT/config.txt"
else
    say "no $BOOT/config.txt: this is not a Raspberry Pi; its lines are in hardware/config.txt"
fi
if [ -f "$BOOT/cmdline.txt" ]; then
    # the kernel's console would talk to the GPS receiver
    sed -i -E 's/console=(serial0|ttyAMA0|ttyS0)(,[0-9]+)? ?//g' "$BOOT/cmdline.txt"
fi
mkdir -p "$ROOT/etc/modules-load.d"
echo i2c-dev >"$ROOT/etc/modules-load.d/sledwarden.conf"

say 'services'
mkdir -p "$ROOT/etc/systemd/system" "$ROOT/etc/systemd/system.conf.d" "$ROOT/etc/udev/rules.d"
install -m 0644 "$HERE/systemd/sledwardend.service" "$HERE/systemd/sledwarden-dash.service" \
    "$HERE/systemd/sledwarden-link.service" "$HERE/systemd/sledwarden-page.service" \
    "$ROOT/etc/systemd/system/"
install -m 0644 "$HERE/systemd/10-sledwarden-watchdog.conf" "$ROOT/etc/systemd/system.conf.d/"
install -m 0644 "$HERE/systemd/60-sledwarden.rules" "$ROOT/etc/udev/rules.d/"
if [ -z "$ROOT" ]; then
    udevadm control --reload
    systemctl daemon-reload
    systemctl enable sledwardend.service sledwarden-dash.service sledwarden-link.service
    # the page is for who wants it: systemctl enable --now sledwarden-page
    systemctl try-restart sledwarden-page.service
    systemctl restart sledwardend.service sledwarden-dash.service sledwarden-link.service
fi

say 'done: restart the Pi once, then look for the green light'
