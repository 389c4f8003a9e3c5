// Command server is the smallest useful server of MCP Events (SEP-3415): one event type by poll,
// with replay, over Streamable HTTP of MCP 2026-07-28, with nothing but the standard library.
//
//	go run ./docs/examples/server            # says where it listens
//	eventdeck tail URL door.opened
package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"
)

// interval is the time between two openings of the door.
const interval = time.Second

// began is when the program started: opening n was at began + n intervals, so that any of them
// can be told again.
var began = time.Now()

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name   string  `json:"name"`
		Cursor *string `json:"cursor"` // null: from now on
	} `json:"params"`
}

type object = map[string]any

func main() {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Fprintf(os.Stderr, "listening on http://%s/mcp\n", ln.Addr())
	http.HandleFunc("POST /mcp", serve)
	fmt.Fprintln(os.Stderr, http.Serve(ln, nil))
}

func serve(w http.ResponseWriter, r *http.Request) {
	var req request
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&req); err != nil {
		http.Error(w, "not a JSON-RPC request", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	answer := object{"jsonrpc": "2.0", "id": req.ID}
	switch req.Method {
	case "server/discover":
		answer["result"] = object{
			"resultType":        "complete",
			"supportedVersions": []string{"2026-07-28"},
			"serverInfo":        object{"name": "door", "version": "1"},
			"capabilities":      object{"extensions": object{"io.modelcontextprotocol/events": object{}}},
		}
	case "events/list":
		answer["result"] = object{"resultType": "complete", "events": []object{{
			"name": "door.opened", "description": "The door was opened.", "delivery": []string{"poll"},
			"inputSchema":   object{"type": "object", "additionalProperties": false},
			"payloadSchema": object{"type": "object", "properties": object{"door": object{"type": "string"}, "times": object{"type": "integer"}}},
		}}}
	case "events/poll":
		answer["result"] = poll(req.Params.Cursor)
	default:
		w.WriteHeader(http.StatusNotFound)
		answer["error"] = object{"code": -32601, "message": "method not found"}
	}
	_ = json.NewEncoder(w).Encode(answer) // the client may be gone
}

// poll returns the openings after a cursor, the number of the last one that the client has.
func poll(cursor *string) object {
	last := int(time.Since(began) / interval)
	result := object{"resultType": "complete", "events": []object{}, "nextPollMs": interval.Milliseconds(), "hasMore": false, "truncated": false}
	next := last + 1
	if cursor != nil {
		n, err := strconv.Atoi(*cursor)
		if err != nil || n < 0 || n > last {
			result["truncated"] = true // a cursor of another run of this program
		} else {
			next = n + 1
		}
	}
	var events []object
	for ; next <= last && len(events) < 100; next++ {
		events = append(events, object{
			"eventId": fmt.Sprintf("%d-%d", began.UnixNano(), next), "name": "door.opened",
			"timestamp": began.Add(time.Duration(next) * interval).UTC().Format(time.RFC3339Nano),
			"data":      object{"door": "front", "times": next},
		})
	}
	if events != nil {
		result["events"], result["hasMore"] = events, next <= last
	}
	result["cursor"] = strconv.Itoa(next - 1)
	return result
}
