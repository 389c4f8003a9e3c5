package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func env(pairs ...string) Env {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

func TestParseReadsSharedConfiguration(t *testing.T) {
	f, err := Parse("servers.json", []byte("\ufeff"+`{
		"theme": {"dark": true},
		"mcpServers": {
			"files": {"type": "stdio", "command": "npx", "args": ["-y", "${PKG}"], "env": {"KEY": "${SECRET:-none}"}, "cwd": "/srv/${DIR}", "disabled": false},
			"pager": {"url": "https://${HOST}/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}, "env": null}
		}
	}`), env("PKG", "server-files", "DIR", "data", "HOST", "example.com", "TOKEN", "t0ken"))
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Names(); !slices.Equal(got, []string{"files", "pager"}) {
		t.Fatalf("names %q, want the order of the file", got)
	}
	servers := f.All()
	files, pager := servers[0], servers[1]
	if files.Command != "npx" || !slices.Equal(files.Args, []string{"-y", "server-files"}) || files.Dir != "/srv/data" || files.Env["KEY"].Reveal() != "none" || files.AdHoc {
		t.Errorf("files: %+v", files)
	}
	if pager.URL != "https://example.com/mcp" || pager.Headers["Authorization"].Reveal() != "Bearer t0ken" || pager.Command != "" {
		t.Errorf("pager: %+v", pager)
	}
}

func TestParseErrorsHaveTheirPlace(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"empty":               {"", "f.json:1:1: the file is empty"},
		"comma missing":       {"{\n \"mcpServers\": {\n  \"a\": {\"url\" \"x\"}\n }\n}", "f.json:3:15: invalid character"},
		"column counts runes": {"{\"ä\": x}", "f.json:1:7: invalid character 'x'"},
		"cut off":             {"{\n\"mcpServers\": {", "f.json:2:16: unexpected end"},
		"trailing":            {"{}\n{}", "f.json:2:1: invalid character"},
		"no object":           {"[]", "f.json:1:1: the file must be an object"},
		"other shape":         {"{\n  \"servers\": {}}", `f.json:2:3: there is no "mcpServers" member`},
		"list":                {"{\"mcpServers\":\n  []}", `f.json:2:3: "mcpServers" must be an object`},
		"comma first":         {"{\"mcpServers\": {\n , /* x */ }}", "f.json:2:2: invalid character"},
		"two commas":          {`{"mcpServers": {"a": {"command": "x"},,}}`, "f.json:1:39: invalid character"},
		"twice":               {"{\"mcpServers\": {\n\"a\": {\"command\": \"x\"},\n \"a\": {\"command\": \"y\"}}}", `f.json:3:2: server "a" is there twice, first on line 2`},
		"empty name":          {`{"mcpServers": {" ": {"command": "x"}}}`, "empty name"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("f.json", []byte(tt.text), nil)
			if !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestFaultOfAServerAffectsItAlone(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"no way":            {`{"mcpServers": {"a": {"args": []}}}`, `f.json:1:17: server "a" needs a "command" or a "url"`},
		"two ways":          {`{"mcpServers": {"a": {"command": "x", "url": "http://h"}}}`, `server "a" has both`},
		"no server object":  {`{"mcpServers": {"a": "x"}}`, `f.json:1:22: server "a" must be an object`},
		"args":              {`{"mcpServers": {"a": {"command": "x", "args": "y"}}}`, `f.json:1:47: server "a": "args" must be a list of strings`},
		"command":           {`{"mcpServers": {"a": {"command": ["x"]}}}`, `server "a": "command" must be a string`},
		"env value":         {`{"mcpServers": {"a": {"command": "x", "env": {"N": 1}}}}`, `server "a": "N" must be a string`},
		"env list":          {`{"mcpServers": {"a": {"command": "x", "env": []}}}`, `server "a": "env" must be an object`},
		"two headers":       {`{"mcpServers": {"a": {"url": "http://h", "headers": {}, "headers": {}}}}`, `"headers" is there twice, first on line 1`},
		"letter case":       {`{"mcpServers": {"a": {"url": "https://h", "requireServerkeys": true}}}`, `f.json:1:43: server "a": there is no member "requireServerkeys"; did you mean "requireServerKey"?`},
		"misspelt file":     {`{"mcpServers": {"a": {"url": "https://h", "caFiles": "x"}}}`, `did you mean "caFile"?`},
		"misspelt headers":  {`{"mcpServers": {"a": {"url": "https://h", "headerz": {}}}}`, `did you mean "headers"?`},
		"capitals":          {`{"mcpServers": {"a": {"URL": "https://h"}}}`, `did you mean "url"?`},
		"nothing like it":   {`{"mcpServers": {"a": {"url": "https://h", "quantum": 1}}}`, `there is no member "quantum"; there are allowUnsigned, args, caFile,`},
		"of another client": {`{"mcpServers": {"a": {"httpUrl": "https://h"}}}`, `"httpUrl" is another client's; write "url"`},
		"oauth":             {`{"mcpServers": {"a": {"url": "https://h", "oauth": {"clientID": "x"}}}}`, `there is no member "clientID"; did you mean "clientId"?`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			text := strings.TrimSuffix(tt.text, "}}") + `, "b": {"command": "y"}}}`
			f, err := Parse("f.json", []byte(text), nil)
			if err != nil {
				t.Fatal(err)
			}
			all := f.All()
			if len(all) != 2 || all[0].Name != "a" || !errors.Is(all[0].Fault, ErrFile) || !strings.Contains(all[0].Fault.Error(), tt.want) || all[1].Fault != nil {
				t.Errorf("got %+v, want %q", all, tt.want)
			}
			if _, err := f.Find("a"); !errors.Is(err, ErrFile) {
				t.Errorf("found: %v", err)
			}
		})
	}
}

func TestMembersOfOtherClientsAreNamed(t *testing.T) {
	f, err := Parse("f.json", []byte(`{"mcpServers": {
 "a": {"type": "http", "url": "https://h", "autoApprove": [], "timeout": 5},
 "b": {"command": "x", "disabled": true},
 "c": {"command": "x", "enabled": false},
 "d": {"command": "x", "disabled": false, "enabled": true}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range f.All() {
		if s.Fault != nil {
			t.Error(s.Fault)
		}
		names = append(names, s.Name)
	}
	if !slices.Equal(names, []string{"a", "d"}) {
		t.Errorf("servers %q, want those that are not switched off", names)
	}
	if s, err := f.Find("b"); err != nil || s.Command != "x" {
		t.Errorf("a server that is switched off, by its name: %+v, %v", s, err)
	}
	got := strings.Join(f.Remarks(), "\n")
	for _, want := range []string{`f.json:2:2: server "a": other clients' members without effect here: autoApprove, timeout`, `f.json:3:2: server "b" is switched off`, `server "c" is switched off`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nlacks %q", got, want)
		}
	}
}

func TestEmptyObjectHasNoServers(t *testing.T) {
	f, err := Parse("f.json", []byte("{}"), nil)
	if err != nil || len(f.Names()) != 0 {
		t.Fatalf("%v, %v", f, err)
	}
}

func TestLoad(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.json")
	if f, err := Load(missing, false, nil); err != nil || len(f.Names()) != 0 {
		t.Errorf("a default file that is missing: %v, %v; want no servers", f, err)
	}
	if _, err := Load(missing, true, nil); !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), missing) {
		t.Errorf("a named file that is missing: %v; want ErrFile with its path", err)
	}
	path := filepath.Join(t.TempDir(), "servers.json")
	if err := os.WriteFile(path, []byte(`{"mcpServers":{"a":{"command":"x"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := Load(path, true, nil); err != nil || !slices.Equal(f.Names(), []string{"a"}) {
		t.Errorf("%v, %v", f, err)
	}
}

func TestMissingVariableAffectsOneServer(t *testing.T) {
	f, err := Parse("f.json", []byte(`{"mcpServers": {
		"good": {"command": "x"},
		"bad": {"url": "https://h", "headers": {"K": "${TOKEN}"}}}}`), env())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Find("good"); err != nil {
		t.Error(err)
	}
	_, err = f.Find("bad")
	if !errors.Is(err, ErrVariable) || !strings.Contains(err.Error(), `f.json:3:3: server "bad" needs ${TOKEN}`) {
		t.Errorf("got %v", err)
	}
	all := f.All()
	if len(all) != 2 || all[0].Fault != nil || all[1].Name != "bad" || !errors.Is(all[1].Fault, ErrVariable) {
		t.Errorf("all: %+v", all)
	}
}

func TestExpandedValuesAreChecked(t *testing.T) {
	tests := map[string]string{
		`{"url": "${U}"}`: "only http, https",
		`{"url": "https://h", "headers": {"K": "${N}"}}`: "no header may have",
		`{"url": "https://h", "headers": {"a b": "x"}}`:  "not a header name",
		`{"url": "https://user:hunter2@h"}`:              "user name or password",
		`{"url": "https://"}`:                            "host is missing",
		`{"url": "https://user:hunter2@h:port"}`:         "not a URL",
	}
	for text, want := range tests {
		f, err := Parse("f.json", []byte(`{"mcpServers": {"s": `+text+`}}`), env("U", "ftp://h", "N", "a\nb"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.Find("s")
		if !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

func TestExpand(t *testing.T) {
	tests := map[string]string{
		"plain":        "plain",
		"${A}":         "1",
		"x${A}y${B}z":  "x1y2z",
		"$A $${A}":     "$A $1",
		"${A":          "${A",
		"${}":          "${}",
		"${a b}${A}":   "${a b}1",
		"${NONE:-d}":   "d",
		"${EMPTY:-d}":  "d",
		"${NONE:-}":    "",
		"${A:-d}":      "1",
		"${EMPTY}":     "",
		"${x%y} ${1A}": "${x%y} ${1A}",
		"${${A}}":      "${1}",
	}
	for in, want := range tests {
		x := expander{env: env("A", "1", "B", "2", "EMPTY", "")}
		if got := x.expand(in); got != want || x.missing != "" {
			t.Errorf("%q: got %q (missing %q), want %q", in, got, x.missing, want)
		}
	}
	x := expander{env: env()}
	x.expand("${ONE} ${TWO}")
	if x.missing != "ONE" {
		t.Errorf("missing %q, want the first", x.missing)
	}
}

func TestFindAcceptsAddresses(t *testing.T) {
	f := &File{Path: "f.json"}
	s, err := f.Find("https://example.com/mcp?x=1")
	if err != nil || s.URL != "https://example.com/mcp?x=1" || s.Name != s.URL || !s.AdHoc {
		t.Errorf("%+v, %v", s, err)
	}
	s, err = f.Find(`stdio:./server --name "a b"`)
	if err != nil || s.Command != "./server" || !slices.Equal(s.Args, []string{"--name", "a b"}) || s.Name != `stdio:./server --name "a b"` || !s.AdHoc {
		t.Errorf("%+v, %v", s, err)
	}
	for arg, want := range map[string]string{
		"stdio:":               "the command is missing",
		`stdio:x "y`:           "a quote is not closed",
		"gopher://h":           "only http, https",
		"https://u:hunter2@h/": "user name or password",
		"http:// h/":           "not a URL",
	} {
		_, err := f.Find(arg)
		if !errors.Is(err, ErrAddress) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v, want %q", arg, err, want)
		}
	}
}

