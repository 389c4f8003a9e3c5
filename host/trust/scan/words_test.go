package scan

import (
	"strings"
	"testing"
)

func TestRulesUseTheWholeVocabulary(t *testing.T) {
	names, words := newMeanings(), map[concept]bool{}
	if err := readVocabulary(vocabularyText, names, func(_ string, c concept) error { words[c] = true; return nil }); err != nil {
		t.Fatal(err)
	}
	rules, err := readRules(rulesText, names)
	if err != nil {
		t.Fatal(err)
	}
	used, seen := concept(0), map[string]bool{}
	for line := range strings.Lines(rulesText) {
		if line[0] != '#' && strings.TrimSpace(line) != "" && seen[line] {
			t.Errorf("twice: %s", line)
		}
		seen[line] = true
	}
	for _, r := range rules {
		for _, s := range r.steps {
			used |= s.any | s.all | s.not
		}
	}
	for name, c := range names {
		if used&c == 0 {
			t.Errorf("no rule uses %s", name)
		}
		if !words[c] && c&signs == 0 {
			t.Errorf("no word means %s", name)
		}
	}
}

func TestMistakesInRulesAreNamed(t *testing.T) {
	const vocabulary = "# words\n[a] one\nalpha\n[b] other\nbeta\n"
	for _, c := range []struct{ vocabulary, rules, want string }{
		{vocabulary, "inj.role 3 a&b!a|b ~2 b ..3 a&lost\n", `rules: line 1: "lost" is no meaning`},
		{vocabulary, "\ninj.role 3 c", `rules: line 2: "c" is no meaning`},
		{vocabulary, "inj.role 3 a!c", `"c" is no meaning`},
		{vocabulary, "inj.role 3", "a rule has a flag, a weight and words"},
		{vocabulary, "inj.rule 3 a", `"inj.rule" is no flag`},
		{vocabulary, "inj.role 1 a", `the weight is "1", not 2 or 3`},
		{vocabulary, "inj.role 2 ..3 a", `"..3" has no word on both sides`},
		{vocabulary, "inj.role 2 a ..3 ~2 b", `"~2" has no word on both sides`},
		{vocabulary, "inj.role 2 a ..x b", `"..x" is no distance`},
		{vocabulary, "inj.role 2 a ..3", "it ends with a distance"},
		{"alpha", "", "vocabulary: line 1: words before the first meaning"},
		{"[a]\nalpha", "", `vocabulary: line 1: the meaning "a" has no explanation`},
		{"[a] one\nalpha*", "", `vocabulary: line 2: "alpha": a word with any ending has at least 8 bytes`},
	} {
		if _, err := buildDictionary(c.vocabulary, c.rules); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, %q: got %v, want %s", c.vocabulary, c.rules, err, c.want)
		}
	}
}
