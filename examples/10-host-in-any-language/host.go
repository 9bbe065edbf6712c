// A host in Go: starts the engine, registers a callback, fires events. Standard library only.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

type object = map[string]any
type crosier struct {
	in       io.Writer
	out      *json.Decoder
	last     float64
	handlers map[string]func(event object) (object, error)
}

func start(folder string) *crosier {
	server := exec.Command("crosier", "serve", "--stdio")
	in, _ := server.StdinPipe()
	out, _ := server.StdoutPipe()
	check(server.Start())
	host := &crosier{in, json.NewDecoder(out), 0, map[string]func(object) (object, error){}}
	host.request("hello", object{"protocols": []int{1}, "config": []string{folder + "/hooks.yaml"}, "cwd": folder})
	return host
}

func (host *crosier) send(message object) {
	message["jsonrpc"] = "2.0"
	check(json.NewEncoder(host.in).Encode(message))
}

// request sends a request, and answers the server's own calls until its result is there.
func (host *crosier) request(method string, params object) object {
	host.last++
	number := host.last
	host.send(object{"id": number, "method": method, "params": params})
	for {
		var message object
		check(host.out.Decode(&message))
		if message["method"] == "hook.call" {
			call := message["params"].(object)
			reply, err := host.handlers[call["hook"].(string)](call["event"].(object))
			answer := object{"id": message["id"], "result": reply}
			if err != nil { // a failure of the hook, which its `on_error` decides about
				answer = object{"id": message["id"], "error": object{"code": 1, "message": err.Error()}}
			}
			host.send(answer)
		} else if message["error"] != nil { // no outcome is no permission: whoever asked must not go on
			check(fmt.Errorf("%v", message["error"]))
		} else if message["id"] == number {
			return message["result"].(object)
		}
	}
}

func main() {
	host := start(os.Getenv("PWD"))
	host.handlers["no-secrets"] = func(event object) (object, error) {
		if path, _ := event["tool_input"].(object)["file_path"].(string); !strings.Contains(path, ".env") {
			return nil, nil
		}
		return object{"decision": "deny", "reason": "secrets stay where they are"}, nil
	}
	host.request("hook.register", object{"name": "no-secrets", "event": "PreToolUse", "matcher": "Read", "on_error": "abort"})
	input := object{"tool_name": "Read", "tool_input": object{"file_path": ".env"}}
	outcome := host.request("fire", object{"event": "PreToolUse", "input": input})["outcome"].(object)
	fmt.Println("Read .env ->", outcome["decision"], outcome["by"])
	host.request("shutdown", object{})
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
