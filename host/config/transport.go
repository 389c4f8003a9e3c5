package config

import (
	"fmt"
	"strings"

	"eventdeck/host/event"
)

// Hints that only this package knows: a command implies stdio, and the address says ws.
const (
	hintStdio  = "stdio"
	hintSocket = "ws"
)

// transports returns what each spelling of a hint means.
func transports() map[string]string {
	return map[string]string{
		"http": event.TransportHTTP, "streamable-http": event.TransportHTTP, "streamablehttp": event.TransportHTTP, "streamable_http": event.TransportHTTP,
		"sse": event.TransportSSE, "http+sse": event.TransportSSE,
		"h2c": event.TransportH2C,
		"ws":  hintSocket, "wss": hintSocket, "websocket": hintSocket,
		"stdio": hintStdio,
	}
}

// applyHint applies a hint to an address. Errors never repeat the address.
func applyHint(address, hint string) (url, transport string, err error) {
	socket := strings.HasPrefix(address, "ws://") || strings.HasPrefix(address, "wss://")
	switch {
	case hint == hintSocket && !socket:
		return "ws" + strings.TrimPrefix(address, "http"), "", nil
	case hint == hintSocket:
		return address, "", nil
	case socket && hint != "":
		return "", "", fmt.Errorf("its address is one of a WebSocket, but its transport is %s", hint)
	case hint == event.TransportH2C && !strings.HasPrefix(address, "http://"):
		return "", "", fmt.Errorf("transport h2c is HTTP/2 without TLS and needs an http:// address; https finds HTTP/2 by itself")
	}
	return address, hint, nil
}
