// The page: one session, followed live; what a person does to it once they have taken over.

import { BreakpointForm } from "./breakpoint_form.js";
import { Connection } from "./connection.js";
import { ConsoleView } from "./console_view.js";
import { baseName, element, fillList, find, plainText, showToast } from "./dom.js";
import { GroupView } from "./group_view.js";
import { EvidenceView, TimelineView } from "./history_views.js";
import { OutputView } from "./output_view.js";
import { showBreakpoints, StackView, VariablesView } from "./program_view.js";
import { SourceView } from "./source_view.js";

const FRAMES = 200;
const QUIET_MS = 150; // a step that is quicker changes nothing on the page in between
const PANES = { stack: "Stack", source: "Source", variables: "Variables", output: "Output", evidence: "Evidence", timeline: "Timeline", console: "Console", group: "Group" };
const ACTIONS = { continue: "continue", over: "next", into: "stepIn", out: "stepOut" };
const HIDDEN_MS = 10 * 60_000; // after which a page that nobody sees lets go of its stream
const LOST_MS = 20_000; // after which a server that does not answer has probably ended
const ENDED = "The program has ended.";

// `member` is the session whose stop is shown: of several processes one.
const state = { session: null, member: null, about: null, stopped: null, stops: new Map(), isOver: false, isBusy: false, sessions: [], timeline: null };
export const connection = new Connection(receive, showConnection);
const output = new OutputView();
const evidence = new EvidenceView({ connection, onShow: showPlace });
const timeline = new TimelineView({ connection, onShow: showPlace, labelOf: (session) => (group.isGroup ? group.labelOf(session) : "") });
const variables = new VariablesView({ connection, mayEdit: checkActing });
const group = new GroupView({ connection, onFocus: focusMember, onShow: showPlace, onLoad: () => showButtons() });
const breakpointForm = new BreakpointForm();
const consoleView = new ConsoleView({ evaluate, onWatch: (text) => variables.watch(text) });
const stack = new StackView({ connection, onFrame: showFrame });
const source = new SourceView({
  read: async (one) => (await connection.request("source", { sourceReference: one.sourceReference ?? 0, source: one })).content,
  toggle: toggleBreakpoint,
  change: editBreakpoint,
});

// -- events ---------------------------------------------------------------------------------------

function receive(name, data) {
  const receivers = {
    hello: () => begin(data.session),
    overview: () => showOverview(data),
    gone: () => showGone(data),
    lost: () => showConnection(false),
    session: () => showSession(data),
    output: () => addOutput(data),
    stopped: () => noteStop(data),
    continued: () => noteContinued(data),
    breakpoint: () => loadBreakpoints(),
    invalidated: () => state.stopped && variables.frame && attempt(variables.show(variables.frame)),
    process: () => source.forget(),
    terminated: () => showEnd(),
  };
  receivers[name]?.();
  if (["stopped", "continued", "session", "terminated"].includes(name)) timeline.update(state.session);
}

function addOutput({ category, output: text }) {
  output.add(category, text);
  if (category === "important") showToast(plainText(text.trimEnd(), 200));
}

function begin(session) {
  if (session !== state.session) {
    output.clear();
    timeline.clear();
    state.timeline = null;
  }
  state.session = session;
  state.member = null;
  state.stopped = null;
  state.stops.clear();
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
  group.update(overview, state.session);
  document.querySelector("#panes [data-pane=group]").hidden = !group.isGroup;
  document.body.toggleAttribute("data-group", group.isGroup);
  if (!group.isGroup && document.body.dataset.pane === "group") showPane("stack");
  forgetEnded(overview.sessions);
  const rows = showSessions(overview);
  const names = rows.map((one) => one.session);
  find("no-sessions").hidden = names.length > 0;
  find("no-sessions").textContent = overview.problem ?? "None yet: debugger start PROGRAM";
  const select = find("session");
  fillList(select, [names, state.session], () => [
    ...(names.includes(state.session) ? [] : [element("option", { value: "" }, state.session ?? "no session")]),
    ...rows.map((one) => element("option", { value: one.session }, plainText(one.name, 80))),
  ]);
  select.value = names.includes(state.session) ? state.session : "";
  const own = overview.sessions.find((one) => one.session === state.session);
  showButtons();
  const isLive = own && own.state !== "terminated" && own.state !== "idle";
  // It was started again, or the first session of all has begun.
  if (own && isLive && state.isOver) choose(state.session);
  if (!state.session && overview.current) choose(overview.current);
}

