package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"eventdeck/host/event"
)

// writeFiles writes files below a home directory.
func writeFiles(t *testing.T, files map[string]string) Paths {
	t.Helper()
	home := t.TempDir()
	for name, text := range files {
		path := filepath.Join(home, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return Paths{System: "linux", Home: home, Env: func(string) (string, bool) { return "", false }}
}

func told(found []Found) string {
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "%s|%s|%s", f.Client, f.Name, f.What())
		for _, e := range append(f.Env, f.Headers...) {
			fmt.Fprintf(&b, "|%s=%s", e.Name, e.Value.Reveal())
		}
		if f.Dir != "" {
			b.WriteString("|in " + f.Dir)
		}
		if f.Have {
			b.WriteString("|have")
		}
		if len(f.Also) > 0 {
			b.WriteString("|also")
		}
		for _, n := range f.Notes {
			b.WriteString("|" + n)
		}
		if f.Problem != "" {
			b.WriteString("|! " + f.Problem)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestDiscover(t *testing.T) {
	p := writeFiles(t, map[string]string{
		".config/Claude/claude_desktop_config.json": `{"mcpServers":{"files":{"command":"npx","args":["-y","files"],"env":{"K":"v","N":1}},"bad":{"command":7},"none":{}}}`,
		".claude.json":                   `{"x":[1],"mcpServers":{"gh":{"type":"http","url":"https://gh/mcp","headers":{"Authorization":"Bearer t"}}},"projects":{"/a":{"mcpServers":{"own":{"command":"own"}}},"/b":{}}}`,
		".cursor/mcp.json":               `{"mcpServers":{"files":{"command":"npx","args":["-y","files"]},"gh":{"url":"https://other/mcp"}}}`,
		".config/Code/User/mcp.json":     "{// c\n\"servers\":{\"v\":{\"command\":\"${userHome}/v\",\"env\":{\"A\":\"${env:AA}\",\"B\":\"${input:api-key}\"}},},}",
		".config/zed/settings.json":      `{"context_servers":{"z":{"source":"custom","command":{"path":"zz","args":["1"],"env":{"Q":"r"}}},"y":{"command":"yy","args":[],"env":{}}}}`,
		".codex/config.toml":             "model = \"x\"\n[mcp_servers.c]\nurl = \"https://c/mcp\"\nbearer_token_env_var = \"CTOK\"\nenabled = false\n[mcp_servers.c.http_headers]\nX-A = \"b\"\n[mcp_servers.c.env_http_headers]\nX-B = \"BB\"\n",
		".gemini/settings.json":          `{"mcpServers":{"g":{"httpUrl":"https://g/mcp","url":"https://g/sse","cwd":"/tmp"}}}`,
		".config/opencode/opencode.json": `{"mcp":{"o":{"type":"local","command":["bun","x"],"environment":{"E":"{env:EE}"}}}}`,
		".config/crush/crush.json":       `{"mcp":{"k":{"type":"http","url":"https://k/","headers":{"Authorization":"Bearer $TOK"}}}}`,
		".kiro/settings/mcp.json":        `{`,
		".lmstudio/mcp.json":             ``,
	})
	found, errs := Discover(p, "", []Draft{{Name: "own", Command: "another"}, {Name: "x", URL: "https://g/mcp", Dir: "/tmp"}})
	want := strings.ReplaceAll(`Claude Desktop|files|npx -y files|K=v|N=1
Claude Desktop|bad||! its command is not written as expected
Claude Desktop|none||! give it a URL or a command
Claude Code|gh|https://gh/mcp|Authorization=Bearer t
Claude Code|own-claude-code|own
Cursor|files-cursor|npx -y files
Cursor|gh-cursor|https://other/mcp
VS Code|v|HOME/v|A=${AA}|B=${API_KEY}|asks for "api-key" there; here it is the variable API_KEY
Zed|z|zz 1|Q=r
Zed|y|yy
Codex|c|https://c/mcp|X-A=b|X-B=${BB}|Authorization=Bearer ${CTOK}|switched off there
Gemini CLI|g|https://g/mcp|in /tmp|have
opencode|o|bun x|E=${EE}
Crush|k|https://k/|Authorization=Bearer ${TOK}
`, "HOME", p.Home)
	if got := told(found); got != want {
		t.Errorf("found\n%s\nwant\n%s", got, want)
	}
	if len(errs) != 1 || !errors.Is(errs[0], ErrFile) || !strings.Contains(errs[0].Error(), ".kiro") {
		t.Error(errs)
	}
	if !found[0].Usable() || found[1].Usable() || found[11].Usable() {
		t.Error("usable is wrong")
	}
}

func TestServersDifferByWhatReachesThem(t *testing.T) {
	p := writeFiles(t, map[string]string{
		".claude.json": `{"mcpServers":{"work":{"url":"https://gh/mcp","headers":{"Authorization":"Bearer a"}},"off":{"url":"https://x/mcp","disabled":true}}}`,
		".cursor/mcp.json": `{"mcpServers":{"home":{"url":"https://gh/mcp","headers":{"Authorization":"Bearer b"}},"again":{"url":"https://gh/mcp","headers":{"Authorization":"Bearer a"}},
			"on":{"url":"https://x/mcp"},"one":{"command":"x","env":{"A":"1"}},"two":{"command":"x","env":{"A":"2"}}}}`,
	})
	found, errs := Discover(p, "", nil)
	want := `Claude Code|work|https://gh/mcp|Authorization=Bearer a|also
Claude Code|off|https://x/mcp|also
Cursor|home|https://gh/mcp|Authorization=Bearer b
Cursor|one|x|A=1
Cursor|two|x|A=2
`
	if got := told(found); got != want || len(errs) > 0 {
		t.Errorf("found\n%s\nwant\n%s%v", got, want, errs)
	}
	if len(found) > 1 && found[1].Off {
		t.Error("a server that one client has switched off and another uses is taken for switched off")
	}
}

func TestNothingOfAnImportIsLostWithoutAWord(t *testing.T) {
	p := writeFiles(t, map[string]string{
		".claude.json":                      `{"mcpServers":{"cc":{"type":"http","url":"https://cc/mcp","oauth":{"clientId":"me","callbackPort":8123,"authServerMetadataUrl":"https://x"},"headersHelper":"/bin/h"}}}`,
		".cursor/mcp.json":                  `{"mcpServers":{"cu":{"url":"https://cu/mcp","auth":{"CLIENT_ID":"id","CLIENT_SECRET":"${env:S}","scopes":["a","b"]}},"en":{"command":"en","envFile":"${workspaceFolder}/.env"}}}`,
		".codex/config.toml":                "[mcp_servers.co]\ncommand = \"co\"\nenv_vars = [\"CO_TOKEN\"]\nscopes = [\"x\"]\n",
		".config/opencode/opencode.json":    `{"mcp":{"op":{"type":"remote","url":"https://op/mcp","oauth":false,"headers":{"Authorization":"Bearer {file:~/.secrets/op-key}"}}}}`,
		".codeium/windsurf/mcp_config.json": `{"mcpServers":{"wi":{"serverUrl":"https://wi/mcp","headers":{"K":"${file:/run/key}"}}}}`,
		".config/crush/crush.json":          `{"mcp":{"cr":{"type":"http","url":"https://cr/","headers":{"Authorization":"Bearer $(cat /run/cr)"}}}}`,
		".continue/config.yaml":             "mcpServers:\n- name: con\n  url: https://con/mcp\n  apiKey: ${{ secrets.CON }}\n",
	})
	found, errs := Discover(p, "", nil)
	want := `Claude Code|cc|https://cc/mcp|its "headersHelper" is not read: write what it stands for into the file here|"authServerMetadataUrl" of its sign-in is not read
Cursor|cu|https://cu/mcp|its client secret is sent only to the "issuer" that "oauth" names here: add it
Cursor|en|en|its "envFile" is not read: write what it stands for into the file here
Windsurf|wi|https://wi/mcp|K=${RUN_KEY}|reads "/run/key" there; here it is the variable RUN_KEY
Codex|co|co
opencode|op|https://op/mcp|Authorization=Bearer ${SECRETS_OP_KEY}|reads "~/.secrets/op-key" there; here it is the variable SECRETS_OP_KEY
Crush|cr|https://cr/|Authorization=Bearer ${CAT_RUN_CR}|reads "cat /run/cr" there; here it is the variable CAT_RUN_CR
Continue|con|https://con/mcp|Authorization=Bearer ${CON}|asks for "CON" there; here it is the variable CON
`
	if got := told(found); got != want || len(errs) > 0 {
		t.Fatalf("found\n%s\nwant\n%s%v", got, want, errs)
	}
	path := filepath.Join(t.TempDir(), "servers.json")
	for _, f := range found {
		if err := Add(path, f.Draft); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Load(path, true, func(string) (string, bool) { return "value", true })
	if err != nil {
		t.Fatal(err)
	}
	servers := map[string]event.Server{}
	for _, s := range f.All() {
		servers[s.Name] = s
	}
	if o := servers["cu"].OAuth; o.ClientID != "id" || o.ClientSecret.Reveal() != "value" || !slices.Equal(o.Scopes, []string{"a", "b"}) {
		t.Errorf("the sign-in of cu: %+v", o)
	}
	if o := servers["cc"].OAuth; o.ClientID != "me" || o.CallbackPort != 8123 {
		t.Errorf("the sign-in of cc: %+v", o)
	}
	if s := servers["co"]; !slices.Equal(s.Inherit, []string{"CO_TOKEN"}) || !slices.Equal(s.OAuth.Scopes, []string{"x"}) {
		t.Errorf("co: %+v", s)
	}
	if again, _ := Discover(p, "", f.Drafts()); slices.ContainsFunc(again, Found.Usable) {
		t.Errorf("after the import there is more to import:\n%s", told(again))
	}
}

func TestDiscoverFile(t *testing.T) {
	for name, text := range map[string]string{
		"mcp.json":      `{"mcpServers":{"a":{"command":"x"}}}`,
		"code.json":     `{"servers":{"a":{"command":"x"}}}`,
		"settings.json": `{"mcp":{"servers":{"a":{"command":"x"}}}}`,
		"opencode.json": `{"mcp":{"a":{"command":["x"]}}}`,
		"config.toml":   "[mcp_servers.a]\ncommand='x'\n",
		"goose.yaml":    "extensions:\n  a: {cmd: x, type: stdio}\n",
		"continue.yml":  "mcpServers:\n- {name: a, command: x}\n",
	} {
		p := writeFiles(t, map[string]string{name: text, "empty-" + name: ""})
		found, errs := DiscoverFile(p, filepath.Join(p.Home, name), nil)
		if want := name + "|a|x\n"; told(found) != want || len(errs) > 0 {
			t.Errorf("%s: %s, %v", name, told(found), errs)
		}
		if _, errs := DiscoverFile(p, filepath.Join(p.Home, "empty-"+name), nil); len(errs) != 1 || !errors.Is(errs[0], ErrFile) {
			t.Errorf("%s, empty: %v", name, errs)
		}
	}
	if _, errs := DiscoverFile(Paths{}, filepath.Join(t.TempDir(), "none.json"), nil); len(errs) != 1 || !errors.Is(errs[0], ErrFile) {
		t.Errorf("no such file: %v", errs)
	}
}

func TestDiscoverInAProject(t *testing.T) {
	p := writeFiles(t, map[string]string{"work/.mcp.json": `{"mcpServers":{"a":{"command":"${workspaceFolder}/a"}}}`, "work/.vscode/mcp.json": `{"servers":{"b":{"url":"https://b/"}}}`})
	found, errs := Discover(p, filepath.Join(p.Home, "work"), nil)
	if len(errs) > 0 || len(found) != 2 || found[0].Command != filepath.Join(p.Home, "work")+"/a" {
		t.Errorf("%s %v", told(found), errs)
	}
	if found, errs := Discover(Paths{System: "linux", Env: p.Env}, "", nil); len(found)+len(errs) > 0 {
		t.Errorf("without a home: %v %v", found, errs)
	}
}

func TestPlacesOfSystems(t *testing.T) {
	env := func(name string) (string, bool) {
		return map[string]string{"XDG_CONFIG_HOME": "/xdg"}[name], name == "XDG_CONFIG_HOME"
	}
	for system, want := range map[string]string{
		"linux":  "/xdg /xdg",
		"darwin": "/u/Library/Application Support /xdg",
	} {
		p := Paths{System: system, Home: "/u", Env: env}
		if got := filepath.ToSlash(p.dir(apps, "") + " " + p.dir(dotConfig, "")); got != want {
			t.Errorf("%s: %s", system, got)
		}
	}
	p := Paths{System: "windows", Home: "/u", Env: func(string) (string, bool) { return "", false }}
	if got := filepath.ToSlash(p.dir(apps, "") + " " + p.dir(home, "")); got != "/u/AppData/Roaming /u" {
		t.Error(got)
	}
}

func FuzzForeign(f *testing.F) {
	f.Add([]byte(`{"mcpServers":{"a":{"command":["x"],"env":{"A":"${input:b}"}}},"projects":{"p":{"mcpServers":{}}}}`), false)
	f.Add([]byte("[mcp_servers.a]\ncommand='x'\n"), true)
	f.Fuzz(func(t *testing.T, raw []byte, isTOML bool) {
		name := ".claude.json"
		if isTOML {
			name = ".codex/config.toml"
		}
		p := writeFiles(t, map[string]string{name: string(raw)})
		found, _ := Discover(p, "", nil)
		for _, s := range found {
			if s.Usable() && s.Check() != nil {
				t.Fatalf("%q: %v", raw, s.Check())
			}
		}
	})
}
