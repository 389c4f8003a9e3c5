package dialect

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/yosida95/uritemplate/v3"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
	"eventdeck/host/wire"
)

// maxAddress bounds an expanded address, in bytes.
const maxAddress = 4 << 10

// templateSchema returns the schema of a type's arguments: that of the server, or
// one with a string for each variable of the template.
func templateSchema(text string, given json.RawMessage, template bool) (json.RawMessage, error) {
	var names []string
	if template {
		t, err := uritemplate.New(text)
		if err != nil {
			return nil, fmt.Errorf("not a template of RFC 6570: %w", err)
		}
		names = t.Varnames()
		if given != nil {
			return given, nil
		}
	}
	type property struct {
		Type string `json:"type"`
	}
	properties := map[string]property{}
	for _, n := range names {
		properties[n] = property{"string"}
	}
	return json.Marshal(map[string]any{
		"type": "object", "properties": properties, "required": append([]string{}, names...), "additionalProperties": false,
	})
}

// expand expands a template with the arguments. A name without variables is an address
// already.
//
// Error: [ErrArguments].
func expand(text string, args json.RawMessage) (string, error) {
	t, err := uritemplate.New(text)
	if err != nil {
		// A listed address may contain characters that no template may.
		return text, nil
	}
	given := map[string]any{}
	if len(args) > 0 {
		if err := json.Unmarshal(args, &given); err != nil {
			return "", fmt.Errorf("%w: not an object", ErrArguments)
		}
	}
	names := t.Varnames()
	values := uritemplate.Values{}
	for name, v := range given {
		if !slices.Contains(names, name) {
			return "", fmt.Errorf("%w: %v is not a variable of %v", ErrArguments, trust.Untrusted(name), trust.Untrusted(text))
		}
		value, err := templateValue(v)
		if err != nil {
			return "", fmt.Errorf("%w: %v: %w", ErrArguments, trust.Untrusted(name), err)
		}
		values.Set(name, value)
	}
	where, err := t.Expand(values)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrArguments, err)
	}
	if !strings.HasPrefix(where, eventScheme) || len(where) > maxAddress {
		return "", fmt.Errorf("%w: they do not expand to a %s address of at most %d bytes", ErrArguments, eventScheme, maxAddress)
	}
	return where, nil
}

func templateValue(v any) (uritemplate.Value, error) {
	switch v := v.(type) {
	case []any:
		var list []string
		for _, e := range v {
			s, err := scalar(e)
			if err != nil {
				return uritemplate.Value{}, err
			}
			list = append(list, s)
		}
		return uritemplate.List(list...), nil
	case map[string]any:
		var pairs []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			s, err := scalar(v[k])
			if err != nil {
				return uritemplate.Value{}, err
			}
			pairs = append(pairs, k, s)
		}
		return uritemplate.KV(pairs...), nil
	}
	s, err := scalar(v)
	if err != nil {
		return uritemplate.Value{}, err
	}
	return uritemplate.String(s), nil
}

func scalar(v any) (string, error) {
	switch v := v.(type) {
	case string:
		if v == "" {
			return "", fmt.Errorf("is empty")
		}
		return v, nil
	case float64, bool:
		raw, err := json.Marshal(v)
		return string(raw), err
	}
	return "", fmt.Errorf("must be a text, a number, true or false")
}

// checkTemplate refuses arguments that leave out a required variable or that do not expand
// to an address.
func checkTemplate(t event.Type, args json.RawMessage, _ time.Time) error {
	if _, err := expand(t.Name.Raw(), args); err != nil {
		return err
	}
	template, err := uritemplate.New(t.Name.Raw())
	if err != nil {
		return nil // no template
	}
	var schema struct {
		Required *[]string
	}
	_ = json.Unmarshal(t.InputSchema, &schema) // else every variable is required
	var given map[string]json.RawMessage
	_ = json.Unmarshal(args, &given) // expand has read it
	for _, name := range template.Varnames() {
		if _, ok := given[name]; !ok && (schema.Required == nil || slices.Contains(*schema.Required, name)) {
			return fmt.Errorf("%w: %v is needed", ErrArguments, trust.Untrusted(name))
		}
	}
	return nil
}

// readResourceDelivery reads a webhook delivery: type, timestamp and data of Standard
// Webhooks, with the delivery's id or else a hash as the event's id.
//
// Errors: those of [strict.ParseObject], [wire.ErrOccurrence].
func readResourceDelivery(body []byte, id trust.Text, at time.Time) (wire.Occurrence, error) {
	members, err := strict.ParseObject(body, strict.Limits{})
	if err != nil {
		return wire.Occurrence{}, err
	}
	o := wire.Occurrence{EventID: id, Raw: body}
	whole := true
	for _, m := range members {
		switch m.Key.Raw() {
		case "type":
			_ = json.Unmarshal(m.Value, &o.Name) // of another type: no name
		case "timestamp":
			_ = json.Unmarshal(m.Value, &o.Timestamp)
		case "data":
			o.Data, whole = m.Value, false
		}
	}
	if whole {
		o.Data = body
	}
	if o.Timestamp.IsZero() {
		o.Timestamp = trust.Untrusted(at.UTC().Format(time.RFC3339Nano))
	}
	if o.EventID.IsZero() {
		o.EventID = hashID(o.Name.Raw(), body, at, 0)
	}
	return o, nil
}

// hashID makes the id of an event that has none: a hash of its content, address, time and
// number of arrival.
func hashID(where string, payload []byte, at time.Time, n uint64) trust.Text {
	h := sha256.New()
	h.Write([]byte(where))
	h.Write([]byte{0})
	h.Write(payload)
	var tail [16]byte
	binary.BigEndian.PutUint64(tail[:8], uint64(at.UnixNano()))
	binary.BigEndian.PutUint64(tail[8:], n)
	h.Write(tail[:])
	return trust.Untrusted("h-" + base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:18]))
}
