-- Drives `debugger dap` by nvim-dap in a Neovim without a screen.
-- nvim --headless -u NONE -l nvim_dap.lua NVIM_DAP CONFIGURATION PROGRAM LINE NEXT_LINE
local folder, configuration, program, line, next_line = unpack(arg)
line, next_line = tonumber(line), tonumber(next_line)
vim.opt.runtimepath:prepend(folder)
dofile(configuration) -- as `debugger dap --print nvim` prints it
local dap = require("dap")
local stops, ends, output = {}, 0, {}
dap.listeners.after.event_stopped.test = function(_, body) table.insert(stops, body) end
dap.listeners.after.event_terminated.test = function() ends = ends + 1 end
dap.listeners.after.event_output.test = function(_, body) table.insert(output, body.output) end
-- Nothing may be asked for at the screen: there is none.
vim.notify = function(text) print("note: " .. text) end

local function await(what, condition)
  if not vim.wait(30000, condition, 20) then
    local log = vim.fn.stdpath("cache") .. "/dap.log"
    error(what .. " did not come; " .. vim.inspect(stops) .. (vim.uv.fs_stat(log) and table.concat(vim.fn.readfile(log), "\n") or ""))
  end
end

local function configured(name)
  for _, one in ipairs(dap.configurations.python) do
    if one.name == name then return one end
  end
  error("no configuration " .. name)
end

local function ask(command, arguments)
  local answered, failure, body = false, nil, nil
  dap.session():request(command, arguments, function(err, found) answered, failure, body = true, err, found end)
  await(command, function() return answered end)
  assert(failure == nil, command .. ": " .. vim.inspect(failure))
  return body
end

local function shown_line() return dap.session().current_frame and dap.session().current_frame.line end

local function values()
  local scopes = ask("scopes", { frameId = dap.session().current_frame.id }).scopes
  local found = {}
  for _, one in ipairs(ask("variables", { variablesReference = scopes[1].variablesReference }).variables) do
    found[one.name] = one.value
  end
  return found
end

local function done(name) print("ok " .. name) end

-- A start by the editor.
vim.cmd.edit(program)
vim.api.nvim_win_set_cursor(0, { line, 0 })
dap.set_breakpoint()
dap.run(configured("Debug this file"))
await("the stop", function() return #stops == 1 and shown_line() == line end)
assert(stops[1].reason == "breakpoint")
assert(values().square == "1", vim.inspect(values()))
done("starts, and stops at a breakpoint with its values")
dap.step_over()
await("the step", function() return #stops == 2 and shown_line() == next_line end)
assert(table.concat(output):find("step 1"))
done("steps, and shows the output")
dap.clear_breakpoints()
vim.api.nvim_win_set_cursor(0, { line, 0 })
dap.set_breakpoint("square > 4")
dap.continue()
await("the condition", function() return #stops == 3 and shown_line() == line end)
assert(values().square == "9", vim.inspect(values()))
done("stops by a condition")
assert(ask("evaluate", { expression = "square + 1", frameId = dap.session().current_frame.id, context = "repl" }).result == "10")
ask("setVariable", {
  variablesReference = ask("scopes", { frameId = dap.session().current_frame.id }).scopes[1].variablesReference,
  name = "square",
  value = "40",
})
assert(values().square == "40")
done("evaluates, and sets a value")
dap.up()
await("the caller", function() return shown_line() ~= line end)
dap.down()
dap.clear_breakpoints()
dap.continue()
await("the end", function() return ends == 1 end)
await("the session's end", function() return dap.session() == nil end)
done("ends")

-- An agent's session.
local cli = vim.env.DEBUGGER_PYTHON
local function agent(...)
  local ran = vim.system({ cli, "-m", "debugger", ... }, { text = true }):wait()
  assert(ran.code == 0, vim.inspect(ran))
  return ran.stdout
end
stops = {}
agent("start", program, "--break", program .. ":" .. line)
dap.run(configured("Join the agent's session"))
await("the agent's stop", function() return #stops == 1 and shown_line() == line end)
done("joins an agent's session where it is stopped")
agent("next")
await("the agent's step", function() return #stops == 2 and shown_line() == next_line end)
done("follows the agent's step")
dap.step_over()
await("the own step", function() return #stops == 3 end)
assert(agent("context"):find("sum_to"), "the agent does not see the editor's step")
done("steps for the agent to see")
dap.disconnect({ terminateDebuggee = false })
await("the leave", function() return dap.session() == nil end)
assert(agent("context"):find("sum_to"), "the session has gone with the editor")
agent("stop", "--all")
done("leaves it")
os.exit(0)
