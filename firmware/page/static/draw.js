// Puts a frame on the page. Every word goes in as text: nothing that is told becomes markup.

const SVG = "http://www.w3.org/2000/svg";
const DEAD = {
  "no-unit": ["NO UNIT", "Nothing is watched."],
  "no-page": ["NO CONTACT", "This page has lost the unit's server. Look at the glass."],
};

const at = (id) => document.getElementById(id);
const root = document.documentElement;
let spoken = "";

/** Sets a text where it has changed, so that a screen reader hears changes alone. */
function put(id, text) {
  const element = at(id);
  if (element.textContent !== text) element.textContent = text;
}

function make(name, className, text) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

function picture(name, className) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", className);
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#${name}`);
  svg.append(use);
  return svg;
}

/** Makes a list anew where what it shows has changed. */
function list(id, items, item) {
  const key = JSON.stringify(items);
  const element = at(id);
  if (element.dataset.key === key) return;
  element.dataset.key = key;
  element.replaceChildren(...items.map(item));
}

/** Says what a rider must hear now; the same words are said once. */
function speak(words) {
  if (words === spoken) return;
  spoken = words;
  put("loud", words);
}

export function drawFrame(frame) {
  root.dataset.life = "live";
  root.dataset.level = frame.level;
  root.dataset.flash = frame.is_flashing ? "yes" : "no";
  root.dataset.light = frame.is_dark === null ? "" : frame.is_dark ? "night" : "day";
  const [first, ...others] = frame.alerts;
  put("clock", frame.clock || "--:--");
  drawModes(frame.modes);
  drawWords(first, frame);
  drawFigures(first, frame);
  // what is not watched has a list of its own
  const listed = others.filter((one) => !one.is_blind);
  at("more").hidden = listed.length === 0;
  list("alerts", listed, alertItem);
  at("blind").hidden = frame.not_watched.length === 0;
  list("not-watched", frame.not_watched, blindItem);
  list("signs", frame.signs, signItem);
  drawGlass(frame.glass, glassWords(first, frame));
  at("prompt").hidden = frame.prompt === "";
  put("prompt", frame.prompt === "" ? "" : `The glass says: ${frame.prompt.replace("\n", " ")}`);
  document.title = title(first, frame);
  speak(first && !first.is_acknowledged ? `${first.lines.join(". ")}. ${first.why}.` : "");
}

/** Shows that nothing here is alive: no figure, no word and no picture of before is left. */
export function drawDead(life, frame) {
  const [words, what] = DEAD[life];
  const trouble = frame === null ? "" : frame.trouble || "";
  root.dataset.life = life;
  root.dataset.level = "dead";
  root.dataset.flash = "no";
  root.dataset.loud = "no";
  put("dead-words", words);
  put("dead-what", what);
  put("dead-why", trouble);
  put("clock", "--:--");
  drawModes([]);
  put("speed", "--");
  at("speed").dataset.digits = "2";
  at("plate").hidden = true;
  for (const id of ["limit", "limit-why", "limit-clause", "speed-why"]) put(id, "");
  for (const id of ["more", "blind", "prompt", "words", "because"]) at(id).hidden = true;
  put("words", "");
  put("because", "");
  put("prompt", "");
  list("alerts", [], alertItem);
  list("not-watched", [], blindItem);
  const signs = ["Head lamp", "Tail lamp", "Tether", "Engine", "GPS", "Clock", "Journal"];
  const kinds = ["head", "tail", "tether", "engine", "gps", "clock", "journal"];
  const dead = signs.map((name, n) => ({ kind: kinds[n], name, word: "--", mark: "plain" }));
  list("signs", dead, signItem);
  drawGlass(frame === null || frame.life === "live" ? "" : frame.glass, words);
  document.title = `${words} - sledwarden`;
  speak(`${words}. ${what}`);
}

function drawModes(modes) {
  at("modes").hidden = modes.length === 0;
  list("modes", modes, (mode) => make("li", "", mode));
}

