"""Debian's kernel in QEMU, with this machine's own files to read and a volatile disk to write on.

No image is built and nothing is installed: the kernel and its modules lie in a folder as their
package has them, and the guest reads programs, Python and this checkout over 9p. It is emulated
(no KVM), so it runs everywhere, about ten times slower.
"""

from __future__ import annotations

import lzma
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from powercut.disk import VolatileDisk

ROOT = Path(__file__).parent.parent.parent
KERNEL = ROOT / "build" / "kernel"
"""Where `.ci/run` unpacks Debian's linux-image package; a desk's own kernel serves as well."""

PROGRAMS = ("qemu-system-x86_64", "busybox", "mke2fs", "cpio")
DISK_MB = 12
"""A run writes about 1 MB; each crash state copies all of it."""
MODULES = ("virtio_pci", "virtio_blk", "9pnet_virtio", "9p", "ext4", "crc32c_generic")

_MOUNT = '/bin/busybox mount -t ext4 /dev/vda /host/mnt || echo "no disk"'

_INIT = """#!/bin/busybox sh
/bin/busybox mount -t proc none /proc
/bin/busybox mount -t devtmpfs none /dev
for module in {modules}; do
    /bin/busybox insmod /modules/$module || echo "insmod $module failed"
done
/bin/busybox mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=262144 host /host
/bin/busybox mount -t proc none /host/proc
/bin/busybox mount -t devtmpfs none /host/dev
{mount}
/bin/busybox stty -F /dev/ttyS1 raw 115200
/bin/busybox chroot /host /usr/bin/env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH={path} \\
    {python} {command}
echo "the guest's program ended with $?"
/bin/busybox poweroff -f
"""


def missing() -> str:
    """What this machine lacks to run the guest, in one line; empty where nothing is missing."""
    lacking = [one for one in PROGRAMS if shutil.which(one, path=_path()) is None]
    if lacking:
        return f"needs {', '.join(lacking)}"
    if os.geteuid() != 0:
        return "needs root, to mount the disks that a cut left"
    try:
        _kernel()
    except FileNotFoundError as fault:
        return str(fault)
    return ""


def _path() -> str:
    return f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


def _kernel() -> tuple[Path, Path]:
    """The packed kernel and the folder of its modules: those in KERNEL, else this machine's own."""
    for top in (KERNEL, Path("/")):
        for modules in sorted(top.glob("lib/modules/*/kernel"), reverse=True):
            image = top / "boot" / f"vmlinuz-{modules.parent.name}"
            if image.exists() and os.access(image, os.R_OK):
                return image, modules
    raise FileNotFoundError("needs Debian's linux-image unpacked in build/kernel, as .ci/run does")


def empty_disk(folder: Path) -> bytes:
    """A new ext4 file system as a memory card has one."""
    path = folder / "empty.img"
    with path.open("wb") as image:
        image.truncate(DISK_MB * 1024 * 1024)
    subprocess.run(
        ["mke2fs", "-q", "-t", "ext4", "-E", "lazy_itable_init=0,lazy_journal_init=0", str(path)],
        check=True, env={**os.environ, "PATH": _path()},
    )  # fmt: skip
    return path.read_bytes()


