// Modals and confirmation dialogs.
import { el, mrkdwn, withEmoji } from "/page/mrkdwn.js";
import { renderBlocks } from "/page/blocks.js";
import { tell } from "/page/server.js";

const modal = document.getElementById("modal");
const question = document.getElementById("confirm");
let shown = null;

export function askFirst(dialog, names) {
  return new Promise((resolve) => {
    const done = (yes) => { question.close(); resolve(yes); };
    const body = dialog.text.type === "mrkdwn" ? mrkdwn(dialog.text.text, names) : el("p", {}, withEmoji(dialog.text.text));
    question.replaceChildren(
      el("div", { class: "head" }, dialog.title.text),
      el("div", { class: "inside" }, body),
      el("div", { class: "foot" },
        el("button", { class: "btn", onclick: () => done(false) }, dialog.deny.text),
        el("button", { class: `btn ${dialog.style === "danger" ? "danger solid" : "primary"}`, onclick: () => done(true) }, dialog.confirm.text)));
    question.oncancel = () => done(false);
    question.showModal();
  });
}

// show a person's topmost modal, or none
export function showModal(views, me, names) {
  const view = views?.at(-1);
  if (!view) { shown = null; modal.close(); return; }
  if (shown && shown.id === view.id && shown.hash === view.hash) return;
  shown = view;
  const values = {};
  const surface = {
    names,
    values,
    confirm: (dialog) => askFirst(dialog, names),
    act: (block, element, chosen) => tell("click", { user: me, view_id: view.id, action: element.action_id, chosen, values }),
  };
  const body = el("div", { class: "inside" }, renderBlocks(view.blocks, surface));
  const close = () => tell("close", { user: me, view_id: view.id });
  const send = async () => {
    const answer = await tell("submit", { user: me, view_id: view.id, values });
    body.querySelectorAll(".error").forEach((e) => e.remove());
    if (answer.timeout) body.prepend(el("p", { class: "error" }, "We had some trouble connecting. Try again?"));
    for (const [block, words] of Object.entries(answer.errors ?? {})) body.querySelector(`[data-block="${CSS.escape(block)}"]`)?.append(el("span", { class: "error" }, words));
  };
  modal.replaceChildren(
    el("div", { class: "head" }, view.title.text),
    body,
    el("div", { class: "foot" },
      el("button", { class: "btn", onclick: close }, view.close?.text ?? "Close"),
      view.submit ? el("button", { class: "btn primary", onclick: send }, view.submit.text) : null));
  modal.oncancel = (event) => { event.preventDefault(); close(); };
  if (!modal.open) modal.showModal();
}
