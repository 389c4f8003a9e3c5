package trust_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The walk below reads the module's code and reports where untrusted text is printed,
// logged, styled or made a title without safe rendering. It follows values through the
// variables of one function; everywhere else the type trust.Text prevents it.

// allowedSinks are reviewed files, with the reason.
var allowedSinks = map[string]string{
	"ui/tui/copy.go": "raw bytes go to the clipboard on a key of their own, in base64",
}

// sinkFuncs are functions that print, log or style their arguments.
var sinkFuncs = map[string][]string{
	"fmt":      {"*"},
	"errors":   {"New"},
	"log":      {"*"},
	"slog":     {"*"},
	"tea":      {"Println", "Printf", "SetWindowTitle", "SetClipboard"},
	"lipgloss": {"*"},
	"ansi":     {"*"},
	"os":       {"Setenv"},
}

// sinkMethods are methods of any value that do the same.
var sinkMethods = []string{
	"Debug", "Info", "Warn", "Error", "DebugContext", "InfoContext", "WarnContext", "ErrorContext", "Log", "LogAttrs",
	"Render", "SetString", "SetContent", "SetTitle", "SetWindowTitle", "Println", "Printf", "Print",
	"WriteString",
}

// builders are receivers whose WriteString only collects text.
var builders = []string{"b", "sb", "buf", "builder", "h", "hash", "mac"}

// rawFields are fields that hold bytes of a payload.
var rawFields = []string{"Raw", "Data", "Payload"}

// carriers return their argument unchanged.
var carriers = []string{"strings", "bytes", "slices", "string", "append", "min", "max"}

// sinkWalk finds the flows in one file.
type sinkWalk struct {
	fset    *token.FileSet
	tainted map[string]bool
	found   []string
}

// function walks a body, with its own variables.
func (w *sinkWalk) function(body *ast.BlockStmt) {
	w.tainted = map[string]bool{}
	for range 2 { // in a loop a variable may be set after its use
		ast.Inspect(body, w.assignments)
	}
	ast.Inspect(body, w.sinks)
}

func (w *sinkWalk) assignments(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, rhs := range n.Rhs {
			if i < len(n.Lhs) && w.isRaw(rhs) {
				if id, ok := n.Lhs[i].(*ast.Ident); ok && id.Name != "_" {
					w.tainted[id.Name] = true
				}
			}
		}
	case *ast.ValueSpec:
		for i, v := range n.Values {
			if i < len(n.Names) && w.isRaw(v) {
				w.tainted[n.Names[i].Name] = true
			}
		}
	}
	return true
}

func (w *sinkWalk) sinks(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		if !isSink(n.Fun) {
			return true
		}
		for _, arg := range n.Args {
			if w.isRaw(arg) {
				w.report(arg.Pos())
			}
		}
	case *ast.AssignStmt:
		for i, lhs := range n.Lhs {
			sel, ok := lhs.(*ast.SelectorExpr)
			if ok && sel.Sel.Name == "WindowTitle" && i < len(n.Rhs) && w.isRaw(n.Rhs[i]) {
				w.report(n.Pos())
			}
		}
	case *ast.KeyValueExpr:
		if id, ok := n.Key.(*ast.Ident); ok && id.Name == "WindowTitle" && w.isRaw(n.Value) {
			w.report(n.Pos())
		}
	}
	return true
}

func (w *sinkWalk) report(at token.Pos) {
	p := w.fset.Position(at)
	w.found = append(w.found, fmt.Sprintf("%s:%d", filepath.ToSlash(p.Filename), p.Line))
}

// isSink reports whether a called function prints, logs or styles.
func isSink(fun ast.Expr) bool {
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok {
		id, ok := fun.(*ast.Ident)
		return ok && (id.Name == "panic" || id.Name == "println" || id.Name == "print")
	}
	if id, ok := sel.X.(*ast.Ident); ok {
		if names, ok := sinkFuncs[id.Name]; ok {
			return names[0] == "*" || slices.Contains(names, sel.Sel.Name)
		}
		if sel.Sel.Name == "WriteString" && slices.Contains(builders, id.Name) {
			return false
		}
		if id.Name == "io" {
			return false
		}
	}
	return slices.Contains(sinkMethods, sel.Sel.Name)
}

