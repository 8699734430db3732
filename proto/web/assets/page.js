// Makes a page live: takes over what its server-sent events bring, and a manifest that is dropped on
// it. Everything works without this.
"use strict";

document.documentElement.classList.add("live");  // shows what only works with this

// --- signing in: the address that a program prints has the token behind '#' ---
const login = document.getElementById("login");
const given = /^#token=([\w.~-]+)$/.exec(location.hash);
if (given) history.replaceState(null, "", location.pathname + location.search);
if (login && given) {
  login.elements.token.value = given[1];
  login.submit();
}

// --- regions: the new tree's differences are put into the old one, which keeps focus, what stands
// in fields, and what is open ---
const keptAttributes = new Set(["open"]);

function morphAttributes(old, now) {
  for (const {name, value} of now.attributes)
    if (!keptAttributes.has(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  for (const {name} of [...old.attributes])
    if (!keptAttributes.has(name) && !now.hasAttribute(name)) old.removeAttribute(name);
}

const alike = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && (a.id || "") === (b.id || "");

function morph(old, now) {
  if (now.nodeType === Node.TEXT_NODE) {
    if (old.data !== now.data) old.data = now.data;
    return;
  }
  morphAttributes(old, now);
  const byId = new Map();
  for (const child of old.children) if (child.id) byId.set(child.id, child);
  let at = old.firstChild;
  for (const child of [...now.childNodes]) {
    const same = child.id ? byId.get(child.id) : at;
    if (same && same.parentNode === old && alike(same, child)) {
      if (same === at) at = at.nextSibling;
      else old.insertBefore(same, at);
      morph(same, child);
    } else {
      old.insertBefore(child, at);
    }
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

// What stands in closed details waits until they are opened.
const unseen = new Map();

function takeRegion(old, markup) {
  const template = document.createElement("template");
  const drawn = old instanceof SVGElement;
  template.innerHTML = drawn ? `<svg>${markup}</svg>` : markup;
  const now = old.cloneNode(false);
  now.append(...(drawn ? template.content.firstChild : template.content).childNodes);
  morph(old, now);
}

function takeRegions(regions) {
  for (const [id, markup] of Object.entries(regions)) {
    const old = document.getElementById(id);
    if (!old) continue;
    if (old.closest("details:not([open])")) unseen.set(id, markup);
    else unseen.delete(id), takeRegion(old, markup);
  }
}

addEventListener("toggle", ({target}) => {
  for (const [id, markup] of unseen) {
    const old = document.getElementById(id);
    if (!target.open || !target.contains(old)) continue;
    unseen.delete(id);
    takeRegion(old, markup);
  }
}, true);

// --- the map: what a cell holds is asked for when it is pointed at, or chosen with the keys ---
const probe = document.getElementById("probe");
let askAgain = () => {};

if (probe) {
  const {from, count, per, columns} = Object.fromEntries(
    ["from", "count", "per", "columns"].map((name) => [name, Number(probe.dataset[name])]));
  const [map, cursor, cell, told, zoom] =
    ["cells", "cursor", "cell", "told", "zoom"].map((id) => document.getElementById(id));
  let chosen = -1, asked = -1, busy = false;

  const ask = async () => {
    if (busy) return;
    busy = true;
    asked = chosen;
    const first = from + asked * per;
    const range = `from=${first}&count=${Math.min(per, from + count - first)}`;
    zoom.search = range;
    try {
      const answer = await fetch(`/range?content=${encodeURIComponent(probe.dataset.content)}&${range}`);
      const text = (await answer.text()).trim();
      if (told.textContent !== text) told.textContent = text;
      cell.setAttribute("aria-valuetext", text);
    } catch {}  // the line below says that it is not connected
    busy = false;
    if (asked !== chosen) ask();
  };
  const choose = (index) => {
    if (index === chosen || !(index >= 0 && index <= Number(cell.max))) return;
    chosen = index;
    cell.value = index;
    cursor.setAttribute("x", index % columns * 10);
    cursor.setAttribute("y", Math.floor(index / columns) * 14);
    cursor.setAttribute("visibility", "visible");
    ask();
  };
  const at = ({clientX, clientY}) => {
    const {x, y} = new DOMPoint(clientX, clientY).matrixTransform(map.getScreenCTM().inverse());
    const column = Math.floor(x / 10);
    return column < 0 || column >= columns ? -1 : Math.floor(y / 14) * columns + column;
  };
  map.addEventListener("pointermove", (event) => choose(at(event)));
  map.addEventListener("click", (event) => {
    if (per > 1 && at(event) >= 0 && !event.target.closest("a")) choose(at(event)), zoom.click();
  });
  cell.addEventListener("input", () => choose(Number(cell.value)));
  cell.addEventListener("focus", () => choose(Number(cell.value)));
  cell.addEventListener("keydown", (event) => {
    const step = {ArrowUp: -columns, ArrowDown: columns}[event.key];
    if (step) event.preventDefault(), choose(Number(cell.value) + step);
    if (event.key === "Enter" && per > 1) zoom.click();
  });
  askAgain = () => { if (chosen >= 0) ask(); };
}

const live = document.getElementById("live");
const say = (text) => { if (live && live.textContent !== text) live.textContent = text; };

function connect() {
  const events = new EventSource(document.body.dataset.events);
  events.onopen = () => say("Live");
  events.onerror = () => say(events.readyState === EventSource.CLOSED
    ? "Not connected any more: reload the page, which may ask for the token again."
    : "Not connected: what is shown may be old.");
  events.onmessage = ({data}) => {
    const update = JSON.parse(data);
    if (update.failure) say(update.failure);
    if (update.regions) takeRegions(update.regions);
    askAgain();
  };
  return events;
}
if (document.body.dataset.events && window.EventSource) {
  // A page that nobody sees costs nothing.
  let events = document.hidden ? null : connect();
  document.addEventListener("visibilitychange", () => {
    if (events) events.close();
    events = document.hidden ? null : connect();
  });
}

// --- pause and resume: the page stays, and so does the focus; its next event shows what changed ---
addEventListener("submit", async (event) => {
  const {target: form, submitter} = event;
  if (!submitter || !["pause", "resume"].includes(submitter.value) || !live) return;
  event.preventDefault();
  try {
    const answer = await fetch(form.getAttribute("action"), {  // a button is called "action"
      method: "POST", redirect: "manual", body: new URLSearchParams(new FormData(form, submitter))});
    if (answer.type === "opaqueredirect") return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    say(page.querySelector("[role=alert]")?.textContent || `That was not done (${answer.status}).`);
  } catch {
    say("That was not done: the program does not answer.");
  }
});

// --- the link is copied: where the page has no clipboard, as on plain HTTP, by way of its selection ---
addEventListener("click", ({target}) => {
  if (target.id !== "copy") return;
  document.getElementById("link").select();
  target.textContent = document.execCommand("copy") ? "Copied" : "Copy";
});

// --- a manifest that is dropped goes into the form; a folder may still have to be said ---
const manifest = document.getElementById("manifest");
if (manifest) {
  const folder = document.getElementById("add-folder");
  folder.value = folder.value || localStorage.getItem("folder") || "";
  manifest.form.addEventListener("submit", () => localStorage.setItem("folder", folder.value));
  addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("drop");
  });
  addEventListener("dragleave", () => document.body.classList.remove("drop"));
  addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("drop");
    if (!event.dataTransfer.files.length) return;
    manifest.files = event.dataTransfer.files;
    document.getElementById("add").open = true;
    if (folder.value || !folder.required) manifest.form.requestSubmit();
    else folder.focus();
  });
}
