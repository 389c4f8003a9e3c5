package toolset

import (
	"regexp"
	"strings"
	"testing"

	"eventdeck/host/react"
)

func TestNamesOfTools(t *testing.T) {
	for _, c := range [][3]string{
		{"pager", "get_incident", "pager__get_incident"},
		{"pager-2", "get-Incident9", "pager-2__get-Incident9"},
		{"pager", "get.incident", "pager__get_incident_5b90a0c3"},
		{"2nd", "x", ""}, {"-", "x", ""}, {"", "x", ""}, {"a", "", ""},
		{"a__b", "c", ""}, {"a", "b__c", ""}, {"a_", "b", ""}, {"a", "_b", ""},
		{"сервер", "x", ""}, {"a/b", "c", ""}, {"a", "b/c", ""},
		{strings.Repeat("s", 255), strings.Repeat("t", 255), ""},
		{"a", "\u202e\x00\n", ""},
	} {
		name := Name(c[0], c[1])
		if !regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`).MatchString(name) {
			t.Errorf("%q/%q is %q", c[0], c[1], name)
		}
		if c[2] != "" && name != c[2] {
			t.Errorf("%q/%q is %q, want %q", c[0], c[1], name, c[2])
		}
	}
	seen := map[string][2]string{}
	for _, server := range []string{"a", "a_", "a__b", "_", "a-b", "a.b", "a/b", "a b", "t_", ""} {
		for _, tool := range []string{"c", "_c", "b__c", "c.d", "c/d", "c_d", "__", ""} {
			name := Name(server, tool)
			if other, ok := seen[name]; ok {
				t.Errorf("%q/%q and %v are both %s", server, tool, other, name)
			}
			seen[name] = [2]string{server, tool}
		}
	}
}

func FuzzName(f *testing.F) {
	f.Add("pager", "get_incident", "pa", "ger__get_incident")
	f.Add("a", "b__c", "a__b", "c")
	f.Fuzz(func(t *testing.T, server, tool, server2, tool2 string) {
		name := Name(server, tool)
		if !regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`).MatchString(name) {
			t.Errorf("%q/%q is %q", server, tool, name)
		}
		if (server != server2 || tool != tool2) && len(name) < 50 && !strings.ContainsAny(tool+tool2, "_") && name == Name(server2, tool2) {
			t.Errorf("%q/%q and %q/%q are both %q", server, tool, server2, tool2, name)
		}
	})
}

func TestToolsAreFoundByTheirNames(t *testing.T) {
	tools := []react.Pinned{{Tool: react.Tool{Server: "pager", Name: "get.incident"}}, {Tool: react.Tool{Server: "git", Name: "log"}}}
	for _, want := range tools {
		if got, ok := Named(tools, Name(want.Server, want.Name)); !ok || got.Name != want.Name {
			t.Errorf("%+v, %t", got, ok)
		}
	}
	for _, name := range []string{"", "get.incident", "pager__get.incident", "pager/get.incident", "GIT__LOG", "git__log "} {
		if got, ok := Named(tools, name); ok {
			t.Errorf("%q is %+v", name, got)
		}
	}
}
