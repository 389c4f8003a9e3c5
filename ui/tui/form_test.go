package tui

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/schema"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/form"
	"eventdeck/ui/tui/widget"
)

// golden compares the screen with the golden file of a name and its size.
func golden(t *testing.T, a *app, name string) {
	t.Helper()
	exact(t, a)
	got := screenOf(a) + "\n"
	file := filepath.Join("testdata", fmt.Sprintf("%s-%dx%d.txt", name, a.panes.W, a.panes.H))
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; go test -update writes it anew\n%s", file, got)
	}
}

var goldenSizes = [][2]int{{200, 60}, {120, 40}, {80, 24}, {60, 20}, {40, 12}}

const orderSchema = `{"type":"object","required":["team","level"],"properties":{
	"note":{"type":"string","description":"Words that must occur.","default":"any"},
	"team":{"type":"string","pattern":"^[a-z]+$","description":"Who is \u001b[31mon call\u202e."},
	"level":{"enum":["P1","P2",3],"default":"P2"},
	"limit":{"type":"integer","minimum":1,"maximum":50},
	"loud":{"type":"boolean","default":true},
	"tags":{"type":"array","items":{"enum":["db","net","ui"]}},
	"ids":{"type":"array","items":{"type":"integer"}},
	"since":{"type":["string","null"],"format":"date-time"},
	"where":{"type":"object","properties":{"zone":{"type":"string"},"rack":{"type":"number"}}},
	"raw":{"oneOf":[{"type":"object"},{"type":"array"}]}}}`

// orders returns a host with one type whose schema has every kind of field.
func orders() *fakeHost {
	h := newFake()
	h.server("shop", event.Type{Name: trust.Untrusted("order.placed"), Description: trust.Untrusted("An order came in."),
		Modes: []event.Mode{event.ModePoll, event.ModePush, event.ModeWebhook}, InputSchema: json.RawMessage(orderSchema)})
	return h
}

// openedForm returns the form for the only type of a host.
func openedForm(t *testing.T, h *fakeHost, w, hgt int) (*app, *form.Form) {
	t.Helper()
	a := open(t, h, w, hgt)
	a.draw()
	press(t, a, "1", "j", "j", "s")
	f, ok := a.dialog.(*form.Form)
	if !ok {
		t.Fatalf("no form:\n%s", screenOf(a))
	}
	a.draw()
	return a, f
}

// typed returns the keys of a text.
func typed(s string) []string { return strings.Split(s, "") }

func TestGoldenForm(t *testing.T) {
	for _, size := range goldenSizes {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			a, _ := openedForm(t, orders(), size[0], size[1])
			golden(t, a, "form")
			word(t, a, "OPS")
			press(t, a, "ctrl+s")
			golden(t, a, "form-wrong")
			press(t, a, "ctrl+p")
			golden(t, a, "form-preview")
		})
	}
}

func TestFormSubscribes(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	a.draw()
	press(t, a, "1", "j", "j", "j", "j", "s")
	if s := screenOf(a); !strings.Contains(s, "no callback address") || !strings.Contains(s, "eventdeck tail pager incident.created") {
		t.Errorf("the form tells too little:\n%s", s)
	}
	press(t, a, "tab", "tab", "right", "ctrl+s")
	if len(h.asked) != 1 || h.asked[0].Mode != event.ModePush || !h.asked[0].From.Saved || string(h.asked[0].Args) != "{}" {
		t.Fatalf("asked %+v", h.asked)
	}
	if a.dialog != nil || !strings.Contains(screenOf(a), "subscribed to pager incident.created") {
		t.Error("the form did not close, or nothing was said")
	}
}

func TestRefusalStaysAtTheForm(t *testing.T) {
	h := incident()
	h.refuse = errors.New("forbidden by \x1b[31mpolicy")
	a := open(t, h, 120, 40)
	a.draw()
	press(t, a, "1", "j", "j", "s", "ctrl+s")
	exact(t, a)
	if _, ok := a.dialog.(*form.Form); !ok || !strings.Contains(screenOf(a), "forbidden by") {
		t.Errorf("refusal is not at the form:\n%s", screenOf(a))
	}
	press(t, a, "tab", "x", "ctrl+s")
	if len(h.asked) != 1 {
		t.Error("arguments that are no JSON were sent")
	}
}

