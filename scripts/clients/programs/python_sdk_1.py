"""The Python SDK, version 1: the older protocol with a handshake."""

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from task import Outcome, Task, carry_out, text


async def _client(task: Task) -> Outcome:
    server = StdioServerParameters(command=task.command, args=[*task.args])
    connection = streamablehttp_client(task.url) if task.url else stdio_client(server)
    async with connection as (read, write, *_), ClientSession(read, write) as session:
        await session.initialize()
        tools = [tool.name for tool in (await session.list_tools()).tools]
        answers = [text((await session.call_tool(tool, {**arguments})).content) for tool, arguments in task.calls]
        prompt = await session.get_prompt(task.prompt, {**task.prompt_arguments})
        return tools, answers, text([message.content for message in prompt.messages])


carry_out("mcp", _client)
