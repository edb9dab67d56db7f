"""Tells the user's own source files from a library's, by their path. Pure."""

from __future__ import annotations

import re

_LIBRARY = re.compile(
    r"/(?:site-packages|dist-packages|node_modules|rustlib|\.cargo/registry|go/pkg/mod)/"
    r"|^/usr/(?:include|lib|share|src)/|^/rustc/|^/rust/deps/|^library/(?:alloc|core|std|std_detect|test)/src/"
    r"|/lib/python\d[\d.]*/|^(?:/usr/local|/usr/lib)/go[^/]*/src/"
    r"|/go\d?[\d.]*/src/(?:runtime|fmt|os|sync|net|internal)/|^<|^node:|/sysdeps/|^\.\./|/libsanitizer/"
    r"|^\./(\w+)/\.{1,2}/\1/"  # glibc of Debian: ./nptl/./nptl/pthread_mutex_lock.c
)


def is_library(file: str | None, cwd: str) -> bool:
    """Tell whether a file belongs to a library or a runtime; what is below `cwd` is the user's.

    A package that was installed below `cwd` is none the less a library.
    """
    if file is None:
        return True
    inside = file.removeprefix(f"{cwd.rstrip('/')}/")
    return _LIBRARY.search(f"/{inside}" if inside != file else file) is not None
