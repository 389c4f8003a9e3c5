package act

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"eventdeck/host/react"
)

// Program returns the path of a command's program with links resolved, and the SHA-256 of its
// bytes in hexadecimal. Arming a rule and approving a command cover both.
//
// Error: [react.ErrProgram].
func Program(name string) (path, sum string, err error) {
	fail := func(err error) (string, string, error) {
		return "", "", fmt.Errorf("%w %q: %w", react.ErrProgram, name, err)
	}
	if !filepath.IsAbs(name) {
		return fail(fmt.Errorf("name it by its absolute path; it is looked for nowhere"))
	}
	if path, err = filepath.EvalSymlinks(name); err != nil {
		return fail(err)
	}
	if ext := strings.ToLower(filepath.Ext(path)); runtime.GOOS == "windows" && (ext == ".bat" || ext == ".cmd") {
		return fail(fmt.Errorf("%s files are run by cmd.exe, which reads arguments as commands; name an .exe", ext))
	}
	f, err := os.Open(path)
	if err != nil {
		return fail(err)
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	switch {
	case err != nil:
		return fail(err)
	case !info.Mode().IsRegular():
		return fail(fmt.Errorf("it is no file"))
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o111 == 0:
		return fail(fmt.Errorf("it is not executable; `chmod u+x %s` makes it so", path))
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return fail(err)
	}
	return path, hex.EncodeToString(h.Sum(nil)), nil
}

// withoutLinks resolves the links of a path: a link could point elsewhere after the approval. A
// path that does not exist yet stays as it is.
func withoutLinks(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil && path != "" {
		return real
	}
	return path
}

func withoutLinksAll(paths []string) []string {
	var all []string
	for _, path := range paths {
		all = append(all, withoutLinks(path))
	}
	return all
}

// unchanged checks that program, interpreters and directories are those of the approved request.
//
// Error: [react.ErrProgram].
func unchanged(req react.Request, env func(string) (string, bool)) error {
	path, sum, err := Program(req.Argv[0])
	if err != nil {
		return err
	}
	run, err := interpreters(path, searchPath(req.Env, env))
	if err != nil {
		return err
	}
	if path != req.Path || sum != req.Program {
		return fmt.Errorf("%w %q was changed since it was approved; approve it anew", react.ErrProgram, req.Argv[0])
	}
	if !slices.Equal(run, req.Interpreters) {
		return fmt.Errorf("%w %q: the interpreter that runs it was changed since it was approved; approve it anew", react.ErrProgram, req.Argv[0])
	}
	places := []string{req.Dir}
	if c := req.Confine; c != nil {
		places = slices.Concat(places, c.Read, c.Write)
	}
	for _, place := range places {
		if real := withoutLinks(place); real != place {
			return fmt.Errorf("%w %q: %q leads to %q since it was approved; approve it anew", react.ErrProgram, req.Argv[0], place, real)
		}
	}
	return nil
}
