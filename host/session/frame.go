package session

import (
	"encoding/json"
	"fmt"
	"strings"

	"eventdeck/host/wire"
)

// Methods below MCP Events.
const (
	methodDiscover    = "server/discover"
	methodInitialize  = "initialize"
	methodCallTool    = "tools/call"
	methodPing        = "ping"
	noteInitialized   = "notifications/initialized"
	noteCancelled     = "notifications/cancelled"
	metaVersion       = "io.modelcontextprotocol/protocolVersion"
	metaClientInfo    = "io.modelcontextprotocol/clientInfo"
	metaClientCapable = "io.modelcontextprotocol/clientCapabilities"
)

type implementation struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

func (o *Options) clientInfo() implementation {
	return implementation{Name: o.ClientName, Version: o.ClientVersion}
}

// clientCapabilities declares the extension with an empty object.
func clientCapabilities() map[string]any {
	return map[string]any{"extensions": map[string]any{wire.Extension: struct{}{}}}
}

// handshakeCapabilities also declares resumable streams, which only servers of the
// handshake era know.
func handshakeCapabilities() map[string]any {
	c := clientCapabilities()
	c["streams"] = struct{}{}
	return c
}

// params returns the params of a request; in the stateless era with the three _meta members
// that every request must carry.
func (s *Session) params(e era, params any) (json.RawMessage, error) {
	raw := json.RawMessage("{}")
	if params != nil {
		var err error
		if raw, err = wire.Marshal(params); err != nil {
			return nil, fmt.Errorf("params: %w", err)
		}
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return nil, fmt.Errorf("params: must marshal to an object, not to %.40q", raw)
	}
	if !e.modern {
		return raw, nil
	}
	meta := map[string]any{}
	if own, ok := members["_meta"]; ok {
		var given map[string]json.RawMessage
		if err := json.Unmarshal(own, &given); err != nil {
			return nil, fmt.Errorf("params: _meta: %w", err)
		}
		for k, v := range given {
			meta[k] = v
		}
	}
	meta[metaVersion] = e.version
	meta[metaClientInfo] = s.opts.clientInfo()
	meta[metaClientCapable] = clientCapabilities()
	var err error
	if members["_meta"], err = wire.Marshal(meta); err != nil {
		return nil, fmt.Errorf("params: _meta: %w", err)
	}
	return wire.Marshal(members)
}

// reply returns the response to a request of the server: only ping is supported.
func reply(m wire.Message) ([]byte, error) {
	if m.Method == methodPing {
		return wire.EncodeResult(m.RawID, struct{}{})
	}
	return wire.EncodeError(m.RawID, wire.CodeMethodNotFound, "this client answers ping only", nil)
}

// belongsToAll reports whether a notification concerns the server as a whole, whatever
// stream carries it.
func belongsToAll(n wire.Note) bool {
	return n.Method == wire.NoteMessage || strings.HasSuffix(n.Method, "/list_changed")
}
