// Package docs holds the documents of the project, and the tests that keep them
// true.
package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "eventdeck"

// arrows says which packages of the module a package may import: the arrows of
// docs/architecture.md. A name that ends in /... stands for a folder.
var arrows = map[string][]string{
	".":                       {"ui/...", "host", "host/config", "host/event", "host/model", "host/react/act", "store", "store/maintain", "store/seal"},
	"ui/...":                  {"ui/...", "host", "host/attach", "host/mcpserver", "host/react", "host/react/toolset", "host/react/rules", "host/react/engine", "host/event", "host/eventlog", "host/schema", "host/trust", "host/config", "host/filter", "host/reading", "host/export", "host/redact", "themes", "host/trust/strict", "host/trust/scan"},
	"ui/wiring":               {"host", "host/attach", "host/event", "host/model", "host/react", "host/react/converse", "host/react/act", "host/react/agent", "host/react/engine", "host/react/rules", "ui/cli/program", "ui/tui", "ui/tui/react"},
	"ui/internal/bench":       {"host/...", "ui/...", "store", "store/seal"},
	"ui/internal/bench/plain": {},
	"host":                    {"host/..."},
	"host/attach":             {"host", "host/delivery", "host/dialect", "host/event", "host/eventlog", "host/react", "host/trust"},
	"host/config":             {"host/event", "host/trust", "host/internal/jsonfile"},
	"host/redact":             {"host/internal/jsontext", "host/event", "host/wire", "host/trust"},
	"host/session":            {"host/internal/pause", "host/internal/proxy", "host/internal/sse", "host/redact", "host/event", "host/wire", "host/trust"},
	"host/signin":             {"host/event", "host/internal/proxy", "host/trust"},
	"host/signin/signintest":  {},
	"host/dialect":            {"host/session", "host/redact", "host/cron", "host/event", "host/wire", "host/trust", "host/trust/strict"},
	"host/toolbox":            {"host/react", "host/redact", "host/session", "host/trust", "host/trust/strict", "host/wire"},
	"host/delivery":           {"host/event", "host/wire", "host/trust", "host/trust/strict", "host/trust/scan"},
	"host/hooks":              {"host/internal/pause", "host/delivery", "host/dialect", "host/event", "host/receiver", "host/redact", "host/session", "host/trust", "host/wire"},
	"host/receiver":           {"host/config", "host/event", "host/wire", "host/trust", "host/trust/strict"},
	"host/demo":               {"host/internal/pause", "host/cron", "host/event", "host/eventserver", "host/wire", "host/trust", "host/receiver"},
	"host/eventserver":        {"host/event", "host/receiver", "host/trust", "host/wire"},
	"host/internal/sim":       {"host", "host/delivery", "host/event", "host/receiver", "host/trust", "host/wire"},
	"host/event":              {"host/trust", "host/trust/strict"},
	"host/schema":             {"host/internal/jsontext", "host/event", "host/redact", "host/trust"},
	"host/eventlog":           {"host/event"},
	"host/filter":             {"host/event", "host/trust", "host/reading", "host/internal/jsontext"},
	"host/reading":            {"host/event", "host/trust", "host/internal/jsontext"},
	"host/mcpserver":          {"host", "host/event", "host/eventlog", "host/eventserver", "host/export", "host/filter", "host/react", "host/redact", "host/trust", "host/trust/scan", "host/wire"},
	"host/mcptest":            {"host/event", "host/receiver"},
	"host/model":              {"host/internal/jsontext", "host/internal/proxy", "host/internal/sse", "host/event", "host/react", "host/react/toolset", "host/redact", "host/trust", "host/trust/strict"},
	"host/model/modeltest":    {"host/react"},
	"host/react":              {"host/event", "host/filter", "host/internal/jsontext", "host/trust"},
	"host/react/act":          {"host/internal/jsonfile", "host/event", "host/export", "host/react", "host/receiver", "host/trust", "host/filter", "host/trust/scan"},
	"host/react/converse":     {"host/internal/pause", "host/event", "host/model", "host/react", "host/react/act", "host/react/toolset", "host/trust", "host/trust/scan", "host/trust/strict"},
	"host/react/agent":        {"host/acp", "host/event", "host/react", "host/react/act", "host/react/toolset", "host/trust", "host/trust/scan"},
	"host/react/toolset":      {"host/react", "host/trust", "host/trust/strict", "host/wire", "host/schema"},
	"host/acp/acptest":        {},
	"host/acp":                {"host/trust", "host/trust/strict", "host/wire"},
	"host/react/engine":       {"host/internal/jsonfile", "host/event", "host/react", "host/trust"},
	"host/export":             {"host/event", "host/reading", "host/filter", "host/trust", "host/trust/strict", "host/trust/scan"},
	"host/wire":               {"host/internal/jsontext", "host/trust", "host/trust/strict", "host/trust/scan"},
	"host/cron":               {"host/trust"},
	"store":                   {"host/event", "host/trust", "store/boltfile", "store/tables", "store/datadir", "store/private", "store/seal"},
	"store/maintain":          {"host/event", "store/boltfile", "store/tables", "store/datadir", "store/private"},
	"store/tables":            {"host/event", "host/trust", "store/boltfile", "store/seal"},
	"store/datadir":           {"host/event", "store/boltfile", "store/private", "store/seal"},
	"store/boltfile":          {"host/event", "store/private"},
	"store/private":           {},
	"store/seal":              {"host/event", "store/private"},
	"store/storetest":         {"host/event", "store", "store/seal"}, // for tests
	"themes":                  {},
	"docs/...":                {},

	// The command line and its parts.
	"ui/cli":           {"host", "host/attach", "host/config", "host/event", "host/export", "host/mcpserver", "host/react", "host/reading", "host/redact", "host/trust", "host/trust/scan", "host/trust/strict", "themes", "ui/cli/events", "ui/cli/plain", "ui/cli/program", "ui/cli/reactions", "ui/form", "ui/internal/browser"},
	"ui/cli/events":    {"host", "host/event", "host/eventlog", "host/export", "host/filter", "host/trust", "host/trust/scan", "host/trust/strict", "ui/cli/plain", "ui/cli/program", "ui/form", "ui/incidents"},
	"ui/cli/plain":     {"host", "host/event", "host/redact", "host/reading", "host/trust", "host/config", "host/filter", "host/react"},
	"ui/cli/program":   {"host", "host/attach", "host/config", "host/event", "host/filter", "host/react", "host/trust", "ui/cli/plain", "ui/observe"},
	"ui/cli/reactions": {"host", "host/attach", "host/config", "host/event", "host/export", "host/react", "host/react/toolset", "host/react/rules", "host/react/engine", "host/trust", "ui/cli/plain", "ui/cli/program"},

	// The parts of the screen.
	"ui/incidents":     {"host", "host/event", "host/eventlog", "host/export", "host/filter", "host/react", "host/reading", "host/trust", "host/trust/scan", "host/trust/strict"},
	"ui/tui/palette":   {"host/config", "themes", "ui/tui/cells", "ui/tui/layout", "ui/tui/evidence", "ui/tui/widget"},
	"ui/tui/cells":     {"host/trust", "themes"},
	"ui/tui/evidence":  {"host/schema", "host", "host/event", "host/reading", "host/trust", "themes", "ui/tui/cells", "host/trust/scan", "host/filter"},
	"ui/tui/widget":    {"host/event", "ui/tui/query", "host/trust", "themes", "ui/tui/cells"},
	"ui/tui/detail":    {"ui/tui/query", "host/eventlog", "host", "host/event", "host/filter", "host/schema", "host/trust", "host/trust/scan", "host/trust/strict", "themes", "ui/tui/cells", "ui/tui/evidence", "ui/tui/widget", "host/reading"},
	"ui/tui/board":     {"host", "host/event", "host/eventlog", "host/trust", "themes", "ui/tui/cells", "ui/tui/detail", "ui/tui/evidence", "ui/tui/query", "ui/tui/table", "ui/tui/widget"},
	"ui/tui/table":     {"ui/tui/widget", "host/event", "host/trust", "themes", "ui/tui/cells", "ui/tui/detail"},
	"ui/tui/tree":      {"ui/tui/layout", "host", "host/event", "host/trust", "themes", "ui/tui/cells", "ui/tui/evidence", "ui/tui/query", "ui/tui/widget"},
	"ui/tui/react":     {"ui/tui/stream", "ui/tui/layout", "ui/tui/palette", "host/eventlog", "host/event", "host/react", "host/trust", "themes", "ui/tui/cells", "ui/tui/detail", "ui/tui/form", "ui/tui/table", "ui/tui/widget"},
	"ui/tui/layout":    {"themes", "ui/tui/cells", "ui/tui/widget"},
	"ui/tui/persist":   {"host/event", "host/trust", "ui/tui/cells", "ui/tui/detail", "ui/tui/layout", "ui/tui/query", "ui/tui/table", "ui/tui/widget", "themes", "ui/tui/evidence", "host/config"},
	"ui/tui/notify":    {"host", "host/event", "host/eventlog", "host/trust", "ui/tui/cells", "ui/tui/evidence", "ui/tui/query", "ui/tui/widget"},
	"ui/tui/query":     {"host", "host/event", "host/eventlog", "host/config", "host/trust", "ui/tui/evidence", "host/filter"},
	"ui/tui/stream":    {"ui/tui/widget", "ui/tui/layout", "host/eventlog", "host", "host/event", "host/trust", "host/trust/strict", "themes", "ui/tui/cells", "ui/tui/evidence", "ui/tui/query", "host/filter", "host/reading"},
	"ui/tui/timeline":  {"host", "host/event", "host/trust", "themes", "ui/tui/cells", "ui/tui/evidence", "ui/tui/query", "ui/tui/widget", "host/eventlog", "host/reading"},
	"ui/tui/filterbar": {"ui/tui/palette", "host/eventlog", "host/event", "host/filter", "host/trust", "host/trust/strict", "themes", "ui/tui/cells", "ui/tui/query", "ui/tui/stream", "ui/tui/widget", "ui/tui/layout", "ui/tui/persist", "ui/tui/evidence", "ui/tui/detail", "host"},
	"ui/tui/external":  {"host/reading", "host/react", "host", "ui/tui/table", "ui/tui/detail", "ui/tui/layout", "ui/tui/stream", "ui/tui/palette", "host/eventlog", "host/event", "host/export", "host/trust", "ui/tui/cells", "ui/tui/query", "ui/tui/widget", "ui/tui/evidence"},
	"ui/tui/present":   {"ui/tui/query", "ui/tui/evidence", "host", "host/event", "host/eventlog", "host/react", "host/redact", "host/trust", "themes", "ui/tui/cells", "ui/tui/layout", "host/filter", "ui/tui/widget"},
	// What the screen's root hands on.
	"ui/tui/form":  {"ui/tui/table", "ui/tui/tree", "ui/tui/stream", "ui/tui/layout", "ui/tui/palette", "host", "host/config", "host/event", "ui/tui/cells", "ui/tui/evidence", "ui/tui/query", "ui/tui/widget", "host/schema", "host/trust", "themes", "ui/form", "ui/internal/browser"},
	"ui/tui/edges": {"ui/tui/palette", "host", "host/eventlog", "host/trust", "themes", "ui/tui/cells", "ui/tui/evidence", "ui/tui/external", "ui/tui/query", "ui/tui/timeline", "ui/tui/stream", "ui/tui/tree"},
	"ui/tui/trace": {"ui/tui/layout", "ui/tui/palette", "host/eventlog", "host/event", "host/export", "host/filter", "host/trust", "ui/incidents", "ui/tui/cells", "ui/tui/external", "ui/tui/persist", "ui/tui/query", "ui/tui/stream", "ui/tui/widget", "ui/tui/evidence", "themes"},

	// Stand-ins for the screen in tests.
	"ui/tui/internal/tuitest": {"ui/tui/layout", "host", "host/event", "host/eventlog", "themes", "ui/tui/cells", "ui/tui/query", "ui/tui/stream", "ui/tui/widget"},

	// Untrusted text, from the lowest package up.
	"host/internal/jsontext":        {},
	"host/internal/proxy":           {},
	"host/internal/pause":           {},
	"host/internal/sse":             {},
	"host/react/rules":              {"host/config", "host/event", "host/filter", "host/internal/jsonfile", "host/react", "host/schema"},
	"host/internal/jsonfile":        {"host/internal/jsontext", "host/trust"},
	"host/trust/internal/runes":     {"host/internal/jsontext"},
	"host/trust":                    {"host/trust/internal/runes", "host/internal/jsontext"},
	"host/trust/strict":             {"host/trust", "host/internal/jsontext"},
	"host/trust/scan":               {"host/trust", "host/trust/strict", "host/trust/internal/runes", "host/internal/jsontext"},
	"host/trust/corpus":             {},
	"host/trust/internal/trusttest": {"host/trust", "host/trust/internal/runes", "host/internal/jsontext"},
}

