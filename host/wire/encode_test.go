package wire

import (
	"encoding/json"
	"testing"
	"time"
)

func TestRequestsAreStrict(t *testing.T) {
	args, held := json.RawMessage(`{"b":"<&>"}`), Position{Cursor: text("c1"), Valid: true}
	page := text("")
	tests := map[string]struct {
		params any
		want   string
	}{
		"list":                {ListRequest{}, `{}`},
		"list, a page":        {ListRequest{Cursor: &page}, `{"cursor":""}`},
		"poll from now":       {PollRequest{Name: text("t")}, `{"name":"t","arguments":{},"cursor":null}`},
		"poll":                {PollRequest{Name: text("t"), Arguments: args, At: held, MaxEvents: 5, Timeout: 2500 * time.Microsecond}, `{"name":"t","arguments":{"b":"<&>"},"cursor":"c1","maxEvents":5,"timeoutMs":2}`},
		"poll, empty cursor":  {PollRequest{Name: text("t"), At: Position{Valid: true}}, `{"name":"t","arguments":{},"cursor":""}`},
		"stream from now":     {StreamRequest{Name: text("t")}, `{"name":"t","arguments":{},"cursor":null}`},
		"stream, maximum age": {StreamRequest{Name: text("t"), At: Position{MaxAge: 90*time.Second + 900*time.Microsecond}}, `{"name":"t","arguments":{},"cursor":null,"maxAgeMs":90000}`},
		"subscribe":           {SubscribeRequest{Name: text("t"), At: held, URL: "https://h/p?a&b", Secret: "whsec_x"}, `{"name":"t","arguments":{},"cursor":"c1","delivery":{"mode":"webhook","url":"https://h/p?a&b","secret":"whsec_x"}}`},
		"subscribe, lifetime": {SubscribeRequest{Name: text("t"), TTL: time.Minute}, `{"name":"t","arguments":{},"cursor":null,"delivery":{"mode":"webhook","url":""},"ttlMs":60000}`},
		"subscribe for ever":  {SubscribeRequest{Name: text("t"), TTL: time.Minute, NoExpiry: true}, `{"name":"t","arguments":{},"cursor":null,"delivery":{"mode":"webhook","url":""},"ttlMs":null}`},
		"unsubscribe":         {UnsubscribeRequest{Name: text("t"), URL: "https://h/p"}, `{"name":"t","arguments":{},"delivery":{"mode":"webhook","url":"https://h/p"}}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			params, err := Marshal(tt.params)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, string(EncodeRequest("7", "m", params)), `{"jsonrpc":"2.0","id":7,"method":"m","params":`+tt.want+`}`)
		})
	}
}

func TestCursorIsSentBackUnchanged(t *testing.T) {
	for _, spelled := range []string{`"a"`, `""`, `17`, `"17"`, `-1.50e+2`, `123456789012345678901`, `"\ud800"`, `"\u001b\u202e\u0000"`, `"😀<\"\\"`, "\"\x9a\\u008d\xff\"", "\"\xed\xa0\""} {
		r, err := DecodePoll([]byte(`{"cursor":` + spelled + `}`))
		if err != nil {
			t.Fatal(err)
		}
		params, err := Marshal(PollRequest{Name: text("t"), At: Position{Cursor: r.Cursor.Text, Valid: true, Number: r.Cursor.Number}})
		if err != nil {
			t.Fatal(err)
		}
		m, err := DecodeMessages(EncodeRequest("1", MethodPoll, params))
		if err != nil {
			t.Fatal(err)
		}
		equal(t, DecodeMark(m[0].Params).Cursor, r.Cursor)
	}
}

func TestFrames(t *testing.T) {
	type encoder func() ([]byte, error)
	for want, fn := range map[string]encoder{
		`{"jsonrpc":"2.0","method":"n"}`:                              func() ([]byte, error) { return EncodeNotification("n", nil) },
		`{"jsonrpc":"2.0","method":"n","params":{"a":"<"}}`:           func() ([]byte, error) { return EncodeNotification("n", map[string]string{"a": "<"}) },
		`{"jsonrpc":"2.0","id":"a","result":{}}`:                      func() ([]byte, error) { return EncodeResult(json.RawMessage(`"a"`), struct{}{}) },
		`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}`: func() ([]byte, error) { return EncodeError(nil, 1, "", nil) },
		`{"jsonrpc":"2.0","id":7,"error":{"code":-32023,"message":"no","data":{"kind":"event"}}}`: func() ([]byte, error) {
			return EncodeError(json.RawMessage(`7`), ProfileSEP.Code(NotFound), "no", map[string]string{"kind": "event"})
		},
	} {
		got, err := fn()
		if err != nil {
			t.Error(err)
		}
		equal(t, string(got), want)
	}
	if _, err := EncodeNotification("n", func() {}); err == nil {
		t.Error("a function was encoded")
	}
}
