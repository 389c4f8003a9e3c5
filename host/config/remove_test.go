package config

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"eventdeck/host/internal/jsonfile"
)

// own writes a configuration and returns its path.
func own(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "servers.json")
	if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, mode)); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRemoveKeepsTheRest(t *testing.T) {
	const a, b, c = `"a": {"url": "http://a/", "x": [1,]}`, `"web": {"command": "w" /* of web */}`, `"c": {"command": "c"}`
	for name, x := range map[string]struct{ before, after string }{
		"the only one":       {"{\n  \"mcpServers\": {\n    " + b + "\n  }\n}\n", "{\n  \"mcpServers\": {}\n}\n"},
		"under a comment":    {"{\"mcpServers\": {\n  // mine\n  " + b + "\n}}", "{\"mcpServers\": {\n  // mine\n}}"},
		"behind a comment":   {"{\"mcpServers\": { // mine\n  " + b + " }}", "{\"mcpServers\": { // mine\n  }}"},
		"the first":          {"{\"mcpServers\": {\n\t" + b + ",\n\t" + a + "\n}}", "{\"mcpServers\": {\n\t" + a + "\n}}"},
		"between others":     {"{\n\"mcpServers\": {\n  " + a + ", // of a\n  " + b + ", // of web\n  " + c + "\n}, \"z\": 1}", "{\n\"mcpServers\": {\n  " + a + ", // of a\n  // of web\n  " + c + "\n}, \"z\": 1}"},
		"the last":           {"{\"mcpServers\": {\n  " + a + ", // of a\n  " + b + "\n  // end\n}}", "{\"mcpServers\": {\n  " + a + " // of a\n  // end\n}}"},
		"last with a comma":  {"{\"mcpServers\": {\n  " + a + ",\n  " + b + ",\n}}", "{\"mcpServers\": {\n  " + a + ",\n}}"},
		"comma apart":        {"{\"mcpServers\": {\n  " + b + " // of web\n  , " + c + "}}", "{\"mcpServers\": {\n  // of web\n   " + c + "}}"},
		"commas in comments": {"{\"mcpServers\": {" + a + " /* a, b */, " + b + " /* , */ }}", "{\"mcpServers\": {" + a + " /* a, b */ /* , */ }}"},
		"first of a line":    {`{"mcpServers": {` + b + `, ` + a + `, ` + c + `}}`, `{"mcpServers": {` + a + `, ` + c + `}}`},
		"middle of a line":   {`{"mcpServers": {` + a + `, ` + b + `, ` + c + `}}`, `{"mcpServers": {` + a + `, ` + c + `}}`},
		"last of a line":     {`{"mcpServers": {` + a + `, ` + c + `, ` + b + ` }}`, `{"mcpServers": {` + a + `, ` + c + ` }}`},
		"end of a line":      {"{\"mcpServers\": {" + a + ", " + b + ",\n  " + c + "}}", "{\"mcpServers\": {" + a + ",\n  " + c + "}}"},
		"lines of Windows":   {"\ufeff{\"mcpServers\": {\r\n  " + a + ",\r\n  " + b + "\r\n}}\r\n", "\ufeff{\"mcpServers\": {\r\n  " + a + "\r\n}}\r\n"},
		"other members":      {"{\"theme\": \"web\", \"mcpServers\": {\n" + b + "}, /* x */ \"more\": {\"web\": 1},}", "{\"theme\": \"web\", \"mcpServers\": {}, /* x */ \"more\": {\"web\": 1},}"},
	} {
		t.Run(name, func(t *testing.T) {
			path := own(t, x.before, 0o640)
			if err := Remove(path, "web"); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(path); string(got) != x.after || err != nil {
				t.Errorf("wrote\n%q\nwant\n%q, %v", got, x.after, err)
			}
			if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
				t.Errorf("%v %v", info.Mode(), err)
			}
			if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestAddThenRemoveRestoresTheFile(t *testing.T) {
	for _, text := range []string{
		"{\n  \"mcpServers\": {}\n}\n",
		"{\n  \"mcpServers\": {\n    \"a\": {\"url\": \"http://a/\"}\n  }\n}\n",
		"{\n  \"mcpServers\": {\n    \"a\": {\"url\": \"http://a/\"}, // of a\n    // end\n  },\n}",
		"{\r\n  \"mcpServers\": {\r\n    \"a\": {\"url\": \"http://a/\"}\r\n  }\r\n}\r\n",
		`{"mcpServers":{"a":{"url":"http://a/"}}}`,
		`{"mcpServers": { "a": {"url": "http://a/"}, } /* end */ }`,
	} {
		path := own(t, text, 0o600)
		if err := errors.Join(Add(path, web), Add(path, hub), Remove(path, "hub"), Remove(path, "web")); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); string(got) != text || err != nil {
			t.Errorf("%q became %q, %v", text, got, err)
		}
	}
}

func TestRemoveLeavesInvalidFiles(t *testing.T) {
	for text, want := range map[string]error{
		`{"mcpServers": {"web": {"url": "http://a/"}`:                              ErrFile,
		`{"mcpServers": {"web": {"url": "http://a/"}, "web": {"command": "x"}}}`:   ErrFile,
		`{"mcpServers": {"a": {"url": "http://web/"}}, "web": {"url": "http://"}}`: ErrUnknown,
		`{}`: ErrUnknown,
	} {
		path := own(t, text, 0o600)
		err := Remove(path, "web")
		if !errors.Is(err, want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", text, err)
		}
		if got, _ := os.ReadFile(path); string(got) != text {
			t.Errorf("%s became %s", text, got)
		}
	}
	missing := filepath.Join(t.TempDir(), "servers.json")
	if err := Remove(missing, "web"); !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), missing) {
		t.Error(err)
	}
	if left, _ := os.ReadDir(filepath.Dir(missing)); len(left) != 0 {
		t.Errorf("made %v", left)
	}
}

