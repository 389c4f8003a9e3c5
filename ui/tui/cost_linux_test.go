package tui

import (
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// threadTime returns the CPU time of this thread until now.
func threadTime() time.Duration {
	const thisThread = 1
	var u syscall.Rusage
	_ = syscall.Getrusage(thisThread, &u) // it fails for a bad address alone
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// linear fails if work on eight times as much takes much more than eight times the CPU time, from
// 1 KiB to 64 KiB. Work that takes next to nothing passes.
func linear(t *testing.T, what string, work func(t *testing.T, size int)) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const little, most = 40 * time.Millisecond, 8 * 4
	before := time.Duration(0)
	for _, size := range []int{1 << 10, 8 << 10, 64 << 10} {
		runtime.GC()
		began := threadTime()
		work(t, size)
		cost := threadTime() - began
		if size > 1<<10 && cost > little && cost > most*max(before, time.Millisecond) {
			t.Errorf("%s: %d KiB take %v, an eighth of it %v", what, size>>10, cost, before)
		}
		before = cost
	}
}

// costly has texts that may be costly to draw, of any length.
var costly = map[string]string{
	"words": "abcdefg ", "lines": "a\n", "joined emoji": "👩‍👩‍👧", "marks": "\u0301", "objects": `{"a":`,
}

// No field costs more than its text is long: neither pasting, nor drawing, nor a key.
func TestPastesCostNoMoreThanTheirLength(t *testing.T) {
	for name, opened := range fields() {
		for kind, text := range costly {
			linear(t, kind+" in "+name, func(t *testing.T, size int) {
				a := opened(t)
				settle(a, a.update(tea.PasteMsg{Content: strings.Repeat(text, size/len(text))}))
				a.draw()
				for _, k := range []string{"left", "home", "x", "ctrl+z"} {
					press(t, a, k)
					a.draw()
				}
			})
		}
	}
}

// No view of a record costs more than the record is long.
func TestRecordsCostNoMoreThanTheirLength(t *testing.T) {
	for kind, payload := range map[string]func(size int) string{
		"a long text":    func(n int) string { return `{"title":"` + strings.Repeat("abcdefg ", n/8) + `"}` },
		"one word":       func(n int) string { return `{"title":"` + strings.Repeat("a", n) + `"}` },
		"joined emoji":   func(n int) string { return `{"title":"` + strings.Repeat("👩‍👩‍👧", n/18) + `"}` },
		"marks":          func(n int) string { return `{"title":"` + strings.Repeat("\u0301", n/2) + `"}` },
		"hidden":         func(n int) string { return `{"title":"` + strings.Repeat("a\u200b", n/4) + `"}` },
		"escapes":        func(n int) string { return `{"title":"` + strings.Repeat(`\u001b[1m`, n/9) + `"}` },
		"links":          func(n int) string { return `{"title":"` + strings.Repeat("https://a.example/ ", n/19) + `"}` },
		"ids":            func(n int) string { return `{"title":"` + strings.Repeat("INC-4236 ", n/9) + `"}` },
		"members":        func(n int) string { return `{` + members(n/12) + `"title":1}` },
		"an array":       func(n int) string { return `{"title":[` + strings.Repeat(`1,`, n/2) + `1]}` },
		"array of texts": func(n int) string { return `{"title":[` + strings.Repeat(`"abc def",`, n/10) + `1]}` },
		"nested":         func(n int) string { return strings.Repeat(`{"a":[`, n/10) + strings.Repeat(`]}`, n/10) },
		"broken":         func(n int) string { return strings.Repeat(`{"a":"`, n/6) },
	} {
		for name, keys := range map[string][]string{
			"a row": {"2"}, "its payload": {"2", "enter", "z", "G"}, "its bytes": {"2", "enter", "]", "G"}, "its schema": {"2", "enter", "]", "]"},
			"its delivery": {"2", "enter", "[", "["}, "its flags": {"2", "!"}, "what shares a value": {"2", "&"}, "repeats": {"2", "#"}, "columns": {"2", "c"},
			"a search": {"2", "\\", "a", "enter"}, "a filter": {"/", "a", "b", "tab"}, "following": {"2", "="}, "comparing": {"2", "B", "k", "B"}, "copying": {"2", "y", "l"},
			"a report": {"2", "E"}, "a pipe": {"2", "|"}, "the same": {"2", "enter", "["},
		} {
			linear(t, name+" with "+kind, func(t *testing.T, size int) {
				h := incident()
				for range 2 {
					h.add(event.Record{Kind: event.KindEvent, Server: "pager", Type: trust.Untrusted("incident.created"), Sub: h.snap.Subs[0].ID, Data: []byte(payload(size)), Raw: []byte(payload(size))})
				}
				a := open(t, h, 120, 40)
				a.trace.Command = noCommands
				for _, k := range keys {
					press(t, a, k)
					a.draw()
				}
			})
		}
	}
}

// members returns n members of an object.
func members(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"m%06d":1,`, i)
	}
	return b.String()
}
