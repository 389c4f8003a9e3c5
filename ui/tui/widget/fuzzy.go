package widget

import (
	"slices"
	"strings"
	"unicode"
)

// fuzzyScore tells how well text answers what was typed, 0 for not at all. Every
// word must be there: best as the start of a word, then anywhere, then as its
// letters in order. text is in lower case.
func fuzzyScore(typed []string, text string) int {
	if len(typed) == 0 {
		return 1
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
	if best == 0 {
		best = scatterScore(word, text)
	}
	return best
}

// scatterScore rates the letters of a word in order: side by side is best, then
// at the starts of words. Letters that are too scattered are no match.
func scatterScore(word, text string) int {
	score, at, last := 300, 0, -1
	for _, r := range word {
		i := strings.IndexRune(text[at:], r)
		if i < 0 {
			return 0
		}
		at += i
		if last >= 0 && at != last {
			score -= 20 + min(at-last, 20)
			if letter(text[at-1]) {
				score -= 40
			}
		}
		at += len(string(r))
		last = at
	}
	if score < 150 {
		return 0
	}
	return score
}

func letter(b byte) bool {
	return b >= 0x80 || unicode.IsLetter(rune(b)) || unicode.IsDigit(rune(b))
}

// rank returns the indexes of the n texts that answer what was typed, the best
// first; equals stay in order. text returns lower case.
func rank(typed string, n int, text func(int) string) []int {
	words := strings.Fields(strings.ToLower(typed))
	var found []int
	scores := make([]int, n)
	for i := range n {
		if scores[i] = fuzzyScore(words, text(i)); scores[i] > 0 {
			found = append(found, i)
		}
	}
	if len(words) > 0 {
		slices.SortStableFunc(found, func(x, y int) int { return scores[y] - scores[x] })
	}
	return found
}
