// Package tuitest has stand-ins for tests of the parts of the screen: the screen itself, the log, the
// settings.
package tuitest

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
	"eventdeck/ui/tui/widget"
)

// Start is the current time of an [Env].
var Start = time.Date(2026, 3, 14, 14, 3, 5, 0, time.UTC)

// Env returns an environment without colours, with Unicode glyphs and a stopped clock.
func Env() *cells.Env {
	return &cells.Env{Theme: themes.For(true, themes.NoColours), Glyphs: &cells.UnicodeGlyphs, Now: func() time.Time { return Start }}
}

// StreamEnv returns the environment of a stream that has the focus and knows no types.
func StreamEnv(env *cells.Env, snap *host.Snapshot) *stream.Env {
	return &stream.Env{
		Env: env, Screen: &Screen{}, Panes: &layout.Screen{}, Snap: snap, Focused: func() bool { return true }, Found: func() string { return "" },
		DrawEmpty: func(c *cells.Canvas, _ int) { c.Put(themes.Plain, "nothing yet"); c.End() },
	}
}

// Screen is a screen of 120 by 40 cells that records what it is asked to show.
type Screen struct {
	Dialog  widget.Dialog
	Prompt  *widget.Prompt
	Told    string
	Bad     string // of the last TellBad
	Failed  error
	Undo    func() tea.Cmd           // of the last OfferUndo
	Edit    func(text string) string // the operator's editor
	Record  uint64                   // of the last Jump
	Sub     event.SubID              // of the last JumpToSub
	Node    query.Node               // of the last ShowEvents
	Query   query.Query              // of the last ShowQuery
	Entered bool                     // EnterStream was called
}

// Show implements [widget.Screen].
func (s *Screen) Show(d widget.Dialog) {
	if s.Dialog = d; d != nil {
		d.Size(120, 40)
	}
}

// Shown implements [widget.Screen].
func (s *Screen) Shown() widget.Dialog { return s.Dialog }

// Tell implements [widget.Screen].
func (s *Screen) Tell(text string) { s.Told = text }

// Fail implements [widget.Screen].
func (s *Screen) Fail(_ string, err error) { s.Failed = err }

// Do implements [widget.Screen].
func (s *Screen) Do(fn func(context.Context) tea.Msg) tea.Cmd {
	return func() tea.Msg { return fn(context.Background()) }
}

// Context implements [widget.Screen].
func (s *Screen) Context() context.Context { return context.Background() }

// Read implements [widget.Screen].
func (s *Screen) Read() tea.Cmd { return nil }

// AskLine implements [widget.Screen].
func (s *Screen) AskLine(p *widget.Prompt, text string) {
	p.Field.Set(text)
	s.Prompt = p
}

// Line implements [widget.Screen].
func (s *Screen) Line() *widget.Prompt { return s.Prompt }

// EditText edits text with Edit.
func (s *Screen) EditText(text string, then func(text string) tea.Cmd) tea.Cmd {
	return then(s.Edit(text))
}

// TellBad records text.
func (s *Screen) TellBad(text string) { s.Bad = text }

// Hush forgets what was told.
func (s *Screen) Hush() { s.Told = "" }

// OfferUndo records what was done and how it is undone.
func (s *Screen) OfferUndo(did string, run func() tea.Cmd) { s.Told, s.Undo = did, run }

// Copy records what was copied.
func (s *Screen) Copy(what, _ string) tea.Cmd { s.Told = "copied " + what; return nil }

// EnterStream records that it was called.
func (s *Screen) EnterStream() { s.Entered = true }

// ShowQuery records q.
func (s *Screen) ShowQuery(q query.Query) { s.Query = q }

// Type sends keys to the open prompt and runs the commands that it returns; see [Keys].
func (s *Screen) Type(texts ...string) {
	for _, key := range Keys(texts...) {
		if s.Prompt == nil {
			return
		}
		p := s.Prompt
		cmd, open := p.Key(key)
		if s.Exec(cmd); !open && s.Prompt == p {
			s.Prompt = nil
		}
	}
}

