package jsonfile_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"eventdeck/host/internal/jsonfile"
)

var errFile = errors.New("the file")

func members(t *testing.T, text *jsonfile.Text) (jsonfile.Member, []jsonfile.Member) {
	t.Helper()
	top := text.Top()
	all, err := text.Object(top.Start, top.End, "the file")
	if err != nil {
		t.Fatal(err)
	}
	return top, all
}

// An edit leaves comments and everything else unchanged.
func TestEditsLeaveTheRestUnchanged(t *testing.T) {
	const file = "{\n  // of the night shift\n  \"a\": 1, // one\n  \"b\": {\"c\": [1, 2]}, /* two */\n}\n"
	for name, want := range map[string]string{
		"a": "{\n  // of the night shift\n // one\n  \"b\": {\"c\": [1, 2]}, /* two */\n}\n",
		"b": "{\n  // of the night shift\n  \"a\": 1, // one\n /* two */\n}\n",
	} {
		text := jsonfile.New("f", []byte(file), errFile)
		top, all := members(t, text)
		for i, m := range all {
			if m.Key != name {
				continue
			}
			if got := string(text.Cut(top, all, i)); withoutBlanks(got) != withoutBlanks(want) {
				t.Errorf("without %q it is\n%s", name, got)
			}
		}
	}
	text := jsonfile.New("f", []byte(file), errFile)
	top, all := members(t, text)
	got := string(text.Insert(top, all, "d", []byte("3"), "  "))
	if !strings.Contains(got, "  \"d\": 3") || !strings.Contains(got, "// of the night shift") || !strings.Contains(got, "/* two */") {
		t.Errorf("with a member more it is\n%s", got)
	}
	if back := jsonfile.New("f", []byte(got), errFile); back.Syntax("{}") != nil {
		t.Errorf("it is no JSON any more:\n%s", got)
	}
}

func TestErrorsNameTheirPlace(t *testing.T) {
	text := jsonfile.New("servers.json", []byte("{\n  \"ä\": 1,\n  \"b\" 2\n}"), errFile)
	err := text.Syntax("{}")
	if !errors.Is(err, errFile) || !strings.Contains(err.Error(), "servers.json:3:7") {
		t.Errorf("the error is %v", err)
	}
	if line, column := text.Position(strings.Index("{\n  \"ä\": 1", "1")); line != 2 || column != 8 {
		t.Errorf("the number stands at %d:%d", line, column)
	}
	if err := jsonfile.New("f", nil, errFile).Syntax(`{"rules":{}}`); err == nil || !strings.Contains(err.Error(), `{"rules":{}}`) {
		t.Errorf("the error of an empty file is %v", err)
	}
}

// FuzzInsertAndCut: in any valid file an inserted member is found, the others keep their
// values, and cutting it again restores the members.
func FuzzInsertAndCut(f *testing.F) {
	for _, file := range []string{"{}", "{ }", "{\n}", `{"a":1}`, "{\"a\":1,}", "{ // c\n \"a\" : [1,] /* , */ , }", "\ufeff{\"a\":{\"b\":2}}", "// top\n{\n\t\"a\": \"//\"\n}// end"} {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file string) {
		text := jsonfile.New("f", []byte(file), errFile)
		if text.Syntax("{}") != nil {
			return
		}
		top := text.Top()
		all, err := text.Object(top.Start, top.End, "the file")
		if err != nil {
			return
		}
		before := said(text, all)
		if _, there := before["new"]; there || len(before) != len(all) {
			return
		}
		more := jsonfile.New("f", text.Insert(top, all, "new", []byte(`{"x":1}`), "  "), errFile)
		if err := more.Syntax("{}"); err != nil {
			t.Fatalf("%q becomes %q: %v", file, more.Plain, err)
		}
		moreTop, moreAll := members(t, more)
		after := said(more, moreAll)
		if after["new"] != `{"x":1}` || len(after) != len(before)+1 {
			t.Fatalf("%q says %v, then %v", file, before, after)
		}
		for i, m := range moreAll {
			if m.Key != "new" {
				continue
			}
			less := jsonfile.New("f", more.Cut(moreTop, moreAll, i), errFile)
			if err := less.Syntax("{}"); err != nil {
				t.Fatalf("%q becomes %q: %v", more.Plain, less.Plain, err)
			}
			_, lessAll := members(t, less)
			if again := said(less, lessAll); len(again) != len(before) || again["new"] != "" {
				t.Fatalf("%q says %v, then %v", file, before, again)
			}
		}
		delete(after, "new")
		for key, value := range before {
			if after[key] != value {
				t.Fatalf("%q: %q is %s, then %s", file, key, value, after[key])
			}
		}
	})
}

// said returns the members with their values, without white space.
func said(text *jsonfile.Text, all []jsonfile.Member) map[string]string {
	m := map[string]string{}
	for _, member := range all {
		var value any
		_ = json.Unmarshal(text.Value(member), &value)
		out, _ := json.Marshal(value)
		m[member.Key] = string(out)
	}
	return m
}

func withoutBlanks(s string) string { return strings.Join(strings.Fields(s), " ") }
