"""What does `python -m debugger` run?"""

from __future__ import annotations

import sys

from debugger.client import main

if __name__ == "__main__":
    sys.exit(main())
