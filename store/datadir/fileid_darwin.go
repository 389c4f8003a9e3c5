package datadir

import (
	"fmt"
	"syscall"
)

// BirthTime returns when a file was made, "" where the file system does not tell. A copy may keep that, but
// not the number of the file.
func BirthTime(path string) string {
	var st syscall.Stat_t
	if err := syscall.Stat(path, &st); err != nil {
		return ""
	}
	return fmt.Sprintf("%d.%09d %d", st.Birthtimespec.Sec, st.Birthtimespec.Nsec, st.Ino)
}
