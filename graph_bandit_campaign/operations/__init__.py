"""Run the operations of users and programs on a campaign: shared by page, REST and MCP, as in `suggest`."""
