package demo

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"eventdeck/host/eventserver"
)

// tool is one of the server's tools.
type tool struct {
	name, title, description string
	schema                   json.RawMessage // of the arguments
	writes                   bool
	call                     func(args map[string]any) (any, error)
}

// makeTools makes the tools, and the feed that has their rollbacks as events.
func (p *Pager) makeTools() {
	for _, t := range p.types {
		switch line, ok := t.feed.(timeline); {
		case ok && t.name == "incident.changed":
			p.incidents = line
		case ok && t.name == "deploy.changed":
			p.deploys = operated{line, &operations{}}
			t.feed = p.deploys
		}
	}
	p.tools = []tool{
		{
			name: "get_incident", title: "Get an incident", description: "Returns an incident as it stands now: its state and what led to it. Changes nothing.",
			schema: json.RawMessage(`{"type":"object","properties":{"incident":{"type":"string","pattern":"^INC-[0-9]{1,9}$","description":"Its name, such as INC-4201"}},"required":["incident"],"additionalProperties":false}`),
			call:   p.getIncident,
		},
		{
			name: "list_deploys", title: "List deploys", description: "Returns the newest deploys with the phase that each is in. Changes nothing.",
			schema: json.RawMessage(`{"type":"object","properties":{"service":{"type":"string","enum":["checkout","payments","search","inventory"],"description":"Only of this service"},"limit":{"type":"integer","minimum":1,"maximum":20,"description":"At most so many; 5 if absent"}},"additionalProperties":false}`),
			call:   p.listDeploys,
		},
		{
			name: "rollback", title: "Roll a deploy back", description: "Takes a deploy away and brings the version before it back. Buyers notice.", writes: true,
			schema: json.RawMessage(`{"type":"object","properties":{"deploy":{"type":"string","pattern":"^d-[0-9]{1,9}$","description":"Its name, such as d-1"},"reason":{"type":"string","maxLength":200,"description":"Why, for the others"},"env":{"type":"string","enum":["prod","staging"],"description":"prod if absent"},"force":{"type":"boolean","description":"Also when it is not finished"}},"required":["deploy","reason"],"additionalProperties":false}`),
			call:   p.rollback,
		},
	}
}

// listTools answers tools/list.
func (p *Pager) listTools() map[string]any {
	all := []any{}
	for _, t := range p.tools {
		all = append(all, map[string]any{
			"name": t.name, "title": t.title, "description": t.description, "inputSchema": t.schema,
			"annotations": map[string]any{"readOnlyHint": !t.writes, "destructiveHint": t.writes, "idempotentHint": !t.writes, "openWorldHint": false},
		})
	}
	return map[string]any{"tools": all, "ttlMs": 60000, "cacheScope": "public"}
}

// callTool answers tools/call. Refusals of a tool, also of wrong arguments, are results with
// isError, so that a model can correct them.
func (p *Pager) callTool(params json.RawMessage) (map[string]any, *eventserver.Refusal) {
	var c struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if f := eventserver.Decode(params, &c); f != nil {
		return nil, f
	}
	for _, t := range p.tools {
		if t.name == c.Name {
			return p.carryOut(t, c.Arguments), nil
		}
	}
	return nil, eventserver.BadParam("name", "no such tool")
}

func (p *Pager) carryOut(t tool, raw json.RawMessage) map[string]any {
	args := map[string]any{}
	if len(raw) > 0 && json.Unmarshal(raw, &args) != nil {
		return toolResult(nil, errors.New("the arguments must be an object"))
	}
	if err := fits(t.schema, args); err != nil {
		return toolResult(nil, fmt.Errorf("the arguments do not fit the inputSchema: %w", err))
	}
	p.calling.Lock()
	defer p.calling.Unlock()
	return toolResult(t.call(args))
}

func fits(raw json.RawMessage, args map[string]any) error {
	schema, err := resolved(raw)
	if err != nil {
		return err
	}
	return schema.Validate(args)
}

// firstIncident is the number of the incident of the first loop.
const firstIncident = 4201

func (p *Pager) getIncident(args map[string]any) (any, error) {
	name, _ := args["incident"].(string)
	now := time.Now()
	number, err := strconv.ParseUint(strings.TrimPrefix(name, "INC-"), 10, 64)
	var history []map[string]any
	if err == nil && number >= firstIncident {
		size := uint64(len(p.incidents.steps))
		from := (number - firstIncident) * size
		for n := from + 1; n <= min(from+size, p.incidents.count(now)); n++ {
			history = append(history, payloadOf(p.incidents, n))
		}
	}
	if len(history) == 0 {
		return nil, fmt.Errorf("there is no incident %s", name)
	}
	last := history[len(history)-1]
	return map[string]any{
		"incident": name, "title": history[0]["title"], "service": last["service"], "severity": last["severity"], "state": last["state"],
		"history": history, "deploy": fmt.Sprintf("d-%d", number-firstIncident+1),
	}, nil
}

func (p *Pager) listDeploys(args map[string]any) (any, error) {
	limit := 5
	if n, ok := args["limit"].(float64); ok {
		limit = int(n)
	}
	deploys := []map[string]any{}
	seen := map[any]bool{}
	for n := p.deploys.count(time.Now()); n > 0 && len(deploys) < limit; n-- {
		d := payloadOf(p.deploys, n)
		if seen[d["deploy"]] {
			continue
		}
		seen[d["deploy"]] = true
		if service, ok := args["service"]; !ok || service == d["service"] {
			deploys = append(deploys, d)
		}
		if len(seen) == 200 {
			break
		}
	}
	return map[string]any{"deploys": deploys}, nil
}

// rollback rolls a deploy back, with an event of deploy.changed. It does not change the script.
func (p *Pager) rollback(args map[string]any) (any, error) {
	name, _ := args["deploy"].(string)
	if args["env"] == "staging" {
		return nil, fmt.Errorf("nothing of %s runs in staging", name)
	}
	var found map[string]any
	count := p.deploys.count(time.Now())
	for n := count; n > 0 && n+1000 > count && found == nil; n-- {
		if d := payloadOf(p.deploys, n); d["deploy"] == name {
			found = d
		}
	}
	phase, _ := found["phase"].(string)
	switch {
	case found == nil:
		return nil, fmt.Errorf("there is no deploy %s", name)
	case strings.HasPrefix(phase, "roll"):
		return nil, fmt.Errorf("%s is rolled back already", name)
	case phase != "finished" && args["force"] != true:
		return nil, fmt.Errorf("%s is not finished: its phase is %s", name, phase)
	}
	service, _ := found["service"].(string)
	data, err := json.Marshal(map[string]any{
		"title": fmt.Sprintf("%s %s is rolled back by a call of the tool", service, found["version"]), "severity": "warning", "service": service,
		"deploy": name, "version": found["version"], "phase": "rolled-back", "by": "tool", "reason": args["reason"],
	})
	if err != nil {
		return nil, err
	}
	p.deploys.add(step{kind: "deploy.changed", data: string(data), tags: map[string]string{"service": service, "severity": "warning"}})
	return map[string]any{"deploy": name, "phase": "rolled-back"}, nil
}

// payloadOf returns the payload of event n with the moment at which it happened.
func payloadOf(f feed, n uint64) map[string]any {
	h := eventAt(f, n)
	data := map[string]any{}
	if err := json.Unmarshal(h.Data, &data); err != nil {
		panic("demo: a payload of our own cannot be read: " + err.Error())
	}
	data["at"] = h.Timestamp
	return data
}
