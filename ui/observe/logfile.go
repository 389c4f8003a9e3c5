// Package observe has the log file of the program, profiles over HTTP, and metrics over
// OpenTelemetry.
package observe

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// Bounds of a log file.
const (
	logBytes = 10 << 20 // of one file
	logFiles = 3        // older files that are kept, as FILE.1 to FILE.3
)

// LogFile is a log that begins a new file at 10 MiB, and keeps three older ones. Only the user can
// read it. Its methods may be called from any goroutine.
type LogFile struct {
	path string
	max  int64

	mu   sync.Mutex
	file *os.File
	size int64
}

// OpenLog opens or makes the file at path, and appends to it.
//
// Errors: those of the file system.
func OpenLog(path string) (*LogFile, error) {
	l := &LogFile{path: path, max: logBytes}
	if err := l.open(); err != nil {
		return nil, fmt.Errorf("log file: %w", err)
	}
	return l, nil
}

func (l *LogFile) open() error {
	file, err := os.OpenFile(l.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	l.file, l.size = file, info.Size()
	return nil
}

// Write implements [io.Writer]. One call is one line, which stays in one file.
func (l *LogFile) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return 0, fs.ErrClosed
	}
	// A pipe or device, such as /dev/stderr, has no size.
	if l.size > 0 && l.size+int64(len(line)) > l.max {
		if err := l.rotate(); err != nil {
			return 0, err
		}
	}
	n, err := l.file.Write(line)
	l.size += int64(n)
	return n, err
}

// rotate begins a new file: FILE becomes FILE.1, that FILE.2, and so on.
func (l *LogFile) rotate() error {
	if info, err := l.file.Stat(); err != nil || !info.Mode().IsRegular() {
		l.size = 0
		return err
	}
	if err := l.file.Close(); err != nil {
		return err
	}
	l.file = nil
	for n := logFiles - 1; n >= 0; n-- {
		err := os.Rename(l.name(n), l.name(n+1))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(err, l.open())
		}
	}
	return l.open()
}

func (l *LogFile) name(n int) string {
	if n == 0 {
		return l.path
	}
	return fmt.Sprintf("%s.%d", l.path, n)
}

// Close closes the file; later lines are lost.
//
// Errors: those of the file system.
func (l *LogFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	file := l.file
	l.file = nil
	return file.Close()
}
