// Package startup looks at the system at the start of the program: the time zone, and the room for
// threads. What is missing there is an error with what to do, not a crash.
package startup

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
	_ "time/tzdata" // for systems without zone files
)

// localZone is where the zone of the system is, or a link to it.
const localZone = "/etc/localtime"

// UseZone makes the zone that TZ or the system names the local one, also without zone files: a
// library asks for the local zone before Go has the embedded ones, and Go keeps what it found
// then, which is UTC. Only main may call it, before anything else.
//
// Error: TZ names no zone; UTC holds.
func UseZone() error {
	name, set := os.LookupEnv("TZ")
	if runtime.GOOS == "windows" || time.Local.String() != "UTC" || set && name == "" {
		return nil
	}
	if !set {
		var err error
		if name, err = os.Readlink(localZone); err != nil {
			return nil // UTC is the system's own
		}
	}
	zone, err := zoneOf(name)
	switch {
	case err == nil:
		time.Local = zone
	case set:
		return fmt.Errorf("TZ is %q, which names no time zone; times are in UTC", name)
	}
	return nil
}

// zoneOf returns the zone of a value of TZ, or of the path of a zone file.
func zoneOf(name string) (*time.Location, error) {
	name = strings.TrimPrefix(name, ":")
	if _, in, ok := strings.Cut(name, "zoneinfo/"); ok {
		name = in
	}
	return time.LoadLocation(name)
}
