package docs

import (
	"errors"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Every row of the tables of limits has the values of constants of the code, and tests that
// exist.
func TestLimitsAreThoseOfTheCode(t *testing.T) {
	named := regexp.MustCompile(`([a-z0-9]+)\.([A-Za-z][A-Za-z0-9_]+)`)
	packages := map[string]*types.Scope{}
	rows := map[string]bool{}
	for _, line := range strings.Split(between(t, "limits.md", "\n## All limits\n", "\n## "), "\n") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if !strings.HasPrefix(line, "| ") || cells[0] == "Subject" {
			continue
		}
		subject := cells[0]
		if len(cells) != 3 || rows[subject] {
			t.Errorf("limits.md: %d cells, or twice: %s", len(cells), subject)
			continue
		}
		rows[subject] = true
		values, _, _ := strings.Cut(cells[1], " (") // without what the operator may set
		constants, tests := 0, 0
		for _, n := range named.FindAllStringSubmatch(heldBy[subject], -1) {
			pkg, name := n[1], n[2]
			if strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz") {
				tests++
				if !declaresTest(t, pkg, name) {
					t.Errorf("%s: there is no %s in package %s", subject, name, pkg)
				}
				continue
			}
			constants++
			if packages[pkg] == nil {
				packages[pkg] = constantsOf(t, pkg)
			}
			c, ok := packages[pkg].Lookup(name).(*types.Const)
			if !ok {
				t.Errorf("%s: there is no constant %s in package %s", subject, name, pkg)
				continue
			}
			value, ok := constant.Int64Val(constant.ToInt(c.Val()))
			if !ok || !slices.Contains(numbersIn(values), value) {
				t.Errorf("%s: %s.%s is %v, and the row says %q", subject, pkg, name, c.Val(), values)
			}
		}
		if constants == 0 || tests == 0 {
			t.Errorf("%s: heldBy names %d constants and %d tests", subject, constants, tests)
		}
	}
	for subject := range heldBy {
		if !rows[subject] {
			t.Errorf("limits.md has no row for %s", subject)
		}
	}
	if len(rows) < 100 {
		t.Errorf("only %d rows were understood", len(rows))
	}
}

var sizes = map[string]int64{"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}

// numbersIn returns the numbers, sizes and durations in a text.
func numbersIn(text string) (all []int64) {
	for _, m := range regexp.MustCompile(`([0-9][0-9,]*)(?: (KiB|MiB|GiB))?`).FindAllStringSubmatch(text, -1) {
		if n, err := strconv.ParseInt(strings.ReplaceAll(m[1], ",", ""), 10, 64); err == nil {
			all = append(all, n*sizes[m[2]])
		}
	}
	for _, word := range strings.Fields(text) {
		if d, err := time.ParseDuration(strings.Trim(word, ",;")); err == nil {
			all = append(all, int64(d))
		}
	}
	return all
}

// folderOf returns the folder of a package of the module.
func folderOf(pkg string) string {
	for _, dir := range []string{"host", "host/internal", "host/react", "host/trust", "store", "ui", "ui/internal", "ui/cli", "ui/tui", ""} {
		path := filepath.Join("..", dir, pkg)
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return path
		}
	}
	return pkg
}

func declaresTest(t *testing.T, pkg, test string) bool {
	t.Helper()
	for _, f := range sources(t, pkg, true) {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(raw), "func "+test+"(") {
			return true
		}
	}
	return false
}

func sources(t *testing.T, pkg string, tests bool) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folderOf(pkg), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") != tests })
}

// constantsOf evaluates the constants of a package. Constants that need packages other than
// time have no value here; no limit needs them.
func constantsOf(t *testing.T, pkg string) *types.Scope {
	t.Helper()
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range sources(t, pkg, false) {
		f, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	config := types.Config{
		Importer: onlyTime{}, IgnoreFuncBodies: true,
		Error: func(error) {}, // of imports that are not there
	}
	checked, _ := config.Check(pkg, set, files, nil)
	return checked.Scope()
}

// onlyTime has package time, with its units.
type onlyTime struct{}

var errOther = errors.New("not imported here")

func (onlyTime) Import(path string) (*types.Package, error) {
	if path != "time" {
		return nil, errOther
	}
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "time.go", `package time
type Duration int64
const (
	Nanosecond Duration = 1
	Microsecond = 1000 * Nanosecond
	Millisecond = 1000 * Microsecond
	Second = 1000 * Millisecond
	Minute = 60 * Second
	Hour = 60 * Minute
)`, 0)
	if err != nil {
		return nil, err
	}
	return new(types.Config).Check("time", set, []*ast.File{f}, nil)
}
