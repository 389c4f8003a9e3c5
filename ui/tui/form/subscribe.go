package form

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/form"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/widget"
)

// Form is the dialog to subscribe to an event type or to several at once, to edit a
// subscription, or to fill in a [Custom] form.
type Form struct {
	env    *Env
	server string
	typ    event.Type
	many   []query.Node           // several types with the same arguments; nil: one type
	differ bool                   // their schemas differ
	sent   func()                 // called when all of them are subscribed to
	old    *host.SubscriptionView // the subscription to edit; nil: a new one
	model  *form.Model
	custom *Custom // nil: the form is about a subscription

	modes    []modeChoice
	mode     int
	chosen   bool // the operator chose the mode
	start    int  // index into starts
	age      string
	ttl      string
	end      string
	secret   event.Secret
	unmasked bool // the secret is shown

	on      formItem
	edit    widget.Field
	chip    int // choice under the cursor, where several can be chosen
	preview bool
	top     int
	drawn   formDrawing

	problems  []form.Problem
	refusals  map[*form.Entry]string // what the server refused of a field, until the field changes
	submitted bool                   // it was submitted: a missing value is wrong
	banner    banner
	shown     struct { // what the host would send
		key     string
		preview host.Preview
		custom  Preview
		err     error
	}
	busy   bool
	late   bool   // the server did not confirm in time; the host goes on trying
	edited bool   // the arguments were edited as JSON or taken from an earlier subscription
	kept   string // settings of the subscription that is edited
	token  int    // of the newest check: answers to earlier ones are dropped
}

// modeChoice is a delivery mode and why it cannot be used, "" if it can.
type modeChoice struct {
	mode event.Mode
	why  string
}

// formItem is an item of the form that can have the focus.
type formItem struct {
	kind  itemKind
	entry *form.Entry // of a field
}

type itemKind uint8

const (
	itemMode itemKind = iota
	itemField
	itemStart
	itemAge
	itemTTL
	itemEnd
	itemSend
)

// starts are the positions from which delivery can begin. A largest age applies to a saved
// position only.
var starts = [...]struct {
	word   string
	saved  bool
	age    time.Duration
	custom bool
}{
	{word: "from now"}, {word: "saved position", saved: true},
	{word: "last 5 m", saved: true, age: 5 * time.Minute},
	{word: "1 h", saved: true, age: time.Hour},
	{word: "24 h", saved: true, age: 24 * time.Hour},
	{word: "other", saved: true, custom: true},
}

const customStart = len(starts) - 1

// open shows the form, with the focus on the first field that must be filled in.
func (f *Form) open() tea.Cmd {
	f.setMode(f.mode)
	f.validate()
	f.enter(f.items()[0])
	for _, it := range f.items() {
		if it.kind == itemField && f.needed(it.entry) {
			f.enter(it)
			break
		}
	}
	f.env.Show(f)
	return tea.Batch(f.check(), f.ask())
}

// items are the items that can have the focus, in their order.
func (f *Form) items() []formItem {
	var items []formItem
	if f.custom == nil {
		items = append(items, formItem{kind: itemMode})
	}
	for _, e := range f.model.Entries() {
		if !e.Heading {
			items = append(items, formItem{kind: itemField, entry: e})
		}
	}
	if f.custom != nil {
		return append(items, formItem{kind: itemSend})
	}
	items = append(items, formItem{kind: itemStart})
	if f.start == customStart {
		items = append(items, formItem{kind: itemAge})
	}
	if f.webhook() {
		items = append(items, formItem{kind: itemTTL})
	}
	return append(items, formItem{kind: itemEnd}, formItem{kind: itemSend})
}

func (f *Form) webhook() bool { return f.custom == nil && f.modes[f.mode].mode == event.ModeWebhook }

// enter moves the focus to an item.
func (f *Form) enter(it formItem) {
	f.on, f.chip = it, 0
	f.edit = widget.Field{}
	switch it.kind {
	case itemField:
		f.edit.Multiline = it.entry.Lines()
		f.edit.Set(it.entry.Text())
		for i := range it.entry.Choices {
			if it.entry.Picked(i) {
				f.chip = i
				break
			}
		}
	case itemAge:
		f.edit.Set(f.age)
	case itemTTL:
		f.edit.Set(f.ttl)
	case itemEnd:
		f.edit.Set(f.end)
	}
}

// step moves the focus by n items. At the ends it stops, or with round goes on at the other end.
func (f *Form) step(n int, round bool) {
	items := f.items()
	i := slices.Index(items, f.on) + n
	if round {
		i = (i + len(items)) % len(items)
	}
	f.enter(items[max(0, min(i, len(items)-1))])
}

// check asks the host about every mode.
func (f *Form) check() tea.Cmd {
	if f.many != nil || f.custom != nil {
		return nil
	}
	f.token++
	token, r, modes, typ := f.token, f.request(), slices.Clone(f.modes), f.typ
	why := make([]string, len(modes))
	return f.env.Do(func(ctx context.Context) tea.Msg {
		for i, m := range modes {
			why[i] = modeProblem(ctx, f.env.Host, &typ, r, m.mode)
		}
		r.Mode = event.ModeAuto
		best, err := f.env.Host.Check(ctx, r)
		if err != nil {
			best = ""
		}
		return widget.Then(func() tea.Cmd {
			if token == f.token {
				f.checked(why, best)
			}
			return f.ask()
		})
	})
}

