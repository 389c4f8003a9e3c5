package widget

import (
	"slices"
	"strings"
	"unicode"
)

// score rates how well a text in lower case matches the typed words, which are also given as one
// line; 0 is no match. The text must contain every word; a match at the beginning of a word counts
// more than one inside.
func score(typed []string, line, text string) int {
	if len(typed) == 0 {
		return 1
	}
	if len(typed) > 1 && strings.HasPrefix(text, line) {
		return 2000 // more than any match of single words
	}
	sum := 0
	for _, word := range typed {
		s := wordScore(word, text)
		if s == 0 {
			return 0
		}
		sum += s
	}
	return max(1, sum/len(typed)-min(len(text), 60)/10)
}

func wordScore(word, text string) int {
	best := 0
	for from := 0; from < len(text); {
		i := strings.Index(text[from:], word)
		if i < 0 {
			break
		}
		at := from + i
		switch {
		case at == 0 && (len(text) == len(word) || !letter(text[len(word)])):
			return 1100
		case at == 0:
			best = 1000
		case !letter(text[at-1]):
			best = max(best, 900-min(at, 100))
		default:
			best = max(best, 600-min(at, 100))
		}
		from = at + 1
	}
	return best
}

func letter(b byte) bool {
	return b >= 0x80 || unicode.IsLetter(rune(b)) || unicode.IsDigit(rune(b))
}

// rank returns the indexes of the texts that match the typed words, the best first. Texts with the
// same score keep their order. text returns one of n texts, in lower case.
func rank(typed string, n int, text func(int) string) []int {
	words := strings.Fields(strings.ToLower(typed))
	line := strings.Join(words, " ")
	var found []int
	scores := make([]int, n)
	for i := range n {
		if scores[i] = score(words, line, text(i)); scores[i] > 0 {
			found = append(found, i)
		}
	}
	if len(words) > 0 {
		slices.SortStableFunc(found, func(x, y int) int { return scores[y] - scores[x] })
	}
	return found
}
