// The live page: the stream of frames drives what is drawn and what may be asked.

import { drawDead, drawFrame } from "/static/draw.js";
import { begins, setAlive, setPaired } from "/static/pair.js";
import { follow } from "/static/stream.js";

begins();
follow({
  hello(said) {
    setPaired(said.is_paired);
    document.getElementById("unit").textContent = said.unit || "sledwarden";
  },
  show(life, frame) {
    if (life === "live") drawFrame(frame);
    else drawDead(life, frame);
    setAlive(life === "live", frame);
  },
});