/** Lists the sessions, a group as one; returns the rows. */
function showSessions(overview) {
  const groups = new Map(overview.groups.flatMap((one) => one.sessions.map((name) => [name, one])));
  const listed = overview.sessions.filter((one) => !groups.has(one.session) || groups.get(one.session).sessions[0] === one.session);
  const rows = listed.map((one) => {
    const own = groups.get(one.session);
    const isCurrent = own ? own.sessions.includes(state.session) : one.session === state.session;
    const text = own ? `${own.sessions.length} members` : `${one.state}${one.adapter ? `, ${one.adapter}` : ""}`;
    const isStopped = own && overview.sessions.some((each) => each.state === "stopped" && own.sessions.includes(each.session));
    return { session: isCurrent ? state.session : one.session, name: own?.group ?? one.session, state: isStopped ? "stopped" : one.state, text, isCurrent };
  });
  fillList(find("sessions"), rows, () => rows.map((one) => element("li", { "data-key": one.name }, element("button", {
    class: "plain", "aria-current": one.isCurrent ? "true" : null, onclick: () => choose(one.session),
  }, element("span", { class: "dot", "data-state": one.state, "aria-hidden": "true" }),
  element("span", { class: "name" }, plainText(one.name, 80)),
  element("span", { class: "faint" }, one.text)))));
  return rows;
}

/** Forgets the stops of processes that are not stopped any more: an end is no event. */
function forgetEnded(sessions) {
  const stopped = new Set(sessions.filter((one) => one.state === "stopped").map((one) => one.session));
  const known = new Set(sessions.map((one) => one.session));
  // An overview may be older than a stop: only one that the overview before has met is forgotten.
  for (const [name, stop] of state.stops) {
    if (!stopped.has(name) && known.has(name) && state.seen?.get(name) === stop) state.stops.delete(name);
  }
  state.seen = new Map(state.stops);
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
  const before = state.about ? actsHere() : null;
  state.about = about;
  if (before?.isThisPage && !actsHere()) showToast("Handed back: the agent acts.");
  if (about.state === "running" && !group.isGroup) showRunning();
  group.setFocus(state.member, about.held);
  showButtons();
}

/** Returns who has taken over what is shown: the process itself, or all; null for nobody. */
function actsHere() {
  return state.about?.held?.[state.member] ?? state.about?.holder ?? null;
}

function noteStop(stop) {
  const session = stop.session ?? state.session;
  state.stops.set(session, stop);
  group.note();
  // Of a group the member in focus stays in view while it is stopped; at first it is the one that
  // this page has taken over, before it was loaded again.
  const mine = Boolean(state.about?.held?.[session]?.isThisPage) && !actsHere();
  if (!group.isGroup || session === state.member || !state.stops.has(state.member) || mine) {
    state.member = session;
    group.setFocus(session);
    showStop(stop);
  } else {
    loadBreakpoints(); // their hits
  }
}

function noteContinued(data) {
  const session = data.session ?? state.session;
  state.stops.delete(session);
  group.note();
  if (session === (state.member ?? session)) showRunning();
}

/** Shows a member of the group, as it is now. */
function focusMember(session) {
  state.member = session;
  group.setFocus(session);
  const stop = state.stops.get(session);
  if (stop) {
    showStop(stop);
  } else {
    clearProgram(`${group.labelOf(session)} is ${group.stateOf(session) === "running" ? "running" : "not stopped"}.`);
    state.thread = undefined;
  }
  showButtons();
}

function showPlace({ file, line }) {
  source.show({ path: file }, line, { isTop: false });
  if (document.body.dataset.pane !== "source" && matchMedia("(max-width: 760px)").matches) showPane("source");
}

