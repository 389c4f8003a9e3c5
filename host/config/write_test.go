package config

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

var hub = Draft{Name: "hub", Command: "hub", Args: []string{"stdio", `a "b"`}, Env: []Pair{newPair("TOKEN", "${HUB}")}}
var web = Draft{Name: "web", URL: "https://web.example/mcp", Headers: []Pair{newPair("Authorization", "Bearer x")}}

const webJSON = `{
      "url": "https://web.example/mcp",
      "headers": {
        "Authorization": "Bearer x"
      }
    }`

func TestAddKeepsTheRest(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{
		"no file":   {"", "{\n  \"$schema\": \"./servers.schema.json\",\n  \"mcpServers\": {\n    \"web\": " + webJSON + "}\n}\n"},
		"no object": {"{}", "{\n  \"mcpServers\": {\n    \"web\": " + webJSON + "\n  }\n}"},
		"other members only": {"{\n  \"theme\": \"x\" // mine\n}\n",
			"{\n  \"theme\": \"x\", // mine\n  \"mcpServers\": {\n    \"web\": " + webJSON + "\n  }\n}\n"},
		"behind a comment": {"{\n  \"mcpServers\": {\n    // first\n    \"a\": {\"url\": \"http://a/\", \"x\": [1,]} // of a, not b\n    // last\n  },\n  \"more\": 1\n}",
			"{\n  \"mcpServers\": {\n    // first\n    \"a\": {\"url\": \"http://a/\", \"x\": [1,]}, // of a, not b\n    \"web\": " + webJSON + "\n    // last\n  },\n  \"more\": 1\n}"},
		"trailing comma": {"{\n  \"mcpServers\": {\n    \"a\": {\"url\": \"http://a/\"}, /* one\n two */\n  }\n}",
			"{\n  \"mcpServers\": {\n    \"a\": {\"url\": \"http://a/\"}, /* one\n two */\n    \"web\": " + webJSON + ",\n  }\n}"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "deep", "servers.json")
			if c.before != "" {
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(c.before), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			if err := Add(path, web); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			after := strings.Replace(c.after, "}}\n}\n", "}\n  }\n}\n", 1)
			if string(got) != after {
				t.Errorf("wrote\n%s\nwant\n%s", got, after)
			}
			if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("%v %v", info.Mode(), err)
			}
			if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 && c.before != "" || len(left) != 2 && c.before == "" {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestAddSeveral(t *testing.T) {
	path := filepath.Join(t.TempDir(), "servers.json")
	if err := Add(path, web, hub); err != nil {
		t.Fatal(err)
	}
	f, err := Load(path, true, func(string) (string, bool) { return "secret", true })
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Drafts(); len(got) != 2 || !slices.Equal(got[1].Env, hub.Env) || !slices.Equal(got[1].Args, hub.Args) || !slices.Equal(got[0].Headers, web.Headers) {
		t.Errorf("%+v", got)
	}
	if s, err := f.Find("hub"); err != nil || s.Env["TOKEN"].Reveal() != "secret" {
		t.Error(s, err)
	}
	before, _ := os.ReadFile(path)
	if err := Add(path, Draft{Name: "new", Command: "x"}, hub); !errors.Is(err, ErrTaken) {
		t.Error(err)
	}
	if after, _ := os.ReadFile(path); string(after) != string(before) {
		t.Error("a refused addition changed the file")
	}
}

func TestAddLeavesInvalidFiles(t *testing.T) {
	for _, text := range []string{`{"mcpServers": [`, `[]`, `{"mcpServers": 5}`} {
		path := filepath.Join(t.TempDir(), "servers.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Add(path, web); !errors.Is(err, ErrFile) {
			t.Errorf("%s: %v", text, err)
		}
		if got, _ := os.ReadFile(path); string(got) != text {
			t.Errorf("%s became %s", text, got)
		}
	}
}

func TestAddFollowsALink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.json"), filepath.Join(dir, "link.json")
	if err := errors.Join(os.WriteFile(real, []byte("{}"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err)
	}
	if err := Add(link, web); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link became a file", err)
	}
	if f, err := Load(real, true, nil); err != nil || len(f.Names()) != 1 {
		t.Error(f, err)
	}
}

func TestInvalidDrafts(t *testing.T) {
	for _, d := range []Draft{
		{}, {Name: "a"}, {Name: " a", URL: "http://a/"}, {Name: "a\n", URL: "http://a/"}, {Name: "http://a/", URL: "http://a/"},
		{Name: "a", URL: "ftp://a/"}, {Name: "a", URL: "http://u:hunter2@a/"}, {Name: "a", URL: "http://a/", Command: "b"},
		{Name: "a", URL: "http://a/", Headers: []Pair{newPair("b c", "hunter2")}}, {Name: "a", URL: "http://a/", Headers: []Pair{newPair("b", "hunter2\n")}},
		{Name: "a", Command: "b", Env: []Pair{newPair("", "hunter2")}}, {Name: "a", Command: "b", Env: []Pair{newPair("a=b", "hunter2")}},
	} {
		err := d.Check()
		if !errors.Is(err, ErrDraft) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", d.Name, err)
		}
	}
	if err := (Draft{Name: "a", URL: "${BASE}/mcp"}).Check(); err != nil {
		t.Error(err)
	}
	if _, err := web.Server(nil); err != nil {
		t.Error(err)
	}
	if _, err := hub.Server(nil); !errors.Is(err, ErrVariable) {
		t.Error(err)
	}
}

// The contents of every valid file are still there after a server was added.
func FuzzInsert(f *testing.F) {
	for _, s := range []string{`{}`, `{"mcpServers":{}}`, "{\"a\":1,//x\n\"mcpServers\":{\"b\":{\"url\":\"http://b/\"},/*y*/}}", `{"mcpServers":{"b":{"command":"c"}}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		before, err := Parse("f", raw, nil)
		if err != nil || len(raw) >= 3 && raw[0] == 0xef {
			return
		}
		text, err := insert("f", raw, web)
		if errors.Is(err, ErrTaken) {
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		after, err := Parse("f", text, nil)
		if err != nil {
			t.Fatalf("%q became %q: %v", raw, text, err)
		}
		if got := after.Names(); !slices.Equal(got, append(before.Names(), "web")) {
			t.Fatalf("%q became %q: %q", raw, text, got)
		}
		// Nothing was taken away: what was there is a subsequence of what is there.
		i := 0
		for _, c := range text {
			if i < len(raw) && raw[i] == c {
				i++
			}
		}
		if i < len(raw) {
			t.Fatalf("%q became %q", raw, text)
		}
	})
}
