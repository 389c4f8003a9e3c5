package datadir

import (
	"os"
	"slices"
	"strings"
	"time"
)

// A snapshot is a store of its own that holds everything but the log:
// subscriptions, cursors, leases, sealed secrets, settings. A store whose file is
// damaged begins again with the newest one.
const (
	snapshotPrefix = "snapshot-"
	snapshotSuffix = ".db"
	snapshotTime   = "20060102T150405Z"
)

// Snapshots returns the names of the snapshots in dir, newest first.
//
// Errors: those of the file system.
func Snapshots(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if n := e.Name(); strings.HasPrefix(n, snapshotPrefix) && strings.HasSuffix(n, snapshotSuffix) {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	slices.Reverse(names)
	return names, nil
}

// SnapshotName is the file name of a snapshot made at that time.
func SnapshotName(at time.Time) string {
	return snapshotPrefix + at.UTC().Format(snapshotTime) + snapshotSuffix
}

// SnapshotHour is the part of a snapshot's name that those of one hour share.
func SnapshotHour(name string) string { return name[:min(len(name), len("snapshot-20060102T15"))] }

// SnapshotAt returns when a snapshot was made.
//
// Errors: those of [time.Parse] for another name.
func SnapshotAt(name string) (time.Time, error) {
	return time.Parse(snapshotTime, strings.TrimSuffix(strings.TrimPrefix(name, snapshotPrefix), snapshotSuffix))
}