func TestFormFillsEveryField(t *testing.T) {
	h := orders()
	a, f := openedForm(t, h, 120, 40)
	if f.Focused().Name().Raw() != "team" {
		t.Fatalf("the keys are at %v, not at the first required field", f.Focused())
	}
	word(t, a, "core")
	press(t, a, "enter", "right", "right", "enter") // level: the default, then the next
	press(t, a, "tab", "7", "tab")                  // note is left alone
	press(t, a, "right", "right", "tab")            // loud: false
	press(t, a, "space", "right", "right", "space", "enter")
	press(t, a, "1", "enter", "2", "tab")
	word(t, a, "-1h")
	press(t, a, "tab")
	word(t, a, "eu")
	press(t, a, "tab", "tab")
	word(t, a, `[1]`)
	exact(t, a)
	press(t, a, "ctrl+s")
	want := `{"team":"core","level":3,"limit":7,"loud":false,"tags":["db","ui"],"ids":[1,2],"since":"2026-03-14T13:03:05Z","where":{"zone":"eu"},"raw":[1]}`
	if len(h.asked) != 1 || string(h.asked[0].Args) != want {
		t.Fatalf("asked %s, want %s\n%s", argsAsked(h), want, screenOf(a))
	}
}

func argsAsked(h *fakeHost) (all []string) {
	for _, r := range h.asked {
		all = append(all, string(r.Args))
	}
	return all
}

func TestFormShowsErrors(t *testing.T) {
	h := orders()
	a, f := openedForm(t, h, 120, 40)
	if s := screenOf(a); strings.Contains(s, "missing") {
		t.Error("it complains before anything was done")
	}
	press(t, a, "ctrl+s")
	if len(h.asked) > 0 || f.Focused().Name().Raw() != "team" || !strings.Contains(screenOf(a), "is missing") {
		t.Errorf("what is missing was sent or is not told:\n%s", screenOf(a))
	}
	press(t, a, "X")
	if s := screenOf(a); !strings.Contains(s, "does not match ^") {
		t.Errorf("the pattern is not told:\n%s", s)
	}
	exact(t, a)
}

func TestEscAsksOnlyBeforeInputIsLost(t *testing.T) {
	a, _ := openedForm(t, orders(), 80, 24)
	press(t, a, "esc")
	if a.dialog != nil {
		t.Fatal("a form left alone asks")
	}
	a, f := openedForm(t, orders(), 80, 24)
	press(t, a, "x", "esc")
	if _, ok := a.dialog.(*widget.Confirm); !ok {
		t.Fatal("what was filled in is lost without a question")
	}
	press(t, a, "n")
	if a.dialog != widget.Dialog(f) {
		t.Fatal("the form is not back")
	}
	press(t, a, "esc", "esc")
	if a.dialog != nil {
		t.Error("the form did not close")
	}
}

// editing opens the form of a subscription with arguments.
func editing(t *testing.T) (*fakeHost, *app) {
	t.Helper()
	h := orders()
	h.subscribe("shop", "order.placed", event.ModePoll, `{"team":"core","level":"P1"}`)
	a := open(t, h, 120, 40)
	a.draw()
	press(t, a, "1", "j", "j", "j", "e")
	return h, a
}

func TestEditedArgumentsReplaceTheSubscription(t *testing.T) {
	h, a := editing(t)
	if s := screenOf(a); !strings.Contains(s, "ctrl+s change") {
		t.Fatalf("no form, or it does not say that it changes:\n%s", s)
	}
	press(t, a, "esc")
	if a.dialog != nil {
		t.Fatal("a form left alone asks")
	}
	press(t, a, "e")
	f := a.dialog.(*form.Form)
	f.Focus(f.Model().Named("level"))
	press(t, a, "right", "ctrl+s")
	if s := screenOf(a); len(h.asked) > 0 || !strings.Contains(s, `- level: "P1"`) || !strings.Contains(s, `+ level: "P2"`) {
		t.Fatalf("the difference is not shown:\n%s", s)
	}
	exact(t, a)
	press(t, a, "y")
	if len(h.asked) != 1 || string(h.asked[0].Args) != `{"team":"core","level":"P2"}` || len(h.ended) != 1 {
		t.Errorf("asked %s, ended %v", argsAsked(h), h.ended)
	}
}

