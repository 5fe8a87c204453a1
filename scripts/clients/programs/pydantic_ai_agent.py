"""pydantic-ai: an agent with a scripted model that makes the calls of the task one after the other."""

from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from task import Outcome, Task, carry_out


async def _client(task: Task) -> Outcome:
    tools: list[str] = []

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        tools[:] = [tool.name for tool in info.function_tools]
        made = sum(isinstance(message, ModelResponse) for message in messages)
        if made == len(task.calls):
            return ModelResponse(parts=[TextPart("done")])
        name, arguments = task.calls[made]
        return ModelResponse(parts=[ToolCallPart(name, {**arguments})])

    toolset = MCPToolset(task.url or StdioTransport(task.command, [*task.args]), max_retries=len(task.calls))
    async with toolset:
        run = await Agent(FunctionModel(model), toolsets=[toolset]).run("go")
        prompt = await toolset.get_prompt(task.prompt, {**task.prompt_arguments})
    parts = [part for message in run.all_messages() if isinstance(message, ModelRequest) for part in message.parts]
    answers = [str(part.content) for part in parts if isinstance(part, ToolReturnPart | RetryPromptPart)]
    return tools, answers, "".join(message.content.content for message in prompt.messages)


carry_out("pydantic-ai-slim", _client)
