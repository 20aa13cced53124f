"""Benchmarks beside peers: `make bench`, or `python -m bench [SUBJECT...] [--quick] [--json FILE]`.

How to read the tables:

- Figures are medians, and peers run in turn with the product in the same run, so read the ratios:
  on a machine that others use the milliseconds move by half from run to run, the ratios by a
  tenth. Below 1.3 call it a tie. The load of the last minute stands under each table; over the
  number of cores, the tails (p99, max) are the neighbours', not the program's.
- Nothing here is measured on a Pi, an SD card or a real UART: a Pi Zero 2 W is guessed at twelve
  times this machine's CPU time.
- No test depends on a figure.

step       what a judged fix costs beside `pynmea2.parse` of one sentence: by day, under the limit,
           over it, among zones
replay     rides judged again, beside a bare pynmea2 loop over the same sentences
startup    exec to the first judged fix, beside `python -c pass`
imports    which packages the start is made of
footprint  memory, CPU and journal of the running daemon, beside the naive loop
latency    end of a sentence to the red pin, beside the naive loop: pyserial's `readline`,
           `pynmea2.parse`, the same monitor and the same lights
gpsd       end of a sentence to our pin and our feed, beside gpsd's JSON client on the same line
receivers  how near each recording's oracle we and a bare pynmea2 loop come
parsing    what a sentence costs us, pynmea2 and gpsdecode, over all recordings
desk       records verified a second, a ride's report, beside bare SHA-256
download   the service port beside smpmgr and ZMODEM, paced and unpaced
page       from the sentence to the pixel in Chromium

The whole takes about a quarter of an hour, `--quick` two minutes.
"""
