package manifest

// nearest gives the known key that name probably means, "" when none is near.
func nearest(name string, keys []key) string {
	best, distance := "", 3 // so at most two slips
	for _, k := range keys {
		// A short key is near to everything.
		if d := edits(name, k.name); d < distance && d*2 < len(k.name) {
			best, distance = k.name, d
		}
	}
	return best
}

// edits is the Levenshtein distance of two keys, in bytes.
func edits(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return max(len(a), len(b))
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
