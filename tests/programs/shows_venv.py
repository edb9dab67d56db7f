"""Prints which Python runs it, and whose packages that sees."""

from __future__ import annotations

import sys

print(f"executable: {sys.executable}")
print(f"prefix: {sys.prefix}")  # @prefix
print(f"version: {sys.version_info.major}.{sys.version_info.minor}")
