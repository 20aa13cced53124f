// The stream of frames, and whether what it says may still be shown as alive.
//
// Frames tell how old the unit's state was when they were sent, and the instant of sending on the
// server's clock. What lay in a buffer of the network comes late: the clocks' difference shows it.

const STALE_MS = 2000;
const TICK_MS = 100;
const RETRY_MS = 1000;
const PATIENCE_MS = 4000;
const ASLEEP_MS = 1500; // more than this between two ticks: the browser or the phone slept
const DRIFT = 0.001; // how fast two clocks may part: a thousand times what a crystal does

/** Follows `/events`; `show` gets a frame, or null with why nothing may be shown. */
export function follow({ hello, show }) {
  let source = null;
  let retry = 0;
  let frame = null;
  let madeMs = 0; // when the unit made that frame, on this browser's clock
  let heardMs = performance.now(); // when the server was last heard
  let triedMs = 0; // when the connection was last tried
  let quickest = Infinity; // the least that this clock was ahead of the server's
  let quickestMs = 0;
  let server = ""; // which process that clock is of
  let life = "";
  let tickMs = Date.now(); // the date goes on while a phone sleeps; performance.now() may not

  function open() {
    close();
    triedMs = performance.now();
    source = new EventSource("/events");
    source.addEventListener("hello", (event) => greet(JSON.parse(event.data)));
    source.addEventListener("message", (event) => take(JSON.parse(event.data)));
    source.addEventListener("error", lose);
  }

  function close() {
    window.clearTimeout(retry);
    if (source !== null) source.close();
    source = null;
  }

  function lose() {
    close();
    heardMs = -Infinity;
    check();
    retry = window.setTimeout(open, RETRY_MS);
  }

  function greet(said) {
    if (said.server !== server) quickest = Infinity; // another clock
    server = said.server;
    hello(said);
  }

  function take(said) {
    const nowMs = performance.now();
    const ahead = nowMs - said.sent_s * 1000;
    quickest = Math.min(quickest + (nowMs - quickestMs) * DRIFT, ahead);
    quickestMs = nowMs;
    const lateMs = ahead - quickest;
    heardMs = nowMs - lateMs;
    madeMs = nowMs - lateMs - said.age_s * 1000;
    frame = said;
    life = ""; // a frame is always shown anew
    check();
  }

  function check() {
    const nowMs = performance.now();
    let now = "live";
    if (nowMs - heardMs >= STALE_MS) now = "no-page";
    else if (frame === null) return; // just begun
    else if (frame.life !== "live" || nowMs - madeMs >= STALE_MS) now = "no-unit";
    if (now === life) return;
    life = now;
    show(now, now === "no-page" ? null : frame);
  }

  function tick() {
    const nowMs = performance.now();
    const wasAsleep = Math.abs(Date.now() - tickMs) > ASLEEP_MS;
    tickMs = Date.now();
    if (wasAsleep && source !== null) {
      heardMs = -Infinity;
      open();
    }
    // One that does not connect, or is then silent, is tried anew.
    if (source !== null && life === "no-page" && nowMs - triedMs > PATIENCE_MS) lose();
    check();
  }

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      close(); // a browser has few connections to a server: a hidden page needs none
      heardMs = -Infinity;
      check();
    } else {
      open();
    }
  });
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) open();
  });
  window.setInterval(tick, TICK_MS);
  open();
}
