package react

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

func someRequest() Request {
	return Request{
		Kind: RequestCommand, Run: "aaaa", Rule: "page", Seq: 7, Count: 2,
		Argv: []string{"/bin/echo", "a", "b"}, Files: someFiles(), Env: []string{"HOME", "LANG"}, Boundary: "none",
		URL: "https://example.com", Secret: "${KEY}", Note: "n", Input: []byte("in"), Time: time.Second,
	}
}

func someFiles() Files {
	return Files{
		Path: "/usr/bin/echo", Program: "00ff", Interpreters: []Interpreter{{"/bin/sh", []string{"-e"}, "/usr/bin/dash", "11ff"}}, Code: []string{"/srv/app"}, Tree: "22ff",
		Dir: "/srv", Confine: &Confine{Read: []string{"/srv"}},
	}
}

func someClientRequest() *ClientRequest {
	return &ClientRequest{Client: trust.Untrusted("stdio goose"), Act: ClientEnd, Sub: "abcdefgh", Server: "pager", Type: trust.Untrusted("incident"), Args: json.RawMessage(`{"severity":"P1"}`), Was: json.RawMessage(`{}`),
		Asked: event.ModeAuto, Mode: event.ModePush}
}

// fullRequest has every member, whatever its kind.
func fullRequest() Request {
	r, m := someRequest(), someModel()
	r.Model, r.Task, r.Choices, r.Flows = &m, "Find the cause.", someChoice().Acts, []Flow{{From: "pager", To: "git"}}
	r.Tools = []Pinned{{Tool: Tool{Server: "pager", Name: "rollback", Class: ToolWrite, Fix: map[string]json.RawMessage{"env": json.RawMessage(`"<prod>"`)}, Drop: []string{"force"}},
		Description: trust.Untrusted("rolls back"), Schema: json.RawMessage(`{ "type": "object" }`), Pin: "ab"}}
	r.Choices[0].Files = someFiles()
	r.Title, r.Wish = trust.Untrusted("rm"), someClientRequest()
	return r
}

func TestEveryMemberOfARequestIsInItsHash(t *testing.T) {
	r := fullRequest()
	whole, act := r.Hash(), r.ActHash()
	perRun := []string{".Run", ".Seq", ".Count", ".Step", ".Input"}
	change(reflect.ValueOf(&r).Elem(), "", func(path string) {
		unused := path == ".Model.Where" || path == ".Choices[0].Do.Note" // a place, and of another act
		if same := r.Hash() == whole; same != unused {
			t.Errorf("%s: the hash is the same: %v", path, same)
		}
		if same := r.ActHash() == act; same != (unused || slices.Contains(perRun, path)) {
			t.Errorf("%s: the hash of the act is the same: %v", path, same)
		}
	})
}

// What a call of a tool does stands in its arguments, and what an agent asks permission for in
// its own description: a grant for one is none for another.
func TestAnActIncludesTheArgumentsOfATool(t *testing.T) {
	for kind, differs := range map[RequestKind]bool{RequestTool: true, RequestPermit: true, RequestCommand: false, RequestModel: false} {
		a, b := fullRequest(), fullRequest()
		a.Kind, b.Kind, b.Input = kind, kind, []byte("other")
		if (a.ActHash() != b.ActHash()) != differs {
			t.Errorf("%s: the input is in the hash of the act: %v", kind, !differs)
		}
	}
}

func TestHashesTellApartWhatReadsAlike(t *testing.T) {
	with := func(change func(*Request)) string {
		r := someRequest()
		change(&r)
		return r.Hash()
	}
	seen := map[string]bool{}
	for _, h := range []string{
		with(func(*Request) {}),
		with(func(r *Request) { r.Argv = []string{"/bin/echo", "a b"} }),
		with(func(r *Request) { r.Argv = []string{"/bin/echo", "a\n1:b"} }),
		with(func(r *Request) { r.Argv = []string{"/bin/echo", "\xff"} }),
		with(func(r *Request) { r.Argv = []string{"/bin/echo", "\ufffd"} }),
		with(func(r *Request) { r.Confine = &Confine{Write: []string{"/srv"}} }),
		with(func(r *Request) { r.Confine = &Confine{} }),
		with(func(r *Request) { r.Confine = nil }),
	} {
		if seen[h] {
			t.Fatal("two different requests have one hash")
		}
		seen[h] = true
	}
}

func TestAHashSurvivesJournalAndSocket(t *testing.T) {
	r := fullRequest()
	r.Confine = &Confine{Read: []string{}, Write: nil}
	r.Model.Price = &Price{}
	var stored, sent Request
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &stored); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(r); err != nil {
		t.Fatal(err)
	}
	if err := gob.NewDecoder(&b).Decode(&sent); err != nil {
		t.Fatal(err)
	}
	if stored.Hash() != r.Hash() || sent.Hash() != r.Hash() {
		t.Fatal("the hash is another one")
	}
}
