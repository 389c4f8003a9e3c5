package incidents

import (
	"bytes"
	"encoding/json"
	"strconv"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
)

// Difference is a value in which two events differ.
type Difference struct {
	Path   trust.Text // as in a filter; outside of the payload without a dot
	A, B   trust.Text
	HasA   bool
	HasB   bool
	Around bool // outside of the payload
}

// leavesMax bounds the compared values of one payload.
const leavesMax = 5_000

// Compare returns the differences between two records: first those outside of the payloads, then
// those of their values, in the order of the first payload. alike counts the equal values.
func Compare(a, b *event.Record) (differs []Difference, alike int) {
	around := func(name string, x, y trust.Text) {
		if x != y {
			differs = append(differs, Difference{Path: trust.Unescaped(name), A: x, B: y, HasA: !x.IsZero(), HasB: !y.IsZero(), Around: true})
		}
	}
	around("kind", trust.Unescaped(string(a.Kind)), trust.Unescaped(string(b.Kind)))
	around("server", trust.Unescaped(a.Server), trust.Unescaped(b.Server))
	around("type", a.Name(), b.Name())
	around("occurred", a.Timestamp, b.Timestamp)
	left, right := leavesOf(a), leavesOf(b)
	at := make(map[string]int, len(right))
	for i, l := range right {
		at[l.path] = i
	}
	taken := make([]bool, len(right))
	for _, l := range left {
		i, ok := at[l.path]
		switch {
		case !ok:
			differs = append(differs, Difference{Path: trust.Untrusted(l.path), A: trust.Untrusted(l.value), HasA: true})
			continue
		case right[i].value == l.value:
			alike++
		default:
			differs = append(differs, Difference{Path: trust.Untrusted(l.path), A: trust.Untrusted(l.value), B: trust.Untrusted(right[i].value), HasA: true, HasB: true})
		}
		taken[i] = true
	}
	for i, l := range right {
		if !taken[i] {
			differs = append(differs, Difference{Path: trust.Untrusted(l.path), B: trust.Untrusted(l.value), HasB: true})
		}
	}
	return differs, alike
}

// leaf is a value of a payload without members or elements, as it is spelled there.
type leaf struct{ path, value string }

// leavesOf returns the leaves of a payload; one that is not JSON is one leaf.
func leavesOf(r *event.Record) []leaf {
	data := r.Data
	if len(data) == 0 {
		data = r.Raw
	}
	var out []leaf
	collect(bytes.TrimSpace(data), "", &out, 0)
	return out
}

// depthMax bounds the depth of the leaves.
const depthMax = 32

func collect(raw []byte, path string, out *[]leaf, depth int) {
	if len(raw) == 0 || len(*out) >= leavesMax {
		return
	}
	if depth < depthMax {
		switch raw[0] {
		case '{':
			if members, err := strict.ParseObject(raw, strict.Limits{}); err == nil && len(members) > 0 {
				for _, m := range members {
					collect(m.Value, path+"."+m.Key.Raw(), out, depth+1)
				}
				return
			}
		case '[':
			if elements, ok := elementsOf(raw); ok && len(elements) > 0 {
				for i, e := range elements {
					collect(e, path+"["+strconv.Itoa(i)+"]", out, depth+1)
				}
				return
			}
		}
	}
	if path == "" {
		path = "."
	}
	*out = append(*out, leaf{path, string(raw)})
}

// elementsOf returns the elements of an array.
func elementsOf(raw []byte) ([]json.RawMessage, bool) {
	var list []json.RawMessage
	err := json.Unmarshal(raw, &list)
	return list, err == nil
}
