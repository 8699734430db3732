// Makes a page live: takes over what its server-sent events bring, and a manifest that is dropped on
// it. Everything works without this.
"use strict";

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

function takeRegions(regions) {
  for (const [id, markup] of Object.entries(regions)) {
    const old = document.getElementById(id);
    if (!old) continue;
    const template = document.createElement("template");
    template.innerHTML = markup;
    const now = old.cloneNode(false);
    now.append(template.content);
    morph(old, now);
  }
}

// --- the map: a few cells at a time, so that nothing else waits ---
let waiting = [];
let mapCells = null;

function takeCells() {
  const began = performance.now();
  while (waiting.length && performance.now() - began < 8) {
    const [index, style, title] = waiting.shift();
    const cell = mapCells[index];
    if (!cell) continue;
    if (cell.getAttribute("class") !== style) cell.setAttribute("class", style);
    const named = cell.firstChild;
    if (named && named.textContent !== title) named.textContent = title;
  }
  if (waiting.length) requestAnimationFrame(takeCells);
}

function queueCells(more) {
  mapCells = mapCells || [...document.querySelectorAll("#cells rect")];
  const idle = waiting.length === 0;
  waiting = waiting.concat(more);
  if (idle) requestAnimationFrame(takeCells);
}

const live = document.getElementById("live");
const say = (text) => { if (live && live.textContent !== text) live.textContent = text; };

function connect() {
  const events = new EventSource(document.body.dataset.events);
  events.onopen = () => say("Live");
  events.onerror = () => say("Not connected: what is shown may be old.");
  events.onmessage = ({data}) => {
    const update = JSON.parse(data);
    if (update.failure) say(update.failure);
    if (update.regions) takeRegions(update.regions);
    if (update.cells) queueCells(update.cells);
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

// --- a manifest that is dropped goes into the form; the folder is still to be said ---
const manifest = document.getElementById("manifest");
if (manifest) {
  const folder = document.getElementById("folder");
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
    if (folder.value) manifest.form.requestSubmit();
    else folder.focus();
  });
}
