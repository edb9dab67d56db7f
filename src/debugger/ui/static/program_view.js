// Shows what a stopped program consists of: threads with their frames, variables, breakpoints.

import { baseName, element, fillList, find, plainText } from "./dom.js";
import { closeEditBox, openEditBox } from "./edit_box.js";
import { TreeView } from "./tree_view.js";

const FRAMES = 200;
const PAGE = 1000; // variables in one request
const INDEXED_LEAST = 100; // children; of more, only those in view are loaded
const WATCHES_MOST = 50;
const VALUES_MOST = 50_000; // that are remembered, to mark those that have changed

/** The threads; each is a branch of the tree, with its frames. */
export class StackView {
  constructor({ connection, onFrame }) {
    this.connection = connection;
    this.onFrame = onFrame;
    this.tree = new TreeView(find("stack"), { label: "Threads and stack" });
  }

  clear(text = "") {
    this.tree.setRoots(text ? [{ key: "empty", fill: (row) => row.append(element("span", { class: "empty" }, text)) }] : []);
  }

  /** Shows the threads, and the frames of the one that stopped. */
  async show(threads, stopped, frames) {
    const roots = threads.map((one) => this.threadNode(one, one.id === stopped, one.id === stopped ? frames : null));
    // The thread that stopped comes first: among 500 it would be looked for.
    roots.sort((one, other) => Number(other.isStopped) - Number(one.isStopped));
    this.tree.setRoots(roots);
  }

  threadNode(thread, isStopped, frames) {
    return {
      key: `t${thread.id}`,
      isStopped,
      opensItself: isStopped,
      children: frames ? this.frameNodes(thread, frames.stackFrames) : undefined,
      more: false,
      load: async (start) => {
        const found = await this.connection.request("stackTrace", { threadId: thread.id, startFrame: start, levels: FRAMES });
        return { nodes: this.frameNodes(thread, found.stackFrames), more: found.stackFrames.length === FRAMES };
      },
      fill: (row) => row.append(
        element("span", { class: "name" }, plainText(thread.name, 200)),
        element("span", { class: "faint" }, isStopped ? " stopped here" : ""),
      ),
    };
  }

  frameNodes(thread, frames) {
    return frames.map((frame) => {
      const node = {
        key: `f${frame.id}`,
        frame,
        fill: (row) => row.append(
          element("span", { class: frame.presentationHint === "subtle" ? "faint" : "name" }, plainText(frame.name, 200)),
          element("span", { class: "faint place" }, frame.source ? ` ${plainText(frame.source.name, 100)}:${frame.line}` : ""),
        ),
        choose: () => this.choose(node, thread),
      };
      return node;
    });
  }

  choose(node, thread) {
    this.tree.markChosen(node);
    this.onFrame(node.frame, thread, node.position === 1);
  }

  chooseFirst() {
    const node = this.tree.flat.find((one) => one.frame);
    if (node) node.choose();
    return Boolean(node);
  }
}

/** The variables of a frame, by scope, and the watched expressions. */
export class VariablesView {
  /** `mayEdit()` tells whether values may be set now, and else says why not. */
  constructor({ connection, mayEdit }) {
    this.connection = connection;
    this.mayEdit = mayEdit;
    this.watches = [];
    this.values = new Map(); // what each variable was, by its path, and at which stop it became so
    this.stop = 0;
    this.frame = null;
    this.tree = new TreeView(find("variables"), { label: "Variables" });
    find("watch-form").addEventListener("submit", (event) => {
      event.preventDefault();
      const input = find("watch");
      this.watch(input.value.trim());
      input.value = "";
    });
  }

  /** Watches an expression: its value is shown at each stop, above the variables. */
  watch(text) {
    if (text && !this.watches.includes(text)) this.watches.push(text);
    if (this.watches.length > WATCHES_MOST) this.watches.shift();
    if (this.frame) this.show(this.frame);
  }

  clear(text = "") {
    closeEditBox();
    this.frame = null;
    this.tree.setRoots(text ? [{ key: "empty", fill: (row) => row.append(element("span", { class: "empty" }, text)) }] : []);
  }

  /** Shows a frame; values that differ from those before are marked. */
  async show(frame, { isNewStop = false, owner = this.owner } = {}) {
    this.frame = frame;
    this.owner = owner; // the values of one process are not those of another
    if (isNewStop) this.stop += 1;
    if (this.values.size > VALUES_MOST) this.values.clear();
    const [watched, found] = await Promise.all([
      Promise.all(this.watches.map((text) => this.evaluate(text, frame))),
      this.connection.request("scopes", { frameId: frame.id }),
    ]);
    if (this.frame !== frame) return;
    const scopes = found.scopes.map((scope) => ({
      key: `s${scope.name}`,
      opensItself: !scope.expensive,
      load: (start) => this.load(scope.variablesReference, start, `${owner}/${frame.name}/${scope.name}`),
      fill: (row) => row.append(element("span", { class: "group" }, plainText(scope.name, 100))),
    }));
    await this.tree.setRoots([...watched, ...scopes], { waits: true });
  }