def run(
    disk: VolatileDisk,
    program: Path,
    arguments: Sequence[str],
    folder: Path,
    *,
    mappers: Sequence[str] = (),
) -> str:
    """Runs a Python program in the guest, its disk at /mnt; gives what the guest printed.

    With `mappers`, modules of the device mapper, the program mounts its disk itself.
    Each line that the program writes on /dev/ttyS1 is a number that it promises.
    """
    with tempfile.TemporaryDirectory(prefix="cut") as short:  # a socket's path must be short
        sockets = Path(short)
        disk_at, promises_at = sockets / "disk", sockets / "promises"
        command = " ".join([str(program), *arguments])
        listener = disk.serve(disk_at)
        promises = socket.socket(socket.AF_UNIX)
        promises.bind(str(promises_at))
        promises.listen()
        hearing = threading.Thread(target=_hear, args=(promises, disk), daemon=True)
        hearing.start()
        image, modules = _kernel()
        done = subprocess.run(
            [
                "qemu-system-x86_64", "-M", "q35", "-accel", "tcg,thread=multi", "-cpu", "max",
                "-m", "384", "-nodefaults", "-no-reboot", "-display", "none",
                "-kernel", str(_unpacked(image, folder)),
                "-initrd", str(_first_files(modules, command, folder, mappers)),
                "-append", "console=ttyS0 quiet no_timer_check panic=-1 rdinit=/init",
                "-serial", "stdio", "-serial", f"unix:{promises_at}",
                "-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,"
                           "multidevs=remap",
                "-drive", f"file=nbd:unix:{disk_at},format=raw,if=none,id=card,cache=writeback",
                "-device", "virtio-blk-pci,drive=card,write-cache=on",
            ],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip
        listener.close()
        hearing.join(10.0)
        promises.close()
    return done.stdout + done.stderr


def _hear(promises: socket.socket, disk: VolatileDisk) -> None:
    client, _ = promises.accept()
    with client, client.makefile("rb") as lines:
        for line in lines:
            disk.promise(int(line))


def _unpacked(image: Path, folder: Path) -> Path:
    """The kernel without its compression: the emulated machine would take six seconds for it.

    The fields are those of the kernel's x86 boot protocol: setup_sects at 0x1f1, the payload's
    place and length at 0x248. A payload that is not xz is left to the guest.
    """
    packed = image.read_bytes()
    start, length = struct.unpack_from("<II", packed, 0x248)
    start += (packed[0x1F1] + 1) * 512
    try:
        kernel = lzma.LZMADecompressor().decompress(packed[start : start + length])
    except lzma.LZMAError:
        return image
    path = folder / "vmlinux"
    path.write_bytes(kernel)
    return path


def _first_files(modules: Path, command: str, folder: Path, mappers: Sequence[str]) -> Path:
    """The guest's first files: busybox, the modules in their order, and its init."""
    tree = folder / "first"
    for name in ("bin", "proc", "dev", "host", "modules"):
        (tree / name).mkdir(parents=True, exist_ok=True)
    busybox = shutil.which("busybox", path=_path())
    assert busybox is not None
    shutil.copy(busybox, tree / "bin" / "busybox")
    files = {path.stem.replace("-", "_"): path for path in modules.rglob("*.ko")}
    wanted: list[str] = []
    for name in (*MODULES, *mappers):
        _require(name, files, wanted)
    for name in wanted:
        shutil.copy(files[name], tree / "modules" / f"{name}.ko")
    init = _INIT.format(
        mount="" if mappers else _MOUNT,
        modules=" ".join(f"{name}.ko" for name in wanted),
        path=f"{ROOT}:{ROOT / 'tests'}",
        python=sys.executable,
        command=command,
    )
    (tree / "init").write_text(init)
    (tree / "init").chmod(0o755)
    names = "\n".join(str(path.relative_to(tree)) for path in sorted(tree.rglob("*")))
    archive = subprocess.run(
        ["cpio", "-o", "-H", "newc", "--quiet"],
        input=names.encode(), capture_output=True, cwd=tree, check=True,
    ).stdout  # fmt: skip
    path = folder / "first.cpio"
    path.write_bytes(archive)
    return path


def _require(name: str, files: dict[str, Path], wanted: list[str]) -> None:
    """Puts a module behind all that it depends on, as its own `depends=` says; one that is built
    into the kernel has no file."""
    if name in wanted or name not in files:
        return
    found = re.search(rb"\0depends=([^\0]*)\0", files[name].read_bytes())
    needs = found[1].decode().split(",") if found else []
    for other in filter(None, needs):
        _require(other.replace("-", "_"), files, wanted)
    wanted.append(name)
