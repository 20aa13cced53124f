"""Power cuts: the real writer in a virtual machine, on a disk that forgets what was not flushed.

disk.py      a network block device with a volatile cache; it keeps the timeline of its writes
machine.py   Debian's kernel in QEMU, on this machine's own files, with that disk
writing.py   what runs in there: the journal's writer, and what it says is safe
mounting.py  those disks, mounted one after another
faults.py    what runs in there for test_disk_faults.py, on a disk that stalls, fills and fails
states.py    every disk that a power cut may have left, and what the journal on it must hold
"""
