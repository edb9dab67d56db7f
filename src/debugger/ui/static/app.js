// The page: one session, followed live; what a person does to it once they have taken over.

import { Connection } from "./connection.js";
import { baseName, element, fillList, find, plainText, showToast } from "./dom.js";
import { EvidenceView, TimelineView } from "./history_views.js";
import { OutputView } from "./output_view.js";
import { showBreakpoints, StackView, VariablesView } from "./program_view.js";
import { SourceView } from "./source_view.js";

const FRAMES = 200;
const QUIET_MS = 150; // a step that is quicker changes nothing on the page in between
const PANES = { stack: "Stack", source: "Source", variables: "Variables", output: "Output", evidence: "Evidence", timeline: "Timeline" };
const ACTIONS = { continue: "continue", over: "next", into: "stepIn", out: "stepOut" };
const HIDDEN_MS = 10 * 60_000; // after which a page that nobody sees lets go of its stream
const LOST_MS = 20_000; // after which a server that does not answer has probably ended
const ENDED = "The program has ended.";

const state = { session: null, about: null, stopped: null, isOver: false, isBusy: false, sessions: [], timeline: null };
export const connection = new Connection(receive, showConnection);
const output = new OutputView();
const evidence = new EvidenceView(connection);
const timeline = new TimelineView({ connection, onShow: (event) => source.show({ path: event.file }, event.line, { isTop: false }) });
const variables = new VariablesView({ connection });
const stack = new StackView({ connection, onFrame: showFrame });
const source = new SourceView({
  read: async (one) => (await connection.request("source", { sourceReference: one.sourceReference ?? 0, source: one })).content,
  toggle: toggleBreakpoint,
});

// -- events ---------------------------------------------------------------------------------------

function receive(name, data) {
  const receivers = {
    hello: () => begin(data.session),
    overview: () => showOverview(data),
    gone: () => showGone(data),
    lost: () => showConnection(false),
    session: () => showSession(data),
    output: () => output.add(data.category, data.output),
    stopped: () => showStop(data),
    continued: () => showRunning(),
    breakpoint: () => loadBreakpoints(),
    invalidated: () => state.stopped && variables.frame && attempt(variables.show(variables.frame)),
    process: () => source.forget(),
    terminated: () => showEnd(),
  };
  receivers[name]?.();
  if (["stopped", "continued", "session", "terminated"].includes(name)) timeline.update(state.session);
}

function begin(session) {
  if (session !== state.session) {
    output.clear();
    timeline.clear();
    state.timeline = null;
  }
  state.session = session;
  state.stopped = null;
  state.isOver = false;
  state.isBusy = false;
  state.about = null;
  showButtons();
  loadBreakpoints();
}

function showOverview(overview) {
  state.sessions = overview.sessions;
  const fresh = evidence.update(overview.evidence);
  const isFirst = !state.hasOverview;
  state.hasOverview = true;
  if (fresh && !isFirst) {
    const last = overview.evidence.at(-1);
    showToast(`${last.id}: ${plainText(last.summary, 120)}`);
  }
  const names = overview.sessions.map((one) => one.session);
  const shown = overview.sessions.map((one) => [one.session, one.state, one.adapter]);
  fillList(find("sessions"), [shown, state.session], () => overview.sessions.map((one) => element("li", {}, element("button", {
    class: "plain", "aria-current": one.session === state.session ? "true" : null, onclick: () => choose(one.session),
  }, element("span", { class: "dot", "data-state": one.state, "aria-hidden": "true" }),
  element("span", { class: "name" }, plainText(one.session, 80)),
  element("span", { class: "faint" }, `${one.state}${one.adapter ? `, ${one.adapter}` : ""}`)))));
  find("no-sessions").hidden = names.length > 0;
  find("no-sessions").textContent = overview.problem ?? "None yet: debugger start PROGRAM";
  const select = find("session");
  fillList(select, [names, state.session], () => [
    ...(names.includes(state.session) ? [] : [element("option", { value: "" }, state.session ?? "no session")]),
    ...names.map((name) => element("option", { value: name }, plainText(name, 80))),
  ]);
  select.value = names.includes(state.session) ? state.session : "";
  const own = overview.sessions.find((one) => one.session === state.session);
  const isLive = own && own.state !== "terminated" && own.state !== "idle";
  // It was started again, or the first session of all has begun.
  if (own && isLive && state.isOver) choose(state.session);
  if (!state.session && overview.current) choose(overview.current);
}

function showGone(data) {
  state.isOver = true;
  state.about = null;
  clearProgram(data.message);
  showButtons();
}

function showSession(about) {
  if (state.timeline && state.timeline !== about.timeline) {
    // Another session of that name: nothing of the one before belongs to it.
    output.clear();
    timeline.clear();
  }
  state.timeline = about.timeline;
  const before = state.about?.holder;
  state.about = about;
  if (before?.isThisPage && !about.holder) showToast("Handed back: the agent acts.");
  if (about.state === "running") showRunning();
  showButtons();
}

