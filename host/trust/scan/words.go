package scan

import (
	_ "embed"
	"fmt"
	"strings"
)

// vocabularyText is the vocabulary. It describes its syntax.
//
//go:embed vocabulary.txt
var vocabularyText string

// concept is a set of meanings that a word can have for the rules.
type concept uint64

// Meanings that the code uses: those of a word's position, and some that matter before
// words are looked up. All others are defined by the vocabulary alone.
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

// knownMeanings are the names of these meanings, in the same order.
var knownMeanings = []string{
	"angled", "colon", "line-start", "pipe", "recipient", "dest", "tool-name", "role-tag", "call-tag", "power", "system", "ciphered",
}

// signs are the meanings of a word's position. The first pass, which reads only words, does
// not see them.
const signs = angled | colon | lineStart | dest | recipient | toolName | pipe

// meanings maps names to meanings.
type meanings map[string]concept

func newMeanings() meanings {
	m := meanings{}
	for i, name := range knownMeanings {
		m[name] = 1 << i
	}
	return m
}

// add returns the meaning of a name, and defines it if it is new. There are at most 64.
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

// any returns the union of the meanings of names separated by sep.
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

// readVocabulary calls word with each word of a vocabulary and its meaning. Errors name the
// line.
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

// eachLine calls fn with each line of a text except blanks and comments. Errors name the
// line.
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
