package datadir

import (
	"fmt"
	"syscall"
)

// Born says when a file was made, "" where that is not known. A copy may keep that, but
// not the number of the file.
func Born(path string) string {
	var st syscall.Stat_t
	if err := syscall.Stat(path, &st); err != nil {
		return ""
	}
	return fmt.Sprintf("%d.%09d %d", st.Birthtimespec.Sec, st.Birthtimespec.Nsec, st.Ino)
}