async function showStop(stop) {
  state.stopped = stop;
  state.isBusy = false;
  clearTimeout(state.quiet);
  source.setRunning(false);
  showButtons();
  await attempt((async () => {
    const [threads, frames] = await Promise.all([
      connection.request("threads"),
      connection.request("stackTrace", { threadId: stop.threadId, levels: FRAMES }),
    ]);
    if (state.stopped !== stop) return;
    state.isNewStop = true;
    await stack.show(threads.threads, stop.threadId, frames);
    if (!stack.chooseFirst()) clearProgram("No frame is known here.");
  })());
  loadBreakpoints();
}

async function showFrame(frame, thread, isTop) {
  state.thread = thread.id;
  const isNewStop = state.isNewStop;
  state.isNewStop = false;
  if (frame.source) source.show(frame.source, frame.line, { isTop });
  else source.showProblem(null, `${plainText(frame.name, 200)} has no source.`);
  await attempt(variables.show(frame, { isNewStop }));
}

function showRunning() {
  if (!state.stopped && state.quiet) return;
  state.stopped = null;
  showButtons();
  clearTimeout(state.quiet);
  state.quiet = setTimeout(() => {
    state.quiet = 0;
    if (state.stopped || state.isOver) return;
    source.setRunning(true);
    stack.clear("The program is running.");
    variables.clear("The program is running.");
  }, QUIET_MS);
}

function showEnd() {
  state.isOver = true;
  clearProgram(ENDED);
  showButtons();
}

function clearProgram(text) {
  state.stopped = null;
  state.isBusy = false;
  clearTimeout(state.quiet);
  state.quiet = 0;
  source.setRunning(true);
  stack.clear(text);
  variables.clear(text);
}

function showConnection(isOpen) {
  const banner = find("banner");
  if (isOpen) state.lostAt = 0;
  else state.lostAt ||= Date.now();
  const isLong = Date.now() - state.lostAt > LOST_MS;
  banner.hidden = isOpen;
  banner.textContent = isOpen ? "" : isLong ? "The page's server does not answer. Start it again: debugger ui" : "The connection is lost; connecting again …";
  if (!isOpen) {
    state.stopped = null;
    showButtons();
  }
}

// -- what acts, and what can be done ----------------------------------------------------------------

function showButtons() {
  const { about, stopped, isOver } = state;
  const holder = about?.holder;
  const acts = Boolean(holder?.isThisPage);
  const isLive = Boolean(about) && !isOver;
  const isRunning = isLive && !stopped && about.state === "running";
  const badge = find("state");
  badge.dataset.state = !state.session ? "none" : isOver || !about ? "over" : stopped ? "stopped" : about.state;
  badge.textContent = !state.session ? "no session"
    : isOver ? `ended${about?.exit !== undefined ? `: ${typeof about.exit === "number" ? `status ${about.exit}` : about.exit}` : ""}`
    : !about ? "connecting"
    : stopped ? `stopped: ${stopped.text && stopped.reason === "exception" ? plainText(stopped.text, 60) : stopped.reason}`
    : about.state;
  find("who").textContent = !isLive ? "" : acts ? `You act, since ${holder.since}` : holder ? `Another page acts, since ${holder.since}` : "The agent acts";
  document.body.dataset.acting = acts ? "you" : holder ? "page" : "agent";
  const take = find("take");
  take.disabled = !isLive && !acts;
  take.textContent = acts ? "Hand back" : "Take over";
  for (const id of ["continue", "over", "into", "out"]) setAble(id, acts && stopped);
  setAble("pause", acts && isRunning);
  setAble("restart", acts && about);
  document.title = state.session ? `${baseName(state.session)} ${badge.textContent} – debugger` : "debugger";
}

// They stay reachable, so that the focus is not lost at each step.
function setAble(id, isAble) {
  find(id).setAttribute("aria-disabled", String(!isAble));
}

async function act(id) {
  if (find(id).getAttribute("aria-disabled") === "true") {
    const acts = state.about?.holder?.isThisPage;
    if (!acts && state.about && !state.isOver) showToast("The agent acts. Take over first (F2).");
    return;
  }
  if (id === "pause") return attempt(connection.request("pause", { threadId: 0 }));
  if (id === "restart") {
    await attempt(connection.request("restart"));
    return;
  }
  if (state.isBusy) return; // a key that is held down
  state.isBusy = true;
  const stop = state.stopped;
  // Before the request: the stop after it may be known before the request is answered.
  showRunning();
  const done = await attempt(connection.request(ACTIONS[id], { threadId: state.thread ?? stop.threadId }));
  if (done === undefined && !state.isOver) showStop(stop);
}

async function takeOrHandBack() {
  if (find("take").disabled) return;
  await attempt(connection.request(state.about?.holder?.isThisPage ? "handBack" : "takeOver"));
}

/** Waits for a request; a failure is shown, and undefined returned. */
async function attempt(promise) {
  try {
    return (await promise) ?? null;
  } catch (error) {
    // What belonged to a stop that is over is no news.
    if (!/earlier stop|program is running/.test(error.message)) showToast(plainText(error.message, 300));
    return undefined;
  }
}

