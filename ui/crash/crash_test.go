package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const trace = "panic: cannot show whsec_c2VjcmV0 of {\"title\":\"pool\"}\n\tpanic: again\n\ngoroutine 34 [running]:\n" +
	"eventdeck/host/delivery.(*Runner).Run(0xc000102000, {0x7f, 0x1})\n\t/src/host/delivery/runner.go:112 +0x1d4\n" +
	"mail anna@example.com (now)\ncreated by eventdeck/host.(*Host).start in goroutine 1\n\t/src/host/run.go:40 +0x25\nexit status 2\n"

func TestReportHoldsNoData(t *testing.T) {
	got := Report(trace)
	for _, secret := range []string{"whsec", "pool", "anna", "0xc000102000"} {
		if strings.Contains(got, secret) {
			t.Errorf("%q is in the report:\n%s", secret, got)
		}
	}
	want := "panic (its words are left out: they may hold data)\ngoroutine 34 [running]:\neventdeck/host/delivery.(*Runner).Run\n" +
		"\t/src/host/delivery/runner.go:112 +0x1d4\ncreated by eventdeck/host.(*Host).start in goroutine 1\n\t/src/host/run.go:40 +0x25\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := Report("panic: runtime error: index out of range [3] with length 3\n"); !strings.Contains(got, "index out of range") {
		t.Errorf("the runtime's own words are gone: %q", got)
	}
}

func TestAccountNamesTheReport(t *testing.T) {
	task := task{Dir: filepath.Join(t.TempDir(), "crashes"), Version: "1.2"}
	now := time.Date(2026, 2, 19, 15, 0, 0, 0, time.UTC)
	if line := task.account(" \n", now); !strings.Contains(line, "it was killed") {
		t.Error(line)
	}
	for i := range reportsKept + 3 {
		line := task.account(trace, now.Add(time.Duration(i)*time.Minute))
		if !strings.Contains(line, fmt.Sprintf("crash-20260219T15%02d00Z.txt", i)) {
			t.Error(line)
		}
	}
	left, err := os.ReadDir(task.Dir)
	if err != nil || len(left) != reportsKept || left[0].Name() != "crash-20260219T150300Z.txt" {
		t.Error(left, err)
	}
	info, err := os.Stat(filepath.Join(task.Dir, left[0].Name()))
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Error(info.Mode(), err)
	}
}

// A signal is named, where the runtime names it, and its own goroutine never stands for the reason.
func TestAccountNamesTheSignal(t *testing.T) {
	task := task{Dir: t.TempDir()}
	const stacks = "PC=0x47a1c1 m=0 sigcode=0\n\ngoroutine 0 gp=0x1c6b0a0 m=0 mp=0x1c6bc20 [idle]:\nruntime.futex(0x1c6bd60, 0x80)\n\t/go/src/runtime/sys_linux_amd64.s:558 +0x21\n"
	for text, want := range map[string]string{
		"SIGQUIT: quit\n" + stacks: "eventdeck: SIGQUIT: quit; the report is ",
		stacks:                     "eventdeck: it died with words that say nothing; the report is ",
	} {
		if line := task.account(text, time.Unix(0, 0)); !strings.HasPrefix(line, want) {
			t.Errorf("%q, want %q", line, want)
		}
	}
	if report := Report("panic: x\nSIGNATURE: of anna\n"); strings.Contains(report, "anna") {
		t.Errorf("%q", report)
	}
}

func FuzzReport(f *testing.F) {
	f.Add(trace)
	f.Add("\x1b[31mpanic: \x1b]0;x\a\ngoroutine 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		if got := Report("panic: SECRET WORDS\n" + text); strings.Contains(got, "SECRET WORDS") && !strings.Contains(text, "SECRET WORDS") {
			t.Errorf("the words of a panic are in %q", got)
		}
	})
}
