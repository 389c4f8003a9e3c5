package docs

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The ceilings of the size of the program. Make room before adding: remove what nobody would miss,
// or a second way to do one thing.
const (
	maxCodeLines = 98_003
	maxPackages  = 83
	maxOneFile   = 9 // packages of one file
	maxOfHost    = 3
	maxOfSubs    = 65 // of the largest part of Host
	maxOfApp     = 144
)

// TestSize holds the code lines that ship, for all systems, without blank lines, comments, package
// clauses and imports; the number of packages; and the methods of the largest types.
func TestSize(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{if .Main}}{{$.Dir}}{{end}}{{end}}", "..").Output()
	if err != nil {
		t.Fatal(err)
	}
	lines, packages, oneFile := 0, 0, 0
	for _, dir := range strings.Fields(string(out)) {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				n++
				lines += codeLines(t, file)
			}
		}
		packages++
		if n == 1 {
			oneFile++
		}
	}
	ofHost, ofSubs, ofApp := methods(t, "../host", "Host"), methods(t, "../host", "subscriptions"), methods(t, "../ui/tui", "app")
	t.Logf("%d code lines in %d packages, %d of one file; %d methods of Host, %d of subscriptions, %d of app", lines, packages, oneFile, ofHost, ofSubs, ofApp)
	for _, c := range []struct {
		what      string
		have, max int
	}{
		{"code lines", lines, maxCodeLines}, {"packages", packages, maxPackages}, {"packages of one file", oneFile, maxOneFile},
		{"methods of Host", ofHost, maxOfHost}, {"methods of subscriptions", ofSubs, maxOfSubs}, {"methods of app", ofApp, maxOfApp},
	} {
		if c.have > c.max || c.have == 0 {
			t.Errorf("%d %s, at most %d", c.have, c.what, c.max)
		}
	}
}

// codeLines counts the lines of a file that have code.
func codeLines(t *testing.T, path string) int {
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, src, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	after := file.Name.End() // of the last import
	for _, d := range file.Decls {
		after = d.End()
	}
	var s scanner.Scanner
	f := set.AddFile(path, -1, len(src))
	s.Init(f, src, nil, 0)
	n, last := 0, 0
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return n
		}
		if f.Offset(pos) < set.Position(after).Offset || tok == token.SEMICOLON && text == "\n" {
			continue
		}
		for i, part := range strings.Split(text, "\n") {
			if line := f.Line(pos) + i; line > last && (i == 0 || strings.TrimSpace(part) != "") {
				n, last = n+1, line
			}
		}
	}
}

// methods counts the methods of a type.
func methods(t *testing.T, dir, name string) (n int) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || strings.HasSuffix(path, "_test.go") {
				continue
			}
			typ := fn.Recv.List[0].Type
			if p, ok := typ.(*ast.StarExpr); ok {
				typ = p.X
			}
			if id, ok := typ.(*ast.Ident); ok && id.Name == name {
				n++
			}
		}
	}
	return n
}
