package config

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
)

// errNoHome: the home directory is unknown.
var errNoHome = errors.New("no home directory is known: set HOME, or give --data DIR, and --config FILE if there are servers")

// Paths returns where the files of a program belong on a system.
type Paths struct {
	System string // as [runtime.GOOS]
	Env    Env
	Home   string // the user's home directory, "" if unknown
}

// OwnPaths returns the places of this process. Where the environment names no home directory, as in
// units of systemd and in containers, it is the one that the system's list of users names.
func OwnPaths() Paths {
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		home = ""
		if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) {
			home = u.HomeDir
		}
	}
	return Paths{System: runtime.GOOS, Env: os.LookupEnv, Home: home}
}

// ConfigFile returns the default configuration file.
func (p Paths) ConfigFile() (string, error) {
	dir, err := p.base("XDG_CONFIG_HOME", "AppData", []string{"AppData", "Roaming"}, []string{".config"})
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "eventdeck", "servers.json"), nil
}

// DataDir returns the default directory of the store.
func (p Paths) DataDir() (string, error) {
	dir, err := p.base("XDG_STATE_HOME", "LocalAppData", []string{"AppData", "Local"}, []string{".local", "state"})
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "eventdeck"), nil
}

// base returns the system's directory for such files: that of an environment variable if it is an
// absolute path, else one below the home directory. (XDG Base Directory Specification 0.8: relative
// paths are ignored.)
func (p Paths) base(xdg, windowsVar string, windows, unix []string) (string, error) {
	variable, below := xdg, unix
	switch p.System {
	case "darwin":
		variable, below = "", []string{"Library", "Application Support"}
	case "windows":
		variable, below = windowsVar, windows
	}
	if dir, ok := p.Env(variable); ok && variable != "" && filepath.IsAbs(dir) {
		return dir, nil
	}
	if p.Home == "" {
		return "", errNoHome
	}
	return filepath.Join(append([]string{p.Home}, below...)...), nil
}
