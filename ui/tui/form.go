package tui

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
)

// form asks how to subscribe to an event type.
type form struct {
	server  string
	typ     event.Type
	modes   []modeChoice
	mode    int
	saved   bool
	args    editor
	at      int // field that has the keys
	problem string
	busy    bool
	token   int // answers to earlier checks are stale
}

// modeChoice is a delivery mode and why it cannot be used.
type modeChoice struct {
	mode event.Mode
	why  string
}

// The fields of the form, in order.
const (
	fieldMode = iota
	fieldStart
	fieldArgs
	fieldSend
	fields
)

// checkedMsg tells what the host thinks of a form.
type checkedMsg struct {
	form  *form
	token int
	why   []string // by mode
	args  string   // what is wrong with the arguments
}

func (a *app) canSubscribe() bool {
	_, t := a.formSubject()
	return t != nil
}

// formSubject returns the event type that the choice is about: that of the
// chosen node, else that of the chosen record.
func (a *app) formSubject() (string, *event.Type) {
	n := a.tree.at
	if n.level() < 2 && a.focus != treePane {
		if r, err := a.api.Log().Get(a.stream.at); err == nil {
			n = node{server: r.Server, typ: r.Type}
		}
	}
	for i := range a.snap.Servers {
		s := &a.snap.Servers[i]
		for j := range s.Types {
			if s.Name == n.server && s.Types[j].Name == n.typ {
				return s.Name, &s.Types[j]
			}
		}
	}
	return "", nil
}

func (a *app) openForm() tea.Cmd {
	server, t := a.formSubject()
	f := &form{server: server, typ: *t}
	for _, m := range []event.Mode{event.ModeAuto, event.ModePush, event.ModePoll, event.ModeWebhook} {
		c := modeChoice{mode: m}
		if m != event.ModeAuto && !t.Offers(m) {
			c.why = "not offered by the type"
		}
		f.modes = append(f.modes, c)
	}
	f.args.set(string(a.api.Skeleton(*t)))
	f.args.row, f.args.col = 0, 0
	a.dialog = f
	return f.check(a)
}

// check asks the host about every mode and the arguments.
func (f *form) check(a *app) tea.Cmd {
	f.token++
	msg := checkedMsg{form: f, token: f.token, why: make([]string, len(f.modes))}
	r := f.request()
	modes := append([]modeChoice(nil), f.modes...)
	typ := f.typ
	return a.do(func(ctx context.Context) tea.Msg {
		for i, m := range modes {
			if m.mode != event.ModeAuto && !typ.Offers(m.mode) {
				msg.why[i] = "not offered by the type"
				continue
			}
			r.Mode = m.mode
			_, err := a.api.Check(ctx, r)
			switch {
			case err == nil:
			case errors.Is(err, host.ErrArguments):
				msg.args = err.Error()
			default:
				msg.why[i] = err.Error()
			}
		}
		return msg
	})
}

func (f *form) checked(msg checkedMsg) {
	if msg.form != f || msg.token != f.token {
		return
	}
	for i := range f.modes {
		f.modes[i].why = msg.why[i]
	}
	f.problem = msg.args
}

func (f *form) refuse(err error) { f.problem = err.Error() }

func (f *form) request() host.Request {
	return host.Request{
		Server: f.server, Type: f.typ.Name, Args: json.RawMessage(f.args.text()),
		Mode: f.modes[f.mode].mode, From: host.From{Saved: f.saved},
	}
}

// command is the same wish as a command line.
func (f *form) command() string {
	s := "eventdeck tail " + quoteArg(f.server) + " " + quoteArg(f.typ.Name.Raw()) + " --mode " + string(f.modes[f.mode].mode)
	if f.saved {
		s += " --from saved"
	}
	args := string(trust.CompactJSON([]byte(f.args.text())))
	if json.Valid([]byte(f.args.text())) && !noArgs([]byte(args)) {
		s += " --args " + quoteArg(args)
	}
	return s
}

