package config

// Nearest returns the name that was probably meant, "" if none is near: about one mistake in three
// letters is allowed.
func Nearest(word string, names []string) string {
	letters := []rune(word)
	best, least := "", (len(letters)+2)/3+1
	for _, name := range names {
		if d := distance(letters, []rune(name)); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance is the Levenshtein distance: how many letters must be changed, added
// or removed.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			cost := diagonal
			if x != y {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