// isRaw reports whether an expression is untrusted text.
func (w *sinkWalk) isRaw(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return w.tainted[e.Name]
	case *ast.ParenExpr:
		return w.isRaw(e.X)
	case *ast.SliceExpr:
		return w.isRaw(e.X)
	case *ast.IndexExpr:
		return w.isRaw(e.X)
	case *ast.BinaryExpr:
		return e.Op == token.ADD && (w.isRaw(e.X) || w.isRaw(e.Y))
	case *ast.SelectorExpr:
		return false
	case *ast.CallExpr:
		return w.rawCall(e)
	}
	return false
}

// rawCall reports whether a call returns untrusted text.
func (w *sinkWalk) rawCall(call *ast.CallExpr) bool {
	switch fun := call.Fun.(type) {
	case *ast.SelectorExpr:
		if fun.Sel.Name == "Raw" && len(call.Args) == 0 {
			return true
		}
		if id, ok := fun.X.(*ast.Ident); !ok || !slices.Contains(carriers, id.Name) || yieldsNoText(fun.Sel.Name) {
			return false
		}
	case *ast.Ident:
		if fun.Name == "string" && len(call.Args) == 1 {
			if sel, ok := call.Args[0].(*ast.SelectorExpr); ok && slices.Contains(rawFields, sel.Sel.Name) {
				return true
			}
		}
		if !slices.Contains(carriers, fun.Name) {
			return false
		}
	default:
		return false
	}
	return slices.ContainsFunc(call.Args, w.isRaw)
}

// yieldsNoText reports whether a function of a carrier returns no text.
func yieldsNoText(name string) bool {
	for _, prefix := range []string{"Has", "Contains", "Index", "LastIndex", "Count", "Equal", "Compare"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// sinksIn returns the flows in one file.
func sinksIn(fset *token.FileSet, file *ast.File) []string {
	w := sinkWalk{fset: fset}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
			w.function(f.Body)
		}
	}
	return w.found
}

// TestNoRawTextReachesASink reads every non-test file of the module.
func TestNoRawTextReachesASink(t *testing.T) {
	root := filepath.Join("..", "..")
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root && d.Name() != "..":
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files++
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Logf("not read: %v", err)
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if allowedSinks[filepath.ToSlash(rel)] != "" {
			return nil
		}
		for _, at := range sinksIn(fset, file) {
			t.Errorf("%s: text from outside is printed, logged or styled as it came; use Line, Block or Detail", at)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 20 {
		t.Fatalf("only %d files were read", files)
	}
}

func TestSinkWalkFindsFlows(t *testing.T) {
	const head = "package p\nfunc f() {\n"
	for body, want := range map[string]int{
		`fmt.Println(t.Raw())`:                                            1,
		`fmt.Errorf("x %s", strings.TrimSpace(t.Raw()))`:                  1,
		`s := t.Raw(); slog.Info("x", "title", s)`:                        1,
		`s := "x" + t.Raw(); style.Render(s)`:                             1,
		`v.WindowTitle = t.Raw()`:                                         1,
		`_ = tea.View{WindowTitle: t.Raw()[:3]}`:                          1,
		`log.Printf("%s", string(ev.Data))`:                               1,
		`var s = ev.Name.Raw(); panic(s)`:                                 1,
		`logger.Warn("x", "name", ev.Name.Raw())`:                         1,
		`func() { lipgloss.NewStyle(); w.WriteString(t.Raw()) }()`:        1,
		`fmt.Println(trust.Line(t).Plain())`:                              0,
		`fmt.Println(len(t.Raw()), strings.Contains(t.Raw(), "x"))`:       0,
		`b.WriteString(t.Raw())`:                                          0,
		`w.Write([]byte(t.Raw()))`:                                        0,
		`s := t.Raw(); use(s)`:                                            0,
		`fmt.Println(trust.Line(trust.Untrusted(string(ev.Data))).Plain)`: 0,
	} {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "p.go", head+body+"\n}", parser.SkipObjectResolution)
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		if got := sinksIn(fset, file); len(got) != want {
			t.Errorf("%s: found %v, want %d", body, got, want)
		}
	}
}
