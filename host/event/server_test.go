package event

import "testing"

func TestLabelHidesTheQueryOfAnAddress(t *testing.T) {
	for want, s := range map[string]Server{
		"pager":               {Name: "pager", URL: "https://h/mcp?key=s3cret"},
		"https://h/mcp":       {Name: "https://h/mcp", URL: "https://h/mcp", AdHoc: true},
		"wss://h/mcp?…":       {Name: "wss://h/mcp?key=s3cret", URL: "wss://h/mcp?key=s3cret", AdHoc: true},
		"stdio:x 'is it a ?'": {Name: "stdio:x 'is it a ?'", Command: "x", AdHoc: true},
	} {
		if got := s.Label(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
