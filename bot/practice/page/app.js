// The page: channels, messages, thread, composer, and who you are.
import { el, mrkdwn, withEmoji } from "/page/mrkdwn.js";
import { renderBlocks } from "/page/blocks.js";
import { askFirst, showModal } from "/page/dialogs.js";
import { addExchange, setSwitch, startInspector } from "/page/inspector.js";
import { follow, snapshot, tell } from "/page/server.js";

const $ = (id) => document.getElementById(id);
// the feed is opened first, so that nothing falls between it and the snapshot
const waiting = [];
let onEvent = (event) => waiting.push(event);
let opened = false;
follow((event) => onEvent(event), () => {
  // after a break the snapshot is out of date: start over
  if (opened) location.reload();
  opened = true;
});
const state = await snapshot();
const users = new Map(state.users.map((u) => [u.id, u]));
const channels = new Map(state.channels.map((c) => [c.id, { ...c, unread: 0 }]));
// shown to one person only: kept in this page, gone when it is loaded again
const whispers = [];
const homes = state.homes;
const modals = state.modals;
const used = new Set();
let me = localStorage.getItem("me") ?? "U0ANA";
let here = "C0SERVING";
let thread = null;
let tab = "messages";
// the person's own message whose thread opens by itself when the bot answers
let awaited = null;

