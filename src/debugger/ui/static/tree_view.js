// Shows a tree whose branches are loaded when they are expanded, by mouse and by keyboard (WAI-ARIA
// APG, Tree View: the focus stays on the tree, which names its active row).

import { element } from "./dom.js";
import { VirtualList } from "./virtual_list.js";

const HEIGHT = 22;
const CHILDREN_PAGE = 100; // of a value whose number of children is known
const CHILDREN_MOST = 100_000;
const PATHS_MOST = 10_000; // that are remembered as expanded, or closed
let trees = 0;

function note(text, kind = "faint") {
  return { key: "note", fill: (row) => row.append(element("span", { class: kind }, text)) };
}

/**
 * A node: `key` (unique among its siblings), `fill(row)`, and either `children` or
 * `load(start, count) -> {nodes, more}`; a node without both is a leaf. With `total` children, only
 * those in view are loaded.
 */
export class TreeView {
  constructor(container, { label, onChoose }) {
    this.prefix = `tree${(trees += 1)}`;
    this.container = container;
    this.onChoose = onChoose;
    this.roots = [];
    this.flat = [];
    this.active = 0;
    this.activePath = null; // of the active row: it is found again when the tree has changed
    this.expanded = new Set();
    container.setAttribute("role", "tree");
    container.setAttribute("tabindex", "0");
    container.setAttribute("aria-label", label);
    this.list = new VirtualList(container, { height: HEIGHT, render: (row, at) => this.render(row, at) });
    container.addEventListener("keydown", (event) => this.press(event));
    container.addEventListener("click", (event) => this.click(event));
    container.addEventListener("dblclick", (event) => {
      const node = event.target.closest(".value") ? this.flat[event.target.closest(".row")?.dataset.at] : null;
      node?.edit?.();
    });
    container.addEventListener("focus", () => this.list.schedule());
    container.addEventListener("blur", () => this.list.schedule());
  }

  /**
   * Replaces the tree; branches that were expanded are expanded again. With `waits` what is shown
   * stays until they are loaded: the active row does not move meanwhile.
   */
  async setRoots(nodes, { waits = false } = {}) {
    this.roots = nodes;
    const loads = [];
    this.loads = waits ? loads : null;
    for (const one of nodes) this.prepare(one, null);
    // Branches within branches are added meanwhile.
    for (let at = 0; at < loads.length; at += 1) await loads[at];
    if (this.roots !== nodes) return;
    this.loads = null;
    this.active = 0; // unless the row that was active is there again
    this.flatten();
  }

  prepare(node, parent) {
    node.parent = parent;
    node.level = parent ? parent.level + 1 : 1;
    node.path = parent ? `${parent.path}\u0000${node.key}` : node.key;
    node.isBranch = Boolean(node.load || node.children);
    if (node.opensItself && !this.closed?.has(node.path)) this.expanded.add(node.path);
    if (node.children) for (const one of node.children) this.prepare(one, node);
    if (node.load && this.expanded.has(node.path)) {
      const load = this.loadMore(node);
      this.loads?.push(load);
    }
  }

  async loadMore(node) {
    if (node.isLoading) return;
    node.isLoading = true;
    const roots = this.roots;
    try {
      if (node.total) {
        node.children = Array.from({ length: Math.min(node.total, CHILDREN_MOST) }, (_, at) => this.placeholder(node, at));
        if (node.total > CHILDREN_MOST) node.children.push(note(`${node.total - CHILDREN_MOST} more: watch a part of it`));
        node.children.forEach((one) => this.prepare(one, node));
      } else {
        const found = await node.load(node.children?.length ?? 0);
        node.children = [...(node.children ?? []), ...found.nodes];
        node.more = found.more;
        for (const one of found.nodes) this.prepare(one, node);
      }
    } catch (error) {
      node.children = [note(error.message, "problem")];
      node.more = false;
      this.prepare(node.children[0], node);
    }
    node.isLoading = false;
    if (roots === this.roots) this.flatten();
  }

  /** A child of which nothing is known yet: its page is loaded when it comes into view. */
  placeholder(owner, at) {
    return {
      key: `place${at}`,
      fill: (row) => {
        row.append(element("span", { class: "faint" }, "loading …"));
        this.loadPage(owner, Math.floor(at / CHILDREN_PAGE));
      },
    };
  }

  async loadPage(owner, page) {
    owner.pages ??= new Set();
    if (owner.pages.has(page)) return;
    owner.pages.add(page);
    const start = page * CHILDREN_PAGE;
    try {
      const found = await owner.load(start, CHILDREN_PAGE);
      found.nodes.forEach((one, at) => {
        this.prepare(one, owner);
        owner.children[start + at] = one;
      });
    } catch (error) {
      owner.children[start] = note(error.message, "problem");
      this.prepare(owner.children[start], owner);
    }
    this.flatten();
  }

