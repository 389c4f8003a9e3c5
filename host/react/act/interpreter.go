package act

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"eventdeck/host/react"
)

// Bounds of the search for the interpreters of a script.
const (
	firstLine = 256 // bytes of a first line; Linux reads no longer ones
	maxNested = 5   // interpreters that are scripts themselves; the same as in Linux
)

// envDirs are the directories that a C library searches without PATH.
const envDirs = "/bin:/usr/bin"

var errNested = errors.New("its interpreters are scripts, too many of them")

// searchPath returns the directories that env searches, given the variables of a command.
func searchPath(names []string, env func(string) (string, bool)) string {
	if slices.Contains(names, "PATH") {
		if value, ok := env("PATH"); ok {
			return value
		}
	}
	return envDirs
}

// interpreters returns the programs that run a script, in the order in which they are found: the
// one that its first line names or, if that is env, the one that env finds in the command's search
// path, and so on down to a binary. A binary has none.
//
// Error: [react.ErrProgram], also if it cannot be determined which program would be started.
func interpreters(script, search string) (all []react.Interpreter, err error) {
	for file := script; ; {
		name, args, err := namedBy(file, search)
		if err == nil && name != "" && len(all) == maxNested {
			err = errNested
		}
		if err != nil {
			return nil, fmt.Errorf("%w %q: %w", react.ErrProgram, file, err)
		}
		if name == "" {
			return all, nil
		}
		path, sum, err := Program(name)
		if err != nil {
			return nil, fmt.Errorf("interpreter of %q: %w", file, err)
		}
		all = append(all, react.Interpreter{Name: name, Args: args, Path: path, Program: sum})
		file = path
	}
}

// namedBy returns the interpreter that the first line of a file names, with its arguments, or
// what env finds in its place. The name is "" if the file is not a script.
func namedBy(file, search string) (name string, args []string, err error) {
	name, arg, err := readFirstLine(file)
	if err != nil || name == "" {
		return "", nil, err
	}
	if !filepath.IsAbs(name) {
		return "", nil, fmt.Errorf("its first line names %q; name the interpreter by its absolute path", name)
	}
	switch {
	case filepath.Base(name) == "env": // multi-call binaries recognise env by this name
		return foundByEnv(arg, search)
	case runtime.GOOS == "darwin": // which splits the line
		args = strings.Fields(arg)
	case arg != "":
		args = []string{arg}
	}
	return name, args, nil
}

// readFirstLine reads the interpreter and its one argument from the first line of a script. The
// name is "" if the file is not a script.
func readFirstLine(file string) (name, arg string, err error) {
	if runtime.GOOS == "windows" {
		return "", "", nil
	}
	f, err := os.Open(file)
	if err != nil {
		return "", "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	head := make([]byte, firstLine)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return "", "", err
	}
	line, is := bytes.CutPrefix(head[:n], []byte("#!"))
	if !is {
		return "", "", nil
	}
	line, _, ended := bytes.Cut(line, []byte("\n"))
	if !ended && n == firstLine {
		return "", "", fmt.Errorf("its first line is longer than %d bytes", firstLine)
	}
	text := strings.Trim(string(line), " \t")
	if text == "" {
		return "", "", errors.New("its first line names no interpreter")
	}
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		return text[:i], strings.TrimLeft(text[i:], " \t"), nil
	}
	return text, "", nil
}

// foundByEnv returns the program that env starts for its argument, and the arguments that it
// hands on. Variables, quotes, and options other than -S are refused, as they may change the
// result.
func foundByEnv(arg, search string) (path string, args []string, err error) {
	words := []string{arg}
	line, split := strings.CutPrefix(arg, "-S")
	if split || runtime.GOOS == "darwin" { // macOS itself splits the line
		words = append(strings.FieldsFunc(line, func(r rune) bool { return r == ' ' }), "")
		args = words[1 : len(words)-1]
	}
	name := words[0]
	if name == "" || name[0] == '-' || strings.Contains(name, "=") || strings.ContainsAny(arg, "\"'\\$#\t\v\f\r") {
		return "", nil, fmt.Errorf("its first line has env find %q, and it cannot be told which program that is; name the interpreter by its absolute path", arg)
	}
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			return "", nil, fmt.Errorf("its first line has env find %q; name the interpreter by its absolute path", name)
		}
		return name, args, nil
	}
	for _, dir := range filepath.SplitList(search) {
		if !filepath.IsAbs(dir) {
			return "", nil, fmt.Errorf("PATH has the relative directory %q, and env looks there for %q", dir, name)
		}
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return path, args, nil
		}
	}
	return "", nil, fmt.Errorf("its first line has env find %q, which is not in %s; name the interpreter by its absolute path, or PATH in the rule's env", name, search)
}
