package private

import "io/fs"

// ModesMatter: access on Windows is a matter of the lists that the user's profile
// directory hands down; modes say nothing there.
const ModesMatter = false

const noFollow = 0

// CheckOwner does nothing here: see [ModesMatter].
func CheckOwner(fs.FileInfo) error { return nil }

// SyncDir does nothing here: names are on the disk when the call that made them returns.
func SyncDir(string) error { return nil }
