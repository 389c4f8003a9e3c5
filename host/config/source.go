package config

import "errors"

// ErrNoFile: no configuration file is known.
var ErrNoFile = errors.New("no configuration file is known; name one with --config")

// Source is the configuration file, and the places of the files of other clients.
type Source struct {
	File    string // the configuration file
	Paths   Paths  // of this user and system
	Present string // directory whose project files of other clients are read, "" for none
}

// Drafts returns the servers of the file with variables not expanded.
//
// Errors: [ErrFile], [ErrNoFile].
func (s Source) Drafts() ([]Draft, error) {
	if s.File == "" {
		return nil, ErrNoFile
	}
	f, err := Load(s.File, false, s.Paths.Env)
	if err != nil {
		return nil, err
	}
	return f.Drafts(), nil
}

// Add is [Add] on the file.
func (s Source) Add(drafts ...Draft) error {
	if s.File == "" {
		return ErrNoFile
	}
	return Add(s.File, drafts...)
}

// Remove is [Remove] on the file.
func (s Source) Remove(name string) error {
	if s.File == "" {
		return ErrNoFile
	}
	return Remove(s.File, name)
}

// DiscoverFile is [DiscoverFile] with the servers of the configuration.
func (s Source) DiscoverFile(path string) ([]Found, []error) {
	have, err := s.Drafts()
	if err != nil {
		return nil, []error{err}
	}
	return DiscoverFile(s.Paths, path, have)
}

// Discover is [Discover] with the servers of the file. If the file cannot be read, it finds
// nothing.
func (s Source) Discover() ([]Found, []error) {
	have, err := s.Drafts()
	if err != nil {
		return nil, []error{err}
	}
	return Discover(s.Paths, s.Present, have)
}
