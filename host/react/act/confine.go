// Restricts a command of a reaction to what its rule names: on Linux with
// Landlock for files, signals and TCP, and with seccomp for calls that would get around it. On
// other systems confinement is not possible, and [Check] says so.
//
// A confinement can never be relaxed. A process confines itself with [Spec.Apply] and then
// becomes the command by exec: whatever the command starts is confined too.

package act

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"eventdeck/host/react"
)

// Spec is a confinement. Its paths must have no symbolic links: a link that was made after
// [Check] is not followed.
type Spec struct {
	Read  []string `json:"read"`  // in addition to [System]; with everything below
	Write []string `json:"write"` // may be read too
	Run   []string `json:"run"`   // may be read and executed
	Net   bool     `json:"net"`
	// Program is the descriptor of a file that may be read and executed; 0: none.
	Program uintptr `json:"-"`
	// Sockets are Unix sockets that may be connected to, if the kernel restricts sockets.
	Sockets []string `json:"sockets"`
	// Guarded are processes that must not be signalled, for kernels that cannot restrict
	// signals to the confinement.
	Guarded []int `json:"guarded"`
}

// System returns what every confined command may read and execute: the programs, libraries and
// configuration of the system, and /proc.
func System() []string {
	return []string{
		"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/gnu/store", "/etc",
		"/run/current-system", "/run/systemd/resolve", "/proc",
	}
}

// Check returns the level at which a rule's confinement is possible here, in words. hidden are
// paths that no confinement may open, with the targets of their links and everything below.
// programs are files that none may write, with the targets of their links.
//
// Error: [react.ErrBoundary].
func Check(c react.Confine, hidden, programs []string) (string, error) {
	if err := hides(c, hidden); err != nil {
		return "", err
	}
	if err := keeps(c.Write, programs); err != nil {
		return "", err
	}
	return level(c.Net)
}

// hides refuses paths through which something hidden could be reached: Landlock opens a
// directory with everything below it, and knows no exceptions.
func hides(c react.Confine, hidden []string) error {
	covered, err := resolved(hidden)
	if err != nil {
		return err
	}
	open := map[string][]string{"confine.read": c.Read, "confine.write": c.Write, "what every confined command may read": System()}
	for what, paths := range open {
		system := what != "confine.read" && what != "confine.write"
		for _, path := range paths {
			real, err := filepath.EvalSymlinks(path)
			switch {
			case err != nil && system:
				continue // this system has none
			case err != nil:
				return fmt.Errorf("%w: %s: %w", react.ErrBoundary, what, err)
			}
			for _, h := range covered {
				if isWithin(h, real) || isWithin(real, h) && !system {
					return fmt.Errorf("%w: %s opens %s, where eventdeck keeps what commands must not reach (%s); name narrower paths, or keep that elsewhere", react.ErrBoundary, what, path, h)
				}
			}
		}
	}
	return nil
}

// keeps refuses to make programs writable that run outside of the confinement: a command that
// replaced one would act with all rights.
func keeps(write, programs []string) error {
	covered, err := resolved(programs)
	if err != nil {
		return err
	}
	for _, path := range write {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return fmt.Errorf("%w: confine.write: %w", react.ErrBoundary, err)
		}
		for _, program := range covered {
			if isWithin(program, real) {
				return fmt.Errorf("%w: confine.write opens %s, and with it a program that eventdeck starts (%s); name narrower paths, or keep the program elsewhere", react.ErrBoundary, path, program)
			}
		}
	}
	return nil
}

// resolved returns each path and the target of its links; for a directory also the targets of the
// links in it, such as a rules.json that is stored elsewhere.
func resolved(paths []string) ([]string, error) {
	var all []string
	add := func(path string) (real string, err error) {
		all = append(all, realParent(path))
		real, err = filepath.EvalSymlinks(path)
		switch {
		case err == nil:
			all = append(all, real)
		case !errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("%w: %w", react.ErrBoundary, err)
		}
		return real, nil
	}
	for _, path := range paths {
		if path == "" {
			continue
		}
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", react.ErrBoundary, err)
		}
		real, err := add(abs)
		if err != nil {
			return nil, err
		}
		entries, _ := os.ReadDir(real) // none if it is a file, or does not exist
		for _, entry := range entries {
			if entry.Type()&fs.ModeSymlink == 0 {
				continue
			}
			if _, err := add(filepath.Join(real, entry.Name())); err != nil {
				return nil, err
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// realParent resolves the links of a path's directories. The path itself may be a link, or not
// exist yet.
func realParent(path string) string {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return path
	}
	return filepath.Join(dir, filepath.Base(path))
}

// isWithin reports whether path is dir or below it.
func isWithin(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
