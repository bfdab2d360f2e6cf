"""Tools of MCP servers: sessions that stay open, annotations mapped to effects, results taken as data.

`servers.read_servers` reads the tables of the settings, `client.McpTools` gives the tools. The SDK is imported when the
first server is opened and not before: that takes more than a second.
"""
