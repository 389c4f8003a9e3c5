package scan

import (
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// rulesText has the rules. It describes their syntax.
//
//go:embed rules.txt
var rulesText string

// rule is a sequence of meanings that addresses an AI.
type rule struct {
	flag   Flag
	weight int // 2: a highlight; 3: enough for the badge
	steps  []match
}

// match is one word of a rule.
type match struct {
	any concept // the word has one of these meanings
	all concept // it has all of these
	gap int     // at most this many words before it
	not concept // none of these in the two words before it
	rev bool    // it may stand on either side of the first word, within the gap
}

// possible reports whether words with these meanings could match.
func (r *rule) possible(seen concept) bool {
	for _, s := range r.steps {
		if s.any&signs == 0 && s.any&seen == 0 {
			return false
		}
		if s.any&angled != 0 && s.any&^signs == 0 && seen&angled == 0 {
			return false
		}
		if need := s.all &^ signs; need&seen != need || s.all&angled != 0 && seen&angled == 0 {
			return false
		}
	}
	return true
}

// readRules parses rules with the meanings of a vocabulary.
func readRules(text string, m meanings) (rules []rule, err error) {
	err = eachLine(text, func(line string) error {
		r, err := readRule(line, m)
		rules = append(rules, r)
		return err
	})
	return rules, err
}

func readRule(line string, m meanings) (r rule, err error) {
	words := strings.Fields(line)
	if len(words) < 3 {
		return r, errors.New("a rule has a flag, a weight and words")
	}
	r.flag = Flag(words[0])
	if r.flag.Reason() == "" {
		return r, fmt.Errorf("%q is no flag", words[0])
	}
	if r.weight, err = strconv.Atoi(words[1]); err != nil || r.weight != 2 && r.weight != 3 {
		return r, fmt.Errorf("the weight is %q, not 2 or 3", words[1])
	}
	var next match
	distance := false
	for _, w := range words[2:] {
		before, isGap := strings.CutPrefix(w, "..")
		around, isAround := strings.CutPrefix(w, "~")
		if isGap || isAround {
			if distance || len(r.steps) == 0 {
				return r, fmt.Errorf("%q has no word on both sides", w)
			}
			distance, next.rev = true, isAround
			if isAround {
				before = around
			}
			if next.gap, err = strconv.Atoi(before); err != nil {
				return r, fmt.Errorf("%q is no distance", w)
			}
			continue
		}
		if err := next.read(w, m); err != nil {
			return r, err
		}
		r.steps = append(r.steps, next)
		next, distance = match{}, false
	}
	if distance {
		return r, errors.New("it ends with a distance")
	}
	return r, nil
}

// read reads the meanings of one word: a|b&c&d!e.
func (s *match) read(w string, m meanings) (err error) {
	w, not, negated := strings.Cut(w, "!")
	w, all, more := strings.Cut(w, "&")
	if s.any, err = m.any(w, "|"); err != nil {
		return err
	}
	if more {
		if s.all, err = m.any(all, "&"); err != nil {
			return err
		}
	}
	if negated {
		s.not, err = m.any(not, "|")
	}
	return err
}
