//go:build !windows

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// What the screen must show an operator while things go wrong, on a terminal. The table in
// docs/CONTRIBUTING.md names the other tests.

// servers writes a configuration from names and addresses in turn, and returns its file.
func (w *world) servers(named ...string) (file string) {
	w.t.Helper()
	var all []string
	for i := 0; i < len(named); i += 2 {
		all = append(all, strconv.Quote(named[i])+`:{"url":`+strconv.Quote(named[i+1])+`}`)
	}
	file = filepath.Join(w.dir, "servers.json")
	if err := os.WriteFile(file, []byte(`{"mcpServers":{`+strings.Join(all, ",")+`}}`), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return file
}

// gone waits until a text is not on the screen any more.
func (c *terminal) gone(text string) {
	c.t.Helper()
	c.sees("no "+text, func(s string) bool { return !strings.Contains(s, text) })
}

// subscribesTo types a line of ":sub", sends the form that it opens, and waits for a text.
func (c *terminal) subscribesTo(line, shows string) {
	c.t.Helper()
	c.keys(":sub " + line + "\r\x13")
	c.reads(shows)
	c.gone("━ Subscribe")
}

// refuses types a command that cannot be done: the palette stays open and says why.
func (c *terminal) refuses(line, why string) {
	c.t.Helper()
	c.keys(":" + line + "\r")
	c.sees("why "+line+" is not done", func(s string) bool { return strings.Contains(s, "━ Commands") && strings.Contains(s, why) })
	c.keys(esc)
	c.gone("━ Commands")
}

// A server that goes away, and one that was never there, are shown as trouble at once: once
// for all of their subscriptions, whatever the way of subscribing, and never hidden by a
// notice.
func TestCockpitWhileServersAreAway(t *testing.T) {
	w := newWorld(t)
	proc, url := w.pager("--speed", "0.001") // next to nothing happens there
	args := []string{"--data", w.data(), "--config", w.servers("calm", newIncidents(t).address, "pager", url, "down", "http://127.0.0.1:9/mcp")}
	c := w.terminal(160, 45, args...)
	c.reads("alert.fired")
	for i, name := range []string{"alert.fired", "deploy.changed", "incident.changed", "note.added"} {
		c.subscribesTo(name+" server=pager mode=push", fmt.Sprint(i+1, " push"))
	}
	c.reads("confirmed by the server x4")
	c.refuses("sub incident.changed server=nosuch", `unknown server "nosuch"; there are calm, `)
	c.refuses("sub x.y server=down", "down has not listed its types yet: it is unreachable: connection refused")

	proc.kill()
	c.sees("one line at the server and one row for four subscriptions", func(s string) bool {
		return strings.Contains(s, "4 in trouble") && strings.Count(s, "connection refused x4") == 1 &&
			len(regexp.MustCompile(rowTime.String()+".*push backoff").FindAllString(s, -1)) == 1
	})
	c.keys(":theme dark\r")
	c.sees("the notice beside the trouble", func(s string) bool { return strings.Contains(s, "4 in trouble, and 1 server │ theme dark") })
	c.sees("the totals again, without a key", func(s string) bool {
		return !strings.Contains(s, "theme dark") && strings.Contains(s, "4 in trouble, and 1 server  4 subs")
	})

	c.keys(":incident.activity\r")
	c.reads("Not subscribed")
	c.keys("1s")
	c.reads("━ Subscribe")
	c.keys("\x13") // ctrl+s
	c.sees("the last answer and the next step, while the form asks", func(s string) bool {
		return strings.Contains(s, "Unreachable: connection refused") && strings.Contains(s, "it begins when the server is back") && strings.Contains(s, "esc go on in the background")
	})
	c.keys(esc)
	c.sees("no form", func(s string) bool {
		return !strings.Contains(s, "━ Subscribe") && strings.Contains(s, "5 in trouble") && strings.Contains(s, "in the background")
	})
	c.keys("\x03")
	c.endsWell()

	c = w.terminal(160, 45, args...)
	c.sees("trouble from the first attempt on", func(s string) bool {
		return strings.Contains(s, "5 in trouble, and 1 server") && strings.Contains(s, "connection refused, 5 subs") && strings.Contains(s, "waiting, unreachable for") && !strings.Contains(s, "starting, for")
	})
	c.resize(60, 24)
	c.keys("2")
	line := regexp.MustCompile(`(?m)^ *1 (pager|down) (unreachable|5 in trouble)`)
	c.sees("the line of servers", func(s string) bool {
		return !strings.Contains(s, "1 Servers") && line.MatchString(s)
	})
	c.keys("\x03")
	c.endsWell()
}

// Figures age without input, with the focus and without: a silent server is shown as silent
// for longer and longer, at a rate of zero.
func TestCockpitAgesWithoutNews(t *testing.T) {
	w := newWorld(t)
	proc, url := w.pager("--rate", "100", "--seed", "7")
	c := w.terminal(160, 40, url, "--data", w.data())
	c.reads("load.tick")
	c.subscribesTo("load.tick mode=push", "1 push")
	c.keys("1")
	c.keys(":load.tick\r")
	c.sees("a rate", func(s string) bool { return regexp.MustCompile(`\d\d/s`).MatchString(s) })
	proc.signal(syscall.SIGSTOP)
	defer proc.signal(syscall.SIGCONT) // it is killed at the end, and a stopped process is as well
	age := regexp.MustCompile(`event (\d+) s ago`)
	older := func(focus string) {
		t.Helper()
		last, grew := -1, 0
		c.sees("growing ages, "+focus, func(s string) bool {
			m := age.FindStringSubmatch(s)
			if m == nil {
				return false
			}
			now, err := strconv.Atoi(m[1])
			if err != nil || now == last {
				return false
			}
			if last >= 0 && now > last && now-last <= 5 { // a busy machine may take longer now and then
				grew++
			}
			last = now
			return grew > 0
		})
	}
	c.keys("\x1b[O")
	older("without the focus")
	c.sees("no rate any more", func(s string) bool { return regexp.MustCompile(`\b0\.0/s`).MatchString(s) })
	c.keys("\x1b[I")
	older("with the focus")
	c.keys("\x03")
	c.endsWell()
}

// A key acts on the row that was there when it was pressed; marks, the search and the filter
// show what they found and how they were understood.
func TestCockpitAtTheRow(t *testing.T) {
	w := newWorld(t)
	server := newIncidents(t)
	server.schema = `{"type":"object","required":["team"],"properties":{"team":{"type":"string"},"limit":{"type":"integer","default":5},
		"window":{"type":"object","required":["from"],"properties":{"from":{"type":"string"},"note":{"type":"string"}}}}}`
	c := w.terminalWith([]string{"EVENTDECK_GLYPHS=ascii"}, 120, 40, "--data", w.data(), "--config", w.servers("pager", server.address))
	c.reads("incident.created")
	c.keys("1jj")
	c.reads("Press s")
	c.keys("*")
	c.reads("@ - incident.created") // the sign of a marked type is not that of a live one
	c.keys("*")
	c.gone("@")
	c.keys("s")
	c.sees("what is needed, and no placeholder like a value", func(s string) bool {
		return strings.Contains(s, "team *") && strings.Contains(s, "default 5") && strings.Contains(s, "from ") && !strings.Contains(s, "from *")
	})
	c.keys("core")
	c.subscribes()
	c.reads("push live, confirmed by the server")

	c.keys("2")
	server.send(`{"title":"one","severity":"critical","text":"` + strings.Repeat("a long text ", 11) + `needle"}`)
	c.reads("inc_1")
	c.keys("y")
	c.reads("p payload")
	server.send(`{"title":"two","severity":"info"}`)
	c.reads(" two ")
	c.keys("i")
	c.sees("the id of the row that was there", func(string) bool { return c.screen.Clipboard() == "inc_1" })
	c.keys("k")
	c.reads("inc_1")
	c.keys("m\r")
	c.sees("the cursor beside the mark", func(s string) bool {
		return regexp.MustCompile(`>\+?`+rowTime.String()+`.*one`).MatchString(s) && strings.Contains(s, "marked record")
	})
	c.keys("\\needle\r")
	c.sees("the match far behind in its line", func(s string) bool { return c.standsOut("needle\"") })
	c.keys(esc)
	if list, code := w.run("subs", "list", "--json", "--data", w.data()); code != 0 || strings.Contains(c.screen.Text(), decodeID(t, list)) {
		t.Errorf("subs list ends with %d; the only subscription has a column of its own?\n%s", code, c.screen.Text())
	}
	pressed := 0
	press := func(keys ...string) {
		for _, k := range keys {
			c.keys(k)
			pressed++
		}
	}
	server.send(`{"title":"three","severity":"error","incident":"INC-7"}`)
	c.reads(" three ")
	c.keys("G")
	c.reads("inc_3")
	press("2", "=")
	c.sees("the incident alone", func(s string) bool {
		return strings.Contains(s, "filter value:INC-7") && strings.Contains(s, " three ") && !strings.Contains(s, " two ")
	})
	if pressed > 4 {
		t.Errorf("%d keys to the events of one incident", pressed)
	}
	pressed = 0
	press("E", "\r")
	c.reads("report of 1 record")
	if text, err := os.ReadFile(filepath.Join(w.dir, "incident-INC-7.md")); err != nil || pressed > 3 || !strings.Contains(string(text), "# Incident INC-7") {
		t.Errorf("%d keys to a report that says %q, %v", pressed, text, err)
	}
	c.keys(esc)
	c.gone("filter value:")
	for _, pane := range []string{"1jj", "2", "3", "4"} {
		c.keys(pane + "M")
		c.reads("= Delivery ")
		c.keys(esc)
		c.gone("= Delivery ")
	}
	c.keys(esc + "2")
	for typed, meant := range map[string]string{"severity=critical": "sev:critical", "sev=critical": "sev:critical", "a AND b": "a b", "NOT info": "!info"} {
		c.keys("/\x15" + typed)
		c.sees("what was understood of "+typed, func(s string) bool {
			return strings.Contains(s, "/ "+typed) && strings.Contains(s, "tab: "+meant+" ") && regexp.MustCompile(`is searched as (text|a word)`).MatchString(s)
		})
		c.keys("\t")
		c.reads("/ " + meant)
	}
	c.keys("\x03")
	c.endsWell()
}

// standsOut reports whether a text in the detail, without its last character, has a style that
// differs from that of its last character.
func (c *terminal) standsOut(text string) bool {
	for _, row := range c.screen.Cells() {
		var line strings.Builder
		for _, cell := range row {
			line.WriteString(cell.Text)
		}
		if at := strings.Index(line.String(), text); at >= 0 {
			return row[at].Style != row[at+len(text)-1].Style
		}
	}
	return false
}
