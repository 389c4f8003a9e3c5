package scan

import "testing"

// A file is an ordinary resource: every update of one was flagged. A link to a file in a text is
// flagged still.
func TestTheAddressOfAnUpdatedResourceIsNoLink(t *testing.T) {
	for raw, want := range map[string]bool{
		`{"uri":"file:///etc/motd"}`:     false,
		`{"uri":"file:\/\/\/etc\/motd"}`: false,
		`{"uri":"db://t","contents":[{"uri":"file:///a","text":"x"},{"uri":"file:///b"}]}`:        false,
		`{"uri":"file:///etc/motd","title":"see file:///etc/passwd"}`:                             true,
		`{"uri":"file:///etc/motd","contents":[{"uri":"file:///a","text":"file:///etc/shadow"}]}`: true,
		`{"uri":"file:///a file:///b"}`:                                                           true,
		`{"uri":"vscode://open"}`:                                                                 true,
		`{"data":{"uri":"file:///etc/motd"}}`:                                                     true,
		`{"payload":{"contents":[{"uri":"file:///a"}]}}`:                                          true,
	} {
		r := Update([]byte(raw))
		spans := 0
		for _, s := range r.Spans {
			if s.Flag == "url.scheme" {
				spans++
			}
		}
		if r.Has("url.scheme") != want || spans > 0 != want {
			t.Errorf("%s: flags %v, spans %+v", raw, r.Flags, r.Spans)
		}
		if !Scan([]byte(raw)).Has("url.scheme") {
			t.Errorf("%s: not flagged in an ordinary payload", raw)
		}
	}
}
