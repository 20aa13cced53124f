"""The receiver of the benchmarks: a process of its own that writes sentences to a descriptor.

`python -m bench.writer FD MODE COUNT STAMPS`: makes its sentences, says "ready", and begins at a
line on its input. Into STAMPS it writes, for each RMC, the `time.monotonic_ns()` just before its
end was written, as int64.

rmc      an RMC alone 100 times a second, written whole; 60 and 40 mph in turn
paced    six sentences 10 times a second, 8 bytes at a time at the pace of 115,200 baud, as a
         UART's FIFO hands them on; 60 and 40 mph in turn
stream   the same pace, a ride; what nobody takes is lost, as on a wire
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from array import array
from pathlib import Path

from bench import sentences

FIFO_BYTES = 8
BYTES_PER_S = 115_200 / 10
RMC_HZ = 100.0
EPOCH_HZ = 10.0


def chunks(octets: bytes) -> list[bytes]:
    """Pieces of at most 8 bytes; the last has 8, so that it holds the checksum's last digit."""
    first = len(octets) % FIFO_BYTES
    cuts = range(first, len(octets), FIFO_BYTES)
    return [octets[:first]] * bool(first) + [octets[cut : cut + FIFO_BYTES] for cut in cuts]


def _sleep_until(due_ns: int) -> None:
    left_ns = due_ns - time.monotonic_ns()
    if left_ns > 0:
        time.sleep(left_ns / 1e9)


def write_whole(descriptor: int, lines: list[bytes], stamps: array[int]) -> None:
    """One line a period, each in one write."""
    begin_ns = time.monotonic_ns()
    for number, line in enumerate(lines):
        _sleep_until(begin_ns + round(number * 1e9 / RMC_HZ))
        stamps.append(time.monotonic_ns())
        os.write(descriptor, line)


def write_paced(descriptor: int, epochs: list[list[bytes]], stamps: array[int]) -> None:
    """One epoch a period, at the line's pace; the stamp is that of the RMC's last chunk."""
    begin_ns = time.monotonic_ns()
    for number, epoch in enumerate(epochs):
        due_ns = begin_ns + round(number * 1e9 / EPOCH_HZ)
        for place, sentence in enumerate(epoch):
            *before, last = chunks(sentence)
            for chunk in before:
                due_ns = _write(descriptor, chunk, due_ns)
            _sleep_until(due_ns)
            if place == 0:
                stamps.append(time.monotonic_ns())
            due_ns = _write(descriptor, last, due_ns)


def _write(descriptor: int, chunk: bytes, due_ns: int) -> int:
    """Writes at the due instant; returns when the line is free again."""
    _sleep_until(due_ns)
    with contextlib.suppress(BlockingIOError):  # nobody reads, and a wire does not wait
        os.write(descriptor, chunk)
    return due_ns + round(len(chunk) / BYTES_PER_S * 1e9)


def main(descriptor: int, mode: str, count: int, path: Path) -> None:
    stamps = array("q")
    if mode == "stream":
        os.set_blocking(descriptor, False)
        epochs = [six for _, six in sentences.riding(count / EPOCH_HZ, EPOCH_HZ)]
    else:
        epochs = list(sentences.alternating(count, RMC_HZ if mode == "rmc" else EPOCH_HZ))
    print("ready", flush=True)
    sys.stdin.readline()
    if mode == "rmc":
        write_whole(descriptor, [epoch[0] for epoch in epochs], stamps)
    else:
        write_paced(descriptor, epochs, stamps)
    path.write_bytes(stamps.tobytes())


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]))
