package dialect

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
	"eventdeck/host/wire"
)

func TestTheServersSecretInItsThreeForms(t *testing.T) {
	key := "whsec_" + strings.Repeat("QUJD", 8)
	for _, c := range []struct {
		secret string
		allow  bool
		kind   string
		text   string
		wrong  string
	}{
		{`{"type":"standard","key":"` + key + `"}`, false, "standard", key, ""},
		{`{"type":"standard","key":"` + strings.TrimPrefix(key, "whsec_") + `"}`, false, "standard", key, ""},
		{`{"type":"raw","value":"hunter2"}`, false, "raw", "hunter2", ""},
		{`{"type":"none"}`, true, "none", "", ""},
		{`null`, true, "none", "", ""},
		{`{"type":"none"}`, false, "", "", "allowUnsigned"},
		{`null`, false, "", "", "allowUnsigned"},
		{`{"type":"raw","value":""}`, false, "", "", "without a value"},
		{`{"type":"standard"}`, false, "", "", "without a key"},
		{`{"type":"standard","key":"!"}`, false, "", "", "not base64"},
		{`{"type":"standard","key":"AAAA"}`, false, "", "", "24 to 64"},
		{`{"type":"other"}`, false, "", "", "raw, standard or none"},
		{`7`, false, "", "", "not an object"},
	} {
		p := newPeer(t, resourceCapabilities, shelf(func(c2 call) string {
			switch c2.method {
			case methodRegister:
				return `"result":{"subscription":{"uri":"subscription://9","eventUris":["event://all"],"targetUri":"https://h/x","webhookSecret":` + c.secret + `}}`
			case methodRead:
				return `"result":{"contents":[{"text":"{\"targetUri\":\"https://elsewhere/\"}"}]}`
			}
			return `"result":{}`
		}))
		d, _ := p.connect(Options{AllowUnsigned: c.allow})
		res, err := d.Subscribe(background(t), wire.SubscribeRequest{Name: trust.Untrusted("event://all"), URL: "https://h/x"})
		if c.wrong != "" {
			if !errors.Is(err, wire.ErrUnacceptable) || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s: got %v, want %q", c.secret, err, c.wrong)
			}
			if got := p.await("the end of the registration", 1, isMethod(methodDeregister)).param("uri"); got != `"subscription://9"` {
				t.Errorf("%s: ended %s", c.secret, got)
			}
			continue
		}
		if err != nil || res.ID.Raw() != "subscription://9" || res.Secret == nil || res.Secret.Type != c.kind || res.Secret.Text != c.text || res.Expires || res.Anew {
			t.Errorf("%s: %+v, secret %+v, %v", c.secret, res, res.Secret, err)
		}
		if got := p.await("the registration", 1, isMethod(methodRegister)); got.param("uris") != `["event://all"]` || got.param("targetUri") != `"https://h/x"` {
			t.Errorf("registered %s", got.params)
		}
	}
}

// registry is a server that keeps registrations, and lists them if visible.
type registry struct {
	mu      sync.Mutex
	visible bool
	next    int
	targets map[string]string
}

func (g *registry) answer(c call) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch c.method {
	case methodResources:
		var list []string
		for uri, target := range g.targets {
			if g.visible {
				list = append(list, fmt.Sprintf(`{"uri":%q,"_meta":{"targetUri":%s,"eventUris":["event://all"]}}`, uri, target))
			}
		}
		return `"result":{"resources":[` + strings.Join(list, ",") + `]}`
	case methodRegister:
		g.next++
		uri := fmt.Sprintf("subscription://%d", g.next)
		g.targets[uri] = c.param("targetUri")
		return fmt.Sprintf(`"result":{"subscription":{"uri":%q,"webhookSecret":{"type":"raw","value":"v%d"}}}`, uri, g.next)
	case methodDeregister:
		delete(g.targets, strings.Trim(c.param("uri"), `"`))
		return `"result":{}`
	}
	return notFound
}

func (g *registry) size() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.targets)
}

