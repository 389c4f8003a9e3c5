//go:build !windows

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// Scenarios on a terminal that a person who knows k9s and lazygit expects to work.

// 1. From a cold start to the first event of a demo server it takes one key, which the screen
// names.
func TestAcceptFirstEventInOneKey(t *testing.T) {
	w := newWorld(t)
	c := w.terminal(100, 30, "--data", w.data())
	pressed := 0
	for _, step := range []struct{ told, key string }{{"try demo servers", "d"}} {
		c.reads(step.told)
		if !regexp.MustCompile(`(?m)(^|\s)` + step.key + `\s+` + step.told).MatchString(c.screen.Text()) {
			t.Errorf("nothing says that %s is the key to %s\n%s", step.key, step.told, c.screen.Text())
		}
		c.keys(step.key)
		pressed++
	}
	shown := events()
	c.sees("events", func(s string) bool { return shown(s) && strings.Contains(s, "pager") && strings.Contains(s, "chat") })
	last := c.screen.Text()
	if pressed > 1 {
		t.Errorf("%d keys", pressed)
	}
	if s := c.screen.Text(); strings.Contains(s, "events are missing") || strings.Contains(s, "events may be missing") {
		t.Errorf("a newcomer's first screen shows a gap\n%s", s)
	}
	c.keys("q")
	c.endsWell()
	if !slices.ContainsFunc(w.stored(), func(r record) bool { return r.Kind == "event" }) {
		t.Errorf("no event is stored, and there was\n%s", last)
	}
}

// Subscribing to a type takes at most six keys, which the screen names on the way.
func TestAcceptOwnSubscriptionInSixKeys(t *testing.T) {
	w := newWorld(t)
	_, url := w.pager("--speed", "20")
	c := w.terminal(100, 30, url, "--data", w.data())
	c.reads("· alert.fired") // its types are listed
	pressed := 0
	for _, step := range []struct{ told, key string }{
		{"ready", "j"}, {"▶▾ ●", "j"}, {"s subscribe", "s"}, {"ctrl+s subscribe", "\x13"},
	} {
		c.reads(step.told)
		c.keys(step.key)
		pressed++
	}
	c.sees("an event of it", func(s string) bool { return strings.Contains(s, "1 push") && anEvent(s) })
	if pressed > 6 {
		t.Errorf("%d keys", pressed)
	}
	c.keys("\x03")
	c.endsWell()
}

// 2. The first screen says, without a key, why nothing arrives: it shows for every
// subscription the evidence for its state and what comes next.
func TestAcceptWhyIsItQuietAtAGlance(t *testing.T) {
	w := newWorld(t)
	proc, url := w.pager("--speed", "0.001") // next to nothing happens there
	c := w.terminal(160, 45, url, "--data", w.data())
	c.reads("alert.fired")
	c.subscribesTo("alert.fired mode=push", "1 push")
	c.subscribesTo("deploy.changed mode=poll", "1 poll")
	c.keys("q")
	c.endsWell()

	c = w.terminal(200, 45, url, "--data", w.data())
	c.sees("evidence of both", func(s string) bool {
		return regexp.MustCompile(`push (live|quiet), (heartbeat|opened) \d+ s`).MatchString(s) &&
			regexp.MustCompile(`poll every .*(next in \d+ s|last (answer )?\d\d:\d\d:\d\d)`).MatchString(s)
	})
	proc.kill()
	c.sees("the trouble and the next try", func(s string) bool {
		return regexp.MustCompile(`(backoff|unreachable), (try \d+ in \d+ s|retrying)`).MatchString(s) && strings.Contains(s, "in trouble")
	})
	c.keys("\x03")
	c.end()
}

