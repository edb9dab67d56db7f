// Shows a group: its members as a grid by state, and their stacks merged into one tree.

import { baseName, element, find, plainText } from "./dom.js";
import { TreeView } from "./tree_view.js";

const AGAIN_MS = 1000; // between two looks at the members
const LABEL_MOST = 14; // characters of a cell
const LIVE = ["stopped", "running", "initializing", "configuring"];

export class GroupView {
  /**
   * `onFocus(session)` shows a member; `onShow(frame)` shows a frame's source; `onLoad()` is called
   * when the members are known.
   */
  constructor({ connection, onFocus, onShow, onLoad }) {
    this.connection = connection;
    this.onLoad = onLoad;
    this.onFocus = onFocus;
    this.onShow = onShow;
    this.group = null;
    this.members = [];
    this.states = new Map(); // a session's state, as the sessions were seen last
    this.focused = null;
    this.held = {};
    this.showsStacks = false;
    this.container = find("members");
    this.container.addEventListener("keydown", (event) => this.press(event));
    this.container.addEventListener("click", (event) => {
      const cell = event.target.closest("[data-session]");
      if (cell) this.onFocus(cell.dataset.session);
    });
    this.tree = new TreeView(find("merged"), { label: "Stacks of all members, merged" });
    for (const name of ["threads", "merged"]) find(`show-${name}`).addEventListener("click", () => this.showStacks(name === "merged"));
    find("merge-again").addEventListener("click", () => this.loadStacks());
  }

  get isGroup() {
    return this.group !== null;
  }

  /** Takes what the sessions are now; `session` is the followed one, null for none. */
  update(overview, session) {
    const found = overview.groups.find((one) => one.group === session || one.sessions.includes(session)) ?? null;
    if (found?.group !== this.group?.group) this.clear();
    this.group = found;
    find("group-pane").hidden = !found;
    find("stack-views").hidden = !found;
    if (!found) return;
    const own = overview.sessions.filter((one) => found.sessions.includes(one.session));
    const seen = JSON.stringify(own.map((one) => [one.session, one.state, one.exit_code ?? one.signal ?? null]));
    this.states = new Map(own.map((one) => [one.session, one.state]));
    if (seen !== this.seen) {
      this.seen = seen;
      this.note();
    }
  }

  clear() {
    this.members = [];
    this.seen = "";
    this.states = new Map();
    this.showStacks(false);
    this.tree.setRoots([]);
    this.container.replaceChildren();
  }

  /** Looks at the members soon: one of them has stopped, or goes on. */
  note() {
    this.isStale = true;
    if (this.isLoading || this.timer || !this.group) return;
    this.timer = setTimeout(() => {
      this.timer = 0;
      this.load();
    }, this.members.length ? AGAIN_MS : 0);
  }

  async load() {
    if (!this.group) return;
    const { group } = this.group;
    this.isLoading = true;
    this.isStale = false;
    try {
      const found = await this.connection.command("status", null, { group });
      if (this.group?.group !== group) return;
      this.members = found.members;
      this.note_ = found.truncated ? "not all are shown" : "";
      this.render();
      this.onLoad();
      if (this.showsStacks && this.members.every((one) => one.state !== "running")) await this.loadStacks();
    } catch {
      // It has ended, or the connection: both are shown above all.
    } finally {
      this.isLoading = false;
      if (this.isStale) this.note();
    }
  }

  /** Marks the member in focus, and those that a person has taken over. */
  setFocus(session, held = this.held) {
    const isSame = this.focused === session && JSON.stringify(this.held) === JSON.stringify(held);
    this.focused = session;
    this.held = held;
    if (!isSame) this.render();
  }

  labelOf(session) {
    return this.members.find((one) => one.session === session)?.label ?? session ?? "";
  }

  stateOf(session) {
    return this.states.get(session) ?? null;
  }

  render() {
    if (!this.group) return;
    const label = document.activeElement?.dataset?.session;
    const byState = Map.groupBy(this.members, (one) => one.state);
    const order = [...byState].sort((one, other) => rankState(one[0]) - rankState(other[0]) || other[1].length - one[1].length);
    find("group-name").textContent = plainText(baseName(this.group.group), 60);
    find("group-count").textContent = `${this.members.length} members${this.note_ ? `, ${this.note_}` : ""}`;
    const width = Math.min(LABEL_MOST, Math.max(2, ...this.members.map((one) => one.label.length)));
    this.container.style.setProperty("--cell", `calc(${width}ch + 13px)`);
    const first = this.members.find((one) => one.session === this.focused) ?? this.members[0];
    this.container.replaceChildren(...order.flatMap(([state, some], at) => {
      const id = `state-${at}`;
      return [
        element("div", { role: "group", "aria-labelledby": id },
          element("p", { id, class: "state" },
            element("span", { class: "dot", "data-state": kindOf(state), "aria-hidden": "true" }), `${some.length} ${plainText(state, 60)}`),
          element("div", { class: "cells", role: "presentation" }, ...some.map((one) => this.cell(one, one === first)))),
      ];
    }));
    if (label) this.container.querySelector(`[data-session="${CSS.escape(label)}"]`)?.focus();
  }

