package config

import (
	"errors"
	"strings"
	"testing"

	"eventdeck/host/event"
)

func TestTransportHints(t *testing.T) {
	for text, want := range map[string]event.Server{
		`{"url": "https://h/mcp"}`:                                  {URL: "https://h/mcp"},
		`{"url": "https://h/mcp", "type": "http"}`:                  {URL: "https://h/mcp", Transport: event.TransportHTTP},
		`{"url": "https://h/mcp", "type": "streamableHttp"}`:        {URL: "https://h/mcp", Transport: event.TransportHTTP},
		`{"url": "https://h/sse", "transport": "sse"}`:              {URL: "https://h/sse", Transport: event.TransportSSE},
		`{"url": "http://h/", "transport": "h2c"}`:                  {URL: "http://h/", Transport: event.TransportH2C},
		`{"url": "wss://h/mcp"}`:                                    {URL: "wss://h/mcp"},
		`{"url": "ws://h/mcp", "type": "websocket"}`:                {URL: "ws://h/mcp"},
		`{"url": "https://h/mcp", "type": "ws"}`:                    {URL: "wss://h/mcp"},
		`{"url": "https://h/mcp", "type": "remote"}`:                {URL: "https://h/mcp"},
		`{"command": "x", "type": "stdio"}`:                         {Command: "x"},
		`{"url": "https://h/mcp", "allowUnsigned": true}`:           {URL: "https://h/mcp", AllowUnsigned: true},
		`{"url": "https://h/mcp", "requireServerKey": true}`:        {URL: "https://h/mcp", RequireServerKey: true},
		`{"url": "https://h/mcp", "caFile": "${DIR}/internal.pem"}`: {URL: "https://h/mcp", CAFile: "/etc/internal.pem"},
	} {
		f, err := Parse("f.json", []byte(`{"mcpServers": {"s": `+text+`}}`), env("DIR", "/etc"))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		s, err := f.Find("s")
		if err != nil || s.URL != want.URL || s.Transport != want.Transport || s.Command != want.Command || s.CAFile != want.CAFile {
			t.Errorf("%s: %+v, %v", text, s, err)
		}
	}
}

func TestInvalidTransportHints(t *testing.T) {
	for text, want := range map[string]string{
		`{"url": "https://h/", "transport": "pigeon"}`: `"transport" is "pigeon"`,
		`{"url": "https://h/", "transport": 7}`:        `"transport" must be a string`,
		`{"url": "https://h/", "type": "stdio"}`:       "its transport is stdio",
		`{"url": "ws://h/", "type": "sse"}`:            "one of a WebSocket",
		`{"url": "https://h/", "transport": "h2c"}`:    "without TLS",
	} {
		f, err := Parse("f.json", []byte(`{"mcpServers": {"s": `+text+`}}`), env())
		if err == nil {
			_, err = f.Find("s")
		}
		if !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestWebSocketAddressOnTheCommandLine(t *testing.T) {
	for _, arg := range []string{"ws://127.0.0.1:9/mcp", "wss://h"} {
		if s, err := parseAddress(arg); err != nil || s.URL != arg || !s.AdHoc {
			t.Errorf("%s: %+v, %v", arg, s, err)
		}
	}
}
