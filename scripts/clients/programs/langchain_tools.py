"""LangChain: the tools as an agent gets them."""

from langchain_core.tools import ToolException
from langchain_mcp_adapters.client import MultiServerMCPClient
from task import Outcome, Task, carry_out


async def _client(task: Task) -> Outcome:
    started = {"transport": "stdio", "command": task.command, "args": [*task.args]}
    servers = MultiServerMCPClient(
        {"kgnav": {"transport": "streamable_http", "url": task.url} if task.url else started}
    )
    tools = {tool.name: tool for tool in await servers.get_tools()}
    answers: list[str] = []
    for name, arguments in task.calls:
        try:
            answer = await tools[name].ainvoke({**arguments})
            answers.append(answer if isinstance(answer, str) else "".join(block["text"] for block in answer))
        except ToolException as error:
            answers.append(str(error))
    prompt = await servers.get_prompt("kgnav", task.prompt, arguments={**task.prompt_arguments})
    return list(tools), answers, "".join(str(message.content) for message in prompt)


carry_out("langchain-mcp-adapters", _client)
