package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const gooseFile = `# written by goose configure
GOOSE_PROVIDER: openai
common: &common {type: stdio, enabled: true, timeout: 300}
extensions:
  developer: {enabled: true, type: builtin, name: developer, bundled: true}
  todo: {enabled: true, type: platform, name: todo, description: ""}
  drive:
    <<: *common
    name: Drive
    cmd: npx
    args: [-y, "@x/drive", 8080]
    envs: {ZIP: 01234, VERSION: 1.10, DAY: 2026-07-28, ON: yes}
    env_keys: [DRIVE_KEY, ZIP]
  gh:
    enabled: false
    type: streamable_http
    name: GH
    uri: https://gh/mcp
    headers: {Authorization: "Bearer ${GH_TOKEN}"}
    env_keys: [GH_TOKEN]
  old: {enabled: true, type: sse, name: old, uri: https://old/sse}
  bad: {enabled: true, type: stdio, cmd: [a]}
  none: {enabled: true, type: stdio}
  worse: text
`

const continueFile = `name: mine
version: 0.0.1
schema: v1
mcpServers:
  - name: SQLite MCP
    command: npx
    args: ["-y", mcp-sqlite, /path/db]
    cwd: /srv
    env:
      TOKEN: ${{ secrets.my-org/TOKEN }}
  - name: remote
    type: streamable-http
    url: https://r/mcp
    requestOptions:
      headers:
        Authorization: Bearer ${{ secrets.R }}
  - uses: org/block
  - just text
`

func TestDiscoverInYAML(t *testing.T) {
	p := writeFiles(t, map[string]string{".config/goose/config.yaml": gooseFile, ".continue/config.yaml": continueFile})
	found, errs := Discover(p, "", nil)
	want := `Goose|drive|npx -y @x/drive 8080|DAY=2026-07-28|ON=yes|VERSION=1.10|ZIP=01234|DRIVE_KEY=${DRIVE_KEY}|DRIVE_KEY is in the keyring of Goose; here it is a variable
Goose|gh|https://gh/mcp|Authorization=Bearer ${GH_TOKEN}|switched off there
Goose|old|https://old/sse
Goose|bad||! its description is not written as expected
Goose|none||! give it a URL or a command
Goose|worse||! its description is not written as expected
Continue|SQLite MCP|npx -y mcp-sqlite /path/db|TOKEN=${MY_ORG_TOKEN}|in /srv|asks for "my-org/TOKEN" there; here it is the variable MY_ORG_TOKEN
Continue|remote|https://r/mcp|Authorization=Bearer ${R}|asks for "R" there; here it is the variable R
Continue|org/block||! its description is not in this file, but in a block that it names
Continue|||! its description is not written as expected
`
	if got := told(found); got != want || len(errs) > 0 {
		t.Errorf("found\n%s\nwant\n%s%v", got, want, errs)
	}
	if found[2].Transport != "sse" || found[1].Transport != "http" || !found[1].Off {
		t.Errorf("%+v", found[1:3])
	}
}

func TestPlacesOfGoose(t *testing.T) {
	for system, path := range map[string]string{"linux": ".config/goose/config.yaml", "darwin": ".config/goose/config.yaml", "windows": "AppData/Roaming/Block/goose/config/config.yaml"} {
		p := writeFiles(t, map[string]string{path: gooseFile})
		p.System = system
		if found, errs := Discover(p, "", nil); len(found) != 6 || len(errs) > 0 {
			t.Errorf("%s: %d, %v", system, len(found), errs)
		}
	}
}

