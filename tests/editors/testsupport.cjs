// Drives `debugger dap` by the client that VS Code's own debug adapters are tested with.
// node testsupport.cjs PORT PROGRAM LINE NEXT_LINE MODULES
"use strict";
const [, , port, program, line, next, modules] = process.argv;
const { DebugClient } = require(`${modules}/@vscode/debugadapter-testsupport`);
const assert = require("node:assert");

const asked = new Set();

/** Notes which of its requests the client has sent. */
class NotingClient extends DebugClient {
  send(command, args) {
    asked.add(command);
    return super.send(command, args);
  }
}

/** Lists all requests that the client knows. */
function knownRequests() {
  const names = Object.getOwnPropertyNames(DebugClient.prototype).filter((one) => one.endsWith("Request"));
  return names.map((one) => one.slice(0, -"Request".length)).filter((one) => one !== "custom");
}

async function session(name, run) {
  const client = new NotingClient("node", "none", "debugger");
  client.defaultTimeout = 30000;
  await client.start(Number(port));
  await run(client);
  await client.stop();
  console.log(`ok ${name}`);
}

async function main() {
  const at = { path: program, line: Number(line) };
  await session("unknown requests fail", async (client) => {
    await assert.rejects(client.send("illegal_request"));
  });
  await session("initialize answers with capabilities", async (client) => {
    const answer = await client.initializeRequest();
    assert.equal(answer.body.supportsConfigurationDoneRequest, true);
  });
  await session("a path format that is none fails", async (client) => {
    await assert.rejects(
      client.initializeRequest({ adapterID: "x", linesStartAt1: true, columnsStartAt1: true, pathFormat: "url" }),
    );
  });
  await session("a program runs to its end", async (client) => {
    await Promise.all([
      client.configurationSequence(),
      client.launch({ program }),
      client.waitForEvent("terminated"),
    ]);
  });
  await session("a program stops at its entry", async (client) => {
    await Promise.all([
      client.configurationSequence(),
      client.launch({ program, stopOnEntry: true }),
      client.assertStoppedLocation("entry", {}),
    ]);
  });
  await session("a breakpoint is hit, stepped from, and output is told", async (client) => {
    // Whether it binds is known once the program runs: then an event says so.
    await client.hitBreakpoint({ program }, { ...at, verified: false }, at);
    const { threads } = (await client.threadsRequest()).body;
    const step = { threadId: threads[0].id };
    await Promise.all([
      client.nextRequest(step),
      client.assertStoppedLocation("step", { path: program, line: Number(next) }),
      client.assertOutput("stdout", "step 1"),
    ]);
    const frames = (await client.stackTraceRequest(step)).body.stackFrames;
    const scopes = (await client.scopesRequest({ frameId: frames[0].id })).body.scopes;
    const { variables } = (
      await client.variablesRequest({ variablesReference: scopes[0].variablesReference })
    ).body;
    assert(variables.some((one) => one.name === "square" && one.value === "1"));
    const value = await client.evaluateRequest({ expression: "square + 1", frameId: frames[0].id });
    assert.equal(value.body.result, "2");
    await Promise.all([client.stepOutRequest(step), client.waitForEvent("stopped")]);
    await Promise.all([client.continueRequest(step), client.waitForEvent("stopped")]);
  });
  await session("each request of the client is answered", async (client) => {
    await client.hitBreakpoint({ program }, { ...at, verified: false }, at);
    const threadId = (await client.threadsRequest()).body.threads[0].id;
    const frames = (await client.stackTraceRequest({ threadId })).body.stackFrames;
    const frameId = frames[0].id;
    const source = { path: program };
    assert((await client.sourceRequest({ source, sourceReference: 0 })).body.content.includes("def "));
    const { scopes } = (await client.scopesRequest({ frameId })).body;
    const { variablesReference } = scopes[0];
    await client.variablesRequest({ variablesReference });
    const set = await client.setVariableRequest({ variablesReference, name: "square", value: "9" });
    assert.equal(set.body.value, "9");
    const { targets } = (await client.completionsRequest({ frameId, text: "squ", column: 4 })).body;
    assert(targets.some((one) => one.label === "square"));
    assert((await client.modulesRequest({})).body.modules.length > 0);
    await client.setFunctionBreakpointsRequest({ breakpoints: [{ name: "calculate" }] });
    await client.setFunctionBreakpointsRequest({ breakpoints: [] });
    await client.setExceptionBreakpointsRequest({ filters: ["uncaught"] });
    // What this debugger has not is refused, or said as the protocol has it.
    await assert.rejects(client.exceptionInfoRequest({ threadId }));
    assert.equal((await client.dataBreakpointInfoRequest({ name: "square" })).body.dataId, null);
    const data = await client.setDataBreakpointsRequest({ breakpoints: [{ dataId: "square" }] });
    assert.equal(data.body.breakpoints[0].verified, false);
    await assert.rejects(client.disassembleRequest({ memoryReference: "0x1000", instructionCount: 1 }));
    await assert.rejects(client.stepBackRequest({ threadId }));
    await assert.rejects(client.reverseContinueRequest({ threadId }));
    await assert.rejects(client.restartFrameRequest({ frameId }));
    assert.equal((await client.stepInTargetsRequest({ frameId })).body.targets.length > 0, true);
    const goto = (await client.gotoTargetsRequest({ source, line: Number(next) })).body.targets[0];
    await Promise.all([
      client.gotoRequest({ threadId, targetId: goto.id }),
      client.assertStoppedLocation("goto", { path: program, line: Number(next) }),
    ]);
    await Promise.all([client.stepInRequest({ threadId }), client.waitForEvent("stopped")]);
    await client.pauseRequest({ threadId }); // it is stopped already
    await Promise.all([client.restartRequest({}), client.assertStoppedLocation("breakpoint", at)]);
    await Promise.all([client.terminateRequest({}), client.waitForEvent("terminated")]);
  });
  await session("a session that is not there is said", async (client) => {
    await client.initializeRequest();
    await assert.rejects(client.attachRequest({ session: "nobody" }), /no session/);
  });
  assert.deepEqual(knownRequests().filter((one) => !asked.has(one)), []);
  console.log("ok all requests were sent");
}

process.exitCode = 1; // where nothing more can come, and something is waited for
main().then(
  () => process.exit(0),
  (error) => {
    console.log(error);
    process.exit(1);
  },
);
