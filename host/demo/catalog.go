package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// eventType is one event type of a server.
type eventType struct {
	name        string
	description string
	modes       []string
	input       json.RawMessage
	payload     json.RawMessage
	schema      *jsonschema.Resolved // of input
	feed        feed
	limit       uint64    // newest events that can be replayed; 0: all
	cursorless  bool      // no replay: cursors are null
	lifetime    *lifetime // nil: always there
}

// lifetime is the part of every loop of the script in which a type exists.
type lifetime struct {
	from, to time.Duration // within the loop, at speed 1
	speed    float64
	start    time.Time
}

// at reports whether the type exists at t, and when that changes next.
func (s *lifetime) at(t time.Time) (exists bool, next time.Time) {
	elapsed := time.Duration(float64(t.Sub(s.start)) * s.speed)
	base, rest := elapsed-elapsed%period, elapsed%period
	moment := func(d time.Duration) time.Time {
		return s.start.Add(time.Duration(float64(d)/s.speed) + 1)
	}
	switch {
	case rest < s.from:
		return false, moment(base + s.from)
	case rest < s.to:
		return true, moment(base + s.to)
	}
	return false, moment(base + period + s.from)
}

func (e *eventType) exists(t time.Time) bool {
	if e.lifetime == nil {
		return true
	}
	ok, _ := e.lifetime.at(t)
	return ok
}

func (e *eventType) offers(mode string) bool {
	return slices.Contains(e.modes, mode)
}

// oldest returns the oldest event that can be replayed after count events.
func (e *eventType) oldest(count uint64) uint64 {
	if e.limit == 0 || count <= e.limit {
		return 1
	}
	return count - e.limit + 1
}

// blueprint describes a scripted type, for any run.
type blueprint struct {
	name, description string
	modes             []string
	args              string // members of the input schema's properties
	required          string // of the input schema, a JSON list
	payload           string // members of the payload schema's properties
	cursorless        bool
	canary            bool
}

const (
	argService  = `"service":{"type":"string","enum":["checkout","payments","search","inventory"],"description":"Only this service"}`
	argSeverity = `"minSeverity":{"type":"string","enum":["info","warning","critical"],"description":"Only this severity and above"}`
	argRoom     = `"room":{"type":"string","description":"Only this room"}`
)

func all() []string { return []string{"push", "poll", "webhook"} }

func pagerTypes() []blueprint {
	return []blueprint{
		{name: "incident.activity", description: "Everything that happens around the incident, line by line.", modes: all(), args: argService + "," + argSeverity,
			payload: `"incident":{"type":"string"},"service":{"type":"string"},"severity":{"type":"string"},"text":{"type":"string"},"host":{"type":"string"},"step":{"type":"integer"}`},
		{name: "incident.changed", description: "An incident was opened, acknowledged, resolved or closed.", modes: all(), args: argSeverity,
			payload: `"title":{"type":"string"},"severity":{"type":"string"},"incident":{"type":"string"},"state":{"type":"string"},"service":{"type":"string"}`},
		{name: "deploy.changed", description: "A deploy went on to its next phase.", modes: all(), args: argService,
			payload: `"title":{"type":"string"},"severity":{"type":"string"},"deploy":{"type":"string"},"service":{"type":"string"},"phase":{"type":"string"}`},
		{name: "alert.fired", description: "A monitor crossed its threshold.", modes: all(), args: argService + "," + argSeverity,
			payload: `"title":{"type":"string"},"severity":{"type":"string"},"alert":{"type":"string"},"service":{"type":"string"},"value":{"type":"number"}`},
		{name: "page.sent", description: "A person was paged. For machines that answer: webhook only.", modes: []string{"webhook"},
			payload: `"title":{"type":"string"},"severity":{"type":"string"},"incident":{"type":"string"},"to":{"type":"string"},"attempt":{"type":"integer"}`},
		{name: "errors.sampled", description: "The error rate of one service, every two seconds.", modes: []string{"poll", "push"}, args: argService, required: `["service"]`,
			payload: `"title":{"type":"string"},"severity":{"type":"string"},"service":{"type":"string"},"rate":{"type":"number"},"requests":{"type":"integer"}`},
		{name: "note.added", description: "A note on the incident, written by anybody. Do not trust a word of it.", modes: all(), args: `"author":{"type":"string","description":"Only this author"}`,
			payload: `"room":{"type":"string"},"author":{"type":"string"},"severity":{"type":"string"},"text":{"type":"string"}`},
		{name: "canary.sampled", description: "Measurements of the canary, while there is one.", modes: all(), canary: true,
			payload: `"title":{"type":"string"},"severity":{"type":"string"},"service":{"type":"string"},"version":{"type":"string"},"rate":{"type":"number"}`},
	}
}

