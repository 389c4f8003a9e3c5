package form_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"eventdeck/host"
	"eventdeck/host/config"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/form"
	"eventdeck/ui/tui/query"
)

func TestFilledInFormSubscribes(t *testing.T) {
	d := newFixture(t)
	d.Exec(form.OpenSubscribe(&d.env, "shop", orders))
	if d.Press("ctrl+s"); len(d.asked) != 0 {
		t.Fatalf("what is missing was sent: %+v", d.asked)
	}
	d.shows(t, "is missing")
	d.Press("CORE")
	d.shows(t, "does not match ^")
	f := d.Dialog.(*form.Form)
	f.Focus(f.Model().Named("team"))
	f.TakeOver(`{"team":"core"}`)
	f.Focus(f.Model().Named("limit"))
	if d.Press("7", "ctrl+s"); len(d.asked) != 1 || string(d.asked[0].Args) != `{"team":"core","limit":7}` || d.asked[0].Mode != event.ModePush {
		t.Errorf("asked is %+v", d.asked)
	}
	if d.Dialog != nil || !strings.Contains(d.Told, "order.placed") {
		t.Errorf("%v is shown, told %q", d.Dialog, d.Told)
	}
}

func TestRefusedFormKeepsItsValues(t *testing.T) {
	d := newFixture(t)
	d.Exec(form.OpenSubscribe(&d.env, "shop", orders))
	d.refuse = errors.New("forbidden by \x1b[31mpolicy")
	d.Press("core", "ctrl+s")
	d.shows(t, "orbidden by")
	d.shows(t, "core")
	d.refuse = nil
	if d.Press("ctrl+s"); len(d.asked) != 2 || d.Dialog != nil {
		t.Errorf("asked %d times, %v is shown", len(d.asked), d.Dialog)
	}
}

func TestArgumentsAreEditedAsJSON(t *testing.T) {
	d := newFixture(t)
	d.Exec(form.OpenSubscribe(&d.env, "shop", orders))
	var offered string
	d.Edit = func(text string) string { offered = text; return `{"team":"night","limit":3}` }
	d.Press("day", "ctrl+e")
	if !strings.Contains(offered, `"day"`) {
		t.Errorf("to be edited is %s", offered)
	}
	if d.Press("ctrl+s"); len(d.asked) != 1 || string(d.asked[0].Args) != `{"team":"night","limit":3}` {
		t.Errorf("asked is %+v", d.asked)
	}
}

func TestLeavingAsksIfValuesWouldBeLost(t *testing.T) {
	d := newFixture(t)
	d.Exec(form.OpenSubscribe(&d.env, "shop", orders))
	if d.Press("esc"); d.Dialog != nil {
		t.Error("a form with nothing in it asks")
	}
	d.Exec(form.OpenSubscribe(&d.env, "shop", orders))
	f := d.Dialog
	if d.Press("core", "esc"); d.Dialog == nil || d.Dialog == f {
		t.Fatalf("shown is %v", d.Dialog)
	}
	if d.Press("n"); d.Dialog != f {
		t.Error("the form is not back")
	}
	if d.Press("esc", "y"); d.Dialog != nil || len(d.asked) != 0 {
		t.Error("it does not leave")
	}
}

// The first usable mode is chosen. The secret of a webhook is masked.
func TestUnusableModesAreSkipped(t *testing.T) {
	d := newFixture(t)
	for _, m := range []event.Mode{event.ModePush, event.ModePoll} {
		d.noMode[m] = fmt.Errorf("%w: not today", host.ErrMode)
	}
	d.Exec(form.OpenSubscribe(&d.env, "shop", orders))
	f := d.Dialog.(*form.Form)
	if f.Secret().IsZero() {
		t.Fatal("the webhook has no secret")
	}
	d.shows(t, "not today")
	if d.Dialog.Size(120, 40); strings.Contains(d.Text(116, 34), f.Secret().Reveal()[6:20]) {
		t.Error("the secret is shown")
	}
	d.Press("ctrl+r")
	d.shows(t, f.Secret().Reveal()[:20])
	if d.Press("core", "ctrl+s"); len(d.asked) != 1 || d.asked[0].Mode != event.ModeWebhook || d.asked[0].Secret.Reveal() != f.Secret().Reveal() {
		t.Errorf("asked is %+v", d.asked)
	}
}

func TestSeveralTypesShareOneForm(t *testing.T) {
	d := newFixture(t)
	other := orders
	other.Name = trust.Untrusted("order.shipped")
	sent := false
	nodes := []query.Node{{Server: "shop", Type: orders.Name}, {Server: "shop", Type: other.Name}}
	d.Exec(form.OpenMany(&d.env, nodes, []event.Type{orders, other}, func() { sent = true }))
	d.Press("core", "ctrl+s")
	if len(d.asked) != 2 || d.asked[1].Type != other.Name || d.asked[1].Mode != event.ModeAuto || !sent || d.Dialog != nil {
		t.Errorf("asked is %+v, sent: %v", d.asked, sent)
	}
}

