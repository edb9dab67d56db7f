"""Greetings; `-m pkg.mod` prints one."""

from __future__ import annotations


def greeting(name: str) -> str:
    text = f"hello {name}"
    return text  # @text


if __name__ == "__main__":
    print(greeting("module"))
