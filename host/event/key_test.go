package event

import (
	"encoding/json"
	"regexp"
	"testing"

	"eventdeck/host/trust"
)

func key(server, typ, args string) Key {
	return Key{Server: server, Type: trust.Untrusted(typ), Args: json.RawMessage(args)}
}

// The id is kept in stores: it must never change.
func TestKeyIDIsStable(t *testing.T) {
	if got := key("pager", "incident.created", `{"a":1}`).ID(); got != "eusvwx5c" {
		t.Errorf("%s", got)
	}
}

func TestKeyIDsDiffer(t *testing.T) {
	short := regexp.MustCompile(`^[a-z2-7]{8}$`)
	seen := map[SubID]Key{}
	for _, k := range []Key{
		key("a", "b", `{}`), key("ab", "", `{}`), key("", "ab", `{}`), key("a", "b", `{"x":1}`), key("a", "b", `{"x":1.0}`),
		key("A", "b", `{}`), key("a", "b{}", ``), key("a", "B", `{}`),
	} {
		id := k.ID()
		if !short.MatchString(string(id)) {
			t.Errorf("%q", id)
		}
		if other, ok := seen[id]; ok {
			t.Errorf("%v and %v are both %s", k, other, id)
		}
		seen[id] = k
	}
}

func TestTypeOffers(t *testing.T) {
	typ := Type{Modes: []Mode{ModePoll, ModePush}}
	if !typ.Offers(ModePush) || typ.Offers(ModeWebhook) || (Type{}).Offers(ModePoll) {
		t.Error("offers another mode than it lists")
	}
}

func TestFence(t *testing.T) {
	var f Fence
	if f.Broken() {
		t.Error("a new fence is broken")
	}
	f.Break()
	if !f.Broken() {
		t.Error("a broken fence is whole")
	}
}

func TestEmptyCursorIsAPosition(t *testing.T) {
	if !At(trust.Text{}).Valid || (Cursor{}).Valid {
		t.Error("an empty cursor and no cursor are the same")
	}
}
