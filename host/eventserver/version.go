package eventserver

import (
	"encoding/json"
	"slices"

	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// Modern is the stateless version of the protocol: requests name it in their _meta.
const Modern = "2026-07-28"

// Handshakes returns the versions that begin with initialize, newest first.
func Handshakes() []string { return []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} }

const (
	metaPrefix     = "io.modelcontextprotocol/"
	metaVersion    = metaPrefix + "protocolVersion"
	metaServerInfo = metaPrefix + "serverInfo"
	metaClientInfo = metaPrefix + "clientInfo"
)

// Version returns the version that the _meta of a request names, "" if it names none.
func Version(params json.RawMessage) string {
	var p struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	_ = json.Unmarshal(params, &p) // params that are no object have no _meta
	var version string
	_ = json.Unmarshal(p.Meta[metaVersion], &version)
	return version
}

// ClientName returns the name of a client in initialize, or in the _meta of a request; "" if there
// is none.
func ClientName(params json.RawMessage) trust.Text {
	type info struct {
		Name string `json:"name"`
	}
	var p struct {
		Info info                       `json:"clientInfo"`
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	_ = json.Unmarshal(params, &p) // params that are no object name no client
	if p.Info.Name == "" {
		_ = json.Unmarshal(p.Meta[metaClientInfo], &p.Info)
	}
	return trust.Untrusted(p.Info.Name)
}

// BadVersion refuses every version but the modern one.
func BadVersion(asked string) *Refusal {
	return Refuse(wire.UnsupportedVersion, "this server speaks "+Modern+" only",
		map[string]any{"supported": []string{Modern}, "requested": asked})
}

// Greeting returns the result of initialize. The version is the requested one if it is known, else
// the newest.
func Greeting(params json.RawMessage, info map[string]any, instructions string, capabilities map[string]any) map[string]any {
	var p struct {
		Version string `json:"protocolVersion"`
	}
	_ = json.Unmarshal(params, &p) // an unreadable request gets the newest version
	if known := Handshakes(); !slices.Contains(known, p.Version) {
		p.Version = known[0]
	}
	return map[string]any{"protocolVersion": p.Version, "capabilities": capabilities, "instructions": instructions, "serverInfo": info}
}

// Capabilities returns what a server with tools and events declares. It declares the events as an
// extension (SEP-3415) and at the top level (the design sketch), in every version of the protocol:
// of the clients of either version, some look only in one of the two places.
func Capabilities(listChanged bool) map[string]any {
	events := map[string]any{"listChanged": listChanged}
	return map[string]any{"tools": map[string]any{}, "events": events, "extensions": map[string]any{wire.Extension: events}}
}

// Completed adds the members to a result that the modern version demands.
func Completed(result, info map[string]any) map[string]any {
	result["resultType"] = "complete"
	meta, _ := result["_meta"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
	}
	meta[metaServerInfo] = info
	result["_meta"] = meta
	return result
}
