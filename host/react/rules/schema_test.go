package rules

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"eventdeck/host/internal/jsonfile"
)

func resolved(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func valid(t *testing.T, r *jsonschema.Resolved, text string) error {
	t.Helper()
	var v any
	if err := json.Unmarshal(jsonfile.New("f", []byte(text), ErrFile).Plain, &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return r.Validate(v)
}

// What the parser takes, the schema takes; and what is wrong by its shape alone, it refuses.
func TestTheSchemaSaysWhatTheParserDoes(t *testing.T) {
	r := resolved(t)
	for _, text := range []string{
		good, emptyFile, "{}",
		with(`"window":{"count":5,"within":"1m"}`), with(`"window":{"rate":5,"per":"12h30m"}`), with(`"wait":"0s"`), with(`"key":[".service"]`),
		with(`"do":{"command":["/x"],"trusted":true,"confine":{"write":["/srv"],"net":true}}`),
		with(`"do":{"webhook":"https://example.com","secret":"${KEY}","private":true}`),
		with(`"limits":{"runs":"1/d","running":2,"queue":5,"spend":"0.10","tokens":10,"time":"1m"}`),
		withModels(`"task":"t"`), asking, choosing, driving,
	} {
		if _, err := Parse("f", []byte(text), known()); err != nil {
			t.Errorf("%s\nthe parser: %v", text, err)
		}
		if err := valid(t, r, text); err != nil {
			t.Errorf("%s\nthe schema: %v", text, err)
		}
	}
	for _, text := range []string{
		`[]`, `{"rule":{}}`, `{"models":{"m":1}}`, `{"rules":{"A":{}}}`, `{"limits":{"running":65}}`,
		with(`"on":{"server":"pager"}`), with(`"modes":"ask"`), with(`"mode":"yes"`), with(`"wait":10`), with(`"wait":"soon"`), with(`"key":"service"`),
		with(`"window":{"count":1,"absent":"1m"}`), with(`"once":{"by":".a"}`), with(`"limits":{"runs":"6"}`),
		with(`"do":{}`), with(`"do":{"note":"n","command":["/x"]}`), with(`"do":{"model":{}}`), with(`"do":{"command":"/x"}`), with(`"do":{"command":["/x"],"env":["A=B"]}`),
		with(`"do":{"webhook":"ftp://example.com","secret":"${KEY}"}`), with(`"do":{"webhook":"https://example.com","secret":"abc"}`), with(`"do":{"note":""}`),
		`{"models":{"m":{"wire":"chat","url":"http://localhost/v1"}}}`, `{"models":{"m":{"wire":"soap","url":"http://localhost/v1","model":"m"}}}`,
		`{"models":{"m":{"wire":"chat","url":"https://example.com/?k=1","model":"m"}}}`, `{"models":{"m":{"wire":"chat","url":"https://example.com","model":"m","key":"sk-1"}}}`,
		`{"models":{"m":{"wire":"chat","url":"https://example.com","model":"m","price":1}}}`, `{"models":{"M":{"wire":"chat","url":"https://example.com","model":"m"}}}`,
		withModels(`"task":""`), withModels(`"use":"local"`), withModels(`"task":"t","tools":{"pager/x":"off"}`), withModels(`"task":"t","tools":{"pager":"read"}`), withModels(`"task":"t","flows":["pager"]`),
		strings.Replace(choosing, `{"bool":true}`, `{"bool":false}`, 1), strings.Replace(choosing, `"mode":"auto"`, `"mode":"shadow"`, 1), strings.Replace(choosing, `{"note":"told"}`, `{"model":{}}`, 1),
		strings.Replace(driving, `"confine":{"net":true},`, "", 1), strings.Replace(driving, `"keep"`, `"long"`, 1),
	} {
		if _, err := Parse("f", []byte(text), Known{}); err == nil {
			t.Errorf("%s: the parser takes it", text)
		}
		if valid(t, r, text) == nil {
			t.Errorf("%s: the schema takes it", text)
		}
	}
	if strings.Contains(string(Schema()), "\t") {
		t.Error("tabs")
	}
}
