// Drives `debugger dap` by the client that VS Code's own debug adapters are tested with.
// node testsupport.cjs PORT PROGRAM LINE NEXT_LINE MODULES
"use strict";
const [, , port, program, line, next, modules] = process.argv;
const { DebugClient } = require(`${modules}/@vscode/debugadapter-testsupport`);
const assert = require("node:assert");

async function session(name, run) {
  const client = new DebugClient("node", "none", "debugger");
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
}

main().then(
  () => process.exit(0),
  (error) => {
    console.log(error);
    process.exit(1);
  },
);
