// Slack's mrkdwn, rendered as DOM nodes: nothing that comes from a message is ever read as HTML.

const EMOJI = {
  rocket: "🚀", white_check_mark: "✅", heavy_check_mark: "✔️", x: "❌", warning: "⚠️", hourglass: "⌛", hourglass_flowing_sand: "⏳", "+1": "👍",
  thumbsup: "👍", eyes: "👀", fire: "🔥", tada: "🎉", no_entry: "⛔", no_entry_sign: "🚫", stop_sign: "🛑", octagonal_sign: "🛑", large_green_circle: "🟢", red_circle: "🔴",
  large_yellow_circle: "🟡", large_orange_circle: "🟠", white_circle: "⚪", black_circle: "⚫", large_blue_circle: "🔵", question: "❓", grey_question: "❔",
  information_source: "ℹ️", gear: "⚙️", wrench: "🔧", hammer_and_wrench: "🛠️", mag: "🔍", bar_chart: "📊", chart_with_upwards_trend: "📈",
  chart_with_downwards_trend: "📉", stopwatch: "⏱️", clock1: "🕐", alarm_clock: "⏰", bulb: "💡", pray: "🙏", grinning: "😀", wave: "👋", lock: "🔒", key: "🔑",
  satellite: "🛰️", computer: "💻", desktop_computer: "🖥️", package: "📦", memo: "📝", clipboard: "📋", link: "🔗", heavy_minus_sign: "➖", arrow_right: "➡️",
  arrow_up: "⬆️", arrow_down: "⬇️", small_red_triangle: "🔺", small_red_triangle_down: "🔻", repeat: "🔁", arrows_counterclockwise: "🔄", skull: "💀", zzz: "💤",
  ballot_box_with_check: "☑️", checkered_flag: "🏁", page_facing_up: "📄", robot_face: "🤖", thermometer: "🌡️", snowflake: "❄️", zap: "⚡", bell: "🔔", shield: "🛡️",
};

export function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "class") node.className = value;
    else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.filter((c) => c !== undefined && c !== null && c !== false));
  return node;
}

const unescape = (text) => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
export const emoji = (name) => EMOJI[name] ?? `:${name}:`;
export const withEmoji = (text) => text.replace(/:([a-z0-9_+-]+):/g, (all, name) => EMOJI[name] ?? all);

const safeUrl = (url) => (/^(https?:|mailto:|tel:)/i.test(url) ? url : undefined);
export const link = (url, text) => {
  const href = safeUrl(url);
  return href ? el("a", { href, target: "_blank", rel: "noreferrer noopener" }, text) : document.createTextNode(text);
};

export function mention(kind, id, names) {
  if (kind === "user") return el("span", { class: id === names.me ? "mention me" : "mention" }, `@${names.user(id)}`);
  if (kind === "channel") return el("span", { class: "mention" }, `#${names.channel(id)}`);
  if (kind === "group") return el("span", { class: "mention" }, `@${names.group(id)}`);
  return el("span", { class: "mass", title: "This notifies everybody" }, `@${id}`);
}

function angled(body, names) {
  const [target, label] = body.split(/\|(.*)/s);
  if (target.startsWith("@")) return mention("user", target.slice(1), names);
  if (target.startsWith("#")) return mention("channel", target.slice(1), names);
  if (target.startsWith("!subteam^")) return mention("group", target.slice(9), names);
  if (target.startsWith("!date^")) return document.createTextNode(dateToken(target, label));
  if (target.startsWith("!")) return mention("mass", target.slice(1), names);
  return link(unescape(target), unescape(label ?? target));
}

function dateToken(target, fallback) {
  const [, seconds, format] = target.split("^");
  const at = new Date(Number(seconds) * 1000);
  if (Number.isNaN(at.getTime())) return fallback ?? "";
  const two = (n) => String(n).padStart(2, "0");
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const words = { date_num: day, date: at.toLocaleDateString(), date_short: at.toLocaleDateString(undefined, { dateStyle: "medium" }),
    date_pretty: at.toLocaleDateString(), date_short_pretty: at.toLocaleDateString(), date_long: at.toLocaleDateString(undefined, { dateStyle: "full" }),
    date_long_pretty: at.toLocaleDateString(), time: at.toLocaleTimeString([], { hour: "numeric", minute: "2-digit" }), time_secs: at.toLocaleTimeString(), ago: "" };
  return (format ?? "").replace(/\{(\w+)\}/g, (all, key) => words[key] ?? all);
}

// bold, italic and strike only open after a non-word character and close before one, as in Slack
const INLINE = /(```[\s\S]+?```)|(`[^`\n]+`)|<([^<>\n]+)>|(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])|(?<![\w_])_(?=\S)([^_\n]+?)(?<=\S)_(?![\w_])|(?<![\w~])~(?=\S)([^~\n]+?)(?<=\S)~(?![\w~])|:([a-z0-9_+-]+):|(\n)/g;

function inline(text, names, into) {
  let place = 0;
  for (const found of text.matchAll(INLINE)) {
    if (found.index > place) into.append(unescape(text.slice(place, found.index)));
    place = found.index + found[0].length;
    const [, fence, code, body, bold, italic, strike, name, line] = found;
    if (fence) into.append(el("pre", {}, unescape(fence.slice(3, -3).replace(/^\n/, ""))));
    else if (code) into.append(el("code", {}, unescape(code.slice(1, -1))));
    else if (body) into.append(angled(body, names));
    else if (bold) into.append(inline(bold, names, el("strong")));
    else if (italic) into.append(inline(italic, names, el("em")));
    else if (strike) into.append(inline(strike, names, el("s")));
    else if (name) into.append(emoji(name));
    else if (line) into.append(el("br"));
  }
  if (place < text.length) into.append(unescape(text.slice(place)));
  return into;
}

export function mrkdwn(text, names) {
  const out = el("div", { class: "mrkdwn" });
  // quotes are lines; everything between fences is left alone
  const parts = text.split(/(```[\s\S]+?```)/);
  for (const part of parts) {
    if (part.startsWith("```")) { inline(part, names, out); continue; }
    let quote = null;
    const lines = part.split("\n");
    lines.forEach((line, index) => {
      const quoted = /^(&gt;|>) ?/.exec(line);
      if (quoted) {
        if (!quote) { quote = el("blockquote"); out.append(quote); } else quote.append(el("br"));
        inline(line.slice(quoted[0].length), names, quote);
        return;
      }
      const wasQuote = quote !== null;
      quote = null;
      if (index && !wasQuote) out.append(el("br"));
      inline(line, names, out);
    });
  }
  return out;
}
