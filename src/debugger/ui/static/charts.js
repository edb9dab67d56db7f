// Draws an answer's table of numbers as lines, one for each column (SVG, with its data as text below).

import { drawn, element } from "./dom.js";

const WIDTH = 640;
const HEIGHT = 150;
const MARGIN = { left: 60, right: 12, top: 10, bottom: 22 };
const SERIES_MOST = 4;
const POINTS_MOST = 2000;

/** Returns a figure for the answer of a probe with numbers in columns; null for any other. */
export function drawChart(command, text) {
  if (!/^debugger probe\b/.test(command)) return null;
  const table = readTable(text);
  return table ? drawTable(table) : null;
}

/** Reads the first table of an answer: a head of names, rows of as many values, numbers among them. */
export function readTable(text) {
  const lines = text.split("\n");
  for (let at = 0; at + 2 < lines.length; at += 1) {
    const names = lines[at].trim().split(/\s{2,}/);
    if (names[0] !== "hit" || names.length < 2) continue;
    const rows = [];
    for (const line of lines.slice(at + 1)) {
      const values = line.trim().split(/\s{2,}/);
      if (values.length !== names.length || !Number.isFinite(Number(values[0].replaceAll(",", "")))) break;
      rows.push(values.map((one) => Number(one.replaceAll(",", ""))));
    }
    const columns = names.slice(1).map((name, column) => ({ name, values: rows.map((row) => [row[0], row[column + 1]]) }))
      .filter((one) => one.values.every((pair) => Number.isFinite(pair[1])));
    if (rows.length > 1 && columns.length) return columns.slice(0, SERIES_MOST);
  }
  return null;
}

function drawTable(columns) {
  const points = columns.flatMap((one) => one.values.slice(0, POINTS_MOST));
  const [left, right] = bounds(points.map((one) => one[0]));
  const [low, high] = bounds(points.map((one) => one[1]));
  const across = (x) => MARGIN.left + ((x - left) / (right - left || 1)) * (WIDTH - MARGIN.left - MARGIN.right);
  const up = (y) => HEIGHT - MARGIN.bottom - ((y - low) / (high - low || 1)) * (HEIGHT - MARGIN.top - MARGIN.bottom);
  const label = (x, y, text, anchor) => drawn("text", { x, y, "text-anchor": anchor, class: "axis" }, text);
  const picture = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `Values by hit: ${columns.map((one) => one.name).join(", ")}` },
    drawn("path", { d: `M${MARGIN.left} ${MARGIN.top}V${HEIGHT - MARGIN.bottom}H${WIDTH - MARGIN.right}`, class: "frame" }),
    label(MARGIN.left - 6, up(high) + 4, shortNumber(high), "end"),
    label(MARGIN.left - 6, up(low) + 4, shortNumber(low), "end"),
    label(across(left), HEIGHT - 6, `hit ${shortNumber(left)}`, "start"),
    label(across(right), HEIGHT - 6, shortNumber(right), "end"));
  columns.forEach((one, at) => {
    const line = one.values.slice(0, POINTS_MOST).map(([x, y], index) => `${index ? "L" : "M"}${across(x).toFixed(1)} ${up(y).toFixed(1)}`);
    picture.append(drawn("path", { d: line.join(""), class: `series series${at}` }));
  });
  const legend = columns.map((one, at) => element("span", { class: `legend series${at}` }, one.name));
  return element("figure", {}, picture, element("figcaption", {}, ...legend));
}

function bounds(values) {
  return [Math.min(...values), Math.max(...values)];
}

function shortNumber(value) {
  return Math.abs(value) >= 1e6 ? value.toPrecision(4) : String(Number(value.toPrecision(7)));
}