async function showStop(stop) {
  state.stopped = stop;
  state.isBusy = false;
  clearTimeout(state.quiet);
  source.setRunning(false);
  showButtons();
  await attempt((async () => {
    const [threads, frames] = await Promise.all([
      connection.request("threads", group.isGroup ? { session: state.member } : {}),
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
  await attempt(variables.show(frame, { isNewStop, owner: state.member ?? "" }));
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
  const holder = actsHere();
  const acts = Boolean(holder?.isThisPage);
  const isLive = Boolean(about) && !isOver;
  const now = (group.isGroup ? group.stateOf(state.member) : null) ?? about?.state;
  const isRunning = isLive && !stopped && now === "running";
  const badge = find("state");
  badge.dataset.state = !state.session ? "none" : isOver || !about ? "over" : stopped ? "stopped" : now;
  badge.textContent = !state.session ? "no session"
    : isOver ? `ended${about?.exit !== undefined ? `: ${typeof about.exit === "number" ? `status ${about.exit}` : about.exit}` : ""}`
    : !about ? "connecting"
    : stopped ? `stopped: ${stopped.text && stopped.reason === "exception" ? plainText(stopped.text, 60) : stopped.reason}`
    : now === "terminated" ? "ended" : now;
  const scope = !group.isGroup || !holder ? "" : holder === about.holder ? " on all" : ` on ${plainText(group.labelOf(state.member), 20)}`;
  find("who").textContent = !isLive ? "" : acts ? `You act${scope}, since ${holder.since}` : holder ? `Another page acts${scope}, since ${holder.since}` : "The agent acts";
  document.body.dataset.acting = acts ? "you" : holder ? "page" : "agent";
  showTakeButtons(isLive);
  consoleView.setActing(acts);
  for (const id of ["continue", "over", "into", "out"]) setAble(id, acts && stopped);
  setAble("pause", acts && isRunning);
  setAble("restart", about?.holder?.isThisPage);
  const holdsSome = Boolean(about?.holder?.isThisPage) || Object.values(about?.held ?? {}).some((one) => one.isThisPage);
  for (const id of ["continue-all", "pause-all"]) setAble(id, isLive && holdsSome);
  document.title = state.session ? `${baseName(state.session)} ${badge.textContent} – debugger` : "debugger";
}

function showTakeButtons(isLive) {
  const { about } = state;
  const all = about?.holder?.isThisPage;
  const own = about?.held?.[state.member]?.isThisPage;
  const take = find("take");
  const takeAll = find("take-all");
  take.disabled = !isLive && !all && !own;
  takeAll.hidden = !group.isGroup;
  takeAll.disabled = !isLive && !all;
  takeAll.textContent = all ? "Hand back all" : "Take over all";
  takeAll.classList.toggle("strong", Boolean(group.isGroup && all && !own));
  take.hidden = Boolean(group.isGroup && ((all && !own) || !state.member));
  take.textContent = (group.isGroup ? own : all) ? `Hand back${group.isGroup ? ` ${plainText(group.labelOf(state.member), 20)}` : ""}` : group.isGroup ? `Take over ${plainText(group.labelOf(state.member), 20)}` : "Take over";
}

// They stay reachable, so that the focus is not lost at each step.
function setAble(id, isAble) {
  find(id).setAttribute("aria-disabled", String(!isAble));
}

async function act(id) {
  if (find(id).getAttribute("aria-disabled") === "true") {
    checkActing();
    return;
  }
  if (id === "pause") return attempt(connection.request("pause", { threadId: 0, ...(state.member ? { session: state.member } : {}) }));
  if (id === "restart") {
    await attempt(connection.request("restart"));
    return;
  }
  if (state.isBusy) return; // a key that is held down
  state.isBusy = true;
  const stop = state.stopped;
  // Before the request: the stop after it may be known before the request is answered.
  showRunning();
  const done = await resume(ACTIONS[id], { threadId: state.thread ?? stop.threadId }, stop);
  if (done === undefined && !state.isOver) showStop(stop);
}

/** Lets a process go on from a stop; who has requested it gets no event that it runs. */
async function resume(command, args, stop) {
  const done = await attempt(connection.request(command, args));
  if (done === undefined) return done;
  for (const [session, one] of state.stops) if (one === stop) state.stops.delete(session);
  return done;
}

/** Tells whether this page acts; if not, says what to do first. */
function checkActing() {
  if (actsHere()?.isThisPage) return true;
  if (state.about && !state.isOver) showToast("The agent acts. Take over first (F2).");
  return false;
}

async function takeOrHandBack({ all = false } = {}) {
  const button = find(all || find("take").hidden ? "take-all" : "take");
  if (button.disabled || button.hidden) return;
  if (!group.isGroup || button.id === "take-all") {
    await attempt(connection.request(state.about?.holder?.isThisPage ? "handBack" : "takeOver"));
  } else {
    const own = state.about?.held?.[state.member]?.isThisPage;
    await attempt(connection.request(own ? "handBack" : "takeOver", { session: state.member }));
  }
}

/** Lets the members run, or stops them: those that this page has taken over. */
async function actOnAll(id) {
  if (find(id).getAttribute("aria-disabled") === "true") {
    showToast("The agent acts. Take over first (F2, all: Shift+F2).");
    return;
  }
  const { holder, held } = state.about;
  const mine = (session) => (held[session] ?? holder)?.isThisPage;
  if (id === "continue-all") {
    const stops = [...state.stops].filter(([session]) => mine(session)).map(([, stop]) => stop);
    await Promise.all(stops.map((stop) => resume("continue", { threadId: stop.threadId }, stop)));
    if (!state.stops.has(state.member)) showRunning();
    group.note();
    return;
  }
  // Their states may be older than the last stops.
  const others = [...group.states].filter(([session, now]) => now !== "terminated" && !state.stops.has(session) && mine(session));
  await Promise.all(others.map(([session]) => attempt(connection.request("pause", { threadId: 0, session }))));
}

/** Evaluates what a person has typed; it may change something only while they act. */
function evaluate(text) {
  if (!variables.frame) throw new Error("Nothing is stopped here.");
  const context = actsHere()?.isThisPage ? "repl" : "watch";
  const { frame } = variables;
  return connection.request("evaluate", { expression: text, frameId: frame.id, context }).then((found) => {
    if (context === "repl" && variables.frame === frame) attempt(variables.show(frame));
    return found;
  });
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

/** Loads the breakpoints; while it does so, once more is enough for all that changes meanwhile. */
async function loadBreakpoints() {
  if (!state.session) return undefined;
  state.needsBreakpoints = true;
  state.loading ??= (async () => {
    while (state.needsBreakpoints) {
      state.needsBreakpoints = false;
      await readBreakpoints();
    }
    state.loading = null;
  })();
  return state.loading;
}

async function readBreakpoints() {
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
    onEdit: (one) => openBreakpoint({ known: one, path: one.file, line: one.line }),
    onRemove: (one) => changeBreakpoints("breakpoint_remove", { ids: [one.id] }),
  });
}

async function toggleBreakpoint(path, line) {
  const known = breakpoints.find((one) => one.file === path && one.line === line);
  if (known) await changeBreakpoints("breakpoint_remove", { ids: [known.id] });
  else await changeBreakpoints("breakpoint_add", { place: `${path}:${line}` });
}

function editBreakpoint(path, line) {
  openBreakpoint({ path, line, known: breakpoints.find((one) => one.file === path && one.line === line) });
}

function openBreakpoint({ path, line, known }) {
  const { session } = state;
  if (!session) return;
  breakpointForm.open({ path, line, known, save: async ({ condition, hitCount, log }) => {
    if (known) await connection.command("breakpoint_change", session, { number: known.id, condition, hit_count: hitCount, log });
    else await connection.command("breakpoint_add", session, { place: `${path}:${line}`, when: condition ? [condition] : [], hit_count: hitCount || null, log: log || null });
    loadBreakpoints(); // once the dialog is closed
  } });
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
  for (const one of ["output", "evidence", "timeline", "console"]) {
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
  const inner = { evidence: find("answer"), console: find("console-input"), group: document.querySelector(".member[tabindex='0']"), stack: find(group.showsStacks ? "merged" : "stack") }[name];
  if (focus) (inner ?? find(name))?.focus();
}

/** Gives what is below most of the page, and takes it back. */
function enlarge() {
  const isLarge = document.body.toggleAttribute("data-large");
  find("enlarge").setAttribute("aria-pressed", String(isLarge));
  find("enlarge").textContent = isLarge ? "Reduce" : "Enlarge";
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
    F2: () => takeOrHandBack(),
    "Shift+F2": () => takeOrHandBack({ all: true }),
    F5: () => act("continue"),
    F6: () => act("pause"),
    F9: () => source.toggleAtCursor(),
    "Shift+F9": () => source.changeAtCursor(),
    F10: () => act("over"),
    F11: () => act("into"),
    "Shift+F11": () => act("out"),
    "Ctrl+Shift+F5": () => act("restart"),
    "Alt+0": enlarge,
    "Alt+w": () => {
      showPane("variables");
      find("watch").focus();
    },
    ...Object.fromEntries(names.map((name, at) => [`Alt+${at + 1}`, () => showPane(name, { focus: true })])),
  };
  if (!keys[key] || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  if (event.repeat && ["F2", "F9"].includes(event.key)) return;
  keys[key]();
}

/** Lets go of the stream of a page that has been hidden for long: nothing is kept alive for it. */
export function pauseIfHidden(now = Date.now()) {
  const mine = [state.about?.holder, ...Object.values(state.about?.held ?? {})].some((one) => one?.isThisPage);
  if (!document.hidden || !connection.source || mine) return;
  if (now - state.hiddenAt > HIDDEN_MS) connection.pause();
}

function noteVisibility() {
  state.hiddenAt = Date.now();
  if (!document.hidden && !connection.source) connection.follow(state.session);
}

function setUp() {
  for (const id of ["continue", "pause", "over", "into", "out", "restart"]) find(id).addEventListener("click", () => act(id));
  for (const id of ["continue-all", "pause-all"]) find(id).addEventListener("click", () => actOnAll(id));
  find("take").addEventListener("click", () => takeOrHandBack());
  find("take-all").addEventListener("click", () => takeOrHandBack({ all: true }));
  find("enlarge").addEventListener("click", enlarge);
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
