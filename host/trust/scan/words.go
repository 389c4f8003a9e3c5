package scan

import (
	_ "embed"
	"fmt"
	"strings"
)

// vocabularyText is the vocabulary. What it holds is described in it.
//
//go:embed vocabulary.txt
var vocabularyText string

// concept is a set of meanings that a word can have for the rules.
type concept uint64

// Meanings that code knows: those that come from the place of a word, and some that
// matter before words are looked up. All others have their names from the vocabulary
// alone.
const (
	angled    concept = 1 << iota // behind < or | or [
	colon                         // before a colon
	lineStart                     // first of its line
	pipe                          // behind |
	recipient                     // an email address
	dest                          // an address
	toolName                      // snake_case name of a tool
	roleTag
	callTag
	power
	system
	ciphered
)

// knownMeanings are the names of these, in their order.
var knownMeanings = []string{
	"angled", "colon", "line-start", "pipe", "recipient", "dest", "tool-name", "role-tag", "call-tag", "power", "system", "ciphered",
}

// signs are meanings that come from the place of a word. They are not looked
// for by the first pass, which reads words alone.
const signs = angled | colon | lineStart | dest | recipient | toolName | pipe

// meanings gives the names of meanings.
type meanings map[string]concept

func newMeanings() meanings {
	m := meanings{}
	for i, name := range knownMeanings {
		m[name] = 1 << i
	}
	return m
}

// add returns the meaning of a name, a new one for a name that is new. There are at
// most 64.
func (m meanings) add(name string) (concept, error) {
	if c, ok := m[name]; ok {
		return c, nil
	}
	if len(m) == 64 {
		return 0, fmt.Errorf("%q is one meaning too many", name)
	}
	m[name] = 1 << len(m)
	return m[name], nil
}

// any returns the meanings of names, with sep between them.
func (m meanings) any(names, sep string) (c concept, err error) {
	for name := range strings.SplitSeq(names, sep) {
		one, ok := m[name]
		if !ok {
			return 0, fmt.Errorf("%q is no meaning", name)
		}
		c |= one
	}
	return c, nil
}

// readVocabulary calls word for each word of a vocabulary, with its meaning. Errors
// name the line.
func readVocabulary(text string, m meanings, word func(w string, c concept) error) error {
	var meaning concept
	return eachLine(text, func(line string) (err error) {
		if header, ok := strings.CutPrefix(line, "["); ok {
			name, about, _ := strings.Cut(header, "]")
			if strings.TrimSpace(about) == "" {
				return fmt.Errorf("the meaning %q has no explanation", name)
			}
			meaning, err = m.add(name)
			return err
		}
		if meaning == 0 {
			return fmt.Errorf("words before the first meaning")
		}
		for w := range strings.FieldsSeq(line) {
			if err := word(w, meaning); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachLine calls fn for the lines of a text but blank ones and comments, and names the
// line of its error.
func eachLine(text string, fn func(line string) error) error {
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if err := fn(line); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return nil
}
