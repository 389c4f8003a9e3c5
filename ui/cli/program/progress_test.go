package program

import (
	"fmt"
	"testing"
	"time"

	"eventdeck/host/mcptest"
)

// The line appears after a while, and other output stands on lines of its own.
func TestProgressHasALineOfItsOwn(t *testing.T) {
	var out mcptest.Buffer
	now := time.Unix(0, 0)
	done := uint64(0)
	p := &progressLine{out: &out, what: "exporting", count: func() (uint64, uint64) { return done, 200 }, now: func() time.Time { return now }, began: now}
	p.draw()
	if out.String() != "" {
		t.Errorf("at once: %q", out.String())
	}
	now, done = now.Add(3*time.Second), 50
	p.draw()
	fmt.Fprintln(p.beside(&out), "a line")
	done = 500 // more than was there when it began
	p.draw()
	p.clear()
	p.clear()
	const wipe = "\r\x1b[K"
	want := wipe + "\\ exporting, 3 s ######-------------------  25%" + wipe + "a line\n" + wipe + "\\ exporting, 3 s ######################### 100%" + wipe
	if out.String() != want {
		t.Errorf("got  %q\nwant %q", out.String(), want)
	}
}

// Programs that read standard error get no progress.
func TestProgressIsForPersons(t *testing.T) {
	var out mcptest.Buffer
	a := &App{Program: Program{Stderr: &out, Env: func(string) (string, bool) { return "", false }}}
	before := a.Stderr
	stop := a.Working("checking", nil)
	if a.Stderr != before {
		t.Error("standard error is not as it was")
	}
	stop()
}