// quoteArg quotes a word for a POSIX shell where it needs it.
func quoteArg(s string) string {
	plain := s != ""
	for _, r := range s {
		plain = plain && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-/:@%+=,", r))
	}
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func (f *form) title() string { return "Subscribe" }

func (f *form) size(a *app) (int, int) {
	return min(100, a.w-4), 14 + len(f.modes) + min(len(f.args.lines), 10)
}

func (f *form) draw(a *app, c *canvas, h int) {
	c.put(themes.Plain, " ")
	c.safe(themes.Server, ours(f.server))
	c.put(themes.Plain, "  ")
	c.safe(themes.Type, trust.Line(f.typ.Name))
	c.end()
	if !f.typ.Description.IsZero() && h > 16 {
		c.put(themes.Gutter, a.glyphs.gutter)
		c.safe(themes.Dim, trust.Line(f.typ.Description).Clip(c.room))
		c.end()
	}
	f.drawModes(a, c)
	f.label(a, c, fieldStart, "Start")
	f.radio(a, c, !f.saved, "from now")
	c.put(themes.Plain, "   ")
	f.radio(a, c, f.saved, "from the saved position")
	c.end()
	f.drawArgs(a, c, h)
	role := themes.Plain
	if f.at == fieldSend {
		role = themes.Cursor
	}
	c.put(themes.Plain, "   ")
	if f.busy {
		c.put(themes.Busy, "asking the server "+a.glyphs.more)
	} else {
		c.put(role, " Subscribe ")
	}
	c.end()
	c.put(themes.Dim, " the same as")
	c.end()
	for _, l := range trust.Block(trust.Untrusted(f.command()), max(1, c.width-3)) {
		c.put(themes.Plain, "   ")
		c.safe(themes.Dim, l)
		c.end()
	}
}

func (f *form) label(a *app, c *canvas, field int, text string) {
	if f.at == field {
		c.put(themes.Key, " "+a.glyphs.cursor+" ")
		c.put(themes.Strong, pad(text, 9))
		return
	}
	c.put(themes.Plain, "   ")
	c.put(themes.Dim, pad(text, 9))
}

func (f *form) radio(a *app, c *canvas, on bool, text string) {
	if on {
		c.put(themes.Strong, "("+a.glyphs.chosen+") "+text)
		return
	}
	c.put(themes.Plain, "( ) "+text)
}

func (f *form) drawModes(a *app, c *canvas) {
	for i, m := range f.modes {
		if i == 0 {
			f.label(a, c, fieldMode, "Delivery")
		} else {
			c.put(themes.Plain, "             ")
		}
		if m.why != "" {
			c.put(themes.Off, "("+a.glyphs.cannot+") "+pad(string(m.mode), 7))
			c.safe(themes.Off, ours(m.why).Clip(c.room))
		} else {
			f.radio(a, c, i == f.mode, string(m.mode))
			if m.mode == event.ModeAuto {
				c.put(themes.Dim, "   the best that the type and this host can do")
			}
		}
		c.end()
	}
}

func (f *form) drawArgs(a *app, c *canvas, h int) {
	f.label(a, c, fieldArgs, "Arguments")
	c.put(themes.Dim, "JSON, made from the type's schema")
	c.end()
	room := max(1, min(10, h-len(f.modes)-9))
	top := max(0, min(f.args.row-room/2, len(f.args.lines)-room))
	for i := top; i < len(f.args.lines) && i < top+room; i++ {
		c.put(themes.Gutter, "   "+a.glyphs.divider)
		f.args.drawLine(c, i, f.at == fieldArgs)
		c.end()
	}
	if f.problem != "" {
		for _, l := range trust.Block(trust.Untrusted(f.problem), max(1, c.width-5))[:1] {
			c.put(themes.Bad, "   "+a.glyphs.bad+" ")
			c.safe(themes.Bad, l)
		}
	}
	c.end()
}

func (f *form) key(a *app, name, text string) tea.Cmd {
	switch name {
	case "esc":
		a.dialog = nil
		return nil
	case "ctrl+s":
		return f.send(a)
	case "tab":
		f.at = (f.at + 1) % fields
		return nil
	case "shift+tab":
		f.at = (f.at + fields - 1) % fields
		return nil
	}
	if f.at == fieldArgs {
		if f.args.key(name, text) {
			return f.check(a)
		}
		return nil
	}
	switch name {
	case "enter":
		if f.at == fieldSend {
			return f.send(a)
		}
		f.at++
	case "down", "j":
		if f.at != fieldMode || !f.nextMode(1) {
			f.at = min(f.at+1, fields-1)
		}
	case "up", "k":
		if f.at != fieldMode || !f.nextMode(-1) {
			f.at = max(f.at-1, 0)
		}
	case "left", "right", "h", "l", "space":
		if f.at == fieldStart {
			f.saved = !f.saved
		}
	}
	return nil
}

// nextMode chooses the next mode that can be used.
func (f *form) nextMode(step int) bool {
	for i := f.mode + step; i >= 0 && i < len(f.modes); i += step {
		if f.modes[i].why == "" {
			f.mode = i
			return true
		}
	}
	return false
}

// send checks the arguments and the mode, then subscribes.
func (f *form) send(a *app) tea.Cmd {
	if f.busy {
		return nil
	}
	if why := f.modes[f.mode].why; why != "" {
		f.problem, f.at = string(f.modes[f.mode].mode)+": "+why, fieldMode
		return nil
	}
	if _, err := event.CanonicalArgs([]byte(f.args.text())); err != nil {
		f.problem, f.at = err.Error(), fieldArgs
		return nil
	}
	f.busy, f.problem = true, ""
	r := f.request()
	return a.do(func(ctx context.Context) tea.Msg {
		_, err := a.api.Check(ctx, r)
		if err == nil {
			_, err = a.api.Subscribe(ctx, r)
		}
		return doneMsg{what: "subscribed to " + subName(event.Key{Server: r.Server, Type: r.Type, Args: r.Args}), err: err, form: f}
	})
}

func (f *form) paste(a *app, text string) tea.Cmd {
	f.at = fieldArgs
	f.args.insert(text)
	return f.check(a)
}

func (f *form) hints() []string {
	return []string{"tab", "next field", "ctrl+s", "subscribe", "esc", "back"}
}
