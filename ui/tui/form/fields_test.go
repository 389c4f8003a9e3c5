package form_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
	"eventdeck/ui/tui/form"
)

// asking returns a type with arguments of every kind.
func asking() event.Type {
	t := orders
	t.Name = trust.Untrusted("alert.raised")
	t.Description = trust.Untrusted("something is wrong")
	t.InputSchema = json.RawMessage(`{"type":"object","required":["level"],"properties":{
		"level":{"type":"string","enum":["low","high","huge"],"description":"how bad \u001b[31mit is"},
		"tags":{"type":"array","items":{"type":"string","enum":["db","net","web"]}},
		"quiet":{"type":"boolean"},
		"note":{"type":["string","null"],"examples":["first","second"]},
		"lines":{"type":"array","items":{"type":"string"}},
		"token":{"type":"string","format":"password"},
		"where":{"type":"object","required":["zone"],"properties":{"zone":{"type":"string"}}},
		"since":{"type":"string","format":"date-time"}}}`)
	return t
}

// open shows the form of a type with the focus on a field.
func (d *fixture) open(t *testing.T, typ event.Type, field string) *form.Form {
	t.Helper()
	d.Exec(form.OpenSubscribe(&d.env, "shop", typ))
	f, ok := d.Dialog.(*form.Form)
	if !ok {
		t.Fatalf("%v is shown", d.Dialog)
	}
	if field != "" {
		f.Focus(f.Model().Named(field))
	}
	return f
}

func TestKeysFillInFields(t *testing.T) {
	for name, c := range map[string]struct{ field, keys, want string }{
		"a choice with arrows":       {"level", "right right", `{"level":"high"}`},
		"the last choice":            {"level", "end", `{"level":"huge"}`},
		"by its first letter":        {"level", "h h", `{"level":"huge"}`},
		"taken back":                 {"level", "end backspace", `{}`},
		"space takes it, and back":   {"level", "space space", `{}`},
		"several choices":            {"tags", "space right right space", `{"tags":["db","web"]}`},
		"a switch":                   {"quiet", "right", `{"quiet":true}`},
		"an example":                 {"note", "ctrl+l", `{"note":"first"}`},
		"the next example":           {"note", "ctrl+l ctrl+l", `{"note":"second"}`},
		"an example by its letters":  {"note", "sec ctrl+l", `{"note":"second"}`},
		"null":                       {"note", "ctrl+n", `{"note":null}`},
		"null taken back":            {"note", "ctrl+n ctrl+n", `{}`},
		"a line each":                {"lines", "one enter two", `{"lines":["one","two"]}`},
		"a member of an object":      {"zone", "eu", `{"where":{"zone":"eu"}}`},
		"enter goes to the next one": {"quiet", "right enter hello", `{"quiet":true,"note":"hello"}`},
		"up goes back":               {"note", "up right", `{"quiet":true}`},
	} {
		d := newFixture(t)
		f := d.open(t, asking(), c.field)
		d.Press(strings.Fields(c.keys)...)
		var got, want any
		if json.Unmarshal(f.Model().JSON(), &got) != nil || json.Unmarshal([]byte(c.want), &want) != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %s, not %s", name, f.Model().JSON(), c.want)
		}
	}
}

// Fields show what they accept, with text of the server behind the gutter. Secrets are masked.
func TestFieldsDescribeTheirValues(t *testing.T) {
	d := newFixture(t)
	f := d.open(t, asking(), "level")
	for _, want := range []string{"something is wrong", "e.g. 2026-03-14T14:00:00Z, 14:00, -1h", "level *", "( ) low", "[ ] db", "▌how bad", "Delivery", "(●) push", "Start", "(●) from now", "Subscribe "} {
		d.shows(t, want)
	}
	f.Focus(f.Model().Named("token"))
	d.Press("hunter2")
	if d.shows(t, "shown masked; ctrl+r shows it"); strings.Contains(d.Text(116, 34), "hunter2") {
		t.Error("the secret is shown")
	}
	d.Press("ctrl+r")
	d.shows(t, "hunter2")
	f.Focus(f.Model().Named("lines"))
	d.Press("a", "enter", "b", "enter", "c", "enter", "d", "enter", "e", "enter", "f", "enter", "g")
	d.shows(t, "│g")
	f.Focus(f.Model().Named("since"))
	d.Press("-1h")
	d.shows(t, "= 2026-03-14")
	if f.Focused() != f.Model().Named("since") {
		t.Error("the focus went elsewhere")
	}
	if d.Press("shift+tab"); f.Focused() == f.Model().Named("since") {
		t.Error("shift+tab stays")
	}
}

