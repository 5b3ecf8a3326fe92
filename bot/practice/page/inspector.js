// Raw traffic, what Slack would have refused, and the switches of the workspace.
import { el } from "/page/mrkdwn.js";
import { tell } from "/page/server.js";

const $ = (id) => document.getElementById(id);
const MOST = 400;
const entries = [];
let view = "traffic";
let switches = {};

export function startInspector(state) {
  entries.push(...state.traffic);
  switches = state.switches;
  const open = (on) => { $("inspector").hidden = !on; $("inspect").setAttribute("aria-expanded", String(on)); if (on) draw(); };
  $("inspect").onclick = () => open($("inspector").hidden);
  $("close-inspector").onclick = () => open(false);
  for (const name of ["traffic", "refused", "switches"]) $(`show-${name}`).onclick = () => { view = name; draw(); };
  count();
}

export function addExchange(entry) {
  if (entries.some((e) => e.number === entry.number)) return;
  entries.push(entry);
  if (entries.length > MOST) entries.shift();
  count();
  if ($("inspector").hidden || view === "switches") return;
  if (view === "traffic" || entry.refusal) {
    const body = $("inspector-body");
    body.querySelector(".empty")?.remove();
    body.prepend(row(entry));
  }
}

export function setSwitch(name, on) {
  switches[name] = on;
  if (view === "switches" && !$("inspector").hidden) draw();
}

function count() {
  const refused = entries.filter((e) => e.refusal).length;
  $("refused-count").hidden = refused === 0;
  $("refused-count").textContent = refused;
}

function draw() {
  for (const name of ["traffic", "refused", "switches"]) $(`show-${name}`).setAttribute("aria-selected", String(view === name));
  const body = $("inspector-body");
  if (view === "switches") { body.replaceChildren(switchBoard()); return; }
  const shown = entries.filter((e) => view === "traffic" || e.refusal).reverse();
  body.replaceChildren(...shown.map(row));
  if (!shown.length) body.append(el("p", { class: "empty" }, view === "refused" ? "Nothing. Slack would have taken every call so far." : "No traffic yet."));
}

function row(entry) {
  const time = new Date(entry.at * 1000).toLocaleTimeString([], { hourCycle: "h23" });
  const short = entry.refusal ? el("span", { class: "bad" }, entry.refusal) : el("span", { class: "dim" }, glance(entry));
  const out = el("details", { class: "exchange" }, el("summary", {}, el("span", { class: "dim" }, time), el("span", { class: "dim" }, entry.kind), el("strong", {}, entry.name), short));
  out.addEventListener("toggle", () => {
    if (!out.open || out.querySelector("pre")) return;
    out.append(el("pre", {}, JSON.stringify(entry.request, null, 2)));
    if (entry.response !== null) out.append(el("pre", {}, JSON.stringify(entry.response, null, 2)));
  }, { once: false });
  return out;
}

function glance(entry) {
  const body = entry.request ?? {};
  const inner = body.payload?.event ?? body.payload ?? body;
  return String(inner.text ?? inner.type ?? inner.envelope_id ?? "").slice(0, 120);
}

function switchBoard() {
  const tick = (name, words) => {
    const box = el("input", { type: "checkbox", checked: switches[name] });
    box.onchange = () => tell("switch", { name, on: box.checked });
    return el("label", {}, box, words);
  };
  const press = (words, verb, body) => el("button", { class: "btn", onclick: () => tell(verb, body) }, words);
  return el("div", { class: "switches" },
    tick("rate_limits", "Rate limits: about one post a second per channel, 50 edits a minute (429 with Retry-After)"),
    tick("scopes", "Scopes: calls need what the manifest grants"),
    tick("user_groups", "User groups: off answers plan_upgrade_required, as on a free plan"),
    el("div", { class: "actions" },
      press("Disconnect the bot now", "disconnect", { reason: "refresh_requested" }),
      press("Warn of a disconnect", "disconnect", { reason: "warning" }),
      press("Next post: 429", "limit", { method: "chat.postMessage" }),
      press("Next edit: 429", "limit", { method: "chat.update" })));
}