func TestEditingSettingsKeepsThePosition(t *testing.T) {
	h, a := editing(t)
	press(t, a, "up", "left", "ctrl+s")
	if len(h.asked) != 1 || h.asked[0].Mode != event.ModePush || !h.asked[0].From.Saved || len(h.ended) != 0 {
		t.Errorf("asked %+v, ended %v", h.asked, h.ended)
	}
}

func TestSubscribeToSeveralTypes(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	a.draw()
	press(t, a, "1", "j", "j", "j", "j", "*", "j", "*", "s")
	if !strings.Contains(screenOf(a), "Subscribe to 2 event types") {
		t.Fatalf("no form for two:\n%s", screenOf(a))
	}
	exact(t, a)
	press(t, a, "ctrl+s")
	if len(h.asked) != 2 || h.asked[0].Mode != event.ModeAuto || h.asked[1].Type.Raw() != "incident.resolved" {
		t.Errorf("asked %+v", h.asked)
	}
	if a.dialog != nil || len(a.tree.Marked()) > 0 {
		t.Error("the form or the marks stay")
	}
}

func TestTemplates(t *testing.T) {
	h := orders()
	a, _ := openedForm(t, h, 120, 40)
	word(t, a, "core")
	press(t, a, "ctrl+s")
	if h.settings["ui.templates"] == "" {
		t.Fatal("nothing was kept")
	}
	a, f := openedForm(t, h, 120, 40)
	press(t, a, "ctrl+t")
	if !strings.Contains(screenOf(a), `"team":"core"`) {
		t.Fatalf("it is not offered:\n%s", screenOf(a))
	}
	exact(t, a)
	press(t, a, "enter")
	if a.dialog != widget.Dialog(f) || f.Model().Named("team").Text() != "core" {
		t.Error("it was not taken over")
	}
}

func TestWebhookSecretIsMasked(t *testing.T) {
	h := orders()
	h.callback = true
	a, f := openedForm(t, h, 120, 40)
	press(t, a, "up", "left")
	s := screenOf(a)
	if f.Secret().IsZero() || strings.Contains(s, f.Secret().Reveal()) || !strings.Contains(s, "whsec_…") || !strings.Contains(s, "challenge") {
		t.Fatalf("the secret is shown or missing:\n%s", s)
	}
	press(t, a, "ctrl+r")
	if !strings.Contains(screenOf(a), f.Secret().Reveal()[:20]) {
		t.Error("ctrl+r does not show it")
	}
}

func TestSecretFieldsAreMasked(t *testing.T) {
	h := newFake()
	h.server("shop", event.Type{Name: trust.Untrusted("order.placed"), Modes: []event.Mode{event.ModePoll}, InputSchema: json.RawMessage(
		`{"type":"object","properties":{"pin":{"type":"string","format":"password"},"keys":{"type":"array","items":{"type":"string"},"writeOnly":true}}}`)})
	h.subscribe("shop", "order.placed", event.ModePoll, `{"pin":"hunter2","keys":["sesame"]}`)
	sub := &h.snap.Subs[0].Subscription
	sub.Shown = json.RawMessage(`{"pin":"***","keys":"***"}`)
	a := open(t, h, 80, 40) // where the request has no room beside the fields
	a.draw()
	press(t, a, "1", "j", "j", "j", "e")
	f := a.dialog.(*form.Form)
	for _, on := range []string{"pin", "keys"} {
		f.Focus(f.Model().Named(on))
		if s := screenOf(a); strings.Contains(s, "hunter2") || strings.Contains(s, "sesame") || !strings.Contains(s, "******") {
			t.Errorf("with the keys at %s it is shown:\n%s", on, s)
		}
	}
	word(t, a, "!?")
	if got := string(f.Model().JSON()); got != `{"keys":["sesame!?"],"pin":"hunter2"}` && got != `{"pin":"hunter2","keys":["sesame!?"]}` {
		t.Errorf("masked text is sent: %s", got)
	}
	press(t, a, "ctrl+s")
	if lines := screenOf(a); strings.Contains(lines, "sesame") || !strings.Contains(lines, "- keys:") {
		t.Errorf("the difference tells\n%s", lines)
	}
	press(t, a, "esc")
	press(t, a, "ctrl+r")
	if !strings.Contains(screenOf(a), "hunter2") {
		t.Error("ctrl+r does not show them")
	}
}

