// Block Kit, rendered. `surface` says what to do: names, values, act(block, element, chosen), confirm(dialog).
import { el, emoji, link, mention, mrkdwn, withEmoji } from "/page/mrkdwn.js";

const text = (object, names) => (object.type === "mrkdwn" ? mrkdwn(object.text, names) : el("span", {}, object.emoji === false ? object.text : withEmoji(object.text)));

export function renderBlocks(blocks, surface) {
  const out = el("div", { class: "blocks" });
  // Slack shows tables as attachments, below everything else
  const ordered = [...blocks.filter((b) => b.type !== "table"), ...blocks.filter((b) => b.type === "table")];
  for (const block of ordered) out.append(renderBlock(block, surface));
  return out;
}

function renderBlock(block, surface) {
  const draw = BLOCKS[block.type];
  return draw ? draw(block, surface) : el("pre", {}, `(a block of type ${block.type})`);
}

const BLOCKS = {
  section(block, s) {
    const out = el("div", { class: "section" });
    if (block.text) out.append(el("div", { class: "text" }, text(block.text, s.names)));
    if (block.accessory) out.append(element(block, block.accessory, s));
    if (block.fields) out.append(el("div", { class: "fields" }, ...block.fields.map((f) => el("div", {}, text(f, s.names)))));
    return out;
  },
  header: (block) => el("div", { class: "header-block", role: "heading", "aria-level": "3" }, withEmoji(block.text.text)),
  divider: () => el("hr", { class: "block" }),
  context(block, s) {
    const item = (e) => (e.type === "image" ? el("img", { src: e.image_url, alt: e.alt_text }) : text(e, s.names));
    return el("div", { class: "context" }, ...block.elements.map(item));
  },
  actions: (block, s) => el("div", { class: "actions" }, ...block.elements.map((e) => element(block, e, s))),
  image(block) {
    const caption = block.title ? el("figcaption", {}, withEmoji(block.title.text)) : null;
    return el("figure", {}, caption, el("img", { src: block.image_url ?? block.slack_file?.url ?? "", alt: block.alt_text }));
  },
  rich_text: (block, s) => rich(block, s.names),
  markdown: (block, s) => el("div", { class: "rich" }, mrkdwn(block.text, s.names)),
  table(block, s) {
    const settings = block.column_settings ?? [];
    const cell = (c, i) => el("td", { class: settings[i]?.align ?? "" }, c.type === "rich_text" ? rich(c, s.names) : (c.text ?? String(c.value)));
    const rows = block.rows.map((row) => el("tr", {}, ...row.map(cell)));
    return el("div", { class: "table-wrap" }, el("table", { class: "block" }, el("tbody", {}, ...rows)));
  },
  input(block, s) {
    const field = el("label", { class: "field", "data-block": block.block_id }, el("span", {}, block.label.text + (block.optional ? " (optional)" : "")), element(block, block.element, s));
    if (block.hint) field.append(el("span", { class: "small" }, block.hint.text));
    return field;
  },
  alert: (block, s) => el("div", { class: "alert" }, text(block.text, s.names)),
  task_card: (block) => el("div", { class: "section" }, `${{ complete: "✅", in_progress: "⏳", error: "❌" }[block.status] ?? "○"} ${block.title}`),
  plan: (block, s) => el("div", {}, el("strong", {}, block.title), ...(block.tasks ?? []).map((t) => BLOCKS.task_card(t, s))),
};

function rich(block, names) {
  const out = el("div", { class: "rich" });
  for (const part of block.elements) {
    if (part.type === "rich_text_preformatted") out.append(el("pre", {}, ...part.elements.map((e) => e.text ?? e.url ?? "")));
    else if (part.type === "rich_text_quote") out.append(runs(part.elements, names, el("blockquote")));
    else if (part.type === "rich_text_list") {
      const list = el(part.style === "ordered" ? "ol" : "ul");
      for (const item of part.elements) list.append(runs(item.elements, names, el("li")));
      out.append(list);
    } else out.append(runs(part.elements, names, el("div")));
  }
  return out;
}

function runs(elements, names, into) {
  for (const e of elements) into.append(styled(run(e, names), e.style));
  return into;
}

function run(e, names) {
  if (e.type === "text") {
    const out = document.createDocumentFragment();
    e.text.split("\n").forEach((line, i) => { if (i) out.append(el("br")); out.append(line); });
    return out;
  }
  if (e.type === "link") return link(e.url, e.text ?? e.url);
  if (e.type === "user") return mention("user", e.user_id, names);
  if (e.type === "channel") return mention("channel", e.channel_id, names);
  if (e.type === "usergroup") return mention("group", e.usergroup_id, names);
  if (e.type === "broadcast") return mention("mass", e.range, names);
  if (e.type === "emoji") return document.createTextNode(emoji(e.name));
  if (e.type === "date") return document.createTextNode(e.fallback ?? new Date(e.timestamp * 1000).toLocaleString());
  return document.createTextNode("");
}

function styled(node, style = {}) {
  for (const [key, name] of [["code", "code"], ["bold", "strong"], ["italic", "em"], ["strike", "s"]]) if (style[key]) node = el(name, {}, node);
  return node;
}

