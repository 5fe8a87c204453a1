"""The Python SDK, version 2: over HTTP also the newer, stateless protocol."""

from mcp import Client, StdioServerParameters
from task import Outcome, Task, carry_out, text


async def _client(task: Task) -> Outcome:
    async with Client(task.url or StdioServerParameters(command=task.command, args=[*task.args])) as session:
        tools = [tool.name for tool in (await session.list_tools()).tools]
        answers = [text((await session.call_tool(tool, {**arguments})).content) for tool, arguments in task.calls]
        prompt = await session.get_prompt(task.prompt, {**task.prompt_arguments})
        return tools, answers, text([message.content for message in prompt.messages])


carry_out("mcp", _client)
