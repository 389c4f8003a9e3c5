package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
