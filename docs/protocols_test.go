package docs

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every row of protocols.md names tests that exist, or says why not.
func TestProtocolsNameTestsThatExist(t *testing.T) {
	raw, err := os.ReadFile("protocols.md")
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile("`([a-z0-9]+)\\.((?:Test|Fuzz)[A-Za-z0-9_]+)`")
	rows := 0
	for i, line := range strings.Split(string(raw), "\n") {
		cells := strings.Split(line, " | ")
		if !strings.HasPrefix(line, "| ") || len(cells) != 2 || strings.HasSuffix(line, "| Held by, or why not |") {
			continue
		}
		rows++
		named := name.FindAllStringSubmatch(cells[1], -1)
		if len(named) == 0 && len(strings.Fields(cells[1])) < 4 {
			t.Errorf("protocols.md:%d: neither a test nor a reason: %s", i+1, cells[1])
		}
		for _, n := range named {
			if !declaresTest(t, n[1], n[2]) {
				t.Errorf("protocols.md:%d: there is no %s in package %s", i+1, n[2], n[1])
			}
		}
	}
	if rows < 100 {
		t.Errorf("only %d rows were understood", rows)
	}
}

// between returns the part of a document behind one text and before another.
func between(t *testing.T, file, begins, ends string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, part, ok := strings.Cut(string(raw), begins)
	if !ok {
		t.Fatalf("%s has no %q", file, begins)
	}
	part, _, _ = strings.Cut(part, ends)
	return part
}

// Every finding names tests that exist.
func TestFindingsNameTestsThatExist(t *testing.T) {
	section := between(t, "reliability.md", "| what was found | held by |\n|---|---|\n", "\n\n")
	for _, row := range strings.Split(section, "\n") {
		found, tests, _ := strings.Cut(strings.Trim(row, "| "), " | ")
		named := regexp.MustCompile("`([a-z0-9]+)\\.(Test[A-Za-z0-9_]+)`").FindAllStringSubmatch(tests, -1)
		if len(named) == 0 && !strings.HasPrefix(found, "**") {
			t.Errorf("no test holds %q", found)
		}
		for _, n := range named {
			if !declaresTest(t, n[1], n[2]) {
				t.Errorf("there is no %s in package %s", n[2], n[1])
			}
		}
	}
}

// Each scenario of the screen names tests that exist, and says whether they run on a fake host.
func TestScenariosOfTheScreenNameTestsThatExist(t *testing.T) {
	rows := strings.Split(between(t, "CONTRIBUTING.md", "| what | test |\n|---|---|\n", "\n\n"), "\n")
	if len(rows) < 15 {
		t.Errorf("%d rows", len(rows))
	}
	for _, row := range rows {
		named := regexp.MustCompile("`([a-z0-9]+)\\.(Test[A-Za-z0-9_]+)`").FindAllStringSubmatch(row, -1)
		if len(named) == 0 {
			t.Errorf("no test holds %q", row)
		}
		for _, n := range named {
			if !declaresTest(t, n[1], n[2]) {
				t.Errorf("there is no %s in package %s", n[2], n[1])
			}
			if strings.Contains(row, "(fake host)") == (n[1] == "e2e") {
				t.Errorf("%s does not run on what is said: %s", n[2], row)
			}
		}
	}
}

// The duties of a server are all there, each once.
func TestDutiesOfAServerAreAllThere(t *testing.T) {
	section := between(t, "protocols.md", "\n## A server of MCP Events\n", "\n## ")
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)(?:^\\||;) `([a-z0-9-]+)`: ").FindAllStringSubmatch(section, -1) {
		if seen[m[1]] {
			t.Errorf("%s is there twice", m[1])
		}
		seen[m[1]] = true
	}
	if len(seen) != 135 {
		t.Errorf("%d duties, want 135", len(seen))
	}
}
