"""The operations of people and programs on a campaign: page, REST and MCP call these, as `suggest` does them."""