// modeProblem says why the host refuses a request in a mode, "" if it does not. It ignores wrong
// arguments, which are shown at their fields.
func modeProblem(ctx context.Context, h Host, typ *event.Type, r host.Request, m event.Mode) string {
	if typ != nil && !typ.Offers(m) {
		return evidence.NotOffered(*typ)
	}
	r.Mode = m
	if _, err := h.Check(ctx, r); err != nil && !errors.Is(err, host.ErrArguments) {
		return strings.TrimPrefix(err.Error(), host.ErrMode.Error()+": ")
	}
	return ""
}

// checked stores why modes cannot be used. It chooses best, the mode that the host would use, unless
// the operator chose a usable one.
func (f *Form) checked(why []string, best event.Mode) {
	for i := range f.modes {
		f.modes[i].why = why[i]
	}
	if f.chosen && f.modes[f.mode].why == "" {
		return
	}
	at := slices.IndexFunc(f.modes, func(c modeChoice) bool { return c.why == "" && c.mode == best })
	if at < 0 && f.modes[f.mode].why != "" {
		at = slices.IndexFunc(f.modes, func(c modeChoice) bool { return c.why == "" })
	}
	if at >= 0 {
		f.setMode(at)
	}
}

// setMode chooses a mode. For webhook it makes the secret, so that it can be shown.
func (f *Form) setMode(i int) {
	f.mode = i
	if f.webhook() && f.secret.IsZero() && f.old == nil {
		secret, err := event.NewWebhookSecret(nil)
		if err != nil {
			f.banner = banner{text: err.Error()}
			return
		}
		f.secret = secret
	}
}

func (f *Form) validate() { f.problems = f.model.Problems() }

// problemOf says what is wrong with a field, "" if nothing is. A missing value is wrong only after the
// form was submitted.
func (f *Form) problemOf(e *form.Entry) string {
	if text := f.refusals[e]; text != "" {
		return text
	}
	for _, p := range f.problems {
		if p.Entry == e && (f.submitted || !p.Missing) {
			return p.Text
		}
	}
	return ""
}

func (f *Form) request() host.Request {
	if f.custom != nil {
		return host.Request{Server: f.server, Type: f.typ.Name, Args: f.model.JSON()}
	}
	at := starts[f.start]
	r := host.Request{
		Server: f.server, Type: f.typ.Name, Args: f.model.JSON(), Mode: f.modes[f.mode].mode,
		From: host.From{Saved: at.saved}, MaxAge: at.age,
	}
	if at.custom {
		r.MaxAge, _ = form.Duration(f.age) // checked before it is sent
	}
	if f.webhook() {
		r.Secret = f.secret
		r.TTL, _ = form.Duration(f.ttl) // checked before it is sent
	}
	if f.end != "" || f.old != nil {
		at, _ := form.Until(f.end, f.env.Clock()) // likewise; never, if it is empty
		r.Ends = &at
	}
	return r
}

// endProblem says what is wrong with the end, "" if nothing is.
func (f *Form) endProblem() string {
	if _, err := form.Until(f.end, f.env.Clock()); err != nil && f.end != "" {
		return form.ErrEnd.Error()
	}
	return ""
}

// durationProblem says what is wrong with a duration, "" if nothing is.
func durationProblem(text string, needed bool) string {
	if strings.TrimSpace(text) == "" && !needed {
		return ""
	}
	if d, err := form.Duration(text); err != nil || d == 0 {
		return "write it like 90s, 45m, 1h30m or 2d"
	}
	return ""
}

// Busy implements [widget.Worker].
func (f *Form) Busy() bool { return f.busy }

// Answered implements [widget.Asker].
func (f *Form) Answered() { f.busy = false }

// dirty reports whether closing the form would lose something.
func (f *Form) dirty() bool {
	return f.model.Dirty() || f.edited || f.old == nil && f.settings() != "\x00\x00" || f.old != nil && f.settings() != f.kept
}

// Title implements [widget.Dialog].
func (f *Form) Title() string {
	switch {
	case f.custom != nil:
		return f.custom.Title
	case f.old != nil:
		return "Edit the subscription"
	case f.many != nil:
		return "Subscribe to " + cells.Count(len(f.many), "event type")
	}
	return "Subscribe"
}

// Hints implements [widget.Dialog].
func (f *Form) Hints() []string {
	if f.busy {
		return []string{"esc", "go on in the background"}
	}
	does := "subscribe"
	if f.old != nil {
		does = "change"
	}
	if f.custom != nil {
		does = strings.ToLower(f.custom.Verb)
	}
	esc := "back"
	if f.late && f.existing() != nil {
		esc = "go on in the background"
	}
	h := []string{"tab", "next", "ctrl+s", does, "esc", esc, "ctrl+e", "as JSON"}
	if f.on.kind == itemField && f.on.entry.Nullable {
		h = slices.Insert(h, 2, "ctrl+n", "null")
	}
	if !f.drawn.wide {
		h = append(h, "ctrl+p", "preview")
	}
	if f.webhook() && !f.secret.IsZero() {
		h = append(h, "ctrl+r", "show the secret")
	}
	if f.custom != nil {
		return h
	}
	return append(h, "ctrl+t", "earlier ones")
}

// noReplay says why a start before now brings no earlier events, "" if it may bring some.
func (f *Form) noReplay() string {
	switch {
	case !starts[f.start].saved:
		return ""
	case f.many != nil:
		return "types without a saved position begin now"
	case f.existing() == nil:
		return "nothing is saved for these arguments: the same as from now"
	case f.typ.Cursorless:
		return "the type has no replay: what came before cannot be sent again"
	}
	return ""
}

// serverSays shows a refusal at a field.
func (f *Form) serverSays(e *form.Entry, text trust.Text) {
	f.refusals[e] = "the server: " + trust.Line(text).Plain()
	f.enter(formItem{kind: itemField, entry: e})
}
