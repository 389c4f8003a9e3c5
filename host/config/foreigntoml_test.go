package config

import (
	"runtime"
	"strings"
	"testing"
)

// The memory of the parser grows with the square of the depth: 60 KB took 993 MB.
func TestDeepTOMLFilesAreRefused(t *testing.T) {
	const n = 30_000
	for name, c := range map[string]struct {
		text string
		line string
	}{
		"a key":             {"x = 1\n" + strings.Repeat("a.", n) + "b = 1\n", "line 2: "},
		"a table":           {"[" + strings.Repeat("a.", n) + "b]\n", "line 1: "},
		"a list of tables":  {"[[" + strings.Repeat("a.", n) + "b]]\n", "line 1: "},
		"inline tables":     {"# .\n\na = " + strings.Repeat("{a = ", n) + "1" + strings.Repeat("}", n), "line 3: "},
		"lists":             {"s = '''\n\n'''\na = " + strings.Repeat("[", n), "line 4: "},
		"lists over lines":  {"a = " + strings.Repeat("[\n", n), "line 33: "},
		"behind a string":   {`a = "\"#` + "'" + `"` + "\nb" + strings.Repeat(".a", n) + " = 1", "line 2: "},
		"a key with blanks": {strings.Repeat("a . ", n) + "b = 1", "line 1: "},
		"quoted parts":      {strings.Repeat(`"a".`, n) + "b = 1", "line 1: "},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := fromTOML([]byte(c.text))
		runtime.ReadMemStats(&after)
		if err == nil || !strings.HasPrefix(err.Error(), c.line) || !strings.Contains(err.Error(), "deeper than 32") {
			t.Errorf("%s: %v", name, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 {
			t.Errorf("%s took %d bytes", name, took)
		}
	}
}

func TestDotsAndBracketsOutsideOfNestingAreAccepted(t *testing.T) {
	dots := strings.Repeat(".", 100) + strings.Repeat("[", 100)
	text := "[mcp_servers.\"a" + dots + "\"]\ncommand = \"x\" # " + dots + "\n" +
		"args = [\"" + dots + "\\\"" + dots + "\", '" + dots + "\\', \"\"\"\n\"" + dots + "\n\"\"\"]\n" +
		"# " + dots + "\n" + strings.Repeat("[[list]]\nk = [1.5, {a.b = 2}]\n", 100) +
		"[mcp_servers.b]\nurl = '''\nhttps://b/" + dots + "'''"
	raw, err := fromTOML([]byte(text))
	if err != nil || strings.Count(string(raw), dots) != 6 {
		t.Errorf("%s, %v", raw, err)
	}
	for _, text := range []string{"", "#", "'", `"`, `"""`, `"\`, "'''\n", "a.b"} {
		if line := tooDeep([]byte(text)); line != 0 {
			t.Errorf("%q: line %d", text, line)
		}
	}
}
