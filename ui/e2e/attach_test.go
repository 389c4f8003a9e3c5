//go:build !windows

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Commands on the data directory of a running tail read, change and copy what it has, and name
// its process.
func TestCommandsBesideATail(t *testing.T) {
	w := newWorld(t)
	_, url := w.pager("--rate", "50")
	first := w.start(nil, "tail", url, "load.tick", "--json", "--data", w.data())
	first.await(first.stdout, 3, isEvent)
	pid := strconv.Itoa(first.cmd.Process.Pid)

	if events := w.stored(); len(events) < 3 || events[0].Seq != 1 {
		t.Errorf("%d records", len(events))
	}
	subs, code := w.run("subs", "list", "--json", "--data", w.data())
	if code != 0 || strings.Count(subs, "\n") != 0 || !strings.Contains(subs, "load.tick") {
		t.Fatalf("subs list: %d %s", code, subs)
	}
	id := decodeID(t, subs)
	for _, args := range [][]string{
		{"export", "--format", "csv"}, {"audit"}, {"store", "check"}, {"store", "backup", filepath.Join(w.dir, "copy.db")},
		{"store", "keep", "--events", "1000"},
	} {
		p := w.start(nil, append(args, "--data", w.data())...)
		if code := p.wait(); code != 0 {
			t.Errorf("%v ends with %d: %s", args, code, p.stderr.text())
		}
	}
	if info, err := os.Stat(filepath.Join(w.dir, "copy.db")); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	if left, err := filepath.Glob(filepath.Join(w.data(), "check-*")); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
	if out, _ := w.run("store", "info", "--data", w.data()); !strings.Contains(out, "process "+pid) {
		t.Errorf("store info does not tell who has it open: %s", out)
	}
	for _, args := range [][]string{{"store", "compact"}, {"store", "recover"}} {
		p := w.start(nil, append(args, "--data", w.data())...)
		if code := p.wait(); code != 1 || !strings.Contains(p.stderr.text(), "process "+pid) || strings.Contains(p.stderr.text(), "\n") {
			t.Errorf("%v ends with %d: %s", args, code, p.stderr.text())
		}
	}

	// The same subscription, printed twice: new records arrive at both.
	second := w.start(nil, "tail", url, "load.tick", "--json", "--data", w.data(), "--count", "5")
	second.await(second.stderr, 1, contains("another process prints this subscription"))
	if code := second.wait(); code != 0 || len(decode(t, second.stdout.text())) < 5 {
		t.Errorf("the second tail ends with %d: %s", code, second.stderr.text())
	}
	for _, only := range [][]string{{"--from", "0"}, {"--hook-connections", "32"}, {"--hook-bad-rate", "7"}} {
		refused := w.start(nil, append([]string{"tail", url, "load.tick", "--data", w.data(), "--count", "1"}, only...)...)
		if code := refused.wait(); code != 2 || !strings.Contains(refused.stderr.text(), pid) {
			t.Errorf("%v ends with %d: %s", only, code, refused.stderr.text())
		}
	}

	if p := w.start(nil, "subs", "pause", id, "--data", w.data()); p.wait() != 0 {
		t.Error("pause: ", p.stderr.text())
	}
	first.await(first.stdout, 1, contains(`"state":"paused"`))
	if p := w.start(nil, "subs", "resume", id, "--data", w.data()); p.wait() != 0 {
		t.Error("resume: ", p.stderr.text())
	}
	n := len(decode(t, first.stdout.text()))
	first.await(first.stdout, n+3, contains(`"seq"`))

	// The first process subscribes to another type of the same server, and the subscription
	// stays there.
	other := w.start(nil, "tail", url, "incident.activity", "--json", "--data", w.data(), "--count", "1")
	if code := other.wait(); code != 0 {
		t.Errorf("a new subscription ends with %d: %s", code, other.stderr.text())
	}
	if subs, _ := w.run("subs", "list", "--json", "--data", w.data()); strings.Count(subs, "\n") != 1 {
		t.Errorf("not two subscriptions: %s", subs)
	}
	if p := w.start(nil, "subs", "rm", id, "--data", w.data()); p.wait() != 0 {
		t.Error("rm: ", p.stderr.text())
	}
	if code := first.wait(); code != 1 || !strings.HasSuffix(first.stderr.text(), "the subscription has ended: another process removed it") {
		t.Errorf("the first ends with %d: %s", code, first.stderr.text())
	}
	if left, err := filepath.Glob(filepath.Join(w.data(), "attach.*")); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

func decodeID(t *testing.T, line string) string {
	t.Helper()
	_, rest, ok := strings.Cut(line, `{"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	if !ok || id == "" {
		t.Fatal("no id in ", line)
	}
	return id
}

// A process that is attached needs no configuration of its own: it knows the servers of the first
// one, which also tells the server of changes.
func TestAttachedCommandsNeedNoConfiguration(t *testing.T) {
	w := newWorld(t)
	_, url := w.pager("--rate", "50")
	config := filepath.Join(w.dir, "elsewhere.json")
	if err := os.WriteFile(config, []byte(`{"mcpServers":{"of-the-first":{"url":`+strconv.Quote(url)+`}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	first := w.start(nil, "tail", "of-the-first", "load.tick", "--json", "--config", config, "--data", w.data())
	first.await(first.stdout, 3, isEvent)
	subs, _ := w.run("subs", "list", "--json", "--data", w.data())
	id := decodeID(t, subs)
	for _, command := range [][]string{{"servers"}, {"servers", "of-the-first"}, {"types", "of-the-first"}, {"tail", "of-the-first", "load.tick", "--json", "--count", "1"}} {
		out, code := w.run(append(command, "--data", w.data())...)
		if code != 0 || !strings.Contains(out, "of-the-first") && !strings.Contains(out, "load.tick") {
			t.Errorf("%v ends with %d: %s", command, code, out)
		}
	}
	for _, verb := range []string{"pause", "resume", "refresh", "rm"} {
		p := w.start(nil, "subs", verb, id, "--data", w.data())
		if code := p.wait(); code != 0 || strings.Contains(p.stderr.text(), "told") || strings.Contains(p.stderr.text(), "unknown server") {
			t.Errorf("subs %s ends with %d: %s", verb, code, p.stderr.text())
		}
		if verb == "pause" {
			first.await(first.stdout, 1, contains(`"state":"paused"`))
		}
	}
	if out, _ := w.run("subs", "list", "--json", "--data", w.data()); strings.Contains(out, id) {
		t.Errorf("it is still there: %s", out)
	}
}

// A second screen shows the same live state and changes it. When the first is killed, the
// second takes the store over and goes on, keeping the text being typed; so does a third when
// the second is quit. Commands find the screen that has the store.
func TestScreensTakeTheStoreOver(t *testing.T) {
	w := newWorld(t)
	_, url := w.pager("--speed", "10")
	args := []string{url, "--data", w.data()}
	one := w.subscribed(args...)

	two := w.terminal(120, 40, args...)
	two.reads("1 push")
	two.reads("attached to process " + strconv.Itoa(one.cmd.Process.Pid))
	out, code := w.run("subs", "list", "--json", "--data", w.data())
	if code != 0 {
		t.Fatal(code)
	}
	if _, code := w.run("subs", "pause", decodeID(t, out), "--data", w.data()); code != 0 {
		t.Fatal(code)
	}
	for _, c := range []*terminal{one, two} {
		c.reads("paused")
	}
	follower := w.start(nil, "tail", url, "note.added", "--json", "--data", w.data())
	follower.await(follower.stdout, 1, contains(`"seq"`))
	two.keys("/sev")

	if err := one.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if code := follower.wait(); code != 1 || strings.Count(follower.stderr.text(), "eventdeck: ") != 1 {
		t.Errorf("tail ends with %d: %s", code, follower.stderr.text())
	}
	two.reads("/ sev")
	two.keys(esc)
	w.awaitOwner(two)
	two.reads("paused")

	three := w.terminal(120, 40, args...)
	three.reads("attached to process " + strconv.Itoa(two.cmd.Process.Pid))
	three.reads("paused")
	two.keys("q")
	two.endsWell()
	w.awaitOwner(three)
	if _, code := w.run("subs", "resume", decodeID(t, out), "--data", w.data()); code != 0 {
		t.Fatal(code)
	}
	three.reads("2 push")
	three.keys("\x03")
	three.endsWell()
	if text := three.screen.Text(); !strings.Contains(text, "events are kept in") {
		t.Errorf("the last one says\n%s", text)
	}
}

// awaitOwner waits until a screen has the store, as the store itself says.
func (w *world) awaitOwner(c *terminal) {
	w.t.Helper()
	want := regexp.MustCompile(`process ` + strconv.Itoa(c.cmd.Process.Pid) + `\b`)
	for deadline := time.Now().Add(patience); ; {
		out, _ := w.run("store", "info", "--data", w.data()) // it may be between two owners
		switch {
		case want.MatchString(out):
			return
		case time.Now().After(deadline):
			w.t.Fatalf("%v never had the store; store info says %s\n%s", want, out, c.screen.Text())
		}
	}
}

// The screen in words goes on too, and says which process has the store.
func TestPlainScreenTakesTheStoreOver(t *testing.T) {
	w := newWorld(t)
	_, url := w.pager("--speed", "20")
	one := w.start(nil, "tail", url, "note.added", "--json", "--data", w.data())
	one.await(one.stdout, 1, isEvent)
	two := w.start(nil, url, "--plain", "--data", w.data())
	two.await(two.stdout, 1, contains("attached to process "+strconv.Itoa(one.cmd.Process.Pid)))
	if err := one.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	two.await(two.stdout, 1, contains("this one has the store now and goes on"))
	two.await(two.stdout, 1, contains("note.added by push is live"))
	if err := two.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := two.wait(); code != 0 {
		t.Errorf("it ends with %d: %s", code, two.stderr.text())
	}
}
