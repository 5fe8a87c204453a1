"""OpenAI's agents: strict function tools, for which a model must send all arguments."""

import json

from agents import Agent, RunContextWrapper
from agents.mcp import MCPServerStdio, MCPServerStreamableHttp, MCPUtil
from agents.tool import FunctionTool
from agents.tool_context import ToolContext
from task import Outcome, Task, carry_out, text


async def _client(task: Task) -> Outcome:
    started = MCPServerStdio({"command": task.command, "args": [*task.args]})
    async with MCPServerStreamableHttp({"url": task.url}) if task.url else started as server:
        run = RunContextWrapper(None)
        listed = await MCPUtil.get_function_tools(server, True, run, Agent(name="walker"))
        tools = {tool.name: tool for tool in listed if isinstance(tool, FunctionTool)}
        answers: list[str] = []
        for name, given in task.calls:
            arguments = json.dumps({**dict.fromkeys(tools[name].params_json_schema["required"]), **given})
            context = ToolContext(None, tool_name=name, tool_call_id=name, tool_arguments=arguments)
            answers.append(str(await tools[name].on_invoke_tool(context, arguments)))
        prompt = await server.get_prompt(task.prompt, {**task.prompt_arguments})
        return list(tools), answers, text([message.content for message in prompt.messages])


carry_out("openai-agents", _client)
