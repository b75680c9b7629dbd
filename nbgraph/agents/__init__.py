"""Chat models, tools, the nodes that join them, and approvals of tool calls."""
