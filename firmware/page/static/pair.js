// Pairing with the code on the glass, and what a paired phone may ask of the unit.

const at = (id) => document.getElementById(id);
let isPaired = false;
let countdown = 0;

/** Asks the server; returns its answer, or throws an Error with its words. */
async function ask(path, content = {}) {
  let answer;
  try {
    answer = await fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(content),
      cache: "no-store",
    });
  } catch {
    throw new Error("The unit's server is not there.");
  }
  const said = await answer.json().catch(() => ({}));
  if (answer.status === 401) setPaired(false);
  if (!answer.ok) throw new Error(said.what || `The server answered ${answer.status}.`);
  return said;
}

export function setPaired(paired) {
  const had = document.activeElement;
  const wasHere = had !== null && had.closest(".deck") !== null && paired !== isPaired;
  isPaired = paired;
  at("paired").hidden = !paired;
  at("unpaired").hidden = paired;
  if (wasHere) at(paired ? "acknowledge" : "pair-open").focus();
}

/** Lets only be asked for what can be: nothing while the unit is not heard. */
export function setAlive(isAlive, frame) {
  const loud = isAlive && frame.alerts.some((one) => !one.is_acknowledged);
  setOff("acknowledge", !loud);
  for (const id of ["mark-person", "mark-shanty", "pair-open"]) setOff(id, !isAlive);
  setOff("report", !(isAlive && frame.is_by_dwelling));
  if (!isAlive && at("pair").open) at("pair").close();
}

// Not `disabled`: a button that has the keyboard's focus must not lose it to a change of the ride.
function setOff(id, isOff) {
  at(id).setAttribute("aria-disabled", String(isOff));
}

function isOff(id) {
  return at(id).getAttribute("aria-disabled") === "true";
}

async function doAsk(id, content, done) {
  if (isOff(id)) return;
  try {
    await ask("/ask", content);
    say(done);
  } catch (fault) {
    say(fault.message);
  }
}

let silence = 0;

function say(words) {
  at("answer").textContent = words;
  window.clearTimeout(silence);
  silence = window.setTimeout(() => { at("answer").textContent = ""; }, 6000);
}

async function begin() {
  if (isOff("pair-open")) return;
  try {
    const offer = await ask("/pair");
    at("code").value = "";
    at("pair-answer").textContent = "";
    at("pair").showModal();
    at("code").focus();
    window.clearTimeout(countdown);
    countdown = window.setTimeout(() => {
      at("pair-answer").textContent = "That code is over. Cancel, and ask for a new one.";
    }, offer.valid_s * 1000);
  } catch (fault) {
    say(fault.message);
  }
}

async function enter(event) {
  event.preventDefault();
  const code = at("code").value;
  if (!/^[0-9]{4}$/.test(code)) {
    at("pair-answer").textContent = "Enter the four digits that the glass shows.";
    return;
  }
  try {
    await ask("/pair/code", { code });
    at("pair").close("paired");
    setPaired(true); // the focus has gone back to where the dialog was opened, and goes on from there
    say("Paired. This phone may acknowledge and mark.");
  } catch (fault) {
    at("code").value = "";
    at("pair-answer").textContent = fault.message;
    at("code").focus();
  }
}

function press(event) {
  const key = event.target.closest("button");
  if (key === null || !/^[0-9]$/.test(key.textContent)) return;
  const code = at("code");
  code.value = (code.value + key.textContent).slice(0, 4);
}

function leave() {
  window.clearTimeout(countdown);
  if (at("pair").returnValue !== "paired") ask("/pair/cancel").catch(() => {});
  at("pair").returnValue = "";
}

export function begins() {
  at("pair-open").addEventListener("click", begin);
  at("pair-form").addEventListener("submit", enter);
  at("pair-cancel").addEventListener("click", () => at("pair").close());
  at("pair").addEventListener("close", leave);
  at("keys").addEventListener("click", press);
  at("rub").addEventListener("click", () => { at("code").value = at("code").value.slice(0, -1); });
  at("code").addEventListener("input", () => { at("code").value = at("code").value.replace(/[^0-9]/g, ""); });
  at("acknowledge").addEventListener("click", () => doAsk("acknowledge", { do: "acknowledge" }, "Acknowledged."));
  at("mark-person").addEventListener("click", () => doAsk("mark-person", { do: "mark", argument: "person" }, "Asked to mark a person here."));
  at("mark-shanty").addEventListener("click", () => doAsk("mark-shanty", { do: "mark", argument: "shanty" }, "Asked to mark a shanty here."));
  at("report").addEventListener("click", () => doAsk("report", { do: "report" }, "Kept for the maker of the map. It still warns."));
  at("unpair").addEventListener("click", async () => {
    await ask("/unpair").catch(() => {});
    setPaired(false);
    say("This phone is no longer paired.");
  });
}
