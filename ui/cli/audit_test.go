package cli

import (
	"strings"
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/mcptest"
	"eventdeck/host/trust"
)

func TestAudit(t *testing.T) {
	b := newBench(t)
	b.expect(t, exitDone, "nothing is in the audit log of /data", "audit", "--data", b.data(t))
	for _, e := range []event.AuditEntry{
		{At: at, Actor: event.ActorOperator, Action: "pause", Server: "pager", Type: trust.Untrusted("t\x1b"), Sub: "aaaaaaaa", Result: event.ResultOK},
		{At: at, Actor: event.ActorSecurity, Action: "delivery refused", Record: 7, Result: "answered 401", Detail: trust.Untrusted("signature\x1b[31m wrong")},
	} {
		if err := b.store.Audit(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	b.expect(t, exitDone, "", "audit", "--json", "--data", b.data(t))
	want := `{"seq":1,"at":"2026-07-28T12:00:00.005Z","actor":"operator","action":"pause","server":"pager","type":"t\u001b","subscription":"aaaaaaaa","result":"ok","detail":null}` + "\n" +
		`{"seq":2,"at":"2026-07-28T12:00:00.005Z","actor":"security","action":"delivery refused","server":"","type":null,"subscription":"","record":7,"result":"answered 401","detail":"signature\u001b[31m wrong"}` + "\n"
	if got := b.out.String(); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	b.out = mcptest.Buffer{}
	b.expect(t, exitDone, "", "audit", "--limit", "1", "--data", b.data(t))
	got := b.out.String()
	if strings.Contains(got, "pause") || strings.Contains(got, "\x1b") || !strings.Contains(got, "delivery refused  answered 401  signature") {
		t.Errorf("plain: %q", got)
	}
}