// ---- elements

function element(block, e, s) {
  const draw = ELEMENTS[e.type];
  return draw ? draw(block, e, s) : el("span", { class: "small" }, `(${e.type})`);
}

// remember a choice, and tell the app when the element does that
function choose(block, e, s, chosen) {
  ((s.values[block.block_id] ??= {}))[e.action_id] = { type: e.type, ...chosen };
  if (block.type !== "input" || block.dispatch_action) s.act(block, e, chosen);
}

const keep = (block, e, s) => s.values[block.block_id]?.[e.action_id];

function options(e) {
  const all = e.options ?? (e.option_groups ?? []).flatMap((g) => g.options);
  return all;
}

function select(block, e, s, entries, make, initial) {
  const node = el("select", { class: "pick", "aria-label": e.placeholder?.text ?? e.action_id });
  node.append(el("option", { value: "" }, e.placeholder?.text ?? "Choose…"));
  for (const [value, label] of entries) node.append(el("option", { value, selected: value === initial }, label));
  node.addEventListener("change", () => choose(block, e, s, make(node.value)));
  return node;
}

const ELEMENTS = {
  button(block, e, s) {
    const node = el("button", { type: "button", class: `btn ${e.style ?? ""}`, title: e.url, "data-action": e.action_id, "aria-label": e.accessibility_label }, withEmoji(e.text.text));
    node.addEventListener("click", async () => {
      if (e.confirm && !(await s.confirm(e.confirm))) return;
      if (e.url) window.open(e.url, "_blank", "noopener");
      node.disabled = true;
      await s.act(block, e);
      setTimeout(() => { node.disabled = false; }, 700);
    });
    return node;
  },
  overflow(block, e, s) {
    return select(block, { ...e, placeholder: { text: "⋯" } }, s, e.options.map((o) => [o.value, o.text.text]), (v) => ({ selected_option: e.options.find((o) => o.value === v) }));
  },
  static_select(block, e, s) {
    const all = options(e);
    const now = keep(block, e, s)?.selected_option ?? e.initial_option;
    return select(block, e, s, all.map((o) => [o.value, o.text.text]), (v) => ({ selected_option: all.find((o) => o.value === v) ?? null }), now?.value);
  },
  multi_static_select(block, e, s) {
    const node = el("select", { class: "pick", multiple: true });
    const all = options(e);
    for (const o of all) node.append(el("option", { value: o.value }, o.text.text));
    node.addEventListener("change", () => choose(block, e, s, { selected_options: all.filter((o) => [...node.selectedOptions].some((c) => c.value === o.value)) }));
    return node;
  },
  users_select(block, e, s) {
    return select(block, e, s, s.names.people(), (v) => ({ selected_user: v || null }), keep(block, e, s)?.selected_user ?? e.initial_user);
  },
  conversations_select(block, e, s) {
    return select(block, e, s, s.names.channels(), (v) => ({ selected_conversation: v || null }), e.initial_conversation);
  },
  channels_select(block, e, s) {
    return select(block, e, s, s.names.channels(), (v) => ({ selected_channel: v || null }), e.initial_channel);
  },
  checkboxes: (block, e, s) => ticks(block, e, s, "checkbox"),
  radio_buttons: (block, e, s) => ticks(block, e, s, "radio"),
  datepicker: (block, e, s) => typed(block, e, s, "date", "selected_date", e.initial_date),
  timepicker: (block, e, s) => typed(block, e, s, "time", "selected_time", e.initial_time),
  plain_text_input(block, e, s) {
    const now = keep(block, e, s)?.value ?? e.initial_value ?? "";
    const node = e.multiline ? el("textarea", { rows: "4" }) : el("input", { type: "text" });
    node.value = now;
    node.placeholder = e.placeholder?.text ?? "";
    node.addEventListener("input", () => { ((s.values[block.block_id] ??= {}))[e.action_id] = { type: e.type, value: node.value || null }; });
    return node;
  },
  number_input: (block, e, s) => typed(block, e, s, "number", "value", e.initial_value),
  url_text_input: (block, e, s) => typed(block, e, s, "text", "value", e.initial_value),
  email_text_input: (block, e, s) => typed(block, e, s, "text", "value", e.initial_value),
};

function typed(block, e, s, type, field, initial) {
  const node = el("input", { type, class: "pick", value: keep(block, e, s)?.[field] ?? initial ?? "" });
  node.addEventListener("change", () => choose(block, e, s, { [field]: node.value || null }));
  return node;
}

function ticks(block, e, s, type) {
  const group = `${block.block_id}-${e.action_id}`;
  const first = e.initial_options ?? (e.initial_option ? [e.initial_option] : []);
  const boxes = e.options.map((o) => el("input", { type, name: group, checked: first.some((f) => f.value === o.value) }));
  const told = () => {
    const on = e.options.filter((_, i) => boxes[i].checked);
    choose(block, e, s, type === "radio" ? { selected_option: on[0] ?? null } : { selected_options: on });
  };
  boxes.forEach((b) => b.addEventListener("change", told));
  return el("div", {}, ...e.options.map((o, i) => el("label", {}, boxes[i], " ", text(o.text, s.names))));
}
