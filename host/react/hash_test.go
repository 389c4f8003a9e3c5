package react

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

func someRequest() Request {
	return Request{
		Kind: RequestCommand, Run: "aaaa", Rule: "page", Seq: 7, Count: 2,
		Argv: []string{"/bin/echo", "a", "b"}, Path: "/usr/bin/echo", Program: "00ff", Env: []string{"HOME", "LANG"},
		Dir: "/srv", Confine: &Confine{Read: []string{"/srv"}}, Boundary: "none",
		URL: "https://example.com", Secret: "${KEY}", Note: "n", Input: []byte("in"), Time: time.Second,
	}
}

func TestEveryMemberOfARequestIsInItsHash(t *testing.T) {
	whole := someRequest().Hash()
	perRun := map[string]bool{"Run": true, "Seq": true, "Count": true, "Input": true}
	for i := range reflect.TypeFor[Request]().NumField() {
		r := someRequest()
		name := reflect.TypeFor[Request]().Field(i).Name
		f := reflect.ValueOf(&r).Elem().Field(i)
		switch f.Kind() {
		case reflect.String:
			f.SetString(f.String() + "x")
		case reflect.Uint64:
			f.SetUint(f.Uint() + 1)
		case reflect.Int64:
			f.SetInt(f.Int() + 1)
		case reflect.Bool:
			f.SetBool(!f.Bool())
		default:
			f.SetZero()
		}
		if r.Hash() == whole {
			t.Errorf("%s is not in the hash", name)
		}
		if same := r.ActHash() == someRequest().ActHash(); same != perRun[name] {
			t.Errorf("%s: the hash of the act is the same: %v", name, same)
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
	r := someRequest()
	r.Confine = &Confine{Read: []string{}, Write: nil}
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
