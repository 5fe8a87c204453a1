"""mcp-use."""

from mcp_use import MCPClient
from task import Outcome, Task, carry_out, text


async def _client(task: Task) -> Outcome:
    server = {"url": task.url} if task.url else {"command": task.command, "args": [*task.args]}
    servers = MCPClient.from_dict({"mcpServers": {"kgnav": server}})
    session = await servers.create_session("kgnav")
    try:
        tools = [tool.name for tool in await session.list_tools()]
        answers = [text((await session.call_tool(tool, {**arguments})).content) for tool, arguments in task.calls]
        prompt = await session.get_prompt(task.prompt, {**task.prompt_arguments})
        return tools, answers, text([message.content for message in prompt.messages])
    finally:
        await servers.close_all_sessions()


carry_out("mcp-use", _client)
