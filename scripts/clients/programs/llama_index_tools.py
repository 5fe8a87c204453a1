"""LlamaIndex: the tools as an agent gets them."""

from llama_index.tools.mcp import BasicMCPClient, McpToolSpec
from task import Outcome, Task, carry_out


async def _client(task: Task) -> Outcome:
    session = BasicMCPClient(task.url or task.command, args=[] if task.url else [*task.args])
    tools = {tool.metadata.name: tool for tool in await McpToolSpec(client=session).to_tool_list_async()}
    answers = [str((await tools[name].acall(**arguments)).content) for name, arguments in task.calls]
    prompt = await session.get_prompt(task.prompt, {**task.prompt_arguments})
    return list(tools), answers, "".join(str(message.content) for message in prompt)


carry_out("llama-index-tools-mcp", _client)
