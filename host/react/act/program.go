package act

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"eventdeck/host/internal/jsonfile"
	"eventdeck/host/react"
)

// Program returns the path of a command's program with links resolved, and the SHA-256 of its
// bytes in hexadecimal. Arming a rule and approving a command cover both.
//
// Error: [react.ErrProgram], also for a program that another user can change or replace.
func Program(name string) (path, sum string, err error) {
	fail := func(err error) (string, string, error) {
		return "", "", fmt.Errorf("%w %q: %w", react.ErrProgram, name, err)
	}
	if !filepath.IsAbs(name) {
		return fail(fmt.Errorf("name it by its absolute path; it is looked for nowhere"))
	}
	if path, err = jsonfile.Own(name); err != nil {
		return fail(err)
	}
	if ext := strings.ToLower(filepath.Ext(path)); runtime.GOOS == "windows" && (ext == ".bat" || ext == ".cmd") {
		return fail(fmt.Errorf("%s files are run by cmd.exe, which reads arguments as commands; name an .exe", ext))
	}
	sum, info, err := readSum(path)
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o111 == 0 {
		err = fmt.Errorf("it is not executable; `chmod u+x %s` makes it so", path)
	}
	if err != nil {
		return fail(err)
	}
	return path, sum, nil
}

// readSum returns the SHA-256 of a regular file, in hexadecimal.
func readSum(path string) (string, os.FileInfo, error) {
	f, info, err := openFile(path)
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	sum, err := sumOf(f)
	return sum, info, err
}

// openFile opens a regular file. It does not wait for the other end of a pipe.
func openFile(path string) (*os.File, os.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file", path)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// sumOf returns the SHA-256 of what can be read, in hexadecimal.
func sumOf(r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// readFiles fills in what a command runs and reaches, as it is now. Code, Dir and Confine are
// given; their links are resolved.
//
// Error: [react.ErrProgram].
func readFiles(req *react.Request, env func(string) (string, bool)) (err error) {
	if req.Path, req.Program, err = Program(req.Argv[0]); err != nil {
		return err
	}
	if req.Interpreters, err = interpreters(req.Path, searchPath(req.Env, env)); err != nil {
		return err
	}
	req.Code, req.Dir = withoutLinks(req.Code...), withoutLinks(req.Dir)[0]
	if c := req.Confine; c != nil {
		req.Confine = &react.Confine{Read: withoutLinks(c.Read...), Write: withoutLinks(c.Write...), Net: c.Net}
	}
	files, err := manifest(req.Files, "")
	if err != nil {
		return fmt.Errorf("%w %q: %w", react.ErrProgram, req.Argv[0], err)
	}
	req.Tree = sumOfAll(files)
	return usesCode(*req)
}

// usesCode checks that the code of a command is what it runs, and that it runs it from the copy.
func usesCode(req react.Request) error {
	used, wrong := len(req.Code) == 0 || isCode(req.Files, req.Path), ""
	for _, arg := range req.Argv[1:] {
		used = used || isCode(req.Files, arg)
		if real := withoutLinks(arg)[0]; isCode(req.Files, real) && !isCode(req.Files, arg) {
			wrong = fmt.Sprintf(`its argument %q leads into its "code"; write %q`, arg, real)
		}
	}
	switch {
	case wrong != "":
	case !used:
		wrong = `neither it nor an argument is in its "code"; name the directory that they are in`
	case isCode(req.Files, req.Dir):
		wrong = `"cwd" is in its "code", of which a copy runs; name another directory`
	default:
		return nil
	}
	return fmt.Errorf("%w %q: %s", react.ErrProgram, req.Argv[0], wrong)
}

// withoutLinks resolves the links of paths: a link could point elsewhere after the approval. A
// path that does not exist yet stays as it is.
func withoutLinks(paths ...string) (all []string) {
	for _, path := range paths {
		if real, err := filepath.EvalSymlinks(path); err == nil && path != "" {
			path = real
		}
		all = append(all, path)
	}
	return all
}

// unchanged checks that the files of a command are those of the approved request.
//
// Error: [react.ErrProgram].
func unchanged(req react.Request, env func(string) (string, bool)) error {
	now := req
	err := readFiles(&now, env)
	if err != nil || now.Equal(req.Files) {
		return err
	}
	what := "the place of its directory, code or confinement was changed"
	switch run := (react.Files{Interpreters: now.Interpreters}); {
	case now.Path != req.Path || now.Program != req.Program:
		what = "it was changed"
	case !run.Equal(react.Files{Interpreters: req.Interpreters}):
		what = "the interpreter that runs it was changed"
	case now.Tree != req.Tree:
		what = "its code was changed"
	}
	return fmt.Errorf("%w %q: %s since it was approved; approve it anew", react.ErrProgram, req.Argv[0], what)
}