// Ask records what was done or what failed.
func (s *Screen) Ask(what string, fn func(context.Context) error) tea.Cmd {
	return s.Do(func(ctx context.Context) tea.Msg {
		err := fn(ctx)
		return widget.Then(func() tea.Cmd {
			if s.Failed = err; err == nil {
				s.Told = what
			}
			return nil
		})
	})
}

// KeyOf returns the action in angle brackets in place of its key.
func (s *Screen) KeyOf(action string) string { return "<" + action + ">" }

// Jump records seq.
func (s *Screen) Jump(seq uint64) tea.Cmd { s.Record = seq; return nil }

// JumpToSub records id.
func (s *Screen) JumpToSub(id event.SubID) bool { s.Sub = id; return true }

// ShowEvents records n.
func (s *Screen) ShowEvents(n query.Node) { s.Node = n }

// named has the keys that are not letters.
var named = map[string]rune{
	"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
	"home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
	"delete": tea.KeyDelete, "backspace": tea.KeyBackspace, "space": tea.KeySpace,
}

// modifiers has the prefixes of the names of keys with a modifier.
var modifiers = map[string]tea.KeyMod{"ctrl+": tea.ModCtrl, "alt+": tea.ModAlt, "shift+": tea.ModShift}

// Keys returns the keys of names such as "enter" or "ctrl+s". Other texts are typed letter by letter.
func Keys(names ...string) (keys []tea.KeyPressMsg) {
	for _, name := range names {
		if key, ok := keyOf(name); ok {
			keys = append(keys, key)
			continue
		}
		for _, letter := range name {
			keys = append(keys, tea.KeyPressMsg{Code: letter, Text: string(letter)})
		}
	}
	return keys
}

func keyOf(name string) (tea.KeyPressMsg, bool) {
	for prefix, mod := range modifiers {
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		if key, ok := keyOf(rest); ok {
			key.Mod |= mod
			return key, true
		}
		if letters := []rune(rest); len(letters) == 1 {
			return tea.KeyPressMsg{Code: letters[0], Mod: mod}, true
		}
	}
	code, ok := named[name]
	if name == "space" {
		return tea.KeyPressMsg{Code: code, Text: " "}, true
	}
	return tea.KeyPressMsg{Code: code}, ok
}

// Press sends keys to the shown dialog and runs the commands that it returns; see [Keys].
func (s *Screen) Press(names ...string) {
	for _, key := range Keys(names...) {
		if s.Dialog != nil {
			s.Exec(s.Dialog.Key(key))
		}
	}
}

// Text returns the shown dialog as it is drawn in w by h cells, "" for none.
func (s *Screen) Text(w, h int) string {
	if s.Dialog == nil {
		return ""
	}
	var c cells.Canvas
	theme := themes.For(true, themes.NoColours)
	c.Begin(&theme, w)
	s.Dialog.Draw(&c, h)
	return Plain(c.Rows(h, nil))
}

// Plain joins rows and removes their styles.
func Plain(rows []string) string { return ansi.Strip(strings.Join(rows, "\n")) }

// Exec runs a command and the commands that follow from it, as the screen does: for a [widget.Done] it
// records what was done or failed, and closes the dialog that asked.
func (s *Screen) Exec(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case widget.Then:
		s.Exec(msg())
	case tea.BatchMsg:
		for _, c := range msg {
			s.Exec(c)
		}
	case widget.Done:
		s.done(msg)
	}
}

func (s *Screen) done(msg widget.Done) {
	if msg.From != nil {
		msg.From.Answered()
	}
	if s.Failed = msg.Err; msg.Err != nil {
		if msg.From != nil {
			msg.From.ShowError(msg.Err)
		}
		return
	}
	if msg.From != nil && s.Dialog == widget.Dialog(msg.From) {
		s.Dialog = nil
	}
	if msg.What != "" {
		s.Told = msg.What
	}
	if msg.After != nil {
		msg.After()
	}
}

// Run is [Screen.Exec] on a new screen.
func Run(cmd tea.Cmd) { new(Screen).Exec(cmd) }