// A file that another program has changed since it was read is not replaced.
func TestReplaceRefusesAChangedFile(t *testing.T) {
	path := own(t, "theirs", 0o600)
	err := jsonfile.Replace(path, []byte("as it was read"), []byte("ours"), 0o600, ErrFile)
	if !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), "another program has changed it meanwhile") {
		t.Error(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "theirs" {
		t.Errorf("wrote %q", got)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestRemoveFollowsALink(t *testing.T) {
	real := own(t, `{"mcpServers": {"web": {"command": "x"}}}`, 0o600)
	link := filepath.Join(t.TempDir(), "link.json")
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err)
	}
	if err := Remove(link, "web"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link became a file", err)
	}
	if got, err := os.ReadFile(real); err != nil || string(got) != `{"mcpServers": {}}` {
		t.Errorf("%q %v", got, err)
	}
}

// Whatever stands in a file that can be read: a server that is removed takes nothing
// with it but what was its own, and one that was added before leaves no trace but
// blanks before the brace.
func FuzzRemove(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"mcpServers":{}}`, "{\"a\":1,//x\n\"mcpServers\":{\"b\":{\"url\":\"http://b/\"},/*y*/}}", `{"mcpServers":{"b":{"command":"c"}}}`,
		"\ufeff{\"mcpServers\":{\r\n\"b\":{\"command\":\"c\"}/*,*/,//x\r\n\"d\":{\"command\":\"e\"} ,\r\n}}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		before, err := Parse("f", raw, nil)
		if err != nil {
			return
		}
		for i, name := range before.Names() {
			text, err := remove("f", raw, name)
			if err != nil {
				t.Fatalf("%q without %q: %v", raw, name, err)
			}
			after, err := Parse("f", text, nil)
			if err != nil || !slices.Equal(after.Names(), slices.Delete(before.Names(), i, i+1)) {
				t.Fatalf("%q without %q became %q: %v", raw, name, text, err)
			}
			if !isWithin(text, raw) {
				t.Fatalf("%q without %q became %q, which is no part of it", raw, name, text)
			}
		}
		text, err := insert("f", raw, web)
		if err != nil || len(raw) >= 3 && raw[0] == 0xef {
			return // the name is taken, or the mark at the beginning goes with Add
		}
		back, err := remove("f", text, web.Name)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		p := newParser("f", raw)
		top, err := p.Object(0, len(p.Plain), "the file")
		if err != nil {
			t.Fatal(err)
		}
		if _, listed := jsonfile.Find(top, "mcpServers"); !listed {
			return // it has the empty list that it needed
		}
		if !bytes.Equal(solid(back), solid(raw)) {
			t.Fatalf("%q became %q, and then %q", raw, text, back)
		}
	})
}

// isWithin reports whether a text is what is left of another when bytes are taken away.
func isWithin(text, of []byte) bool {
	for _, c := range of {
		if len(text) > 0 && text[0] == c {
			text = text[1:]
		}
	}
	return len(text) == 0
}

// solid is a text without its blanks.
func solid(text []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r < 0x80 && isBlank(byte(r)) {
			return -1
		}
		return r
	}, text)
}
