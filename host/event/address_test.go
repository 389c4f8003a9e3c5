package event

import (
	"slices"
	"strings"
	"testing"
)

func TestPublicAddress(t *testing.T) {
	for in, want := range map[string]string{
		"https://h.example/mcp":                                               "",
		"https://h.example/mcp?team=ops&since=2026-01-01":                     "",
		"https://h.example/mcp?key=${KEY}":                                    "",
		"pager":                                                               "",
		"what is https://h.example?token=x":                                   "",
		"https://h.example/mcp?token=t0p":                                     "https://h.example/mcp?token=…",
		"https://h.example/mcp?team=ops&API-Key=a%20b#x":                      "https://h.example/mcp?team=ops&API-Key=…#x",
		"https://h.example/mcp?access_token=a&token=b":                        "https://h.example/mcp?access_token=…&token=…",
		"https://h.example/mcp?t=8f14e45fceea167a5a36":                        "https://h.example/mcp?t=…",
		"https://h.example/mcp?8f14e45fceea167a5a36":                          "https://h.example/mcp?…",
		"wss://ann:hunter2@h.example:8443/mcp?x=1":                            "wss://…@h.example:8443/mcp?x=1",
		"https://hooks.example/services/T000/B000/XXXXXXXXXXXXXXXXXXXXXXXX":   "https://hooks.example/services/T000/B000/…",
		"https://h.example/api/webhooks/11/a1B2c3D4e5F6g7H8i9J0?wait=1":       "https://h.example/api/webhooks/11/…?wait=1",
		"wss://h.example/8f14e45fceea167a5a36/mcp":                            "wss://h.example/…/mcp",
		"https://h.example/projects/6f9619ff-8b86-d011-b42d-00cf4fc964ff/mcp": "",
		"https://h.example/webhooks/of-the-team-that-pages-at-night":          "",
		"event://incidents/8f14e45fceea167a5a36":                              "",
		"https://h.example?token=http://other.example/?key=1":                 "https://h.example?token=…",
	} {
		if want == "" {
			want = in
		}
		got := PublicAddress(in)
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
		if again := PublicAddress(got); again != got {
			t.Errorf("%s, again: %s", got, again)
		}
	}
	if got := AddressSecrets("https://h/?token=a%20b+c&team=ops"); !slices.Equal(got, []Secret{NewSecret("a%20b+c"), NewSecret("a b c")}) {
		t.Errorf("%d secrets", len(got))
	}
}

// A name tells addresses apart that differ in their secrets alone, under another key in
// another way, and shows none of them.
func TestAddressName(t *testing.T) {
	const one, two = "https://h/mcp?token=one", "https://h/mcp?token=two"
	name := AddressName(one, []byte("key"))
	if !strings.HasPrefix(name, "https://h/mcp?token=…#") || !IsAddressName(name) || strings.Contains(name, "one") {
		t.Errorf("the name is %s", name)
	}
	if AddressName(one, []byte("key")) != name || AddressName(two, []byte("key")) == name || AddressName(one, []byte("other")) == name {
		t.Error("the hash does not depend on address and key alone")
	}
	if got := PublicAddress(name); got != name {
		t.Errorf("the name holds a secret: %s", got)
	}
	for _, plain := range []string{"https://h/mcp?team=ops", "pager", "stdio:x", one, "https://h/mcp#abcdefgh"} {
		if IsAddressName(plain) {
			t.Errorf("%s is a name", plain)
		}
	}
	if got := AddressName("https://h/mcp?team=ops", []byte("key")); got != "https://h/mcp?team=ops" {
		t.Errorf("an address without secrets is named %s", got)
	}
}

func TestPublicWords(t *testing.T) {
	for in, want := range map[string]string{
		"npx|-y|@scope/mcp-server-sqlite3@2025.9.1|/home/me/notes":            "",
		"srv|--token|abc|--verbose|x":                                         "srv|--token|…|--verbose|x",
		"srv|--api-key=abc|--level=info":                                      "srv|--api-key=…|--level=info",
		"srv|--token|${TOKEN}":                                                "srv|--token|${TOKEN}",
		"srv|--no-auth|--port|8080":                                           "",
		"mcp-remote|https://h/sse?key=abc|--header|Authorization: Bearer a=b": "mcp-remote|https://h/sse?key=…|--header|Authorization: …",
		"env|API_TOKEN=abc|srv":                                               "env|API_TOKEN=…|srv",
		"srv|postgres://me:pw@db.example/x":                                   "srv|postgres://…@db.example/x",
		"srv|sk_live_8f14e45fceea167a5a36":                                    "srv|…",
		`C:\tools\srv.exe|--dir|D:\data\2026x`:                                "",
	} {
		if want == "" {
			want = in
		}
		if got := strings.Join(PublicWords(strings.Split(in, "|")), "|"); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}