func TestStartAndLeaseAreRequested(t *testing.T) {
	d := newFixture(t)
	f := d.open(t, orders, "team")
	d.Press("core", "shift+tab", "right", "right") // to the modes: poll, then webhook
	d.Press("tab", "tab", "tab", "left")           // to the start: "other" is before "from now"
	d.shows(t, "at most")
	d.Press("tab", "soon", "tab", "1d", "tab", "20:61", "ctrl+s")
	if d.shows(t, "write it like 90s"); len(d.asked) != 0 {
		t.Fatalf("asked is %+v", d.asked)
	}
	d.Press("ctrl+u", "1h30m", "ctrl+s")
	if d.shows(t, "write a time to come"); len(d.asked) != 0 {
		t.Fatalf("asked is %+v", d.asked)
	}
	d.Press("ctrl+u", "2h", "ctrl+s")
	if len(d.asked) != 1 {
		t.Fatalf("asked is %+v", d.asked)
	}
	if r := d.asked[0]; r.Mode != event.ModeWebhook || !r.From.Saved || r.MaxAge.Minutes() != 90 || r.TTL.Hours() != 24 || r.Ends == nil || r.Ends.Sub(d.env.Clock()) != 2*time.Hour || r.Secret.Reveal() != f.Secret().Reveal() {
		t.Errorf("asked is %+v", r)
	}
}

// On a small screen a key shows the preview.
func TestPasteAndPreview(t *testing.T) {
	d := newFixture(t)
	f := d.open(t, orders, "team")
	d.Exec(f.Paste("core"))
	if string(f.Model().JSON()) != `{"team":"core"}` {
		t.Errorf("filled in is %s", f.Model().JSON())
	}
	d.shows(t, "Request")
	f.Size(80, 30)
	if text := d.Text(76, 20); strings.Contains(text, "Request") || !strings.Contains(strings.Join(f.Hints(), " "), "ctrl+p preview") {
		t.Errorf("on a small screen:\n%s", text)
	}
	d.Press("ctrl+p")
	if text := d.Text(76, 20); !strings.Contains(text, "Request") || !strings.Contains(text, "no preview of order.placed") {
		t.Errorf("the preview:\n%s", text)
	}
	if d.Press("esc"); d.Dialog == nil {
		t.Error("esc leaves more than the preview")
	}
}

// A refusal is shown at the field that it names, otherwise above the form with what to do next.
func TestRefusalsSayWhatToDo(t *testing.T) {
	nested := orders
	nested.InputSchema = json.RawMessage(`{"type":"object","properties":{"team":{"type":"string"},"limit":{"type":"integer"},"where":{"type":"object","properties":{"zone":{"type":"string"}}}}}`)
	for _, c := range []struct {
		refusal wire.Error
		focus   string // the field, "" for none of them
		want    []string
	}{
		{wire.Error{Code: wire.CodeInvalidParams, Message: trust.Untrusted(`"limit" is too large`)}, "limit", []string{`the server: "limit" is too large`}},
		{wire.Error{Code: wire.CodeInvalidParams, Message: trust.Untrusted("arguments.where.zone: unknown")}, "zone", []string{"the server: arguments.where.zone: unknown"}},
		{wire.Error{Code: wire.CodeInvalidParams, Message: trust.Untrusted("no"), Data: json.RawMessage(`{"field":"team"}`)}, "team", []string{"the server: no"}},
		{wire.Error{Code: wire.CodeInvalidParams, Message: trust.Untrusted("no")}, "", []string{"ctrl+e edits the arguments as JSON"}},
		{wire.Error{Code: wire.ProfileSketch.Code(wire.Forbidden), Message: trust.Untrusted("no")}, "", []string{"Next: give the server a token"}},
		{wire.Error{Code: wire.ProfileSketch.Code(wire.ResourceExhausted), Message: trust.Untrusted("no")}, "", []string{"Next: end another subscription at this server"}},
		{wire.Error{Code: wire.ProfileSketch.Code(wire.NotFound), Message: trust.Untrusted("no")}, "", []string{"Next: the server no longer has this type"}},
	} {
		d := newFixture(t)
		f := d.open(t, nested, "team")
		d.refuse = &c.refusal
		d.Press("core", "ctrl+s")
		for _, want := range c.want {
			d.shows(t, want)
		}
		if on := f.Focused(); c.focus != "" && (on == nil || on.Name().Raw() != c.focus) {
			t.Errorf("%s: the focus is not on %s", c.refusal.Message.Raw(), c.focus)
		}
	}
}

