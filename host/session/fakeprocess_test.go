package session

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
)

// process describes this test binary as a server that plays a role.
func process(t *testing.T, role string) event.Server {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return event.Server{Name: role, Command: exe, Inherit: []string{"GOCOVERDIR"}, Env: map[string]event.Secret{
		"SESSION_TEST_SERVER": event.NewSecret(role),
		"GORACE":              event.NewSecret("atexit_sleep_ms=0"), // else each process takes a second to end
	}}
}

// aliveFile names, in the environment of a server, a FIFO that it holds open as long as it lives.
const aliveFile = "SESSION_TEST_ALIVE"

// serveAsHost starts a server like a host, and waits to be killed.
func serveAsHost() int {
	exe, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	server := event.Server{Name: "deaf", Command: exe, Inherit: []string{aliveFile}, Env: map[string]event.Secret{"SESSION_TEST_SERVER": event.NewSecret("deaf")}}
	if _, err := Dial(context.Background(), server, Options{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	select {}
}

// serveProcess is the main function of a server that plays a role.
func serveProcess(role string) int {
	if role == "framing" {
		fmt.Print("Content-Length: 2\r\n\r\n{}")
	}
	if role == "stubborn" {
		signal.Ignore(os.Interrupt, terminate)
	}
	if alive := os.Getenv(aliveFile); alive != "" {
		f, err := os.OpenFile(alive, os.O_WRONLY, 0)
		if err != nil {
			return 8
		}
		defer f.Close()
	}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			if role == "stubborn" || role == "deaf" {
				for {
					time.Sleep(time.Hour)
				}
			}
			return 0
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
		}
		if json.Unmarshal(line, &m) != nil {
			return 9
		}
		if done, code := perform(role, string(m.ID), m.Method, m.Params, line); done {
			return code
		}
	}
}

func perform(role, id, method string, params json.RawMessage, line []byte) (done bool, code int) {
	result := func(raw string) { fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, raw) }
	fail := func(code int) {
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"no"}}`+"\n", id, code)
	}
	note := func(id string, n int) {
		fmt.Printf(`{"jsonrpc":"2.0","method":"notifications/events/event","params":{"n":%d,"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`+"\n", n, id)
	}
	if role == "babbles" {
		fmt.Println("starting up, please wait")
		return false, 0
	}
	switch method {
	case methodDiscover:
		switch role {
		case "modern", "stubborn", "deaf":
			result(sepGreeting)
		case "crashes-before-initialize":
			fmt.Fprintln(os.Stderr, "what is server/discover?")
			return true, 3
		case "silent":
		default:
			fail(-32601)
		}
	case methodInitialize:
		result(sketchGreeting)
	case noteCancelled:
		fmt.Fprintln(os.Stderr, strings.TrimSpace(string(line)))
		var p struct{ RequestID json.RawMessage }
		if json.Unmarshal(params, &p) != nil {
			return true, 8
		}
		note(string(p.RequestID), -1) // too late
	case "events/stream":
		var p struct{ Count, Size int }
		if json.Unmarshal(params, &p) != nil {
			return true, 8
		}
		out := bufio.NewWriter(os.Stdout)
		for n := range p.Count {
			fmt.Fprintf(out, `{"jsonrpc":"2.0","method":"notifications/events/event","params":{"n":%d,"pad":%q,"_meta":{"io.modelcontextprotocol/subscriptionId":%q}}}`+"\n", n, strings.Repeat("x", p.Size), id)
		}
		out.Flush()
	case "test/exit":
		fmt.Fprintln(os.Stderr, "out of \x1b[31mmemory")
		return true, 7
	case "test/close":
		os.Stdout.Close()
	case "test/garbage":
		fmt.Print("Listening on port 0\n\n{]\n[1,2]\n")
		result(`"ok"`)
	case "test/nullid":
		fmt.Println(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no id"}}`)
	case "test/stringid":
		fmt.Printf(`{"jsonrpc":"2.0","id":"%s","result":1}`+"\n", id)
	case "test/big":
		result(`"` + strings.Repeat("x", 5000) + `"`)
	case "test/huge":
		result(`"` + strings.Repeat("x", 100_000) + `"`)
	case "test/asks":
		fmt.Println(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
		fmt.Println(`{"jsonrpc":"2.0","id":"r","method":"roots/list"}`)
		result("1")
	case "test/env":
		result(`"` + os.Getenv("FLAVOUR") + `"`)
	case "test/unsolicited":
		fmt.Println(`{"jsonrpc":"2.0","method":"notifications/events/list_changed"}`)
		result("1")
	case "":
		fmt.Fprintln(os.Stderr, "answered:", strings.TrimSpace(string(line)))
	}
	return false, 0
}
