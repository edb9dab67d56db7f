"""Writes what an editor needs to join a session: its configuration for `debugger dap`. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_VSCODE = """\
// .vscode/launch.json; first, in a terminal: debugger dap --listen 127.0.0.1:4711
// (any installed debug type reaches it by debugServer; "debugpy" comes with the Python extension)
{
  "version": "0.2.0",
  "configurations": [
    {
      "name": "Join the agent's session",
      "type": "debugpy",
      "request": "attach",
      "debugServer": 4711,
      "session": ""
    }
  ]
}
"""
_ZED = """\
// .zed/debug.json; first, in a terminal: debugger dap --listen 127.0.0.1:4711
[
  {
    "label": "Join the agent's session",
    "adapter": "Debugpy",
    "request": "attach",
    "tcp_connection": {"host": "127.0.0.1", "port": 4711}
  }
]
"""
_NVIM = """\
-- init.lua, with nvim-dap
local dap = require("dap")
dap.adapters.debugger = { type = "executable", command = "debugger", args = { "dap" } }
for _, language in ipairs({ "python", "c", "cpp", "rust", "go", "javascript", "typescript" }) do
  dap.configurations[language] = dap.configurations[language] or {}
  table.insert(dap.configurations[language], {
    type = "debugger",
    request = "attach",
    name = "Join the agent's session",
  })
  table.insert(dap.configurations[language], {
    type = "debugger",
    request = "launch",
    name = "Debug this file",
    program = "${file}",
  })
end
"""
_EMACS = """\
;; init.el, for dape or dap-mode, whichever is loaded
(with-eval-after-load 'dape
  (add-to-list 'dape-configs
               '(debugger
                 modes (python-mode python-ts-mode c-mode c-ts-mode c++-mode c++-ts-mode
                        rust-mode rust-ts-mode go-mode go-ts-mode js-mode js-ts-mode)
                 command "debugger"
                 command-args ("dap")
                 :type "debugger"
                 :request "attach")))
(with-eval-after-load 'dap-mode
  (dap-register-debug-provider
   "debugger"
   (lambda (configuration) (plist-put configuration :dap-server-path '("debugger" "dap"))))
  (dap-register-debug-template
   "Join the agent's session"
   '(:type "debugger" :request "attach" :name "Join the agent's session")))
"""
_HELIX = """\
# languages.toml; one such section for each language
[[language]]
name = "python"

[language.debugger]
name = "debugger"
transport = "stdio"
command = "debugger"
args = ["dap"]

[[language.debugger.templates]]
name = "join"
request = "attach"
completion = []
args = {}
"""
EDITORS: Final[Mapping[str, str]] = {
    "vscode": _VSCODE,
    "zed": _ZED,
    "nvim": _NVIM,
    "emacs": _EMACS,
    "helix": _HELIX,
}


def editor_configuration(editor: str) -> str:
    """Return the configuration for an editor of `EDITORS`."""
    return EDITORS[editor]
