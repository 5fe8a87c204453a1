"""fastmcp's client, configured as desktop programs are."""

from fastmcp import Client
from task import Outcome, Task, carry_out, text


async def _client(task: Task) -> Outcome:
    server = {"url": task.url} if task.url else {"command": task.command, "args": [*task.args]}
    async with Client({"mcpServers": {"kgnav": server}}) as session:
        tools = [tool.name for tool in await session.list_tools()]
        answers = [
            text((await session.call_tool(tool, {**arguments}, raise_on_error=False)).content)
            for tool, arguments in task.calls
        ]
        prompt = await session.get_prompt(task.prompt, {**task.prompt_arguments})
        return tools, answers, text([message.content for message in prompt.messages])


carry_out("fastmcp", _client)
