package startup

import (
	"strings"
	"syscall"
	"testing"
)

func TestLimitedAddressSpaceIsSaid(t *testing.T) {
	if err := EnoughSpace(); err != nil {
		t.Skip(err)
	}
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &before); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: 1400000 << 10, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	err := EnoughSpace()
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &before); err != nil {
		t.Fatal(err)
	}
	if err == nil || !strings.Contains(err.Error(), "limited to 1367 MiB") {
		t.Errorf("%v", err)
	}
}
