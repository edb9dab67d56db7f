"""One file per debug adapter: how to find it, start it, and what it does differently."""
