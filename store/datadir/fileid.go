package datadir

// FileID returns an id of a file that a copy does not share, and that stays over renaming and
// restarts of the machine: "made " and when it was made. Where the file system does not tell
// that, it is "at " and the path, which renaming changes.
func FileID(path string) string {
	if made := BirthTime(path); made != "" {
		return "made " + made
	}
	return "at " + path
}