// foreign says which third-party modules a folder must not import.
var foreign = map[string][]string{
	"host":   {"charm.land/", "go.etcd.io/bbolt", "github.com/spf13/cobra"},
	"store":  {"charm.land/"},
	"themes": {"go.etcd.io/bbolt"},
}

func TestImportsFollowTheArrows(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		seen++
		check(t, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 20 {
		t.Fatalf("only %d files were looked at: the walk misses the project", seen)
	}
}

// Each package is in the tables of the packages, and nothing else is.
func TestArchitectureNamesEachPackage(t *testing.T) {
	raw, err := os.ReadFile("architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(raw), "## Packages\n")
	section, _, ok := strings.Cut(section, "## Imports\n")
	if !ok {
		t.Fatal("the tables are missing")
	}
	named := map[string]bool{"ui/internal/bench/plain": true, "ui/internal/browser": true} // parts of their neighbours
	for _, row := range strings.Split(section, "\n") {
		folders, _, _ := strings.Cut(strings.TrimPrefix(row, "|"), "|")
		for _, n := range regexp.MustCompile("`([a-z0-9/.]+)`").FindAllStringSubmatch(folders, -1) {
			if _, err := os.Stat(filepath.Join("..", n[1])); err != nil {
				t.Errorf("the tables name %s: %v", n[1], err)
			}
			named[n[1]] = true
		}
	}
	deep := regexp.MustCompile(`.+/.+/internal/`) // of one package alone
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		pkg := filepath.ToSlash(filepath.Dir(strings.TrimPrefix(filepath.ToSlash(path), "../")))
		if pkg != "." && pkg != "docs" && !deep.MatchString(pkg) && !strings.HasSuffix(pkg, "test") && !named[pkg] {
			named[pkg] = true
			t.Errorf("no table names %s", pkg)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func check(t *testing.T, path string) {
	t.Helper()
	rel, err := filepath.Rel("..", path)
	if err != nil {
		t.Fatal(err)
	}
	pkg := filepath.ToSlash(filepath.Dir(rel))
	allowed, ok := rule(pkg)
	if !ok {
		t.Errorf("%s: package %s has no arrows; add it to docs/architecture.md and to this test", rel, pkg)
		return
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if inner, ok := strings.CutPrefix(name, module+"/"); ok {
			if !matches(allowed, inner) {
				t.Errorf("%s imports %s: against the arrows", rel, inner)
			}
			continue
		}
		for folder, names := range foreign {
			for _, bad := range names {
				if (pkg == folder || strings.HasPrefix(pkg, folder+"/")) && strings.HasPrefix(name, bad) {
					t.Errorf("%s imports %s: not in %s", rel, name, folder)
				}
			}
		}
	}
}

func rule(pkg string) ([]string, bool) {
	if allowed, ok := arrows[pkg]; ok {
		return allowed, true
	}
	for name, allowed := range arrows {
		if folder, ok := strings.CutSuffix(name, "/..."); ok && (pkg == folder || strings.HasPrefix(pkg, folder+"/")) {
			return allowed, true
		}
	}
	return nil, false
}

func matches(allowed []string, name string) bool {
	for _, a := range allowed {
		folder, tree := strings.CutSuffix(a, "/...")
		if name == folder || tree && strings.HasPrefix(name, folder+"/") {
			return true
		}
	}
	return false
}

// Only the root of the screen knows all of the host; its parts name what they need.
func TestPartsOfTheScreenDoNotKnowTheWholeHost(t *testing.T) {
	files, err := filepath.Glob("../ui/tui/*/*.go")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v: the parts of the screen are not where they were", len(files), err)
	}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "API" {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "host" {
					t.Errorf("%s names host.API: declare an interface of what it needs", path)
				}
			}
			return true
		})
	}
}

// The top level has what its owner chose, and nothing beside it but dotfiles: other code has a room.
func TestTopLevel(t *testing.T) {
	chosen := []string{"LICENSE", "README.md", "docs", "go.mod", "go.sum", "host", "main.go", "main_unix_test.go", "store", "themes", "ui"}
	entries, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		built := slices.Contains([]string{"eventdeck", "eventdeck.exe", "dist"}, e.Name())
		if !strings.HasPrefix(e.Name(), ".") && !built && !slices.Contains(chosen, e.Name()) {
			t.Errorf("%s is at the top level", e.Name())
		}
	}
}