function drawWords(first, frame) {
  const isLoud = first !== undefined && !first.is_acknowledged;
  root.dataset.loud = isLoud ? "yes" : "no";
  at("watch").hidden = isLoud;
  at("words").hidden = !isLoud;
  at("because").hidden = !isLoud;
  at("watch").dataset.watching = frame.is_watching ? "yes" : "no";
  put("watch-word", watchWord(first, frame));
  if (isLoud) {
    list("words", first.lines, (line) => make("span", "", line));
    const longest = Math.max(...first.lines.map((line) => line.length));
    at("words").style.setProperty("--letters", Math.max(longest, 7));
  } else {
    list("words", [], make);
  }
  put("because", isLoud ? reason(first) : "");
}

function watchWord(first, frame) {
  if (first !== undefined) return `Acknowledged: ${first.lines.join(" ")}`;
  return frame.is_watching ? "Watching" : "Not watching";
}

/** A citation that no line end cuts: a word joiner between its brackets. */
function cite(clause) {
  return clause.replaceAll(")(", ")\u2060(");
}

function reason(alert) {
  const law = alert.law === "" ? cite(alert.clause) : `${alert.law}, ${cite(alert.clause)}`;
  return law === "" ? alert.why : `${alert.why} · ${law}`;
}

function drawFigures(first, frame) {
  const isLoud = first !== undefined && !first.is_acknowledged;
  const isSaid = isLoud && (first.clause === frame.limit_clause || frame.limit === null);
  const speed = frame.speed === null ? "--" : String(frame.speed);
  put("speed", speed);
  at("speed").dataset.known = frame.speed === null ? "no" : "yes";
  at("speed").dataset.digits = String(Math.max(2, speed.length));
  at("plate").hidden = frame.limit === null;
  at("plate").dataset.over = frame.is_over ? "yes" : "no";
  put("limit", frame.limit === null ? "" : String(frame.limit));
  // what the alert says itself is not said again below it
  put("limit-why", isSaid ? "" : frame.limit_why);
  put("limit-clause", isSaid ? "" : cite(frame.limit_clause));
  put("speed-why", isLoud && frame.speed === null ? "" : frame.speed_why);
}

function alertItem(alert) {
  const item = make("li");
  item.dataset.level = alert.level;
  item.append(picture(alert.level === "calm" ? "mark-unknown" : "mark-bad", "mark"));
  const words = make("p", "alert-words", alert.lines.join(" "));
  if (alert.is_acknowledged) words.append(make("span", "seen", " acknowledged"));
  item.append(words, make("p", "alert-why", reason(alert)));
  return item;
}

function blindItem(blind) {
  const item = make("li");
  item.append(picture("mark-unknown", "mark"), make("p", "alert-words", blind.duty));
  item.append(make("p", "alert-why", blind.clause === "" ? blind.why : `${blind.why} · ${cite(blind.clause)}`));
  return item;
}

function signItem(sign) {
  const item = make("li");
  item.dataset.mark = sign.mark;
  item.append(picture(`kind-${sign.kind}`, "kind"));
  item.append(make("span", "sign-name", sign.name), make("span", "sign-word", sign.word));
  item.append(picture(`mark-${sign.mark}`, "mark"));
  return item;
}

function glassWords(first, frame) {
  const parts = ["The glass:"];
  if (first) parts.push(first.lines.join(" "));
  else if (frame.prompt) parts.push(frame.prompt.replace("\n", " "));
  parts.push(frame.speed === null ? "no speed" : `${frame.speed} miles an hour`);
  if (frame.limit !== null) parts.push(`limit ${frame.limit}`);
  return parts.join(" ");
}

function title(first, frame) {
  const speed = frame.speed === null ? "--" : frame.speed;
  if (first && !first.is_acknowledged) return `${first.lines.join(" ")} - sledwarden`;
  return `${speed} mph - sledwarden`;
}

let shown = null;

/** Draws the glass's dots, each row of 128 in 16 bytes; nothing at all for an empty text. */
function drawGlass(dots, words) {
  const canvas = at("glass");
  if (canvas.getAttribute("aria-label") !== words) canvas.setAttribute("aria-label", words);
  if (dots === shown) return;
  shown = dots;
  const pen = canvas.getContext("2d");
  const image = pen.createImageData(128, 64);
  const bytes = atob(dots);
  for (let place = 0; place < bytes.length * 8; place += 1) {
    const isLit = (bytes.charCodeAt(place >> 3) >> (7 - (place & 7))) & 1;
    image.data.set(isLit ? [255, 244, 214, 255] : [6, 8, 10, 255], place * 4);
  }
  pen.putImageData(image, 0, 0);
}