// An invalid file is reported in one line with its path and without its values, and does not affect
// other files.
func TestMalformedYAML(t *testing.T) {
	deep := strings.Repeat("[", 20_000)
	laughs := "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
	for _, n := range "123456789" {
		last := "*a" + string(n-1)
		laughs += "a" + string(n) + ": &a" + string(n) + " [" + strings.Repeat(last+",", 8) + last + "]\n"
	}
	laughs += "extensions: {a: {cmd: x, args: *a9}}\n"
	for name, tt := range map[string]struct{ text, says string }{
		"no YAML":      {"extensions:\n\t- s3cret", "no YAML: line 2: found character that cannot start any token; correct it there"},
		"unfinished":   {"extensions: {a: \"s3cret", "no YAML: "},
		"too deep":     {"extensions: " + deep, "no YAML: "},
		"not text":     {"\x00\xff\xfe s3cret", "no YAML: "},
		"no alias":     {"extensions: *s3cret", "no YAML: "},
		"a list":       {"- s3cret", "no mapping of names to values"},
		"a word":       {"s3cret", "no mapping of names to values"},
		"not a list":   {"x: 1\nextensions: s3cret", `line 2: "extensions": it must be a mapping of names to servers, or a list`},
		"itself":       {"extensions: &a {x: {cmd: a, args: [s3cret], envs: *a}}", ""},
		"laughs":       {laughs, ""},
		"empty":        {"", ""},
		"null":         {"~", ""},
		"none":         {"extensions:", ""},
		"other things": {"extension: {a: {cmd: x}}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := writeFiles(t, map[string]string{".config/goose/config.yaml": tt.text, ".continue/config.yaml": continueFile, ".cursor/mcp.json": `{"mcpServers":{"c":{"command":"c"}}}`})
			path := filepath.Join(p.Home, ".config", "goose", "config.yaml")
			found, errs := Discover(p, "", nil)
			others := 0
			for _, f := range found {
				if f.Client != "Goose" {
					others++
				} else if f.Usable() {
					t.Errorf("%+v", f)
				}
			}
			if others != 5 {
				t.Errorf("%d servers of other clients", others)
			}
			if tt.says == "" {
				if len(errs) > 0 {
					t.Error(errs)
				}
				return
			}
			if len(errs) != 1 || !errors.Is(errs[0], ErrFile) {
				t.Fatal(errs)
			}
			text := errs[0].Error()
			if !strings.Contains(text, path+": ") || !strings.Contains(text, tt.says) || !strings.HasSuffix(text, "correct it there") || strings.ContainsAny(text, "\n\x00") {
				t.Errorf("says %q", text)
			}
			if name != "no alias" && strings.Contains(text, "s3cret") {
				t.Errorf("tells a value: %q", text)
			}
		})
	}
}

func TestYAMLFilesAreBounded(t *testing.T) {
	for n, fits := range map[int]bool{maxYAML - 1: true, maxYAML: true, maxYAML + 1: false} {
		p := writeFiles(t, map[string]string{".config/goose/config.yaml": gooseFile + strings.Repeat("#", n-len(gooseFile))})
		if info, err := os.Stat(filepath.Join(p.Home, ".config/goose/config.yaml")); err != nil || info.Size() != int64(n) {
			t.Fatal(info, err)
		}
		found, errs := Discover(p, "", nil)
		if fits != (len(found) == 6) || fits != (len(errs) == 0) || !fits && !strings.Contains(errs[0].Error(), "it has more than 1.0 MiB") {
			t.Errorf("%d bytes: %d servers, %v", n, len(found), errs)
		}
	}
}

func FuzzForeignYAML(f *testing.F) {
	f.Add([]byte(gooseFile))
	f.Add([]byte(continueFile))
	f.Add([]byte("extensions: &a\n  x: *a\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p := writeFiles(t, map[string]string{".config/goose/config.yaml": string(raw), ".continue/config.yaml": string(raw)})
		found, errs := Discover(p, "", nil)
		for _, s := range found {
			if s.Usable() && s.Check() != nil {
				t.Fatalf("%q: %v", raw, s.Check())
			}
		}
		for _, err := range errs {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Fatalf("%q: not one line: %v", raw, err)
			}
		}
	})
}