func TestTypeWithoutAMode(t *testing.T) {
	h := newFake()
	h.server("shop", event.Type{Name: trust.Untrusted("order.placed")})
	a, _ := openedForm(t, h, 120, 40)
	if s := screenOf(a); !strings.Contains(s, "push: the server names no mode") || strings.Contains(s, "not offered") {
		t.Errorf("the form tells\n%s", s)
	}
}

func TestExamplesAreFilledIn(t *testing.T) {
	h := newFake()
	h.server("files", event.Type{Name: trust.Untrusted("resource.updated"), Modes: []event.Mode{event.ModePush},
		InputSchema: json.RawMessage(`{"type":"object","required":["uri"],"properties":{"uri":{"type":"string","examples":["file:///a",7,"db://t/1","file:///a"]}}}`)})
	a, f := openedForm(t, h, 120, 40)
	for f.Focused() == nil {
		press(t, a, "down")
	}
	if s := screenOf(a); !strings.Contains(s, "ctrl+l fills in 2 examples, as file:///a") {
		t.Errorf("nothing tells of the examples:\n%s", s)
	}
	for _, want := range []string{"file:///a", "db://t/1", "file:///a"} {
		if press(t, a, "ctrl+l"); f.Focused().Text() != want {
			t.Errorf("filled in %q, want %q", f.Focused().Text(), want)
		}
	}
	press(t, a, "ctrl+u", "d", "b", "ctrl+l")
	if got := string(f.Model().JSON()); got != `{"uri":"db://t/1"}` {
		t.Errorf("what was written does not choose: %s", got)
	}
	press(t, a, "x", "ctrl+l")
	if got := f.Focused().Text(); got != "db://t/1x" {
		t.Errorf("what fits no example became %q", got)
	}
}

// Secret arguments of a subscription are shown nowhere.
func TestSecretArgumentsAreNotShown(t *testing.T) {
	h := newFake()
	typ := event.Type{Name: trust.Untrusted("order.placed"), Modes: []event.Mode{event.ModePoll}, InputSchema: json.RawMessage(
		`{"type":"object","properties":{"pin":{"type":"string","format":"password"},"team":{"type":"string"}}}`)}
	h.server("shop", typ)
	const args = `{"pin":"hunter2","team":"core"}`
	h.subscribe("shop", "order.placed", event.ModePoll, args)
	sub := &h.snap.Subs[0].Subscription
	sub.Shown = schema.MaskArguments(typ, sub.Key.Args)
	a := open(t, h, 200, 45)
	a.draw()
	seen := map[string]string{}
	press(t, a, "1", "j", "j", "j")
	seen["the tree, the header and the detail"] = screenOf(a)
	for name, keys := range map[string][]string{
		"the delivery dialog": {"M"}, "the question before an end": {"d"}, "the reset of the position": {"C"}, "the palette": {"ctrl+p"},
	} {
		press(t, a, keys...)
		seen[name] = screenOf(a)
		press(t, a, "esc")
	}
	r := host.Request{Server: "shop", Type: typ.Name, Args: json.RawMessage(args)}
	seen["the note of a subscription"] = evidence.RequestName(typ, r)
	if err := h.SetSetting(t.Context(), "ui.templates", `[{"server":"shop","type":"order.placed","args":`+args+`,"mode":"poll"}]`); err != nil {
		t.Fatal(err)
	}
	settle(a, form.OpenSubscribe(a.choice.Env, "shop", typ))
	press(t, a, "ctrl+t")
	seen["the earlier subscriptions"] = screenOf(a)
	other := typ
	other.InputSchema = nil
	settle(a, form.OpenSubscribe(a.choice.Env, "mill", other))
	press(t, a, "ctrl+t")
	seen["the earlier subscriptions at another server"] = screenOf(a)
	told := 0
	for name, s := range seen {
		if strings.Contains(s, "hunter2") {
			t.Errorf("%s shows it:\n%s", name, s)
		}
		told += strings.Count(s, `"pin":"***"`)
	}
	if told < 5 || !strings.Contains(seen["the earlier subscriptions at another server"], `"pin":"***"`) || !strings.Contains(seen["the earlier subscriptions"], `"pin":"***"`) {
		t.Errorf("the arguments are shown %d times:\n%s", told, seen)
	}
}