func TestHeldRegistrationIsCheckedAndNotRepeated(t *testing.T) {
	for _, visible := range []bool{true, false} {
		g := &registry{visible: visible, targets: map[string]string{}}
		p := newPeer(t, resourceCapabilities, g.answer)
		d, _ := p.connect(Options{})
		ctx := background(t)
		q := wire.SubscribeRequest{Name: trust.Untrusted("event://all"), URL: "https://h/x"}
		subscribe := func() wire.SubscribeResult {
			t.Helper()
			res, err := d.Subscribe(ctx, q)
			if err != nil {
				t.Fatal(err)
			}
			return res
		}
		q.Held = subscribe().ID
		if again := subscribe(); again.ID != q.Held || again.Secret != nil || g.size() != 1 {
			t.Errorf("visible %v: a refresh made %+v, %d are registered", visible, again, g.size())
		}
		// The server forgets the registration, or the host cannot tell whether it did.
		if visible {
			g.mu.Lock()
			g.targets = map[string]string{"subscription://else": `"https://other/"`}
			g.mu.Unlock()
		} else {
			d, _ = p.connect(Options{})
		}
		if anew := subscribe(); anew.ID == q.Held || !anew.Anew || anew.Secret == nil {
			t.Errorf("visible %v: a forgotten registration was not repeated: %+v", visible, anew)
		}
		if !visible && g.size() != 1 {
			t.Errorf("%d are registered", g.size())
		}
	}
}

func TestARegistrationWhoseSecretWasLostIsReplaced(t *testing.T) {
	g := &registry{visible: true, targets: map[string]string{"subscription://old": `"https://h/x"`, "subscription://else": `"https://other/"`}}
	d, _ := newPeer(t, resourceCapabilities, g.answer).connect(Options{})
	if _, err := d.Subscribe(background(t), wire.SubscribeRequest{Name: trust.Untrusted("event://all"), URL: "https://h/x"}); err != nil {
		t.Fatal(err)
	}
	if g.targets["subscription://old"] != "" || g.targets["subscription://else"] == "" || g.size() != 2 {
		t.Errorf("registered: %v", g.targets)
	}
}

func TestSubscriptionResourcesAreListedAndReleased(t *testing.T) {
	g := &registry{visible: true, targets: map[string]string{"subscription://1": `"https://h/x"`}}
	d, _ := newPeer(t, resourceCapabilities, g.answer).connect(Options{})
	lister, ok := d.(Lister)
	if !ok {
		t.Fatal("the dialects cannot list what is held")
	}
	held, err := lister.Remote(background(t))
	if err != nil || len(held) != 1 || held[0].Callback.Raw() != "https://h/x" || len(held[0].Types) != 1 {
		t.Fatalf("held %+v, %v", held, err)
	}
	if err := lister.Release(background(t), held[0].ID); err != nil || g.size() != 0 {
		t.Errorf("released: %v, %d left", err, g.size())
	}
	if err := lister.Release(background(t), held[0].ID); wire.NameFrom(err) != wire.NotFound {
		t.Errorf("released twice: %v", err)
	}
	if err := d.Unsubscribe(background(t), wire.UnsubscribeRequest{Name: trust.Untrusted("event://all")}); err != nil {
		t.Errorf("nothing held, and yet %v", err)
	}
}

func TestDeliveryIsReadAsStandardWebhook(t *testing.T) {
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	read := KindOf(SEP1803).Read
	o, err := read([]byte(`{"type":"repo.pushed","timestamp":"2026-11-01T11:00:00Z","data":{"b":1,"a":2}}`), trust.Untrusted("msg_1"), at)
	if err != nil || o.EventID.Raw() != "msg_1" || o.Name.Raw() != "repo.pushed" || string(o.Data) != `{"b":1,"a":2}` || o.Timestamp.Raw() != "2026-11-01T11:00:00Z" {
		t.Errorf("%+v, %v", o, err)
	}
	o, err = read([]byte(`{"n":1}`), trust.Text{}, at)
	if err != nil || o.EventID.IsZero() || string(o.Data) != `{"n":1}` || o.Timestamp.IsZero() {
		t.Errorf("%+v, %v", o, err)
	}
	if _, err := read([]byte(`[]`), trust.Text{}, at); !errors.Is(err, strict.ErrRefused) {
		t.Errorf("a body that is no object: %v", err)
	}
}
