//go:build !unix

package jsonfile

import (
	"io/fs"
	"path/filepath"
)

// Own returns a path without its symbolic links. Who else may change it is not checked here.
//
// Errors: those of the file system.
func Own(path string) (string, error) { return filepath.EvalSymlinks(path) }

// Writers checks nothing here.
func Writers(string, fs.FileInfo) error { return nil }
