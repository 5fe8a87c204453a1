// The Go SDK.
package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type task struct {
	Command, URL, Prompt string
	Args                 []string
	Calls                [][2]any
	PromptArguments      map[string]string `json:"prompt_arguments"`
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	ctx, given := context.Background(), task{}
	must(0, json.Unmarshal([]byte(os.Args[1]), &given))
	var transport mcp.Transport = &mcp.CommandTransport{Command: exec.Command(given.Command, given.Args...)}
	if given.URL != "" {
		transport = &mcp.StreamableClientTransport{Endpoint: given.URL}
	}
	session := must(mcp.NewClient(&mcp.Implementation{Name: "try-clients", Version: "1"}, nil).Connect(ctx, transport, nil))
	defer session.Close()
	tools, answers := []string{}, []string{}
	for _, tool := range must(session.ListTools(ctx, nil)).Tools {
		tools = append(tools, tool.Name)
	}
	for _, call := range given.Calls {
		result := must(session.CallTool(ctx, &mcp.CallToolParams{Name: call[0].(string), Arguments: call[1]}))
		answers = append(answers, result.Content[0].(*mcp.TextContent).Text)
	}
	prompt := must(session.GetPrompt(ctx, &mcp.GetPromptParams{Name: given.Prompt, Arguments: given.PromptArguments}))
	version := ""
	built, _ := debug.ReadBuildInfo()
	for _, module := range built.Deps {
		if module.Path == "github.com/modelcontextprotocol/go-sdk" {
			version = module.Version
		}
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{"version": version, "tools": tools, "answers": answers,
		"prompt": prompt.Messages[0].Content.(*mcp.TextContent).Text})
}