// -- breakpoints ------------------------------------------------------------------------------------

let breakpoints = [];

async function loadBreakpoints() {
  if (!state.session) return;
  const session = state.session;
  try {
    const found = await connection.command("breakpoint_list", session);
    if (session !== state.session) return;
    breakpoints = found.breakpoints;
  } catch {
    breakpoints = [];
  }
  source.setBreakpoints(breakpoints);
  showBreakpoints(breakpoints, {
    onShow: (one) => one.file && source.show({ path: one.file }, one.line, { isTop: false }),
    onToggle: (one) => changeBreakpoints(one.enabled ? "breakpoint_disable" : "breakpoint_enable", { number: one.id }),
    onRemove: (one) => changeBreakpoints("breakpoint_remove", { ids: [one.id] }),
  });
}

async function toggleBreakpoint(path, line) {
  const known = breakpoints.find((one) => one.file === path && one.line === line);
  if (known) await changeBreakpoints("breakpoint_remove", { ids: [known.id] });
  else await changeBreakpoints("breakpoint_add", { place: `${path}:${line}` });
}

async function changeBreakpoints(command, args) {
  const done = await attempt(connection.command(command, state.session, args));
  if (done && done.verified === false && done.why_unbound) showToast(plainText(done.why_unbound, 200));
  await loadBreakpoints();
}

// -- panes, tabs, keys ------------------------------------------------------------------------------

function choose(session) {
  if (!session) return;
  if (session !== state.session) connection.since = "0";
  const query = new URLSearchParams({ session });
  history.replaceState(null, "", `/?${query}`);
  connection.follow(session);
}

function showTab(name) {
  for (const one of ["output", "evidence", "timeline"]) {
    const isShown = one === name;
    find(`${one}-panel`).hidden = !isShown;
    find(`tab-${one}`).setAttribute("aria-selected", String(isShown));
    find(`tab-${one}`).tabIndex = isShown ? 0 : -1;
  }
  timeline.setShown(name === "timeline", state.session);
}

function showPane(name, { focus = false } = {}) {
  document.body.dataset.pane = name;
  for (const one of find("panes").children) one.setAttribute("aria-current", String(one.dataset.pane === name));
  if (find(`${name}-panel`)) showTab(name);
  if (focus) (find(name === "evidence" ? "answer" : name) ?? find(name)).focus();
}

function setUpPanes() {
  find("panes").append(...Object.entries(PANES).map(([name, title]) =>
    element("button", { class: "plain", "data-pane": name, onclick: () => showPane(name) }, title)));
  showPane("source");
  const tabs = [...document.querySelectorAll("[role=tab]")];
  for (const [at, tab] of tabs.entries()) {
    tab.addEventListener("click", () => showPane(tab.id.slice(4)));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = tabs[(at + step + tabs.length) % tabs.length];
      showPane(next.id.slice(4));
      next.focus();
    });
  }
  showTab("output");
}

function press(event) {
  const key = `${event.ctrlKey ? "Ctrl+" : ""}${event.altKey ? "Alt+" : ""}${event.shiftKey ? "Shift+" : ""}${event.key}`;
  const names = Object.keys(PANES);
  const keys = {
    F1: () => find("keys").showModal(),
    F2: takeOrHandBack,
    F5: () => act("continue"),
    F6: () => act("pause"),
    F9: () => source.toggleAtCursor(),
    F10: () => act("over"),
    F11: () => act("into"),
    "Shift+F11": () => act("out"),
    "Ctrl+Shift+F5": () => act("restart"),
    ...Object.fromEntries(names.map((name, at) => [`Alt+${at + 1}`, () => showPane(name, { focus: true })])),
  };
  if (!keys[key]) return;
  event.preventDefault();
  if (event.repeat && ["F2", "F9"].includes(event.key)) return;
  keys[key]();
}

/** Lets go of the stream of a page that has been hidden for long: nothing is kept alive for it. */
export function pauseIfHidden(now = Date.now()) {
  if (!document.hidden || !connection.source || state.about?.holder?.isThisPage) return;
  if (now - state.hiddenAt > HIDDEN_MS) connection.pause();
}

function noteVisibility() {
  state.hiddenAt = Date.now();
  if (!document.hidden && !connection.source) connection.follow(state.session);
}

function setUp() {
  for (const id of ["continue", "pause", "over", "into", "out", "restart"]) find(id).addEventListener("click", () => act(id));
  find("take").addEventListener("click", takeOrHandBack);
  find("help").addEventListener("click", () => find("keys").showModal());
  find("session").addEventListener("change", (event) => choose(event.target.value));
  window.addEventListener("keydown", press);
  document.addEventListener("visibilitychange", noteVisibility);
  setInterval(() => pauseIfHidden(), 60_000);
  setUpPanes();
  showButtons();
  const session = new URLSearchParams(location.search).get("session");
  // The token has been used, and is not to be seen or kept.
  history.replaceState(null, "", session ? `/?${new URLSearchParams({ session })}` : "/");
  connection.follow(session);
}

setUp();
