// Shows what has been found out, and what has happened: the questions' answers, and the timeline.

import { baseName, element, fillList, find, plainText } from "./dom.js";
import { appendPicture } from "./picture_view.js";
import { VirtualList } from "./virtual_list.js";

const PAGE = 500;
const EVENTS_MOST = 20_000;
const BEFORE_TEXT = 40; // characters of an event's time, kind and member
const KINDS = ["stop", "resume", "breakpoint_hit", "logpoint", "condition_error", "crash", "exit", "adapter", "control"];

/** The evidence: each question that was asked, with its answer as it was. */
export class EvidenceView {
  /** `onShow({file, line})` shows a place that an answer names. */
  constructor({ connection, onShow }) {
    this.connection = connection;
    this.onShow = onShow;
    this.answers = [];
    this.chosen = null;
  }

  /** Shows the list; returns how many are new. */
  update(answers) {
    const known = new Set(this.answers.map((one) => one.id));
    const fresh = answers.filter((one) => !known.has(one.id)).length;
    this.answers = answers;
    find("evidence-count").textContent = answers.length ? String(answers.length) : "";
    fillList(find("evidence"), [answers, this.chosen], () => answers.toReversed().map((one) =>
      element("li", { "data-key": one.id }, element("button", {
        class: "plain answer", "aria-current": one.id === this.chosen ? "true" : null, onclick: () => this.choose(one.id),
      },
      element("span", { class: "command" }, shortCommand(one)),
      element("span", { class: "summary" }, plainText(one.summary, 300)),
      element("span", { class: "faint" }, `${one.id} · ${one.time.slice(11, 19)}${one.stale?.length ? " · sources have changed" : ""}`)))));
    find("no-evidence").hidden = answers.length > 0;
    return fresh;
  }

  async choose(id) {
    this.chosen = id;
    this.update(this.answers);
    const panel = find("answer");
    try {
      const found = await this.connection.command("evidence_show", null, { number: id });
      if (this.chosen !== id) return;
      const about = this.answers.find((one) => one.id === id);
      const command = about?.command ?? "";
      const picture = element("div", { class: "drawn" });
      const text = element("pre", {}, found.text.split("\n").map((line) => plainText(line)).join("\n"));
      const title = element("h2", {}, element("code", {}, plainText(command || id, 1000)));
      const isTree = found.is_drawn && /^debugger path\b/.test(command);
      panel.replaceChildren(
        // A chart has the command as its own title; a tree of calls says the same as its text.
        ...(found.is_drawn && !isTree ? [picture, title] : [title, picture]),
        isTree ? element("details", {}, element("summary", {}, "The answer as text"), text) : text,
      );
      panel.scrollTop = 0;
      if (found.is_drawn) await appendPicture(picture, id, command, { read: (number) => this.connection.readPicture(number), onShow: this.onShow });
    } catch (error) {
      panel.replaceChildren(element("p", { class: "problem" }, error.message));
    }
  }
}

/** Returns a command without the words that each has, and the folder that it ran in. */
function shortCommand(one) {
  return plainText(one.command.replace(/^debugger /, "").replaceAll(`${one.cwd}/`, ""), 300);
}

/** The timeline without output, which has a view of its own. */
export class TimelineView {
  /** `labelOf(session)` names a member of a group; nothing for any other process. */
  constructor({ connection, onShow, labelOf }) {
    this.connection = connection;
    this.onShow = onShow;
    this.labelOf = labelOf;
    this.events = [];
    this.longest = 0;
    this.cursor = 0;
    this.isShown = false;
    this.container = find("timeline");
    this.list = new VirtualList(this.container, { height: 20, render: (row, at) => this.render(row, at) });
    this.container.addEventListener("click", (event) => {
      const one = this.events[event.target.closest(".row")?.dataset.at];
      if (one?.file) this.onShow(one);
    });
  }

  clear() {
    this.events = [];
    this.longest = 0;
    this.cursor = 0;
    this.list.setCount(0);
  }

  setShown(isShown, session) {
    this.isShown = isShown;
    if (isShown) this.update(session);
  }

  /** Loads what is new, if the timeline is in view. */
  async update(session) {
    if (!this.isShown || !session) return;
    if (this.isLoading) {
      this.isLate = true;
      return;
    }
    this.isLoading = true;
    try {
      let page;
      do {
        this.isLate = false;
        const since = this.cursor;
        page = await this.connection.command("events", session, { since: String(since), limit: PAGE, kinds: KINDS });
        if (since !== this.cursor) break; // cleared meanwhile
        this.events.push(...page.events);
        for (const one of page.events) this.longest = Math.max(this.longest, eventText(one).length);
        this.cursor = page.next;
      } while (page.events.length === PAGE || this.isLate);
    } catch {
      // The session has ended, or the connection: both are shown above all.
    } finally {
      this.isLoading = false;
    }
    this.list.setWidth(this.longest + BEFORE_TEXT);
    if (this.events.length > EVENTS_MOST) this.events.splice(0, this.events.length - EVENTS_MOST);
    const follows = this.list.isAtEnd();
    this.list.setCount(this.events.length);
    if (follows) requestAnimationFrame(() => this.list.showEnd());
  }

  render(row, at) {
    const one = this.events[at];
    row.className = "row event";
    row.dataset.at = at;
    row.replaceChildren();
    if (!one) return;
    const passed = (one.time_ns - this.events[0].time_ns) / 1e9;
    const member = one.member ?? this.labelOf(one.session);
    row.classList.toggle("link", Boolean(one.file));
    row.append(
      element("span", { class: "faint when" }, `${passed.toFixed(3)} s`),
      element("span", { class: "kind", "data-kind": one.kind }, one.kind.replaceAll("_", " ")),
      ...(member ? [element("span", { class: "member-name" }, plainText(member, 20))] : []),
      element("span", { class: "text" }, eventText(one)),
    );
  }
}

function eventText({ text, function: name, file, line }) {
  const place = file ? `${baseName(file)}:${line}` : "";
  return plainText([text, name ? `in ${name}` : "", place].filter(Boolean).join(" "), 300);
}
