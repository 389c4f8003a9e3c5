package datadir

import (
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// BirthTime returns when a file was made, "" where the file system does not tell. A copy may keep that, but
// not the number of the file.
func BirthTime(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // it was only looked at
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info); err != nil {
		return ""
	}
	return fmt.Sprintf("%d %d.%d", info.CreationTime.Nanoseconds(), info.FileIndexHigh, info.FileIndexLow)
}
