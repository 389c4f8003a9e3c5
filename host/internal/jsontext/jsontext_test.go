package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// texts are seeds on which readers of JSON disagree.
var texts = []string{
	`{}`, ` {"a": [1, {"b": null}, "x"], "c":{}} `, `{"a":1,"a":2}`, `{"a\u0062":1,"ab":2}`, `{"a":"\ud83d\ude00\ud83d"}`,
	`{"k\\":"\\\"", "l":"}]"}`, `{"a":-0.1e+5,"b":01}`, `{"a":1,}`, `{"a" "b"}`, `[1]`, "\ufeff{}", `{"a":tru}`, `{"A":1,"a":"\/\b"}`,
	"{\"a\":\"\xff\xed\xa0\xbd\"}", `{"a":[[],[{}]]}`, `{"`, `{"a":"\`, ``,
}

func add(f *testing.F) {
	for _, s := range texts {
		f.Add([]byte(s))
	}
}

// silent is a visitor that counts the members of the top level.
type silent struct{ members int }

func (s *silent) Key(depth int, _, _ int, _ bool) {
	if depth == 1 {
		s.members++
	}
}
func (*silent) Open(int, int)                   {}
func (*silent) Value(int, Kind, int, int, bool) {}
func (*silent) SameFold(int, int)               {}

// FuzzWalk: a text that Walk accepts is JSON, and one that it refuses by its syntax is not.
func FuzzWalk(f *testing.F) {
	add(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		err := Walk(raw, Limits{}, &silent{})
		switch valid := json.Valid(raw); {
		case err == nil && !valid:
			t.Fatalf("taken: %q", raw)
		case valid && (errors.Is(err, ErrSyntax) || errors.Is(err, ErrTrailing)):
			t.Fatalf("refused: %q: %v", raw, err)
		}
	})
}

// FuzzMembers: Members finds the members and values that encoding/json finds, and copes
// with invalid JSON.
func FuzzMembers(f *testing.F) {
	add(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		text := string(raw)
		start := SkipSpace(text, 0)
		if start == len(text) || text[start] != '{' {
			return
		}
		found, last := 0, map[string]string{}
		for m := Enter(text, start); m.Next(); found++ {
			if m.Value >= m.End || m.End > len(text) {
				t.Fatalf("%q: a value from %d to %d", text, m.Value, m.End)
			}
			last[Unquote([]byte(m.Key))] = text[m.Value:m.End]
		}
		var count silent
		if err := Walk(raw, Limits{}, &count); err != nil {
			return
		}
		if found != count.members {
			t.Fatalf("%q: %d members, the walk has %d", text, found, count.members)
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		for key, value := range want {
			if have, ok := last[key]; utf8.ValidString(text) && !strings.Contains(key, "\ufffd") && (!ok || have != string(value)) {
				t.Fatalf("%q: member %q is %q, the decoder has %q", text, key, have, value)
			}
		}
	})
}

// FuzzSkim: a skimmed text is JSON for encoding/json too, with the same members and
// elements, and for Walk, apart from its rules for names.
func FuzzSkim(f *testing.F) {
	add(f)
	f.Add([]byte(strings.Repeat("[", skimDepth+1) + strings.Repeat("]", skimDepth+1)))
	f.Add([]byte(` [1 , "a" , {"b":[{}]},[]] `))
	f.Add([]byte(`[1,]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got := map[string]string{}
		object := SkimObject(raw)
		for object.Next() {
			got[string(object.Name)] = string(object.Value)
		}
		if object.Complete() {
			var want map[string]json.RawMessage
			if err := json.Unmarshal(raw, &want); err != nil || len(got) != len(want) {
				t.Fatalf("%q: skimmed %q, the decoder has %q: %v", raw, got, want, err)
			}
			for name, value := range want {
				if got[name] != string(value) {
					t.Fatalf("%q: member %q is %q, the decoder has %q", raw, name, got[name], value)
				}
			}
			err := Walk(raw, Limits{}, &silent{})
			if errors.Is(err, ErrSyntax) || errors.Is(err, ErrTrailing) {
				t.Fatalf("%q: skimmed, and refused by the walk: %v", raw, err)
			}
		}
		var elements []string
		array := SkimArray(raw)
		for array.Next() {
			elements = append(elements, string(array.Value))
		}
		if array.Complete() {
			var want []json.RawMessage
			if err := json.Unmarshal(raw, &want); err != nil || len(elements) != len(want) {
				t.Fatalf("%q: skimmed %q, the decoder has %q: %v", raw, elements, want, err)
			}
			for i, value := range want {
				if elements[i] != string(value) {
					t.Fatalf("%q: element %d is %q, the decoder has %q", raw, i, elements[i], value)
				}
			}
		}
	})
}

func TestBracketsInStringsDoNotCountAsDepth(t *testing.T) {
	if n := Depth([]byte(`{"a\"{[":["}",{"b":[]}]}`)); n != 4 {
		t.Errorf("depth %d", n)
	}
}

// FuzzUnquote: a string decodes as with encoding/json, apart from invalid Unicode, and its
// end is the same in bytes and in a string.
func FuzzUnquote(f *testing.F) {
	for _, s := range []string{``, `a`, `\n\t\"\\\/`, `\u00e9\ud83d\ude00`, `\ud83d`, `\ud83d\u0041`, `\\"`, `\`, "\xff", `\x`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, inside []byte) {
		quoted := append(append([]byte{'"'}, inside...), '"')
		end := StringEndIn(quoted, 0)
		e, closed := StringEnd(string(quoted), 0)
		if e != end || !closed && json.Valid(quoted) {
			t.Fatalf("%q ends at %d as bytes and at %d as a text, closed %v", quoted, end, e, closed)
		}
		got := Unquote(inside)
		var want string
		if json.Unmarshal(quoted, &want) != nil {
			return
		}
		if end != len(quoted) {
			t.Fatalf("%q ends at %d", quoted, end)
		}
		if utf8.ValidString(got) && got != want {
			t.Fatalf("%q reads as %q, the decoder has %q", quoted, got, want)
		}
		if !bytes.Contains(inside, []byte{'\\'}) && got != string(inside) {
			t.Fatalf("%q reads as %q", inside, got)
		}
	})
}
