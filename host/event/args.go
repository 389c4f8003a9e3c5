package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
)

// CanonicalArgs returns the canonical spelling of a subscription's arguments:
// keys sorted at every level, no white space, numbers as they were spelled, no
// HTML escaping. Empty input and null become {}.
//
// Errors: those of [strict.ParseObject]; [strict.ErrUnicode], as the names and texts that it is
// for have no canonical spelling.
func CanonicalArgs(raw []byte) (json.RawMessage, error) {
	if t := bytes.TrimSpace(raw); len(t) == 0 || string(t) == "null" {
		return json.RawMessage("{}"), nil
	}
	if _, err := strict.ParseObject(raw, strict.Limits{}); err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}
	if err := strict.CheckUnicode(raw); err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}
	var b bytes.Buffer
	if err := appendCanonical(&b, v); err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}
	return b.Bytes(), nil
}

func appendCanonical(b *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		b.WriteByte('{')
		for i, k := range keys {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(trust.AppendJSONString(nil, k))
			b.WriteByte(':')
			if err := appendCanonical(b, v[k]); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := appendCanonical(b, e); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	case string:
		b.Write(trust.AppendJSONString(nil, v))
	default:
		raw, err := json.Marshal(v)
		if err != nil {
			return err
		}
		b.Write(raw)
	}
	return nil
}
