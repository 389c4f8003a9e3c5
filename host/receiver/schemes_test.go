package receiver

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
)

// signedWith returns the signature of a sender that uses the text of a secret as the key.
func signedWith(text, id string, at time.Time, body string) string {
	return "v1," + base64.StdEncoding.EncodeToString(mac([]byte(text), id, strconv.FormatInt(at.Unix(), 10), []byte(body)))
}

func TestSchemesOfServersThatMakeTheSecret(t *testing.T) {
	const body = `{"type":"gap","data":{"n":1}}` // no envelope of ours, whatever it says
	stamp := strconv.FormatInt(vectorTime.Unix(), 10)
	raw := Entry{Sub: "s", Foreign: true, Scheme: event.SchemeRaw, Current: event.NewSecret("hunter2hunter2"),
		Previous: event.NewSecret("before"), PreviousUntil: vectorTime.Add(time.Minute)}
	none := Entry{Sub: "s", Foreign: true, Scheme: event.SchemeNone}
	standard := Entry{Sub: "s", Foreign: true, Current: vectorSecret}
	awaited := Entry{Sub: "s", Foreign: true, Awaited: true}
	expired := raw
	expired.PreviousUntil = vectorTime
	for name, c := range map[string]struct {
		entry  Entry
		header http.Header
		status int
		reason string
		id     string
	}{
		"raw, shown as bearer":        {raw, http.Header{"Authorization": {"Bearer hunter2hunter2"}}, 204, "", ""},
		"raw, shown as it stands":     {raw, http.Header{"X-Webhook-Secret": {"hunter2hunter2"}, HeaderID: {"m1"}}, 204, "", "m1"},
		"raw, shown as a token":       {raw, http.Header{"X-Webhook-Token": {"hunter2hunter2"}}, 204, "", ""},
		"raw, previous in its grace":  {raw, http.Header{"X-Webhook-Secret": {"before"}}, 204, "", ""},
		"raw, previous after it":      {expired, http.Header{"X-Webhook-Secret": {"before"}}, 401, "signature wrong", ""},
		"raw, signed":                 {raw, http.Header{HeaderID: {"m2"}, HeaderTimestamp: {stamp}, HeaderSignature: {signedWith("hunter2hunter2", "m2", vectorTime, body)}}, 204, "", "m2"},
		"raw, wrong":                  {raw, http.Header{"X-Webhook-Secret": {"hunter3"}}, 401, "signature wrong", ""},
		"raw, nothing shown":          {raw, http.Header{}, 401, "signature wrong", ""},
		"raw, empty":                  {raw, http.Header{"X-Webhook-Secret": {""}}, 401, "signature wrong", ""},
		"raw, wrongly signed":         {raw, http.Header{HeaderID: {"m"}, HeaderTimestamp: {stamp}, HeaderSignature: {"v1,AAAA"}}, 401, "signature wrong", ""},
		"raw, half signed":            {raw, http.Header{HeaderSignature: {"v1,AAAA"}}, 400, "malformed", ""},
		"raw, id out of the grammar":  {raw, http.Header{HeaderID: {"m 1"}, "X-Webhook-Secret": {"hunter2hunter2"}}, 400, "malformed", ""},
		"none":                        {none, http.Header{}, 204, "", ""},
		"none, with an id":            {none, http.Header{HeaderID: {"m3"}}, 204, "", "m3"},
		"none, whatever is signed":    {none, http.Header{HeaderSignature: {"v1,AAAA"}}, 204, "", ""},
		"standard, unsigned":          {standard, http.Header{"X-Webhook-Secret": {"x"}}, 400, "malformed", ""},
		"awaited, in whatever form":   {awaited, http.Header{}, 503, ReasonAwaited, ""},
		"a secret that is not stored": {Entry{Sub: "s", Scheme: event.SchemeRaw}, http.Header{"X-Webhook-Secret": {""}}, 503, ErrNoSecret.Error(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, fakeBook{"/hooks/a": {c.entry, PathKnown}}, false, nil)
			req, err := http.NewRequest(http.MethodPost, r.base+"/hooks/a", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header = c.header.Clone()
			req.Header.Set("Content-Type", "application/json")
			got := r.do(req)
			if got.status != c.status || !strings.Contains(r.lastRefusal().Reason, c.reason) {
				t.Fatalf("answered %d (%s), want %d (%s)", got.status, r.lastRefusal().Reason, c.status, c.reason)
			}
			if c.status == 503 && got.header.Get("Retry-After") == "" {
				t.Error("the sender is not told to come again")
			}
			if c.status != 204 {
				return
			}
			taken := r.sink.deliveries()
			if len(taken) != 1 || taken[0].Type != TypeEvent || string(taken[0].Body) != body || taken[0].WebhookID.Raw() != c.id {
				t.Errorf("taken %+v", taken)
			}
		})
	}
}

func TestSignedRawDeliveryMustBeOnTime(t *testing.T) {
	entry := Entry{Sub: "s", Foreign: true, Scheme: event.SchemeRaw, Current: event.NewSecret("hunter2hunter2")}
	r := newRig(t, fakeBook{"/hooks/a": {entry, PathKnown}}, false, nil)
	old := vectorTime.Add(-time.Hour)
	req, err := http.NewRequest(http.MethodPost, r.base+"/hooks/a", strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Content-Type": {"application/json"}, HeaderID: {"m"}, HeaderTimestamp: {strconv.FormatInt(old.Unix(), 10)},
		HeaderSignature: {signedWith("hunter2hunter2", "m", old, `{}`)}}
	if got := r.do(req); got.status != 401 || !strings.Contains(r.lastRefusal().Reason, "clock off") {
		t.Errorf("answered %d (%s)", got.status, r.lastRefusal().Reason)
	}
}
