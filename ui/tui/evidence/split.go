// Splits typed lines into words, as a shell does, and quotes words for such lines. It
// also parses times and arguments.

package evidence

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// errBackslash: a line ends with a backslash that escapes nothing.
var errBackslash = errors.New("nothing follows the last backslash")

// Split splits a line at blanks that are not in quotes. A backslash escapes the next character.
// Error: a quote is not closed, or the line ends with a backslash.
func Split(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	begun, escaped, quote := false, false, rune(0)
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			begun, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			begun, quote = true, r
		case unicode.IsSpace(r):
			if begun {
				words = append(words, word.String())
				word.Reset()
				begun = false
			}
		default:
			begun = true
			word.WriteRune(r)
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote %c is not closed", quote)
	}
	if escaped {
		return nil, errBackslash
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}

// Quote quotes a word, if needed, so that [Split] returns it.
func Quote(w string) string {
	if w != "" && !strings.ContainsFunc(w, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`"'\`, r) }) {
		return w
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(w) + `"`
}
