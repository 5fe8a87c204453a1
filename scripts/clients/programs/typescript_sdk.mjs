// The TypeScript SDK.
import { createRequire } from "node:module";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const task = JSON.parse(process.argv[2]);
const client = new Client({ name: "try-clients", version: "1" });
await client.connect(
  task.url
    ? new StreamableHTTPClientTransport(new URL(task.url))
    : new StdioClientTransport({ command: task.command, args: task.args }),
);
const tools = (await client.listTools()).tools.map((tool) => tool.name);
const answers = [];
for (const [name, args] of task.calls) {
  answers.push((await client.callTool({ name, arguments: args })).content.map((block) => block.text).join("\n"));
}
const prompt = await client.getPrompt({ name: task.prompt, arguments: task.prompt_arguments });
await client.close();
const { version } = createRequire(import.meta.url)("./node_modules/@modelcontextprotocol/sdk/package.json");
process.stdout.write(
  JSON.stringify({ version, tools, answers, prompt: prompt.messages.map((message) => message.content.text).join("\n") }),
);
