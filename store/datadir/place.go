package datadir

// PlaceOf says which file a database is. A file that is renamed stays the same, also over
// restarts of the machine, and a copy of it is another one: that is told by when it was made.
// Where the file system does not tell, the path has to do, and a renamed file is another
// one too.
func PlaceOf(path string) string {
	if born := Born(path); born != "" {
		return "made " + born
	}
	return "at " + path
}