  cell(one, isFirst) {
    const holder = this.held[one.session];
    const who = holder ? (holder.isThisPage ? "you act" : "another page acts") : "";
    const where = one.where.replace(/^stopped at /, "");
    const text = [one.label, one.state, where, who, one.pid ? `pid ${one.pid}` : ""].filter(Boolean).map((each) => plainText(each, 200)).join(", ");
    return element("button", {
      class: "member", role: "option", "data-session": one.session, "data-state": kindOf(one.state), "data-held": holder ? (holder.isThisPage ? "you" : "page") : null,
      "aria-selected": String(one.session === this.focused), "aria-label": text, title: text, tabindex: isFirst ? "0" : "-1",
    }, plainText(one.label, LABEL_MOST).replace(/ … .*/, "…"));
  }

  press(event) {
    const cells = [...this.container.querySelectorAll(".member")];
    const at = cells.indexOf(document.activeElement);
    if (at < 0 || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: this.below(cells, at, 1), ArrowUp: this.below(cells, at, -1), Home: 0, End: cells.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = cells[Math.max(0, Math.min(to, cells.length - 1))];
    cells[at].tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }

  /** Returns the cell in the next row that is nearest in its column. */
  below(cells, at, step) {
    const { left, top } = cells[at].getBoundingClientRect();
    let best = at;
    let row = null;
    for (let index = at + step; index >= 0 && index < cells.length; index += step) {
      const place = cells[index].getBoundingClientRect();
      if (Math.abs(place.top - top) < 2) continue;
      row ??= place.top;
      if (Math.abs(place.top - row) > 2) break;
      if (best === at || Math.abs(place.left - left) < Math.abs(cells[best].getBoundingClientRect().left - left)) best = index;
    }
    return best;
  }

  // -- merged stacks --------------------------------------------------------------------------------

  showStacks(isShown) {
    this.showsStacks = isShown;
    find("stack").hidden = isShown;
    find("merged").hidden = !isShown;
    find("merge-again").hidden = !isShown;
    find("show-threads").setAttribute("aria-pressed", String(!isShown));
    find("show-merged").setAttribute("aria-pressed", String(isShown));
    if (isShown && this.group) this.loadStacks();
  }

  async loadStacks() {
    if (!this.group) return;
    const { group } = this.group;
    try {
      const found = await this.connection.command("backtrace", null, { group, by: "line" });
      if (this.group?.group !== group) return;
      const silent = Map.groupBy(found.silent ?? [], (one) => one.reason);
      this.tree.setRoots([
        ...found.branches.map((one) => this.branchNode(one)),
        ...[...silent].map(([reason, some], at) => noteNode(`silent${at}`, rangeText(some.map((one) => one.label)), `no answer: ${reason}`)),
      ]);
    } catch (error) {
      this.tree.setRoots([noteNode("problem", "", error.message)]);
    }
  }

  branchNode(branch) {
    // The frame of the program's own code is the one with its line; below it is what it called.
    const own = branch.frames.findLast((one) => one.text) ?? branch.frames.at(-1);
    const inner = branch.frames.at(-1);
    const node = {
      key: `${branch.members[0]}/${branch.frames.map((one) => `${one.function}:${one.line}`).join(">")}/${branch.state}`,
      opensItself: true,
      fill: (row) => {
        row.append(
          element("span", { class: "members" }, plainText(rangeText(branch.members), 60)),
          element("span", { class: "count" }, branch.members.length > 1 ? `${branch.members.length}×` : ""),
          element("span", { class: "name" }, plainText(own?.function ?? "here", 100)),
          element("span", { class: "faint inner" }, inner && inner !== own ? plainText(` › ${inner.function}`, 100) : ""),
          element("span", { class: "faint place" }, own?.file ? `${plainText(baseName(own.file), 60)}${own.line ? `:${own.line}` : ""}` : plainText(branch.state, 30)),
        );
        row.title = plainText(`${branch.members.join(", ")}: ${branch.frames.map(placeText).join(" › ")}${own?.text ? `\u2003${own.text}` : ""}`, 600);
      },
      choose: () => {
        this.tree.markChosen(node);
        if (branch.members.length === 1) {
          const one = this.members.find((each) => each.label === branch.members[0]);
          if (one && one.state === "stopped") return this.onFocus(one.session);
        }
        const shown = branch.frames.findLast((one) => one.file && one.line && one.text) ?? branch.frames.findLast((one) => one.file && one.line);
        return shown && this.onShow(shown);
      },
    };
    if (branch.branches.length) node.children = branch.branches.map((one) => this.branchNode(one));
    return node;
  }
}

function noteNode(key, members, text) {
  return { key, fill: (row) => row.append(element("span", { class: "members" }, plainText(members, 60)), element("span", { class: "faint" }, plainText(text, 200))) };
}

function placeText(one) {
  return `${one.function}${one.file ? ` ${baseName(one.file)}:${one.line ?? "?"}` : ""}`;
}

/** Returns the kind of a state, which has a colour: how it ended is in its text. */
function kindOf(state) {
  if (LIVE.includes(state)) return state === "stopped" || state === "running" ? state : "starting";
  return state === "ended" ? "over" : "bad";
}

function rankState(state) {
  return ["bad", "stopped", "running", "starting", "over"].indexOf(kindOf(state));
}

/** Writes labels as ranges: 0-3,7,main. */
export function rangeText(labels) {
  const parts = [];
  for (const label of labels) {
    const last = parts.at(-1);
    const number = /^(?:0|[1-9]\d{0,8})$/.test(label) ? Number(label) : null;
    if (number !== null && last && last.end === number - 1) last.end = number;
    else parts.push({ text: label, first: number, end: number });
  }
  return parts.map((one) => (one.first !== one.end ? `${one.first}-${one.end}` : one.text)).join(",");
}