// If the server does not answer in time, the form stays open and the host goes on trying.
func TestLateServer(t *testing.T) {
	d := newFixture(t)
	f := d.open(t, orders, "team")
	d.refuse = form.ErrLate
	d.Press("core", "ctrl+s")
	d.shows(t, "The server has not answered; nothing is subscribed.")
	v := view()
	d.env.Snap.Subs = append(d.env.Snap.Subs, v)
	d.shows(t, "esc leaves it")
	if got := strings.Join(f.Hints(), " "); !strings.Contains(got, "go on in the background") {
		t.Errorf("the keys are %q", got)
	}
	if d.Press("esc"); d.Dialog != nil || !strings.Contains(d.Told, "goes on in the background") {
		t.Errorf("told is %q", d.Told)
	}
}

func TestCustomForm(t *testing.T) {
	d := newFixture(t)
	var sent, done string
	fails := error(nil)
	custom := form.Custom{
		Title: "React to events like this", Verb: "Write the rule", Server: "shop", Type: orders.Name,
		Schema: json.RawMessage(`{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}`), Filled: json.RawMessage(`{"name":"a"}`),
		Preview: func(_ context.Context, filled json.RawMessage) form.Preview {
			if strings.Contains(string(filled), "bad") {
				return form.Preview{Head: "The rule", Wrong: "there is such a rule"}
			}
			return form.Preview{Head: "The rule", Text: "rule " + string(filled), Notes: []string{"It is not armed by this."}}
		},
		Send: func(_ context.Context, filled json.RawMessage) error { sent = string(filled); return fails },
		Sent: func(filled json.RawMessage) { done = string(filled) },
	}
	d.Exec(form.OpenCustom(&d.env, custom))
	for _, want := range []string{`rule {"name":"a"}`, "It is not armed by this.", "Write the rule "} {
		d.shows(t, want)
	}
	d.Press("bad")
	d.shows(t, "there is such a rule")
	fails = errors.New("the file is not writable")
	d.Press("ctrl+s")
	if d.shows(t, "the file is not writable"); done != "" {
		t.Errorf("done is %q", done)
	}
	fails = nil
	if d.Press("ctrl+s"); sent != `{"name":"abad"}` || done != sent || d.Dialog != nil {
		t.Errorf("sent is %q, done %q", sent, done)
	}
	custom.Filled = json.RawMessage(`[`)
	if d.Exec(form.OpenCustom(&d.env, custom)); d.Failed == nil || d.Dialog != nil {
		t.Errorf("%v is shown, told %v", d.Dialog, d.Failed)
	}
}

// The result of testing a server is shown before it is saved; esc asks before it is lost.
func TestServerTestIsShown(t *testing.T) {
	d := newFixture(t)
	d.found = host.ServerView{Transport: "Streamable HTTP", Title: trust.Untrusted("Shop"), Types: make([]event.Type, 9)}
	for i := range d.found.Types {
		d.found.Types[i].Name = trust.Untrusted(fmt.Sprintf("type.%d", i))
	}
	form.OpenAddServer(&d.env)
	d.Press("https://www.shop.example/mcp", "tab", "tab", "Authorization: Bearer ${TOKEN}", "ctrl+t")
	d.shows(t, "environment variable not set")
	d.Press("ctrl+u", "ctrl+t")
	for _, want := range []string{"shop", "It answers: Streamable HTTP", "9 event types", "type.5", "3 more types", "ctrl+s saves it"} {
		d.shows(t, want)
	}
	d.refuse = errors.New("connection refused")
	d.Press("ctrl+t")
	d.shows(t, "connection refused")
	d.shows(t, "ctrl+s saves it all the same")
	d.Press("esc")
	d.shows(t, "The server is not saved.")
	d.Press("esc")
	if d.shows(t, "shop"); d.Dialog.Title() != "Add a server" {
		t.Errorf("%s is shown", d.Dialog.Title())
	}
	if d.Press("esc", "y"); d.Dialog != nil {
		t.Error("it does not leave")
	}
	if _, err := os.Stat(d.env.Servers.File); err == nil {
		t.Error("it is saved")
	}
}

func TestImportWithoutServers(t *testing.T) {
	d := newFixture(t)
	d.Exec(form.OpenImport(&d.env))
	d.shows(t, "No server was found")
	if d.Press("enter", "esc"); d.Dialog != nil {
		t.Error("it stays open")
	}
}
