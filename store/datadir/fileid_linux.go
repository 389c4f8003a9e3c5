package datadir

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// BirthTime returns when a file was made, "" where the file system does not tell. No program can set it.
func BirthTime(path string) string {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_BTIME, &st); err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return ""
	}
	return fmt.Sprintf("%d.%09d", st.Btime.Sec, st.Btime.Nsec)
}