// flood starts a screen on a server that sends n events a second, subscribed by
// push, with the keys in the stream.
func (w *world) flood(n int, args ...string) (c *terminal, url string, again []string) {
	w.t.Helper()
	_, url = w.pager("--rate", strconv.Itoa(n), "--seed", "7")
	again = append([]string{url, "--data", w.data()}, args...)
	c = w.terminal(120, 40, again...)
	c.reads("load.tick")
	c.keys(":load.tick\r")
	c.reads("Not subscribed")
	c.subscribesTo("load.tick mode=push", "1 push")
	c.keys("2")
	c.sees("the flood", events())
	return c, url, again
}

// 3. After kill -9 under load the next start shows the same panes, scope, filter, times and
// marks, says what it caught up on, and has every event once.
func TestAcceptKillUnderLoad(t *testing.T) {
	w := newWorld(t)
	c, url, args := w.flood(1000)
	c.keys("mnfirst light\r")
	c.reads("marked record")
	c.keys("/kind:event\r")
	c.reads("filter kind:event")
	c.keys("t")
	c.reads("times are in UTC")
	c.keys("z")
	c.sees("the stream alone", func(s string) bool { return !strings.Contains(s, "1 Servers") })
	w.awaitSaved(c, url, `"clock":1`, `"size":2`, "kind:event")
	c.kill()

	c = w.terminal(120, 40, args...)
	c.sees("panes, scope and filter as before", func(s string) bool {
		crumb, _, _ := strings.Cut(s, "\n")
		return strings.Contains(crumb, "load.tick") && strings.Contains(crumb, "filter kind:event") && !strings.Contains(s, "1 Servers") && strings.Contains(s, " Z ")
	})
	caught := regexp.MustCompile(`caught up: ([\d,]+) replayed, ([\d,]+) duplicates? dropped, 0 gaps`)
	c.sees("what was caught up", caught.MatchString)
	c.keys("'")
	c.reads("first light")
	c.keys(esc)
	c.sees("no list of marks", func(s string) bool { return !strings.Contains(s, "first light") })
	c.kill()

	low, high, seen := 0, 0, map[string]bool{}
	resumed := 0
	for _, r := range w.stored() {
		switch {
		case r.Kind == "gap":
			t.Errorf("gap %d: %s", r.Seq, r.Cause)
		case r.State == "resumed":
			resumed++
		}
		if r.Kind != "event" {
			continue
		}
		if seen[r.EventID] {
			t.Errorf("%s is stored twice", r.EventID)
		}
		seen[r.EventID] = true
		n := r.n(t)
		if low == 0 || n < low {
			low = n
		}
		high = max(high, n)
	}
	if high == 0 || len(seen) != high-low+1 {
		t.Errorf("%d events of %d to %d at %s", len(seen), low, high, url)
	}
	if resumed == 0 {
		t.Error("no row says that delivery was resumed")
	}
}

// kill ends the program as kill -9 does and waits for that.
func (c *terminal) kill() {
	c.t.Helper()
	if err := c.cmd.Process.Kill(); err != nil {
		c.t.Fatal(err)
	}
	c.end()
}

var below = regexp.MustCompile(`READING \(([\d,]+) below\)`)

