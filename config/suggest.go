package config

import "slices"

// closest is Closest for a key as it may be written: in any case, with - for _.
func closest(name string, words []string) string {
	return Closest(asLookedUp(name), words)
}

// Closest returns the word that is closest to name, or "" if more than a third of
// the characters differ for each. Of equally close words it returns the first in
// the alphabet.
func Closest(name string, words []string) string {
	if len(name) > maxShown {
		return "" // no word is that long, and the comparison would be slow
	}
	best, least := "", len(name)+1
	for _, w := range slices.Sorted(slices.Values(words)) {
		if d := distance(name, w); d < least && 3*d <= max(len(name), len(w)) {
			best, least = w, d
		}
	}
	return best
}

// distance is the edit distance of a and b in bytes: the least number of insertions,
// deletions, substitutions and swaps of neighbours that turn one into the other,
// without editing a byte twice (optimal string alignment; Damerau 1964).
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := last[j-1]
			if a[i-1] != b[j-1] {
				cost++
			}
			row[j] = min(cost, row[j-1]+1, last[j]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
