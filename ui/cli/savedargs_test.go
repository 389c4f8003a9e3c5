package cli

import (
	"errors"
	"testing"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// If the server cannot list its types, the arguments are those of the stored subscription;
// arguments that match none, or two, are an error.
func TestTailFromSavedGoesOnWithoutTheTypes(t *testing.T) {
	broken := errors.New("events/list: server answered InternalError (-32603)")
	kept := []string{`{"severity":"P1"}`, `{"n":5,"tags":["a","7"]}`, `{"n":"5","tags":["a",7]}`, `{"deep":{"x":[1,2]},"on":true}`}
	for name, tt := range map[string]struct {
		args []string
		want string // "": none is meant
	}{
		"text":           {[]string{"--from", "saved", "--arg", "severity=P1"}, kept[0]},
		"lists":          {[]string{"--from", "saved", "--args", `{"n":5}`, "--arg", "tags=a", "--arg", "tags=7"}, kept[1]},
		"object":         {[]string{"--from", "saved", "--arg", `deep={"x": [1,2]}`, "--arg", "on=true"}, kept[3]},
		"two are meant":  {[]string{"--from", "saved", "--arg", "n=5", "--arg", "tags=a", "--arg", "tags=7"}, ""},
		"another value":  {[]string{"--from", "saved", "--arg", "severity=P2"}, ""},
		"a key too much": {[]string{"--from", "saved", "--arg", "severity=P1", "--arg", "on=true"}, ""},
		"a key too few":  {[]string{"--from", "saved", "--arg", "on=true"}, ""},
		"from now":       {[]string{"--arg", "severity=P1"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.typesErr = broken
			for _, args := range kept {
				key := event.Key{Server: "pager", Type: trust.Untrusted("t"), Args: []byte(args)}
				b.store.change(key.ID(), func(s *event.Subscription) { s.Key = key })
			}
			b.fill(1)
			args := append([]string{"tail", "pager", "t", "--count", "1", "--data", b.data(t)}, tt.args...)
			if tt.want == "" {
				b.expect(t, exitError, broken.Error(), args...)
				return
			}
			b.expect(t, exitDone, "", args...)
			if len(b.request) != 1 || string(b.request[0].Args) != tt.want || !b.request[0].From.Saved {
				t.Errorf("%+v", b.request)
			}
		})
	}
	b := newBench(t)
	b.typesErr = host.ErrNoEvents
	key := event.Key{Server: "pager", Type: trust.Untrusted("t"), Args: []byte(kept[0])}
	b.store.change(key.ID(), func(s *event.Subscription) { s.Key = key })
	b.expect(t, exitError, "server has no events", "tail", "pager", "t", "--from", "saved", "--arg", "severity=P1", "--data", b.data(t))
}
