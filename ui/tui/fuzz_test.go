package tui

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"eventdeck/host/event"
)

// FuzzKeys presses keys at changing sizes on a log of hostile payloads. It checks every frame cell by
// cell, and draws the last one on a terminal too, which takes longer than all keys.
func FuzzKeys(f *testing.F) {
	var records []event.Record
	for _, c := range hostileCases(f) {
		if len(c.raw()) <= 4096 {
			records = append(records, c.record())
		}
	}
	for _, keys := range []string{
		"2\rVVV!jjnNN\x1b!\x1byyyi", "/flag:term\r[[]]zV3n!\x1bq", ":goto #2\r", ":view save a\r:vie\t\r", "2gvjjyl\x1bmnote\r'\r", "?zoom\r\x1b?\x04\r",
		"/server:p\tx\x1b[A\r", "\\\\pool\rnNllhht", "\x10sub inc\t sev\t\r", "1jjs\t\tab\x13", "MM'\x18\r4]]lo/x\r5]]", "w\x15x.csv\rO\x1b", "aT\rSb\x1bv",
	} {
		f.Add([]byte(keys), uint64(1))
	}
	f.Add([]byte("?zoom\r\x1b?\x80\r"), uint64(72)) // a zoomed detail beside the tree on a screen without a frame
	f.Fuzz(func(t *testing.T, keys []byte, seed uint64) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		h := incident()
		for range 4 {
			h.add(records[rnd.IntN(len(records))])
		}
		a := open(t, h, 40+rnd.IntN(100), 10+rnd.IntN(40))
		a.Outside.Exports.Create, a.trace.Command = noFiles, noCommands
		keys = keys[:min(len(keys), 32)]
		checked := frames{}
		for i, k := range keys {
			pressByte(t, a, k, rnd)
			if a.panes.W <= 0 || a.panes.H <= 0 {
				continue
			}
			if i == len(keys)-1 {
				onTerminal(t, a, fmt.Sprintf("after %q", keys))
			} else {
				checked.check(t, a, keys[:i+1])
			}
		}
		notStuck(t, a, keys)
	})
}

// pressByte presses the key of a byte of the fuzzer; large bytes change the size.
func pressByte(t *testing.T, a *app, k byte, rnd *rand.Rand) {
	switch {
	case k == '\r':
		press(t, a, "enter")
	case k == 0x1b:
		press(t, a, "esc")
	case k == '\t':
		press(t, a, "tab")
	case k == ' ':
		press(t, a, "space")
	case k == 0x7f:
		press(t, a, "backspace")
	case k == 0x03: // ends the program
	case k < 0x20:
		press(t, a, "ctrl+"+string(rune('a'+k-1)))
	case k >= 0xc0:
		a.update(tea.WindowSizeMsg{Width: rnd.IntN(200), Height: rnd.IntN(50)})
	case k >= 0x80:
		press(t, a, []string{"up", "down", "left", "right", "home", "end", "pgup", "delete"}[k%8])
	default:
		press(t, a, string(rune(k)))
	}
}

// frames checks frames. It measures each line once, since measuring is slow and most lines do not
// change from one key to the next.
type frames map[string]int // width, by line

// check fails unless the frame fills the screen exactly, without control characters.
func (f frames) check(t *testing.T, a *app, keys []byte) {
	lines := strings.Split(a.draw(), "\n")
	if len(lines) != a.panes.H {
		t.Fatalf("after %q: %d lines on a screen of %d", keys, len(lines), a.panes.H)
	}
	for i, l := range lines {
		w, measured := f[l]
		if !measured {
			w = ansi.StringWidthWc(l)
			harmless(t, fmt.Sprintf("after %q", keys), l)
			f[l] = w
		}
		if w != a.panes.W {
			t.Fatalf("after %q: line %d has %d cells of %d: %q", keys, i, w, a.panes.W, ansi.Strip(l))
		}
	}
}

// notStuck fails unless esc closes every dialog and prompt.
func notStuck(t *testing.T, a *app, keys []byte) {
	for range 12 {
		if press(t, a, "esc") {
			t.Fatalf("after %q: esc quit", keys)
		}
	}
	if a.dialog != nil || a.prompt != nil || a.actions.Chord != "" {
		t.Fatalf("after %q: esc does not lead out of %T, prompt %v", keys, a.dialog, a.prompt != nil)
	}
}
