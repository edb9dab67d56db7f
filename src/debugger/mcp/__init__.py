"""The MCP server: tools, resources and prompts, as one more client of the daemon."""