const names = {
  get me() { return me; },
  user: (id) => users.get(id)?.real_name ?? id,
  channel: (id) => channels.get(id)?.name ?? id,
  group: (id) => state.groups.find((g) => g.id === id)?.handle ?? id,
  people: () => [...users.values()].filter((u) => !u.is_bot).map((u) => [u.id, u.real_name]),
  channels: () => visible().filter((c) => c.kind !== "im").map((c) => [c.id, `#${c.name}`]),
};
const visible = () => [...channels.values()].filter((c) => c.members.includes(me));
const title = (c) => (c.kind === "im" ? names.user(state.bot) : c.name);
const clock = (ts) => new Date(Number(ts) * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

// ---- messages

const values = new Map();
function surface(channel, message) {
  const key = `${channel}/${message.ts}`;
  if (!values.has(key)) values.set(key, {});
  const kept = values.get(key);
  return {
    names,
    values: kept,
    confirm: (dialog) => askFirst(dialog, names),
    act: (block, element, chosen) => tell("click", { user: me, channel, ts: message.ts, action: element.action_id, chosen, values: Object.keys(kept).length ? kept : undefined }),
  };
}

function avatar(user) {
  const index = [...users.keys()].indexOf(user?.id) % 6;
  const letters = (user?.real_name ?? "?").split(" ").map((w) => w[0]).join("").slice(0, 2);
  return el("div", { class: `avatar c${index < 0 ? 5 : index}`, "aria-hidden": "true" }, letters);
}

function drawMessage(channel, message, inThread) {
  const user = users.get(message.user);
  if (message.subtype === "channel_join") return el("div", { class: "message joined", "data-ts": message.ts }, mrkdwn(message.text, names));
  const content = el("div", { class: "content" });
  const only = message.is_ephemeral || message.whispered;
  content.append(el("div", { class: "only" }, "👁 Only visible to you"));
  const head = el("div", {}, el("span", { class: "who" }, user?.real_name ?? message.user), user?.is_bot ? el("span", { class: "app" }, "APP") : null,
    el("time", { title: message.ts }, clock(message.ts)));
  content.append(head);
  if (/<!(channel|here|everyone)/.test(JSON.stringify([message.text, message.blocks])) && user?.is_bot) content.append(el("div", { class: "loud" }, "This message notifies everybody"));
  const typed = message.blocks?.[0]?.block_id === "typed";
  if (message.blocks?.length && !typed) content.append(renderBlocks(message.blocks, surface(channel, message)));
  else if (message.text) content.append(mrkdwn(message.text, names));
  for (const attachment of message.attachments ?? []) content.append(attachment.blocks ? renderBlocks(attachment.blocks, surface(channel, message)) : mrkdwn(attachment.text ?? attachment.fallback ?? "", names));
  for (const file of message.files ?? []) content.append(drawFile(file));
  if (message.edited) (content.lastElementChild ?? content).append(el("span", { class: "edited" }, "(edited)"));
  if (message.reactions?.length) content.append(el("div", { class: "reactions" }, ...message.reactions.map((r) => el("span", {}, `${withEmoji(`:${r.name}:`)} ${r.count}`))));
  if (message.invite) content.append(el("div", { class: "actions" }, el("button", { class: "btn primary", onclick: () => tell("invite", { user: me, channel }) }, "Invite them")));
  if (!inThread && message.reply_count) {
    content.append(el("button", { class: "thread-link", onclick: () => openThread(channel, message.ts) }, `${message.reply_count} ${message.reply_count === 1 ? "reply" : "replies"}`, el("span", {}, `Last at ${clock(message.latest_reply)}`)));
  }
  const out = el("div", { class: `message${only ? " mine-only" : ""}`, "data-ts": message.ts }, avatar(user), content);
  if (!inThread && !only) out.append(el("div", { class: "tools" }, el("button", { onclick: () => openThread(channel, message.ts) }, "Reply in thread")));
  return out;
}

function drawFile(file) {
  const box = el("div", { class: "file" }, el("a", { href: file.url_private, target: "_blank", rel: "noreferrer" }, `📎 ${file.title}`), el("span", { class: "small" }, ` ${file.name}, ${Math.ceil(file.size / 1024)} kB`));
  if (file.mimetype.startsWith("image/")) box.append(el("figure", {}, el("img", { src: file.url_private, alt: file.alt_txt ?? file.title })));
  else fetch(file.url_private).then((r) => r.text()).then((t) => box.append(el("pre", {}, t.split("\n").slice(0, 12).join("\n"))));
  return box;
}

const isTop = (m) => !m.thread_ts || m.thread_ts === m.ts || m.subtype === "thread_broadcast";
const whispered = (channel, top, root) => whispers.filter((w) => w.user === me && w.channel === channel && (top ? !w.message.thread_ts : w.message.thread_ts === root)).map((w) => ({ ...w.message, whispered: true }));
const byTime = (a, b) => (a.ts < b.ts ? -1 : 1);

function drawList(box, channel, list, inThread) {
  const low = box.scrollHeight - box.scrollTop - box.clientHeight < 80;
  const old = new Map([...box.querySelectorAll(":scope > [data-ts]")].map((n) => [n.dataset.ts, n]));
  const nodes = list.map((m) => {
    const mark = JSON.stringify(m);
    const there = old.get(m.ts);
    if (there?.mark === mark && there.who === me) return there;
    const node = drawMessage(channel, m, inThread);
    node.mark = mark;
    node.who = me;
    return node;
  });
  return { nodes, low };
}

function place(box, nodes, low) {
  // nodes that are there already stay where they are: what somebody is choosing or reading is not disturbed
  const wanted = new Set(nodes);
  for (const child of [...box.children]) if (!wanted.has(child)) child.remove();
  nodes.forEach((node, i) => { if (box.children[i] !== node) box.insertBefore(node, box.children[i] ?? null); });
  if (low) box.scrollTop = box.scrollHeight;
}

function drawChannel() {
  const channel = channels.get(here);
  const list = [...channel.messages.filter(isTop), ...whispered(here, true)].sort(byTime);
  const { nodes, low } = drawList($("messages"), here, list, false);
  place($("messages"), list.length ? nodes : [welcome(channel)], low);
}

function drawThread() {
  $("thread").hidden = !thread;
  if (!thread) return;
  const list = channels.get(thread.channel).messages.filter((m) => m.ts === thread.ts || m.thread_ts === thread.ts);
  const all = [...list, ...whispered(thread.channel, false, thread.ts)].sort(byTime);
  const { nodes, low } = drawList($("replies"), thread.channel, all, true);
  $("thread-where").textContent = channels.get(thread.channel).kind === "im" ? "" : `#${channels.get(thread.channel).name}`;
  const line = el("div", { class: "divider-line" }, all.length > 1 ? `${all.length - 1} ${all.length === 2 ? "reply" : "replies"}` : "no reply yet");
  place($("replies"), [nodes[0], line, ...nodes.slice(1)].filter(Boolean), low);
}

function welcome(channel) {
  if (channel.id !== "C0SERVING") return el("p", { class: "empty" }, channel.members.includes(state.bot) ? "No messages yet." : "The bot is not in this channel. Mention it and see what happens.");
  const step = (...words) => el("li", {}, ...words);
  return el("div", { class: "welcome" },
    el("h2", {}, "The whole job in two minutes"),
    el("p", {}, "This page stands in for Slack, and the hosts for GPU servers reached by SSH. The bot is the real one."),
    el("ol", {},
      step("Click the first sentence below. The bot looks at the host, shows the plan and starts the server; its thread opens here."),
      step("Watch the progress, then the measured speed and the comparison with last time."),
      step("Ask it to stop the server. That needs an approval: switch to ", el("strong", {}, "Bob"), " at the top right and press the button."),
      step("Try the others: a host on which the start fails, and one where a training job holds the GPUs.")));
}

// ---- frame

function drawSide() {
  const item = (c) => {
    const mark = c.kind === "im" ? "🤖" : c.kind === "group" ? "🔒" : "#";
    const button = el("button", { "aria-current": String(c.id === here), onclick: () => go(c.id) }, el("span", {}, mark), el("span", {}, title(c)), c.unread ? el("span", { class: "count" }, String(c.unread)) : null);
    return el("li", { class: c.unread ? "unread" : "", "data-channel": c.id }, button);
  };
  $("channels").replaceChildren(...visible().filter((c) => c.kind !== "im").map(item));
  $("directs").replaceChildren(...visible().filter((c) => c.kind === "im").map(item));
  $("hosts").replaceChildren(...(state.notes.hosts ?? []).map((h) => el("li", {}, h.name, el("span", { class: "small" }, h.gpus))));
}

function drawBar() {
  const channel = channels.get(here);
  $("channel-name").textContent = channel.kind === "im" ? title(channel) : `${channel.kind === "group" ? "🔒" : "#"} ${title(channel)}`;
  $("channel-topic").textContent = [channel.topic?.value, channel.ext_shared ? "shared with another company" : ""].filter(Boolean).join(" · ");
  $("tabs").hidden = channel.kind !== "im";
  const onHome = channel.kind === "im" && tab === "home";
  $("tab-messages").setAttribute("aria-selected", String(!onHome));
  $("tab-home").setAttribute("aria-selected", String(onHome));
  $("home").hidden = !onHome;
  for (const id of ["messages", "suggestions", "composer"]) $(id).hidden = onHome;
  document.querySelector("#composer textarea").placeholder = channel.kind === "im" ? "Message the bot" : `Message #${channel.name}`;
}

function drawHome() {
  const view = homes[me];
  if (!view) { $("home").replaceChildren(el("p", { class: "empty" }, "The app has published no Home for you yet.")); return; }
  const kept = {};
  const act = (block, element, chosen) => tell("click", { user: me, view_id: view.id, action: element.action_id, chosen, values: kept });
  $("home").replaceChildren(renderBlocks(view.blocks, { names, values: kept, act, confirm: (d) => askFirst(d, names) }));
}

function drawSuggestions() {
  const left = state.suggestions.filter((s) => !used.has(s));
  const press = (text) => { used.add(text); send($("composer"), text, null); drawSuggestions(); };
  const chip = (text, i) => el("button", { type: "button", class: i ? "" : "first", title: "Send this sentence", onclick: () => press(text) }, text);
  $("suggestions").replaceChildren(...left.map(chip));
  if (state.notes.hint) $("suggestions").append(el("span", { class: "small hint" }, state.notes.hint));
}

function drawMe() {
  const people = [...users.values()].filter((u) => !u.is_bot);
  $("me").replaceChildren(...people.map((u) => el("option", { value: u.id, selected: u.id === me }, `${u.real_name} – ${u.role}`)));
}

function draw() {
  drawSide();
  drawBar();
  drawChannel();
  drawThread();
  if (tab === "home") drawHome();
  showModal(modals[me], me, names);
}

function go(id) {
  here = id;
  channels.get(id).unread = 0;
  tab = "messages";
  if (thread && thread.channel !== id) thread = null;
  $("messages").replaceChildren();
  menu(false);
  draw();
  $("messages").scrollTop = $("messages").scrollHeight;
  if (channels.get(id).kind === "im") tell("home", { user: me, tab: "messages" });
}

function openThread(channel, ts) {
  thread = { channel, ts };
  $("replies").replaceChildren();
  $("thread-status").hidden = true;
  drawThread();
  $("replies").scrollTop = $("replies").scrollHeight;
  if (matchMedia("(min-width: 761px)").matches) document.querySelector("#thread-composer textarea").focus();
}

function become(user) {
  me = user;
  localStorage.setItem("me", user);
  if (!channels.get(here)?.members.includes(me)) { here = visible()[0].id; thread = null; }
  drawMe();
  draw();
}

function menu(open) {
  $("side").classList.toggle("open", open);
  $("menu").setAttribute("aria-expanded", String(open));
}

// ---- doing

async function send(form, text, threadTs) {
  const answer = await tell("say", { user: me, channel: threadTs ? thread.channel : here, text, thread_ts: threadTs ?? undefined });
  if (!answer.ok) alert(answer.error);
  if (answer.ts && !threadTs) {
    awaited = answer.ts;
    // the bot may have been quicker than the answer to this call
    const there = channels.get(here).messages.some((m) => m.thread_ts === awaited && users.get(m.user)?.is_bot);
    if (there) { awaited = null; openThread(here, answer.ts); }
  }
  $("messages").scrollTop = $("messages").scrollHeight;
}

for (const id of ["composer", "thread-composer"]) {
  const form = $(id);
  const box = form.querySelector("textarea");
  const submit = () => {
    const text = box.value.trim();
    if (!text) return;
    box.value = "";
    box.style.height = "";
    send(form, text, id === "thread-composer" ? thread.ts : null);
  };
  form.onsubmit = (event) => { event.preventDefault(); submit(); };
  box.onkeydown = (event) => { if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); submit(); } };
  box.oninput = () => { box.style.height = "auto"; box.style.height = `${Math.min(box.scrollHeight, 160)}px`; };
}
$("close-thread").onclick = () => { thread = null; drawThread(); };
$("me").onchange = () => become($("me").value);
$("menu").onclick = () => menu(!$("side").classList.contains("open"));
$("tab-messages").onclick = () => { tab = "messages"; draw(); };
$("tab-home").onclick = () => { tab = "home"; tell("home", { user: me, tab: "home" }); draw(); };
const theme = (name) => { document.documentElement.dataset.theme = name; localStorage.setItem("theme", name); };
theme(localStorage.getItem("theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
$("theme").onclick = () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");

// ---- changes from the server

function connected(count) {
  $("bot-state").className = `pill ${count ? "on" : "off"}`;
  $("bot-state").textContent = count ? "bot connected" : "bot not connected";
}

const ON = {
  message({ channel: id, message }) {
    const channel = channels.get(id);
    if (!channel) return;
    const there = channel.messages.findIndex((m) => m.ts === message.ts);
    if (there >= 0) { channel.messages[there] = message; draw(); return; }
    channel.messages.push(message);
    const root = message.thread_ts;
    if (root && root !== message.ts && root === awaited && users.get(message.user)?.is_bot) { awaited = null; openThread(id, root); }
    if (id !== here && message.user !== me) channel.unread += 1;
    if (root && root === thread?.ts) $("thread-status").hidden = true;
    drawSide();
    if (id === here) drawChannel();
    if (id === thread?.channel) drawThread();
  },
  message_changed({ channel: id, message }) {
    const list = channels.get(id)?.messages ?? [];
    const at = list.findIndex((m) => m.ts === message.ts);
    if (at >= 0) list[at] = message;
    if (id === here) drawChannel();
    if (id === thread?.channel) drawThread();
  },
  message_deleted({ channel: id, message }) {
    const channel = channels.get(id);
    channel.messages = channel.messages.filter((m) => m.ts !== message.ts);
    draw();
  },
  ephemeral(event) {
    const at = whispers.findIndex((w) => w.user === event.user && w.message.ts === event.message.ts);
    if (at >= 0) whispers[at] = event; else whispers.push(event);
    draw();
  },
  ephemeral_deleted(event) {
    const at = whispers.findIndex((w) => w.user === event.user && w.message.ts === event.ts);
    if (at >= 0) whispers.splice(at, 1);
    draw();
  },
  home({ user, view }) { homes[user] = view; if (tab === "home") drawHome(); },
  modals({ user, views }) { modals[user] = views; if (user === me) showModal(views, me, names); },
  channel({ channel, members }) { Object.assign(channels.get(channel.id), channel, { members }); draw(); },
  status({ thread_ts, status }) {
    if (thread?.ts !== thread_ts) return;
    $("thread-status").hidden = !status;
    $("thread-status").textContent = `${names.user(state.bot)} ${status}`;
  },
  connections: ({ count }) => connected(count),
  traffic: ({ entry }) => addExchange(entry),
  switch: ({ name, on }) => setSwitch(name, on),
};

const permalink = /\/archives\/(\w+)\/p(\d{10})(\d{6})/.exec(location.pathname);
if (permalink && channels.has(permalink[1])) {
  here = permalink[1];
  const ts = `${permalink[2]}.${permalink[3]}`;
  const found = channels.get(here).messages.find((m) => m.ts === ts);
  if (found) thread = { channel: here, ts: found.thread_ts ?? ts };
}
if (!channels.get(here).members.includes(me)) here = visible()[0].id;
connected(state.connections);
startInspector(state);
drawMe();
drawSuggestions();
draw();
$("messages").scrollTop = $("messages").scrollHeight;
onEvent = (event) => ON[event.type]?.(event);
waiting.forEach(onEvent);
