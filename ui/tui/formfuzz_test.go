package tui

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/form"
)

// formKeys are keys to press in a form, without ctrl+e, which starts a program.
var formKeys = []string{"enter", "esc", "tab", "shift+tab", "up", "down", "left", "right", "home", "end", "backspace", "space",
	"ctrl+s", "ctrl+p", "ctrl+r", "ctrl+t", "ctrl+n", "ctrl+u", "a", "1", "-", "{", "\"", "é", "世", "y", "n", "k", "j", ":", "=", "$"}

// After any keys in a form the screen is filled exactly, without control characters.
func TestRandomKeysInForms(t *testing.T) {
	opened := map[string]func(*testing.T) *app{
		"subscribe": func(t *testing.T) *app { a, _ := openedForm(t, orders(), 80, 24); return a },
		"edit": func(t *testing.T) *app {
			h := orders()
			h.subscribe("shop", "order.placed", event.ModeWebhook, `{"team":"core","level":7,"more":[1]}`)
			a := open(t, h, 80, 24)
			press(t, a, "1", "j", "j", "j", "e")
			return a
		},
		"add":    func(t *testing.T) *app { a := newcomer(t, newFake(), 80, 24, ""); press(t, a, "A"); return a },
		"import": func(t *testing.T) *app { a := newcomer(t, newFake(), 80, 24, strangers); press(t, a, "I"); return a },
		"mode": func(t *testing.T) *app {
			a := open(t, incident(), 80, 24)
			press(t, a, "1", "j", "j", "j", "M")
			return a
		},
	}
	for name, begin := range opened {
		t.Run(name, func(t *testing.T) {
			for seed := range seeds(12) {
				rnd := rand.New(rand.NewPCG(seed, 2))
				a := begin(t)
				for range 120 {
					if a.dialog == nil {
						break
					}
					if rnd.IntN(12) == 0 {
						a.Update(tea.WindowSizeMsg{Width: rnd.IntN(200) + 1, Height: rnd.IntN(60) + 1})
					}
					press(t, a, formKeys[rnd.IntN(len(formKeys))])
					exact(t, a)
				}
			}
		})
	}
}

// The form of any schema can be drawn and walked through.
func FuzzFormOfSchema(f *testing.F) {
	f.Add([]byte(orderSchema), []byte(`{"team":"x"}`))
	f.Add([]byte(`{"properties":{"a\u001b[2J":{"enum":["\u202e",{"b":1}],"title":"\u0007"},"":{"type":"array","items":{"type":"boolean"}}},"required":[""]}`), []byte(`{}`))
	f.Add([]byte(`{"properties":{"a":{"$ref":"#/properties/a"},"b":{"properties":{"b":{"$ref":"#/properties/b"}}}}}`), []byte(`{"b":{"b":{"b":{"b":{"b":1}}}}}`))
	f.Fuzz(func(t *testing.T, schema, args []byte) {
		h := newFake()
		h.server("shop", event.Type{Name: trust.Untrusted("t"), Modes: []event.Mode{event.ModePush}, InputSchema: json.RawMessage(schema)})
		a := open(t, h, 60, 20)
		press(t, a, "1", "j", "j", "s")
		f, ok := a.dialog.(*form.Form)
		if !ok {
			t.Fatal("no form")
		}
		f.TakeOver(string(args))
		for range 12 {
			exact(t, a)
			press(t, a, "tab", "right", "1")
		}
		press(t, a, "ctrl+p")
		exact(t, a)
	})
}
