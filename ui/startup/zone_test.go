package startup

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestMain plays a start of the program under a TZ for TestZoneOfTheStart.
func TestMain(m *testing.M) {
	if os.Getenv("EVENTDECK_TEST_ZONE") == "" {
		os.Exit(m.Run())
	}
	time.Local = time.UTC // as Go found it where there are no zone files
	err := UseZone()
	os.Stdout.WriteString(time.Local.String())
	if err != nil {
		os.Stdout.WriteString(" " + err.Error())
	}
}

func TestZoneOfTheStart(t *testing.T) {
	for tz, want := range map[string]string{
		"Europe/Berlin": "Europe/Berlin", ":Europe/Berlin": "Europe/Berlin", "/usr/share/zoneinfo/Asia/Tokyo": "Asia/Tokyo",
		"UTC": "UTC", "": "UTC",
		"Nowhere/City": `UTC TZ is "Nowhere/City", which names no time zone; times are in UTC`,
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), "EVENTDECK_TEST_ZONE=1", "TZ="+tz)
		if got, err := cmd.Output(); err != nil || strings.TrimSpace(string(got)) != want {
			t.Errorf("%q: %s, %v; want %s", tz, got, err, want)
		}
	}
}