  flatten() {
    if (this.loads) return;
    this.flat = [];
    const visit = (nodes) => {
      nodes.forEach((node, at) => {
        node.position = at + 1;
        node.size = nodes.length;
        this.flat.push(node);
        if (node.isBranch && this.expanded.has(node.path)) {
          if (node.children) visit(node.children);
          if (node.more || !node.children) this.flat.push(this.moreNode(node));
        }
      });
    };
    visit(this.roots);
    const at = this.flat.findIndex((one) => one.path === this.activePath);
    this.active = at >= 0 ? at : Math.min(this.active, Math.max(0, this.flat.length - 1));
    this.list.setCount(this.flat.length);
  }

  moreNode(owner) {
    return { isMore: true, owner, level: owner.level + 1, path: `${owner.path}\u0000…`, position: 1, size: 1 };
  }

  render(row, at) {
    const node = this.flat[at];
    row.replaceChildren();
    if (!node) return;
    row.id = `${this.prefix}-${at}`;
    row.dataset.at = at;
    row.className = "row node";
    row.setAttribute("role", "treeitem");
    row.setAttribute("aria-level", node.level);
    row.setAttribute("aria-setsize", node.size);
    row.setAttribute("aria-posinset", node.position);
    row.setAttribute("aria-selected", String(Boolean(node.isChosen)));
    row.style.paddingInlineStart = `${(node.level - 1) * 14 + 6}px`;
    if (node.isBranch) row.setAttribute("aria-expanded", String(this.expanded.has(node.path)));
    else row.removeAttribute("aria-expanded");
    row.classList.toggle("chosen", Boolean(node.isChosen));
    row.classList.toggle("active", at === this.active && document.activeElement === this.container);
    row.append(element("span", { class: `twist${node.isBranch ? "" : " none"}`, "aria-hidden": "true" }));
    if (node.isMore) {
      row.append(element("span", { class: "faint" }, "loading …"));
      this.loadMore(node.owner);
    } else {
      node.fill(row);
    }
    if (at === this.active) this.container.setAttribute("aria-activedescendant", row.id);
  }

  /** Makes a row the active one. */
  activate(at) {
    this.active = Math.max(0, Math.min(at, this.flat.length - 1));
    this.activePath = this.flat[this.active]?.path ?? null;
  }

  click(event) {
    const row = event.target.closest(".row");
    if (!row) return;
    const at = Number(row.dataset.at);
    const node = this.flat[at];
    if (!node || node.isMore) return;
    this.activate(at);
    if (node.isBranch && (!node.choose || event.target.classList.contains("twist"))) this.toggle(node);
    else this.choose(node);
    this.list.schedule();
  }

  /** Returns the element of a row that is in view; null for any other. */
  rowOf(at) {
    return this.list.rows.find((one) => one.index === at)?.element ?? null;
  }

  /** Marks one node as the chosen one of this tree. */
  markChosen(node) {
    if (this.chosen) this.chosen.isChosen = false;
    node.isChosen = true;
    this.chosen = node;
    this.list.schedule();
  }

  choose(node) {
    if (node.choose) node.choose();
    else this.onChoose?.(node);
    this.list.schedule();
  }

  toggle(node, expand = !this.expanded.has(node.path)) {
    this.closed ??= new Set();
    for (const paths of [this.expanded, this.closed]) if (paths.size > PATHS_MOST) paths.clear();
    if (expand) {
      this.expanded.add(node.path);
      this.closed.delete(node.path);
      if (!node.children) this.loadMore(node);
    } else {
      this.expanded.delete(node.path);
      this.closed.add(node.path);
    }
    this.flatten();
  }

  press(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const node = this.flat[this.active];
    if (!node) return;
    const move = (to) => {
      this.activate(to);
      this.list.showRow(this.active);
    };
    const keys = {
      ArrowDown: () => move(this.active + 1),
      ArrowUp: () => move(this.active - 1),
      PageDown: () => move(this.active + this.list.pageRows()),
      PageUp: () => move(this.active - this.list.pageRows()),
      Home: () => move(0),
      End: () => move(this.flat.length - 1),
      ArrowRight: () => {
        if (node.isBranch && !this.expanded.has(node.path)) this.toggle(node, true);
        else if (node.isBranch) move(this.active + 1);
      },
      ArrowLeft: () => {
        if (node.isBranch && this.expanded.has(node.path)) this.toggle(node, false);
        else if (node.parent) move(this.flat.indexOf(node.parent));
      },
      Enter: () => (node.choose ? this.choose(node) : node.isBranch ? this.toggle(node) : node.edit ? node.edit() : this.choose(node)),
      e: () => node.edit?.(),
      Delete: () => node.remove?.(),
      " ": () => (node.choose || !node.isBranch ? this.choose(node) : this.toggle(node)),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }
}