  async evaluate(text, frame) {
    let one;
    try {
      const found = await this.connection.request("evaluate", { expression: text, frameId: frame.id, context: "watch" });
      one = { ...found, name: text, value: found.result };
    } catch (error) {
      one = { name: text, value: error.message, variablesReference: 0, isProblem: true };
    }
    const node = this.node(one, `${this.owner}/watch`);
    if (!one.isProblem) {
      node.edit = () => this.edit(node, one, (value) =>
        this.connection.request("setExpression", { expression: text, value, frameId: frame.id }));
    }
    node.remove = () => {
      this.watches = this.watches.filter((other) => other !== text);
      this.show(frame);
    };
    return node;
  }

  async load(reference, start, path, count = PAGE) {
    const found = await this.connection.request("variables", { variablesReference: reference, start, count });
    return { nodes: found.variables.map((one, at) => this.node(one, path, start + at, reference)), more: found.variables.length === count };
  }

  /** Lets a person set a value in its row; the daemon says whether it can be set. */
  edit(node, one, set) {
    if (!this.mayEdit()) return;
    openEditBox(this.tree, node, {
      label: `New value of ${plainText(one.name, 100)}`,
      value: one.value,
      commit: async (value) => {
        await set(value);
        if (this.frame) await this.show(this.frame);
      },
    });
  }

  node(one, path, at = 0, reference = 0) {
    const own = `${path}/${one.name}`;
    const known = this.values.get(own);
    if (known?.value !== one.value) this.values.set(own, { value: one.value, stop: known ? this.stop : 0 });
    const isChanged = this.values.get(own).stop === this.stop;
    const node = {
      key: `${one.name}#${at}`,
      fill: (row) => {
        row.append(
          element("span", { class: "name" }, plainText(one.name, 200)),
          element("span", { class: "faint", "aria-hidden": "true" }, " = "),
          element("span", { class: one.isProblem ? "problem" : isChanged ? "value changed" : "value" }, plainText(one.value, 500)),
          element("span", { class: "faint type" }, one.type ? ` ${plainText(one.type, 100)}` : ""),
        );
        row.title = plainText(one.value, 1000);
        if (node.edit) {
          row.append(element("button", { class: "plain remove edit", tabindex: "-1", title: "Set the value (E)", "aria-label": `Set the value of ${plainText(one.name, 100)}`, onclick: (event) => { event.stopPropagation(); node.edit(); } }, "✎"));
        }
        if (node.remove) {
          row.append(element("button", { class: "plain remove", tabindex: "-1", "aria-label": `Stop watching ${one.name}`, onclick: node.remove }, "×"));
        }
      },
    };
    if (reference) {
      node.edit = () => this.edit(node, one, (value) =>
        this.connection.request("setVariable", { variablesReference: reference, name: one.name, value }));
    }
    if (one.variablesReference) {
      node.load = (start, count) => this.load(one.variablesReference, start, own, count);
      if (one.indexedVariables > INDEXED_LEAST && !one.namedVariables) node.total = one.indexedVariables;
    }
    return node;
  }
}

/** Fills the list of breakpoints. */
export function showBreakpoints(breakpoints, { onShow, onToggle, onEdit, onRemove }) {
  fillList(find("breakpoints"), breakpoints, () => breakpoints.map((one) => {
    const place = one.file ? `${baseName(one.file)}:${one.line ?? "?"}` : one.function ?? one.address ?? one.kind;
    const more = [
      one.condition ? `if ${one.condition}` : null,
      one.hit_count ? `from hit ${one.hit_count}` : null,
      one.log ? `logs ${one.log}` : null,
      one.verified ? null : `not bound${one.why_unbound ? `: ${one.why_unbound}` : ""}`,
    ].filter(Boolean).join(", ");
    const box = element("input", { type: "checkbox", "aria-label": `Breakpoint ${one.id} is on`, onchange: () => onToggle(one) });
    box.checked = one.enabled;
    const press = (event) => {
      const act = { e: onEdit, Delete: onRemove }[event.key];
      if (!act || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      act(one);
    };
    return element("li", { "data-key": one.id, onkeydown: press }, box,
      element("button", { class: "plain where", onclick: () => onShow(one) }, plainText(place, 200),
        element("span", { class: "faint" }, plainText(more ? ` ${more}` : "", 200))),
      element("span", { class: "count" }, one.hits ? `${one.hits}×` : ""),
      element("button", { class: "plain remove edit", title: "Condition, hits, message (E)", "aria-label": `Change breakpoint ${one.id}`, onclick: () => onEdit(one) }, "✎"),
      element("button", { class: "plain remove", title: "Remove (Delete)", "aria-label": `Remove breakpoint ${one.id}`, onclick: () => onRemove(one) }, "×"));
  }));
  find("no-breakpoints").hidden = breakpoints.length > 0;
}