func TestEarlierArgumentsAreOffered(t *testing.T) {
	d := newFixture(t)
	d.Exec(form.OpenSubscribe(&d.env, "shop", orders))
	d.Press("core", "ctrl+s")
	d.Exec(form.OpenSubscribe(&d.env, "shop", orders))
	d.Press("ctrl+t")
	d.shows(t, "core")
	if d.Press("enter", "ctrl+s"); len(d.asked) != 2 || string(d.asked[1].Args) != `{"team":"core"}` {
		t.Errorf("asked is %+v", d.asked)
	}
}

// view returns a subscription to orders by poll.
func view() host.SubscriptionView {
	key := event.Key{Server: "shop", Type: orders.Name, Args: json.RawMessage(`{"team":"core"}`)}
	return host.SubscriptionView{Subscription: event.Subscription{ID: key.ID(), Key: key, Mode: event.ModePoll}}
}

func TestOtherArgumentsMakeAnotherSubscription(t *testing.T) {
	d := newFixture(t)
	v := view()
	d.env.Snap.Subs = append(d.env.Snap.Subs, v)
	d.Exec(form.OpenEdit(&d.env, v, orders))
	f := d.Dialog.(*form.Form)
	f.Focus(f.Model().Named("team"))
	d.Press("s", "ctrl+s")
	d.shows(t, `+ team: "cores"`)
	if len(d.asked) != 0 {
		t.Fatal("it is changed without a yes")
	}
	if d.Press("y"); len(d.asked) != 1 || string(d.asked[0].Args) != `{"team":"cores"}` || fmt.Sprint(d.did) != fmt.Sprintf("[unsubscribe %s]", v.ID) {
		t.Errorf("asked is %+v, done %v", d.asked, d.did)
	}
}

func TestModeDialog(t *testing.T) {
	d := newFixture(t)
	d.noMode[event.ModeWebhook] = fmt.Errorf("%w: there is no callback address", host.ErrMode)
	v := view()
	for keys, want := range map[string]string{
		"p": "[mode push " + string(v.ID) + "]",
		"o": "[]", // it is by poll already
		"w": "[]",
		"f": "[failover true " + string(v.ID) + "]",
	} {
		d.did = nil
		d.Exec(form.OpenModes(&d.env, v, &orders))
		d.shows(t, "there is no callback address")
		if d.Press(keys); fmt.Sprint(d.did) != want {
			t.Errorf("%q: done %v, not %s", keys, d.did, want)
		}
	}
}

// A server is tested before it is saved, and its values are masked.
func TestServerIsTestedThenSaved(t *testing.T) {
	d := newFixture(t)
	form.OpenAddServer(&d.env)
	d.Press("npx -y @scope/server-files '/tmp/a b'", "tab", "tab", "KEY=hunter2")
	if text := d.Text(100, 20); strings.Contains(text, "hunter2") || !strings.Contains(text, "files") {
		t.Errorf("the value is shown, or there is no name:\n%s", text)
	}
	d.Press("ctrl+s")
	if _, err := os.Stat(d.env.Servers.File); err == nil || fmt.Sprint(d.did) != "[test files]" {
		t.Fatalf("it is saved before the test was shown, or not tested: %v", d.did)
	}
	d.Press("ctrl+s")
	saved, err := config.Load(d.env.Servers.File, true, nil)
	if err != nil || fmt.Sprint(saved.Names()) != "[files]" || fmt.Sprint(d.did) != "[test files add files]" || d.Dialog != nil {
		t.Errorf("%v, %v, done %v", err, saved, d.did)
	}
}

func TestWrongServersAreExplained(t *testing.T) {
	for typed, want := range map[string]string{
		"":                                     "write the URL",
		"ftp://host/":                          "http",
		"x\tname\tno sign":                     "line 1: write a variable as NAME=value",
		"https://mcp.example/mcp\ta\tno colon": "line 1: write a header as Name: value",
	} {
		d := newFixture(t)
		form.OpenAddServer(&d.env)
		for i, field := range strings.Split(typed, "\t") {
			if i > 0 {
				d.Press("tab")
			}
			d.Press(field)
		}
		d.Press("ctrl+s")
		d.shows(t, want)
		if len(d.did) != 0 {
			t.Errorf("%q: done %v", typed, d.did)
		}
	}
}

func TestImportAsksFirst(t *testing.T) {
	d := newFixture(t)
	if err := os.MkdirAll(d.env.Servers.Paths.Home+"/.cursor", 0o700); err != nil {
		t.Fatal(err)
	}
	other := `{"mcpServers":{"files":{"command":"npx","args":["-y","files"],"env":{"KEY":"hunter2"}},"hub":{"url":"https://hub.example/mcp"}}}`
	if err := os.WriteFile(d.env.Servers.Paths.Home+"/.cursor/mcp.json", []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	d.Exec(form.OpenImport(&d.env))
	d.shows(t, "files")
	if strings.Contains(d.Text(116, 34), "hunter2") {
		t.Error("a value is shown")
	}
	d.Press("enter")
	d.shows(t, "nothing is chosen")
	if d.Press("a", "enter"); len(d.did) != 0 {
		t.Fatalf("done without a yes: %v", d.did)
	}
	if d.Press("y"); fmt.Sprint(d.did) != "[add files add hub]" {
		t.Errorf("done %v", d.did)
	}
}
