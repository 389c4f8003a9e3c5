package host_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"testing"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/mcptest"
	"eventdeck/host/trust"
)

// A server repeats the secret arguments of its subscription in refusals, states and results: the
// host shows them nowhere, logs them nowhere, and stores them with the subscription only.
func TestSecretArgumentsThatAServerRepeatsAreMasked(t *testing.T) {
	const long, short = "hunter2 \\\"für\\\" all", "4711" // as JSON
	const clear = `hunter2 "für" all`
	args := fmt.Sprintf(`{"login":{"password":"%s","pin":%s,"user":"ada"}}`, long, short)
	refused := func(code int) string {
		return fmt.Sprintf(`"error":{"code":%d,"message":"no access with password %s","data":{"reason":"for %s","arguments":%s}}`, code, long, long, args)
	}
	s := &strange{
		list: func(int64) string {
			return `"result":{"events":[{"name":"t","delivery":["webhook","poll"],"inputSchema":{"type":"object","properties":{
				"login":{"type":"object","properties":{"password":{"type":"string","format":"password","minLength":10},"pin":{"type":"integer","writeOnly":true},"user":{"type":"string"}}}}}}]}`
		},
		subscribe: func(n int64) string {
			if n > 1 {
				return refused(-32603)
			}
			return fmt.Sprintf(`"result":{"id":"s","refreshBefore":null,"cursor":null,"arguments":%s,"deliveryStatus":{"active":false,"lastError":"cannot use %s"}}`, args, long)
		},
		poll: refused(-32012),
	}
	var out mcptest.Buffer
	var traced mcptest.Buffer
	r := &rig{t: t, host: hostOn(t, s, host.Options{
		Log:   slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Trace: func(_, direction string, frame trust.Text) { fmt.Fprintln(&traced, direction, frame.Raw()) },
	})}
	request := host.Request{Server: "strange", Type: trust.Untrusted("t"), Args: json.RawMessage(args), Mode: event.ModePoll}
	see := map[string]string{}

	tooShort := request
	tooShort.Args = json.RawMessage(`{"login":{"password":"hunter2"}}`)
	_, err := r.host.Check(r.ctx(), tooShort)
	see["arguments that do not fit"] = fmt.Sprint(err)

	_, err = r.host.Subscribe(r.ctx(), request)
	said, ok := host.RefusalOf(err)
	if !ok || said.Name != host.RefusedRights || !strings.Contains(said.Message.Raw(), "password ***") || said.Reason.Raw() != "for ***" {
		t.Errorf("refused with %+v", said)
	}
	see["the refusal"] = fmt.Sprintf("%v %s %s", err, said.Message.Raw(), said.Reason.Raw())

	request.Mode = event.ModeWebhook
	sub, err := r.host.Subscribe(r.ctx(), request)
	if err != nil {
		t.Fatal(err)
	}
	_ = r.host.Refresh(r.ctx(), sub.ID) // it may be answered by the end of the first attempt
	snap := r.await("the failure", func(snap host.Snapshot) bool { return !viewOf(snap, sub.ID).Status.Error.IsZero() })
	see["the refresh"] = fmt.Sprint(r.host.Refresh(r.ctx(), sub.ID))
	v := viewOf(snap, sub.ID)
	see["the status"] = v.Status.Error.Raw() + v.Status.Lease.Status.LastError.Raw() + v.Error.Raw() + v.Evidence + v.Lease.Status.LastError.Raw() + string(v.Shown)

	maps.Copy(see, shownBy(t, r.host))
	see["the log"] = out.String()
	see["the trace"] = traced.String()

	for where, text := range see {
		if !strings.Contains(text, "***") {
			t.Errorf("%s shows nothing masked, so nothing is proven:\n%s", where, text)
		}
		for _, secret := range []string{clear, long, "hunter2", `"pin":` + short} {
			if strings.Contains(text, secret) {
				t.Errorf("%s shows %s:\n%s", where, secret, text)
			}
		}
	}
	if frames := see["the wire"]; !strings.Contains(frames, `"password":"***","pin":"***","user":"ada"`) {
		t.Errorf("the wire does not show what is sent:\n%s", frames)
	}
	if got, err := json.Marshal(viewOf(r.host.Snapshot(), sub.ID).Key.Args); err != nil || !strings.Contains(string(got), "hunter2") {
		t.Errorf("kept are %s, %v", got, err)
	}
}
