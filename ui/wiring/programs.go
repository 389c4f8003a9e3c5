package wiring

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"eventdeck/host/event"
	"eventdeck/host/react"
)

// programs collects the programs that servers and rules start: confined commands must not change
// them.
type programs struct {
	servers func() ([]event.Server, error) // nil: there are none

	mu        sync.Mutex
	ofRules   []string
	ofServers []string // as of the last configuration that could be read
}

// take sets the programs that the rules of a file start.
func (p *programs) take(f react.File) {
	var all []string
	for _, r := range f.Rules {
		for _, c := range r.Do.Commands() {
			all = append(all, c.Argv[0])
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ofRules = all
}

// all returns the paths of the programs, and of the files among the arguments of servers: the
// program of an interpreter is there.
func (p *programs) all() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.servers != nil {
		if servers, err := p.servers(); err == nil { // no new program is started while the file is invalid
			p.ofServers = nil
			for _, s := range servers {
				p.ofServers = append(p.ofServers, startedBy(s)...)
			}
		}
	}
	return slices.Concat(p.ofRules, p.ofServers)
}

func startedBy(s event.Server) (all []string) {
	if s.Command == "" {
		return nil
	}
	for i, word := range append([]string{s.Command}, s.Args...) {
		switch {
		case filepath.IsAbs(word):
		case i == 0 && !strings.ContainsRune(word, filepath.Separator):
			found, err := exec.LookPath(word)
			if err != nil {
				continue // it cannot be started
			}
			word = found
		default:
			word = filepath.Join(s.Dir, word)
		}
		if info, err := os.Stat(word); i == 0 || err == nil && info.Mode().IsRegular() {
			all = append(all, word)
		}
	}
	return all
}
