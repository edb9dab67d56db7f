"""Serves MCP tools, resources and prompts, as a client of the daemon."""