// 4. While 5,000 events arrive per second, the filter prompt echoes each key at once, the rows
// that are being read do not move, and the count of waiting records grows.
func TestAcceptReadingInAFlood(t *testing.T) {
	w := newWorld(t)
	c, _, _ := w.flood(5000)
	c.keys("kkk")
	c.sees("reading", func(s string) bool { return below.MatchString(s) })
	rows := func(s string) []string {
		var out []string
		for _, line := range strings.Split(s, "\n") {
			if at := rowTime.FindStringIndex(line); at != nil {
				out = append(out, line[at[0]:])
			}
		}
		return out
	}
	waiting := func(s string) int {
		m := below.FindStringSubmatch(s)
		if m == nil {
			return 0
		}
		n, err := strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	var was []string
	many := 0
	for i := range 3 { // a frame may be half drawn, but rows that moved would never be there again
		c.sees("the same rows and more waiting", func(s string) bool {
			if waiting(s) <= many {
				return false
			}
			now := rows(s)
			if !slices.Equal(was, now) {
				if i == 0 {
					was = now
				}
				return false
			}
			many = waiting(s)
			return true
		})
	}
	c.keys("/")
	for i := range len("status>100") {
		c.keys("status>100"[i : i+1])
		c.sees("the typed letter", func(s string) bool { return strings.Contains(s, "status>100"[:i+1]) })
	}
	c.keys(esc)
	c.keys(" ")
	waits := regexp.MustCompile(`FROZEN \(([1-9][\d,]*) waiting\)`)
	c.sees("a frozen view that counts", waits.MatchString)
	first := waits.FindStringSubmatch(c.screen.Text())[1]
	c.sees("a growing count", func(s string) bool { m := waits.FindStringSubmatch(s); return m != nil && m[1] != first })
	c.keys("\x03")
	c.end()
}

// 5. From every screen and dialog, ten times esc leads to the root, and the program still
// runs.
func TestAcceptTenTimesEsc(t *testing.T) {
	w := newWorld(t)
	c := w.terminal(120, 40, "demo")
	shown := events()
	c.sees("the demo", func(s string) bool { return shown(s) && strings.Contains(s, "1 webhook") })
	for _, place := range []struct{ keys, shows string }{
		{"1jjj", ""}, {"2k", "READING"}, {"2f\r", ""}, {"2f\rz", ""}, {"2/kind:event\r\x00!", "flagged"}, {"?", "Keys that work"}, {":", "Commands"}, {":theme ", "NAME"}, {"/sev:", "sev:"}, {"/(", "("},
		{"\\pool", "pool"}, {"\\pool\r", "search pool"}, {"4", "[Subscriptions]"}, {"4]", "[Gaps]"}, {"4]", "[At servers]"}, {"4]", "[Refused]"}, {"4]", "[Resumed]"}, {"4]", "[Subscriptions]"}, {"4/pag", "pag"}, {"4C", ""}, {"4D", "Unsubscribe"},
		{"4M", "━ Delivery"}, {"5", "[Audit]"}, {"5]", "[Wire]"}, {"5/sub", "sub"}, {"5]", "[App]"}, {"S", "━ Stats"}, {"H", "━ Timeline"}, {"T", "━ Theme"},
		{"1jji", "Why is it quiet"}, {"1jjs", "━ Subscribe"}, {"1jjsab\t\t", "━ Subscribe"}, {"1jjjc", "olumns"}, {"2mna", "enter marks"}, {"'", "arks"}, {"2w", "rite"}, {"2/kind:event\r\x00y", "payload"}, {"2v", ""}, {"2 ", "FROZEN"}, {"2r", ""},
	} {
		first, then, filtered := strings.Cut(place.keys, "\x00")
		c.keys(first)
		if filtered { // the newest record may be a gap, as streams of the demo are cut
			c.sees("events alone", func(s string) bool {
				return strings.Contains(s, "filter kind:event") && anEvent(s) && !strings.Contains(s, "╌╌")
			})
			c.keys(then)
		}
		if place.shows != "" {
			c.reads(place.shows)
		}
		c.keys(strings.Repeat(esc, 10))
		c.sees("the root after "+strconv.Quote(place.keys), func(s string) bool {
			crumb, _, _ := strings.Cut(s, "\n")
			return strings.Contains(crumb, "eventdeck demo  all servers  ") && !strings.Contains(crumb, "filter") && !strings.Contains(crumb, "search") &&
				strings.Contains(s, "1 Servers") && strings.Contains(s, "2 Stream") && strings.Contains(s, "3 ") && strings.Contains(s, "? help") && strings.Count(s, "╭") == 1
		})
	}
	c.keys("2f")
	c.reads("FOLLOW")
	c.keys("q")
	c.endsWell()
}

// 6. Every key in the help works where the help was opened, and every action is found in the
// palette by its name. The rows are read from the screen.
func TestAcceptHelpAndPalette(t *testing.T) {
	if raceDetector {
		t.Skip("it draws a large screen for each of more than fifty actions, one after another: minutes under the race detector")
	}
	w := newWorld(t)
	c := w.terminal(140, 100, "demo")
	shown := events()
	c.sees("the demo", func(s string) bool { return shown(s) && strings.Contains(s, "1 webhook") })
	c.keys("2") // the stream has the keys
	c.keys("?")
	var names []string
	c.sees("the whole help", func(s string) bool {
		names = listed(s)
		return len(names) > 50 && slices.Contains(names, "quit from anywhere")
	})
	c.keys(esc)
	for _, name := range names {
		c.keys(":" + name)
		c.sees("the action "+name, func(s string) bool { return paletteHas(s, name) })
		c.keys(esc)
		c.sees("no palette", func(s string) bool { return !strings.Contains(s, "━ Commands") })
	}
	// The effect of a key is shown at once; each action is run from its row in the help.
	for _, name := range []string{"freeze the view", "list the marks", "rates, counters", "choose a theme", "times local, UTC", "to the log"} {
		c.keys("?" + name)
		c.sees("one row", func(s string) bool { return strings.Contains(s, "▶") && strings.Contains(s, name) })
		before := c.screen.Text()
		c.keys("\r")
		c.sees("what "+name+" does", func(s string) bool { return s != before && !strings.Contains(s, "Keys that work here") })
		c.keys(strings.Repeat(esc, 4))
	}
	c.keys("\x03")
	c.end()
}

// listed reads the names of the actions that the help shows: the text behind the keys, without
// the heading at the right.
func listed(text string) (names []string) {
	left, right := -1, -1
	for _, line := range strings.Split(text, "\n") {
		row := []rune(line)
		if at := strings.Index(line, "━ Keys that work here"); at >= 0 {
			left = utf8.RuneCountInString(line[:at]) - 1
			for right = left + 1; right < len(row) && row[right] != '╮'; right++ {
			}
			continue
		}
		if left < 0 || right >= len(row) || row[left] != '│' || row[right] != '│' {
			continue
		}
		name, _, _ := strings.Cut(string(row[left+19:right]), "   ")
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

func paletteHas(text, name string) bool {
	for _, line := range strings.Split(text, "\n") {
		if strings.Contains(line, name) && !strings.Contains(line, "│: ") && !strings.Contains(line, "│:"+name) {
			return true
		}
	}
	return false
}

// 7. An id is copied to the clipboard with two keys, over SSH and without, by OSC 52 and
// through tmux.
func TestAcceptCopyOverSSH(t *testing.T) {
	w := newWorld(t)
	for _, connection := range []string{"192.0.2.1 1 192.0.2.2 22", ""} { // without one as well
		c := w.terminalWith([]string{"SSH_CONNECTION=" + connection}, 120, 40, "demo")
		copyID(c)
		c.keys("\x03")
		c.endsWell()
	}
}

var shownID = regexp.MustCompile(`id +(incident\.activity\S+)`)

func copyID(c *terminal) {
	c.t.Helper()
	c.sees("events", events())
	c.keys("2/kind:event type:incident.activity\r")
	c.sees("only events", func(s string) bool {
		return strings.Contains(s, "filter kind:event") && strings.Contains(s, "? help") && shownID.MatchString(s)
	})
	c.keys(" ")
	c.reads("FROZEN")
	c.keys("yi")
	c.reads("copied the event id")
	id := shownID.FindStringSubmatch(c.screen.Text())
	if id == nil {
		c.t.Fatalf("no id is shown\n%s", c.screen.Text())
	}
	c.sees("the id on the clipboard", func(string) bool { return c.screen.Clipboard() == id[1] })
}

func TestAcceptCopyThroughTmux(t *testing.T) {
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("there is no tmux here")
	}
	w := newWorld(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	conf := filepath.Join(w.dir, "tmux.conf")
	// Settings that tmux needs for the copies of any program, as the guide says.
	if err := os.WriteFile(conf, []byte("set -g set-clipboard on\nset -g escape-time 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(w.temp(), "s")
	c := w.terminalOf(tmux, []string{"SSH_CONNECTION=192.0.2.1 1 192.0.2.2 22", "TERM=xterm-256color", "TMUX="}, 130, 42,
		"-S", socket, "-f", conf, "-u", "new-session", self, "demo")
	t.Cleanup(func() { _ = exec.Command(tmux, "-S", socket, "kill-server").Run() }) // it may be gone
	copyID(c)
	c.keys("\x03")
	c.end()
}

// 9. At 80 by 24, without colours and in ASCII, every state can be recognised.
func TestAcceptPlainestTerminal(t *testing.T) {
	w := newWorld(t)
	proc, url := w.pager("--speed", "20")
	c := w.terminalWith([]string{"NO_COLOR=1", "LANG=C", "LC_ALL=C"}, 80, 24, url, "--data", w.data())
	c.reads("incident.activity")
	word := func(what string) {
		t.Helper()
		c.reads(what)
		for y, row := range c.screen.Cells() {
			for _, cell := range row {
				if s := cell.Style; s.FG != "" || s.BG != "" {
					t.Fatalf("%s: row %d has colours %+v", what, y, s)
				}
				if len(cell.Text) > 0 && cell.Text[0] > 0x7e {
					t.Fatalf("%s: row %d has %q", what, y, cell.Text)
				}
			}
		}
	}
	c.keys("1jjs")
	word(" Subscribe ")
	c.subscribes()
	word("* incident.activity")
	c.keys("1")
	c.keys("P")
	word("paused")
	c.keys("P")
	word("* incident.activity")
	proc.kill()
	word("incident.activity backoff")
	word("1 in trouble")
	c.keys("4")
	word("backoff")
	c.keys("\x03")
	c.end()
}

// 10. tail --json gives the same events as the screen: what the store holds, in
// the same order and with the same ids.
func TestAcceptTailSaysTheSame(t *testing.T) {
	w := newWorld(t)
	_, url := w.pager("--rate", "100", "--seed", "7")
	const n = 12
	tail := w.start(nil, "tail", url, "load.tick", "--mode", "push", "--data", w.data(), "--json", "--count", fmt.Sprint(n))
	if code := tail.wait(); code != 0 {
		t.Fatalf("tail ended with %d: %s", code, tail.stderr.text())
	}
	var told []record
	for _, r := range decode(t, tail.stdout.text()) {
		if r.Kind == "event" {
			told = append(told, r)
		}
	}
	if len(told) != n {
		t.Fatalf("tail told %d events", len(told))
	}
	if jq, err := exec.LookPath("jq"); err == nil {
		cmd := exec.Command(jq, "-r", "select(.kind==\"event\").eventId")
		cmd.Stdin = strings.NewReader(tail.stdout.text())
		out, err := cmd.Output()
		if ids := strings.Fields(string(out)); err != nil || len(ids) != n || ids[0] != told[0].EventID {
			t.Errorf("jq reads %q, %v", ids, err)
		}
	}
	c := w.terminal(160, 50, "--data", w.data()) // no server: nothing else arrives
	c.sees("the events", func(s string) bool { return strings.Contains(s, "load.tick") })
	c.keys("2/kind:event\r")
	c.sees("events alone", func(s string) bool { return strings.Contains(s, "filter kind:event") && !strings.Contains(s, "╌╌") })
	c.keys("g")
	for i, r := range told {
		if i > 0 {
			c.keys("j")
		}
		c.sees("event "+r.EventID, func(s string) bool {
			return regexp.MustCompile(`id +` + regexp.QuoteMeta(r.EventID)).MatchString(s)
		})
		var d map[string]json.RawMessage
		if err := json.Unmarshal(r.Data, &d); err != nil {
			t.Fatal(err)
		}
		c.reads(`"n": ` + string(d["n"]))
	}
	c.keys("q")
	c.end()
}
