//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

// pipeFeeder is the command that runs the program as an MCP server on standard input and output.
const pipeFeeder = "pipe-feeder"

// pipeAddress returns the address of such a server. It makes the file opened when all streams are
// open, and sends no events.
func pipeAddress(streams int, opened string) (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("stdio:%s %s %d %s", exe, pipeFeeder, streams, opened), nil
}

// pipeFeed is the server's process.
func pipeFeed(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("%s needs a number of streams and a file", pipeFeeder)
	}
	streams, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if err := json.Unmarshal(in.Bytes(), &m); err != nil {
			return err
		}
		answer := `"error":{"code":-32601,"message":"no such method"}`
		switch m.Method {
		case "server/discover":
			answer = `"result":` + discovered
		case wire.MethodList:
			answer = `"result":` + fmt.Sprintf(listed, event.ModePush)
		case wire.MethodStream:
			fmt.Println(active(m.ID))
			if streams--; streams == 0 {
				if err := os.WriteFile(args[1], nil, 0o600); err != nil {
					return err
				}
			}
			continue
		}
		if m.ID != nil {
			fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":%s,%s}\n", m.ID, answer)
		}
	}
	return in.Err()
}
