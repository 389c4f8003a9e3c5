package session

import (
	"encoding/json"

	"eventdeck/host/redact"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// Eras and transports, as [Info] names them.
const (
	EraStateless    = "2026-07-28 stateless"
	EraHandshake    = "handshake"
	TransportHTTP   = "streamable-http"
	TransportLegacy = "http+sse"
	TransportSocket = "websocket"
	TransportPipe   = "stdio"
)

// Info is what a server stated when the session began.
type Info struct {
	Era       string
	Version   string // of the protocol in use; in the handshake era as the server states it, cut to 32 printable ASCII characters
	Transport string
	HTTP      string // HTTP version of the response, such as HTTP/2.0; "" for a process

	ServerName    trust.Text
	ServerVersion trust.Text
	Instructions  trust.Text

	Profile     wire.Profile // ProfileNone unless Advertised
	Advertised  bool         // the server advertises events, in either place, with any value
	ListChanged bool         // it advertises notifications of changed event types
	Draft       bool         // it advertises the draft of April 2026, and no later one

	Raw json.RawMessage // the result of server/discover or initialize as sent
}

// redact masks secrets in the server's description of itself.
func (i *Info) redact(set *redact.Set) {
	for _, words := range []*trust.Text{&i.ServerName, &i.ServerVersion, &i.Instructions} {
		*words = set.Text(*words)
	}
}

// greeting is the part of a discover or initialize result that is understood.
type greeting struct {
	supported []string
	version   string
	info      Info
	known     bool // it has the shape of such a result
}

// metaServerInfo is where a result of 2026-07-28 names the server; the handshake
// revisions have the member serverInfo instead.
const metaServerInfo = "io.modelcontextprotocol/serverInfo"

// readGreeting reads member by member: a malformed one hides only itself.
func readGreeting(raw json.RawMessage) greeting {
	m := object(raw)
	capabilities := object(m["capabilities"])
	server := object(object(m["_meta"])[metaServerInfo])
	if len(server) == 0 {
		server = object(m["serverInfo"])
	}
	g := greeting{known: m["serverInfo"] != nil || m["capabilities"] != nil || m["supportedVersions"] != nil || m["protocolVersion"] != nil}
	read(m["supportedVersions"], &g.supported)
	read(m["protocolVersion"], &g.version)
	g.version = printable(g.version, 32)
	g.info.Raw = raw
	read(server["name"], &g.info.ServerName)
	read(server["version"], &g.info.ServerVersion)
	read(m["instructions"], &g.info.Instructions)

	sketch, hasSketch := capabilities["events"]
	extensions := object(capabilities["extensions"])
	sep, hasSEP := extensions[wire.Extension]
	_, hasDraft := object(extensions["events"])["subscribe"]
	switch {
	case hasSEP:
		g.info.Profile = wire.ProfileSEP
	case hasSketch:
		g.info.Profile = wire.ProfileSketch
	}
	g.info.Advertised = hasSEP || hasSketch
	g.info.Draft = hasDraft && !g.info.Advertised
	for _, c := range []json.RawMessage{sketch, sep} {
		var says bool
		read(object(c)["listChanged"], &says)
		g.info.ListChanged = g.info.ListChanged || says
	}
	return g
}

// object returns the members of raw; none if it is not an object.
func object(raw json.RawMessage) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	read(raw, &m)
	return m
}

// read decodes raw into v, and leaves v unchanged if raw is absent or of another type.
func read[T any](raw json.RawMessage, v *T) {
	var got T
	if len(raw) > 0 && json.Unmarshal(raw, &got) == nil {
		*v = got
	}
}

// printable keeps the printable ASCII of s, at most n bytes: enough for a header.
func printable(s string, n int) string {
	out := make([]byte, 0, n)
	for _, c := range []byte(s) {
		if len(out) < n && c > 0x20 && c < 0x7f {
			out = append(out, c)
		}
	}
	return string(out)
}
