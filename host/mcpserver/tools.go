package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"eventdeck/host/eventserver"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// tool is one tool. A tool with run only reads; one with ask asks the operator.
type tool struct {
	name, title, description string
	input, output            json.RawMessage
	schema                   *jsonschema.Resolved // of input
	// run returns the structured result. args were checked against the schema. Errors become the
	// result of the call.
	run func(s *Server, ctx context.Context, args json.RawMessage) (any, error)
	// ask asks the operator on behalf of a client.
	ask  func(s *Server, ctx context.Context, client trust.Text, args json.RawMessage) (any, error)
	ends bool // it asks for a removal
}

// Parts of schemas.
const (
	anyText    = `{"type":"string"}`
	textOrNull = `{"type":["string","null"]}`
	aTime      = `{"type":["string","null"],"description":"RFC 3339, in UTC"}`
	aNumber    = `{"type":"integer"}`
	aList      = `{"type":"array","items":{"type":"object"}}`
	nextPage   = `{"type":["string","null"],"description":"Give it as cursor for the next page; null at the end"}`

	inLimit  = `"limit":{"type":"integer","minimum":1,"maximum":100,"description":"The most entries to return (default 20)"}`
	inCursor = `"cursor":{"type":"string","description":"nextCursor of the page before"}`
	inServer = `"server":{"type":"string","description":"Only of this server"}`
	inType   = `"type":{"type":"string","description":"Only of this event type"}`
	inSince  = `"since":{"type":"string","description":"Only what was received since then: a time (RFC 3339) or how long ago (10m, 2h, 1d)"}`
	inUntil  = `"until":{"type":"string","description":"Only what was received until then, like since"}`

	eventSchema = `{"type":"object","properties":{"seq":` + aNumber + `,"kind":` + anyText + `,"server":` + anyText + `,"type":` + anyText +
		`,"subscribed":{"type":"string","description":"The type of the subscription, where the event has a name of its own"},"priority":` + anyText + `,"tags":{"type":"array","items":` + anyText +
		`},"subscription":` + anyText + `,"eventId":` + textOrNull + `,"timestamp":` + textOrNull + `,"receivedAt":` + aTime + `,"mode":` + anyText +
		`,"flags":{"type":"array","items":` + anyText + `},"bytes":` + aNumber + `,"cut":{"type":"boolean","description":"The envelope holds the beginning only"},"envelope":{"type":"string","description":"The payload, as data from outside"}},"required":["seq","kind","server","type"]}`
	gapSchema = `{"type":"object","properties":{"seq":` + aNumber + `,"server":` + anyText + `,"type":` + anyText + `,"subscription":` + anyText + `,"cause":` + anyText + `,"from":` + aTime + `,"to":` + aTime + `,"certain":{"type":"boolean"}},"required":["seq","cause","certain"]}`
)

// toolset returns the tools in the order of tools/list.
func toolset() ([]tool, error) {
	all := []tool{
		{name: "list_servers", title: "List servers", description: "The MCP servers that eventdeck is connected to or subscribed at, and the state of each.",
			input: object(``), output: object(`"servers":` + aList), run: (*Server).listServers},
		{name: "list_event_types", title: "List event types", description: "The event types of the servers, as far as they are known now, with their modes and schemas of arguments.",
			input: object(inServer + `,` + inLimit + `,` + inCursor), output: object(`"types":` + aList + `,"nextCursor":` + nextPage), run: (*Server).listEventTypes},
		{name: "list_subscriptions", title: "List subscriptions", description: "The subscriptions with their state, why they are in it, and whether it is proved that nothing is missing.",
			input: object(inServer + `,` + inLimit + `,` + inCursor), output: object(`"subscriptions":` + aList + `,"nextCursor":` + nextPage), run: (*Server).listSubscriptions},
		{name: "search_events", title: "Search stored events", description: "Stored events, newest first. The filter language: words, \"phrases\", !not, a | b, /regexp/, sev:P1, .path=value, .n>5. A page may be empty and still have a nextCursor: then a part of the log was examined, and the search continues from there.",
			input: object(`"filter":{"type":"string","description":"In the filter language"},` + inSince + `,` + inUntil + `,` + inServer + `,` + inType +
				`,"subscription":{"type":"string","description":"Only of the subscription with this id"},` + inLimit + `,` + inCursor),
			output: object(`"events":{"type":"array","items":` + eventSchema + `},"examined":` + aNumber + `,"nextCursor":` + nextPage), run: (*Server).searchEvents},
		{name: "read_event", title: "Read one event", description: "One stored record by its sequence number, with up to 64 KiB of its payload.",
			input: object(`"seq":{"type":"integer","minimum":1,"description":"The sequence number"}`, "seq"), output: json.RawMessage(eventSchema), run: (*Server).readEvent},
		{name: "list_gaps", title: "List gaps", description: "Times in which events may be missing, newest first, and why.",
			input:  object(inSince + `,` + inUntil + `,` + inServer + `,` + inType + `,` + inLimit + `,` + inCursor),
			output: object(`"gaps":{"type":"array","items":` + gapSchema + `},"examined":` + aNumber + `,"nextCursor":` + nextPage), run: (*Server).listGaps},
		{name: "list_runs", title: "List runs of reactions", description: "What rules of the operator did or would do about events, newest first.",
			input:  object(`"rule":{"type":"string","description":"Only of this rule"},"state":{"type":"string","description":"Only in this state, such as asking, done or failed"},` + inLimit),
			output: object(`"runs":` + aList), run: (*Server).listRuns},
		{name: "show_run", title: "Show a run", description: "One run of a reaction: what it does, for which events, and what came of it.",
			input: object(`"id":{"type":"string","description":"The id of the run"}`, "id"), output: object(`"run":{"type":"object"}`), run: (*Server).showRun},
		{name: "whats_new", title: "What happened since", description: "Sums up what was stored since a position or time: counts by server and type, gaps, and the newest events. Keep position and give it the next time.",
			input: object(`"position":{"type":"string","description":"position of the answer before; with it since is not needed"},` + inSince + `,` + inLimit),
			output: object(`"counts":` + aList + `,"gaps":{"type":"array","items":` + gapSchema + `},"events":{"type":"array","items":` + eventSchema +
				`},"examined":` + aNumber + `,"more":{"type":"boolean","description":"Ask again with position: not everything was looked at"},"truncated":{"type":"boolean","description":"Records since the position are not kept any more"},"position":` + anyText), run: (*Server).whatsNew},
	}
	all = append(all, askingTools()...)
	for i := range all {
		var schema jsonschema.Schema
		if err := json.Unmarshal(all[i].input, &schema); err != nil {
			return nil, fmt.Errorf("input schema of %s: %w", all[i].name, err)
		}
		var err error
		if all[i].schema, err = schema.Resolve(nil); err != nil {
			return nil, fmt.Errorf("input schema of %s: %w", all[i].name, err)
		}
	}
	return all, nil
}

