// Joins the rows, the map and the plot. Without it the page stands as it is.
"use strict";
(() => {
  document.documentElement.classList.add("js");
  const told = JSON.parse(document.getElementById("samples").textContent);
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const svg = (name) => document.createElementNS("http://www.w3.org/2000/svg", name);

  // Each map: buttons to come nearer, a drag to move, a dot that follows the plot.
  const maps = [...document.querySelectorAll("svg.map")].map((map) => {
    const [wide, high] = [Number(map.dataset.w), Number(map.dataset.h)];
    const ghost = svg("g"), pinned = svg("g"), dot = svg("circle");
    ghost.setAttribute("class", "ghost");
    pinned.setAttribute("class", "px");
    dot.setAttribute("r", "6");
    pinned.append(dot);
    ghost.append(pinned);
    ghost.setAttribute("hidden", "");
    map.append(ghost);
    const view = { x: 0, y: 0, by: 1 };
    const show = () => {
      view.by = Math.min(64, Math.max(1, view.by));
      const [w, h] = [wide / view.by, high / view.by];
      view.x = Math.min(wide - w, Math.max(0, view.x));
      view.y = Math.min(high - h, Math.max(0, view.y));
      map.setAttribute("viewBox", `${view.x} ${view.y} ${w} ${h}`);
      const px = map.getBoundingClientRect().width;
      map.style.setProperty("--k", (w / px) * (px < 600 ? 0.75 : 1));
      map.querySelector(".scalebar").style.display = view.by > 1 ? "none" : "";
      map.querySelector(".north").style.display = view.by > 1 ? "none" : "";
    };
    const zoom = (by, cx = view.x + wide / view.by / 2, cy = view.y + high / view.by / 2) => {
      view.by = Math.min(64, Math.max(1, by));
      view.x = cx - wide / view.by / 2;
      view.y = cy - high / view.by / 2;
      show();
    };
    const box = document.createElement("div");
    box.className = "zoom";
    for (const [word, name, act] of [
      ["+", "Nearer", () => zoom(view.by * 2)],
      ["\u2212", "Further", () => zoom(view.by / 2)],
      ["All", "All of the map", () => zoom(1, 0, 0)],
    ]) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = word;
      button.title = name;
      button.setAttribute("aria-label", name);
      button.addEventListener("click", act);
      box.append(button);
    }
    map.parentElement.append(box);
    let held = null;
    map.addEventListener("pointerdown", (press) => {
      if (view.by > 1 && !press.target.closest("a")) {
        held = [press.clientX, press.clientY, view.x, view.y];
        map.setPointerCapture(press.pointerId);
      }
    });
    map.addEventListener("pointermove", (move) => {
      if (!held) return;
      const metres = wide / view.by / map.getBoundingClientRect().width;
      view.x = held[2] - (move.clientX - held[0]) * metres;
      view.y = held[3] - (move.clientY - held[1]) * metres;
      show();
    });
    for (const end of ["pointerup", "pointercancel"]) map.addEventListener(end, () => (held = null));
    addEventListener("resize", show);
    addEventListener("beforeprint", () => {
      map.setAttribute("viewBox", `0 0 ${wide} ${high}`);
      map.style.removeProperty("--k");
    });
    show();
    return { map, ghost, zoom, wide };
  });

  // One exceedance is chosen at a time, in the table, on the map and in the plot.
  const choose = (number, from) => {
    for (const one of document.querySelectorAll(".on")) one.classList.remove("on");
    const row = document.getElementById(`row-${number}`);
    const mark = document.getElementById(`map-${number}`);
    const band = document.getElementById(`plot-${number}`);
    for (const one of [row, mark, band]) if (one) one.classList.add("on");
    if (mark) {
      const place = /translate\(([-\d.]+) ([-\d.]+)\)/.exec(mark.getAttribute("transform"));
      const one = maps.find((other) => other.map.contains(mark));
      mark.parentElement.append(mark); // drawn last, so it lies on top
      one.map.append(one.ghost);
      if (from === "row") one.zoom(Math.max(1, one.wide / 1500), Number(place[1]), Number(place[2]));
    }
    const goal = from === "row" ? (mark ? mark.closest("figure") : band && band.closest(".chart")) : row;
    if (goal) goal.scrollIntoView({ behavior: still ? "auto" : "smooth", block: from === "row" ? "start" : "center" });
    if (from !== "row" && row) row.focus({ preventScroll: true });
  };
  document.addEventListener("click", (click) => {
    const row = click.target.closest("tr[data-n]");
    const mark = click.target.closest("g.mark");
    const band = click.target.closest("rect.band");
    const one = row || mark || band;
    if (!one || (row && String(getSelection()))) return;
    click.preventDefault();
    choose(one.id.split("-")[1], row ? "row" : "picture");
  });

  // The plot is read by pointing at it: the nearest fix, its limit, its time, its place.
  const plot = document.getElementById("plot");
  const chart = plot.closest(".chart");
  const read = document.getElementById("read");
  const before = read.textContent;
  const cursor = document.createElement("div");
  cursor.className = "cursor";
  cursor.hidden = true;
  chart.append(cursor);
  const two = (number) => String(number).padStart(2, "0");
  const time = (x) => {
    const piece = told.pieces.find((one) => x <= one[1]) || told.pieces[told.pieces.length - 1];
    if (!piece || piece[2] === null) return "no date";
    const local = new Date(piece[2] + (x - piece[0]) * told.ms);
    return `${two(local.getUTCHours())}:${two(local.getUTCMinutes())}:${two(local.getUTCSeconds())} ${piece[3]}`;
  };
  const hide = () => {
    cursor.hidden = true;
    read.textContent = before;
    for (const one of maps) one.ghost.setAttribute("hidden", "");
  };
  chart.addEventListener("pointermove", (move) => {
    const box = plot.getBoundingClientRect();
    const x = ((move.clientX - box.left) / box.width) * told.wide;
    if (x < 0 || x > told.wide || !told.x.length) return hide();
    let [low, high] = [0, told.x.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (told.x[middle] < x) low = middle; else high = middle;
    }
    const near = x - told.x[low] < told.x[high] - x ? low : high;
    cursor.hidden = false;
    cursor.style.left = `${move.clientX - chart.getBoundingClientRect().left}px`;
    for (const one of maps) one.ghost.setAttribute("hidden", "");
    if (Math.abs(told.x[near] - x) > told.wide / 60) {
      read.textContent = `${time(x)}: no fix`;
      return;
    }
    const limit = told.limit[near];
    read.textContent = `${time(told.x[near])}: ${told.mph[near].toFixed(1)} mph \u00b1 ${told.error[near].toFixed(1)}, `
      + (limit === null ? "no speed limit judged here" : `limit ${limit} mph`);
    const one = maps[told.map[near]];
    if (one) {
      one.ghost.setAttribute("transform", `translate(${told.mx[near]} ${told.my[near]})`);
      one.ghost.removeAttribute("hidden");
    }
  });
  chart.addEventListener("pointerleave", hide);
})();
