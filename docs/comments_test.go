package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestCommentsBeginWithTheirNames: the comment of a function or type begins with its
// name, so that it does not outlive the name.
func TestCommentsBeginWithTheirNames(t *testing.T) {
	eachFile(t, func(_ string, files *token.FileSet, file *ast.File) {
		for _, decl := range file.Decls {
			for name, doc := range documented(decl) {
				if doc != nil && !beginsWith(doc.Text(), name) {
					first, _, _ := strings.Cut(doc.Text(), "\n")
					t.Errorf("%s: the comment of %s begins: %s", files.Position(doc.Pos()), name, first)
				}
			}
		}
	})
}

var link = regexp.MustCompile(`\[\*?(?:([a-z]\w*)\.)?([A-Z]\w*)((?:\.\w+)*)\]`)

// TestCommentsLinkToWhatIsThere: a name in brackets is one of this package, or of
// another package of the module.
func TestCommentsLinkToWhatIsThere(t *testing.T) {
	names := map[string]map[string]bool{} // by folder, and by the name of the package
	eachFile(t, func(dir string, _ *token.FileSet, file *ast.File) {
		for _, key := range []string{dir, file.Name.Name} {
			if names[key] == nil {
				names[key] = map[string]bool{}
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					names[key][n.Name.Name] = true
				case *ast.TypeSpec:
					names[key][n.Name.Name] = true
				case *ast.ValueSpec:
					for _, name := range n.Names {
						names[key][name.Name] = true
					}
				case *ast.Field:
					for _, name := range n.Names {
						names[key][name.Name] = true
					}
				}
				return true
			})
		}
	})
	checked := 0
	eachFile(t, func(dir string, files *token.FileSet, file *ast.File) {
		if file.Name.Name == "main" {
			return // its comment may be a usage line
		}
		for _, group := range file.Comments {
			for _, m := range link.FindAllStringSubmatch(group.Text(), -1) {
				have, known := names[dir], true
				if m[1] != "" {
					have, known = names[m[1]]
				}
				if !known {
					continue // a package of another module
				}
				checked++
				if !have[m[2]] || !have[path.Ext("." + m[2] + m[3])[1:]] {
					t.Errorf("%s: the comment links to %s, which is not there", files.Position(group.Pos()), m[0])
				}
			}
		}
	})
	if checked < 100 {
		t.Errorf("%d links are found", checked)
	}
}

// eachFile parses the files of the module but those of tests, and hands them to fn with
// their folder.
func eachFile(t *testing.T, fn func(dir string, files *token.FileSet, file *ast.File)) {
	t.Helper()
	files := token.NewFileSet()
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != "..") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(files, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err == nil {
			fn(path.Dir(filepath.ToSlash(name)), files, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// documented returns the functions, methods and types of a declaration with their
// comments.
func documented(decl ast.Decl) map[string]*ast.CommentGroup {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		return map[string]*ast.CommentGroup{decl.Name.Name: decl.Doc}
	case *ast.GenDecl:
		found := map[string]*ast.CommentGroup{}
		for _, spec := range decl.Specs {
			if spec, ok := spec.(*ast.TypeSpec); ok && decl.Lparen.IsValid() {
				found[spec.Name.Name] = spec.Doc
			} else if ok {
				found[spec.Name.Name] = decl.Doc
			}
		}
		return found
	}
	return nil
}

// beginsWith reports whether a comment begins with the name, after an article or not.
func beginsWith(text, name string) bool {
	first, _, _ := strings.Cut(text, "\n")
	words := strings.FieldsFunc(first, func(r rune) bool { return strings.ContainsRune(" .,:;'()\u2019", r) })
	if len(words) > 1 && (words[0] == "A" || words[0] == "An" || words[0] == "The") {
		words = words[1:]
	}
	return len(words) > 0 && words[0] == name
}
