// Shows an answer as a picture that the daemon draws, or its calls as a tree like a flame graph.

import { baseName, element, plainText } from "./dom.js";
import { TreeView } from "./tree_view.js";

const ROWS_SEEN = 16;
const OPEN_DEPTH = 3; // of a long tree
const OPEN_ROWS = 40;
const ROW = 22;

/** Appends the pictures of an answer to a panel; nothing for one that has none. */
export async function appendPicture(panel, id, command, { read, onShow }) {
  if (!/^debugger path\b/.test(command)) {
    panel.append(drawSvg(id, command, read));
    return;
  }
  const found = await read(id);
  const trees = element("div", { class: "trees" });
  panel.append(trees);
  for (const [at, one] of found.trees.entries()) trees.append(drawCalls(one, at, onShow));
}

/** An image: what the daemon drew is a document of its own there, in which nothing can run. */
function drawSvg(id, command, read) {
  const image = element("img", { src: `/picture/${id}.svg`, alt: plainText(`Picture of the answer of ${command}`, 300) });
  const figure = element("figure", {}, element("div", { class: "canvas", tabindex: "0", role: "region", "aria-label": "Picture" }, image),
    element("figcaption", {}, element("a", { href: `/picture/${id}.svg`, target: "_blank", rel: "noopener" }, "The picture alone")));
  image.addEventListener("error", async () => {
    // An image does not say why it is none: what the same answer's data say is shown instead.
    const why = await read(id).then(() => "The picture could not be loaded.", (error) => error.message);
    figure.replaceWith(element("p", { class: "faint" }, plainText(why, 500)));
  });
  return figure;
}

function drawCalls(tree, at, onShow) {
  const body = element("div", { class: "scroll calls" });
  const left = tree.omitted ? `; ${tree.omitted.toLocaleString("en")} more lines, the least telling ones, are left out` : "";
  const section = element("section", { class: "call-tree" },
    element("h3", {}, element("code", {}, plainText(tree.title, 300))),
    element("p", { class: "faint" }, `${plainText(tree.end, 200)}; a bar is the part of the run's ${tree.measure}${left}`), body);
  const view = new TreeView(body, { label: `Calls of run ${at + 1}` });
  view.setRoots(buildCalls(tree.rows, view, onShow));
  body.style.height = `${Math.max(3, Math.min(view.flat.length, ROWS_SEEN)) * ROW + 4}px`;
  return section;
}

/** Builds the nodes of a tree whose lines come in order, each with its depth. */
export function buildCalls(rows, view, onShow) {
  const roots = [];
  const open = [];
  rows.forEach((row, at) => {
    open.length = Math.min(row.depth, open.length);
    const above = open.at(-1);
    // As in a flame graph, a call's bar begins within its caller's, after those before it.
    const start = Math.min(above ? above.next : (roots.at(-1)?.end ?? 0), 1 - row.share);
    const node = { key: `c${at}`, row, opensItself: rows.length <= OPEN_ROWS || row.depth < OPEN_DEPTH, start, next: start, end: start + row.share };
    if (above) {
      above.next += row.share;
      (above.children ??= []).push(node);
    } else {
      roots.push(node);
    }
    node.fill = (line) => fillCall(line, node);
    if (row.file && row.line) {
      node.choose = () => {
        view.markChosen(node);
        onShow(row);
      };
    }
    open.push(node);
  });
  return roots;
}

function fillCall(line, node) {
  const { row } = node;
  const bar = element("span", { class: row.marks.length ? "bar marked" : "bar", "aria-hidden": "true" });
  bar.style.left = `${(Math.max(0, node.start) * 100).toFixed(2)}%`;
  bar.style.width = `${(row.share * 100).toFixed(2)}%`;
  line.prepend(bar);
  line.append(
    element("span", { class: "name" }, plainText(row.name, 300)),
    ...(row.result ? [element("span", { class: "value" }, ` → ${plainText(row.result, 100)}`)] : []),
    ...row.marks.map((one) => element("span", { class: "mark" }, plainText(one, 120))),
    element("span", { class: "faint place" }, [row.file && row.line ? `${plainText(baseName(row.file), 60)}:${row.line}` : "", row.facts].filter(Boolean).join(" · ")),
  );
  line.title = plainText(`${row.name}${row.result ? ` → ${row.result}` : ""}`, 600);
}