// object returns the schema of an object that has only these properties.
func object(properties string, required ...string) json.RawMessage {
	need := ""
	if len(required) > 0 {
		need = `,"required":["` + strings.Join(required, `","`) + `"]`
	}
	return json.RawMessage(`{"type":"object","properties":{` + properties + `}` + need + `,"additionalProperties":false}`)
}

// listTools answers tools/list.
func (s *Server) listTools() map[string]any {
	var list []any
	for _, t := range s.tools {
		list = append(list, map[string]any{"name": t.name, "title": t.title, "description": t.description, "inputSchema": t.input, "outputSchema": t.output,
			"annotations": map[string]any{"readOnlyHint": t.run != nil, "destructiveHint": t.ends, "idempotentHint": true, "openWorldHint": t.ask != nil}})
	}
	return map[string]any{"tools": list, "ttlMs": 3_600_000, "cacheScope": "public"}
}

// callTool answers tools/call.
func (s *Server) callTool(ctx context.Context, r request) (map[string]any, *eventserver.Refusal) {
	var p struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if f := eventserver.Decode(r.params, &p); f != nil {
		return nil, f
	}
	at := slices.IndexFunc(s.tools, func(t tool) bool { return t.name == p.Name })
	if at < 0 {
		var names []string
		for _, t := range s.tools {
			names = append(names, t.name)
		}
		return nil, eventserver.BadParam("name", "there is no such tool; there are "+strings.Join(names, ", "))
	}
	if len(p.Arguments) == 0 || string(p.Arguments) == "null" {
		p.Arguments = json.RawMessage("{}")
	}
	t := s.tools[at]
	found, err := any(nil), t.check(p.Arguments)
	switch {
	case err != nil:
	case t.ask != nil:
		found, err = t.ask(s, ctx, r.who(), p.Arguments)
	default:
		found, err = t.run(s, ctx, p.Arguments)
	}
	var text json.RawMessage
	if err == nil {
		text, err = wire.Marshal(found)
	}
	if err != nil {
		return map[string]any{"content": content(s.opts.Redact.String(err.Error())), "isError": true}, nil
	}
	text = s.opts.Redact.JSON(text)
	return map[string]any{"content": content(string(text)), "structuredContent": text}, nil
}

func content(text string) []any { return []any{map[string]any{"type": "text", "text": text}} }

// errArguments: the arguments of a tool do not match its schema.
var errArguments = errors.New("arguments")

// check checks arguments against the schema. Its errors say how to correct them.
func (t tool) check(args json.RawMessage) error {
	given := map[string]any{}
	if json.Unmarshal(args, &given) != nil {
		return fmt.Errorf("%w: they must be an object", errArguments)
	}
	schema := t.schema.Schema()
	var names []string
	for name := range schema.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for name := range given {
		if !slices.Contains(names, name) {
			if len(names) == 0 {
				return fmt.Errorf("%w: %s takes none, and %q was given", errArguments, t.name, name)
			}
			return fmt.Errorf("%w: %s has no %q; there are %s", errArguments, t.name, name, strings.Join(names, ", "))
		}
	}
	for _, name := range schema.Required {
		if _, ok := given[name]; !ok {
			return fmt.Errorf("%w: %s needs %q: %s", errArguments, t.name, name, schema.Properties[name].Description)
		}
	}
	if err := t.schema.Validate(given); err != nil {
		return fmt.Errorf("%w: %w", errArguments, err)
	}
	return nil
}
