// The Inspector's command line: a process for each question.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";

const task = JSON.parse(process.argv[2]);
const server = task.url ? [task.url, "--transport", "http"] : [task.command, ...task.args];
const { version, bin } = createRequire(import.meta.url)("./node_modules/@modelcontextprotocol/inspector/package.json");
const program = `./node_modules/@modelcontextprotocol/inspector/${bin["mcp-inspector"]}`;
// An error answer is printed like any other, with an exit code of its own.
const ask = (...question) => {
  const flags = ["--cli", ...server, "--method", ...question];
  const { stdout, stderr } = spawnSync(process.execPath, [program, ...flags], { encoding: "utf8" });
  if (!stdout) throw new Error(stderr);
  return JSON.parse(stdout);
};
const written = (value) => (value && typeof value === "string" ? value : JSON.stringify(value));
const pairs = (flag, values) => Object.entries(values).flatMap(([name, value]) => [flag, `${name}=${written(value)}`]);

const tools = ask("tools/list").tools.map((tool) => tool.name);
const answers = task.calls.map(([name, args]) =>
  ask("tools/call", "--tool-name", name, ...pairs("--tool-arg", args)).content.map((block) => block.text).join("\n"),
);
const prompt = ask("prompts/get", "--prompt-name", task.prompt, ...pairs("--prompt-args", task.prompt_arguments));
process.stdout.write(
  JSON.stringify({ version, tools, answers, prompt: prompt.messages.map((message) => message.content.text).join("\n") }),
);
