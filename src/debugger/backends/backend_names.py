"""Names the backends, as a user chooses one."""

from __future__ import annotations

from typing import Final

DAP: Final = "dap"
LLDB_CLI: Final = "lldb-cli"
FRIDA: Final = "frida"
BACKENDS: Final = (DAP, LLDB_CLI, FRIDA)
BACKENDS_TEXT: Final = f"{', '.join(BACKENDS[:-1])} or {BACKENDS[-1]}"