func TestFindSuggestsNames(t *testing.T) {
	empty := &File{Path: "/etc/none.json"}
	if _, err := empty.Find("x"); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "/etc/none.json") {
		t.Errorf("got %v", err)
	}
	f, err := Parse("f.json", []byte(`{"mcpServers": {"pagerduty": {"command": "x"}, "github": {"command": "y"}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Find("pagreduty"); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), `did you mean "pagerduty"`) {
		t.Errorf("got %v", err)
	}
	if _, err := f.Find("slack"); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "eventdeck servers") {
		t.Errorf("got %v", err)
	}
}

func TestParseHeader(t *testing.T) {
	name, value, err := ParseHeader("Authorization:  Bearer ${T} ", env("T", "a:b"))
	if err != nil || name != "Authorization" || value.Reveal() != "Bearer a:b" {
		t.Errorf("%q %q %v", name, value.Reveal(), err)
	}
	for in, want := range map[string]error{"none": ErrHeader, "a b: x": ErrHeader, ": x": ErrHeader, "K: a\x00hunter2": ErrHeader, "K: ${NONE}": ErrVariable} {
		_, _, err := ParseHeader(in, env())
		if !errors.Is(err, want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: got %v, want %v", in, err, want)
		}
	}
}

func TestSplitCommand(t *testing.T) {
	tests := map[string][]string{
		`a b  c`:                       {"a", "b", "c"},
		` a	b `:                        {"a", "b"},
		`"a b" 'c d'`:                  {"a b", "c d"},
		`a"b c"d`:                      {"ab cd"},
		`x ''`:                         {"x", ""},
		`a\ b \"c\" \\d`:               {"a b", `"c"`, `\d`},
		`'a\ b' "c\"d" "e\f"`:          {`a\ b`, `c"d`, `e\f`},
		`C:\bin\server.exe --dir C:\x`: {`C:\bin\server.exe`, "--dir", `C:\x`},
		`x $HOME * ; rm`:               {"x", "$HOME", "*", ";", "rm"},
		`x \`:                          {"x", `\`},
	}
	for in, want := range tests {
		if got, err := SplitCommand(in); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %q, %v; want %q", in, got, err, want)
		}
	}
	for in, want := range map[string]error{"": errNoCommand, "  ": errNoCommand, `"" x`: errNoCommand, `a "b`: errQuote, `a 'b`: errQuote, "a\x00b": errNul} {
		if got, err := SplitCommand(in); !errors.Is(err, want) {
			t.Errorf("%q: got %q, %v; want %v", in, got, err, want)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"tail", "types", "events"}
	for in, want := range map[string]string{"tial": "tail", "tai": "tail", "type": "types", "evnets": "events", "tails": "tail", "x": "", "": ""} {
		if got := Nearest(in, names); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestPaths(t *testing.T) {
	abs := t.TempDir()
	home := filepath.Join(abs, "home")
	tests := map[string]struct {
		paths        Paths
		config, data string
	}{
		"linux":                     {Paths{"linux", env(), home}, home + "/.config/eventdeck/servers.json", home + "/.local/state/eventdeck"},
		"xdg":                       {Paths{"linux", env("XDG_CONFIG_HOME", abs, "XDG_STATE_HOME", abs), home}, abs + "/eventdeck/servers.json", abs + "/eventdeck"},
		"relative":                  {Paths{"linux", env("XDG_CONFIG_HOME", "c", "XDG_STATE_HOME", "s"), home}, home + "/.config/eventdeck/servers.json", home + "/.local/state/eventdeck"},
		"darwin":                    {Paths{"darwin", env("XDG_CONFIG_HOME", abs), home}, home + "/Library/Application Support/eventdeck/servers.json", home + "/Library/Application Support/eventdeck"},
		"windows":                   {Paths{"windows", env("AppData", abs, "LocalAppData", abs+"/l"), home}, abs + "/eventdeck/servers.json", abs + "/l/eventdeck"},
		"windows without variables": {Paths{"windows", env(), home}, home + "/AppData/Roaming/eventdeck/servers.json", home + "/AppData/Local/eventdeck"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			config, err := tt.paths.ConfigFile()
			if err != nil || config != filepath.FromSlash(tt.config) {
				t.Errorf("config %q, %v; want %q", config, err, tt.config)
			}
			data, err := tt.paths.DataDir()
			if err != nil || data != filepath.FromSlash(tt.data) {
				t.Errorf("data %q, %v; want %q", data, err, tt.data)
			}
		})
	}
	if _, err := (Paths{System: "linux", Env: env()}).DataDir(); err == nil {
		t.Error("no error without a home directory")
	}
}