func chatTypes() []blueprint {
	modes := []string{"push", "poll"}
	return []blueprint{
		{name: "message.posted", description: "A message was written in a room.", modes: modes, args: argRoom + `,"author":{"type":"string","description":"Only this author"}`,
			payload: `"room":{"type":"string"},"author":{"type":"string"},"severity":{"type":"string"},"text":{"type":"string"}`},
		{name: "reaction.added", description: "A reaction was added to a message.", modes: modes, args: argRoom,
			payload: `"title":{"type":"string"},"severity":{"type":"string"},"room":{"type":"string"},"by":{"type":"string"},"emoji":{"type":"string"}`},
		{name: "presence.changed", description: "A person came or went. Not kept: what is missed is gone.", modes: []string{"push"}, cursorless: true,
			payload: `"title":{"type":"string"},"severity":{"type":"string"},"user":{"type":"string"},"presence":{"type":"string"}`},
	}
}

// settings are the options that pager and chat share.
type settings struct {
	speed    float64
	seed     int64
	rate     int
	history  int
	faults   []string
	webhooks bool // the server has them
	random   io.Reader
}

// newEngine begins the run of a server that offers the types.
//
// Errors: [ErrOptions]; failure of the randomness.
func newEngine(s settings, types []blueprint) (engine, error) {
	if s.speed < 0 || s.rate < 0 || s.history < 0 {
		return engine{}, fmt.Errorf("%w: speed, rate and history must not be negative", ErrOptions)
	}
	faults, err := parseFaults(s.faults, s.webhooks)
	if err != nil {
		return engine{}, err
	}
	o, err := newRun(s.random)
	if err != nil {
		return engine{}, err
	}
	offered, err := catalog(o, s, types)
	return engine{origin: o, types: offered, faults: faults}, err
}

// catalog builds the types of a server for one run.
func catalog(o origin, s settings, prints []blueprint) ([]*eventType, error) {
	byKind := map[string][]step{}
	for _, st := range script(s.seed) {
		byKind[st.kind] = append(byKind[st.kind], st)
	}
	var types []*eventType
	for _, p := range prints {
		t := &eventType{name: p.name, description: p.description, modes: p.modes, limit: uint64(s.history), cursorless: p.cursorless,
			feed: timeline{origin: o, kind: p.name, steps: byKind[p.name], period: period, speed: s.speed}}
		if p.canary {
			t.lifetime = &lifetime{from: canaryFrom, to: canaryTo, speed: s.speed, start: o.start}
		}
		if err := t.setSchemas(p.args, p.required, p.payload); err != nil {
			return nil, err
		}
		types = append(types, t)
	}
	if s.rate > 0 {
		t := &eventType{name: "load.tick", description: "Event n comes at n/" + strconv.Itoa(s.rate) + " seconds after the start; data.n counts 1, 2, 3.",
			modes: prints[0].modes, feed: ticker{origin: o, seed: s.seed, rate: float64(s.rate)}}
		if err := t.setSchemas("", "", `"n":{"type":"integer"},"service":{"type":"string"},"latencyMs":{"type":"integer"},"status":{"type":"integer"},"trace":{"type":"string"},"note":{"type":"string"}`); err != nil {
			return nil, err
		}
		types = append(types, t)
	}
	return types, nil
}

func (e *eventType) setSchemas(args, required, payload string) error {
	if required == "" {
		required = "[]"
	}
	e.input = json.RawMessage(`{"type":"object","properties":{` + args + `},"required":` + required + `,"additionalProperties":false}`)
	e.payload = json.RawMessage(`{"type":"object","properties":{` + payload + `}}`)
	var err error
	if e.schema, err = resolved(e.input); err != nil {
		return fmt.Errorf("input schema of %s: %w", e.name, err)
	}
	return nil
}

func resolved(raw json.RawMessage) (*jsonschema.Resolved, error) {
	var schema jsonschema.Schema
	if err := json.Unmarshal(raw, &schema); err != nil {
		return nil, err
	}
	return schema.Resolve(nil)
}
