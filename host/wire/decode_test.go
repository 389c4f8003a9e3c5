package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"eventdeck/host/trust"
)

func text(s string) trust.Text { return trust.Untrusted(s) }

func equal[T any](t *testing.T, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func at(s string) Cursor { return Cursor{Present: true, Text: text(s)} }

func TestDecodeMessages(t *testing.T) {
	tests := map[string]struct {
		frame            string
		id               ID
		hasID            bool
		response, notice bool
	}{
		"request":                    {`{"jsonrpc":"2.0","id":1,"method":"ping"}`, "1", true, false, false},
		"notification":               {`{"method":"notifications/events/active","params":{}}`, "", false, false, true},
		"answer":                     {`{"id":"18","result":{}}`, "18", true, true, false},
		"number as id":               {`{"id":18,"result":{}}`, "18", true, true, false},
		"error with id null":         {`{"id":null,"error":{"code":-32600}}`, "", false, true, false},
		"error beside a null result": {`{"id":1,"result":null,"error":{"code":1}}`, "1", true, true, false},
		"result beside a null error": {`{"id":1,"result":{},"error":null}`, "1", true, true, false},
		"byte order mark":            {"\xef\xbb\xbf {\"id\":1,\"result\":{}}\r\n", "1", true, true, false},
		"no jsonrpc member":          {`{"id":1,"result":{"resultType":"complete","_meta":{}}}`, "1", true, true, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := DecodeMessages([]byte(tt.frame))
			if err != nil || len(got) != 1 {
				t.Fatalf("%v, %v", got, err)
			}
			m := got[0]
			if m.ID != tt.id || m.HasID != tt.hasID || m.IsResponse() != tt.response || m.IsNotification() != tt.notice {
				t.Errorf("%+v", m)
			}
		})
	}
	for _, frame := range []string{``, `null`, `1`, `{}`, `{"id":1}`, `{"method":1}`, `unauthorized`, `[1`, `{"id":1,"result":{}} x`} {
		if m, err := DecodeMessages([]byte(frame)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %+v, %v", frame, m, err)
		}
	}
}

func TestMalformedMessageOfABatchIsSkippedAlone(t *testing.T) {
	got, err := DecodeMessages([]byte(`[{"method":"a"},7,{"method":"b"}]`))
	if !errors.Is(err, ErrMalformed) || len(got) != 2 || got[1].Method != "b" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestDecodeError(t *testing.T) {
	tests := map[string]struct {
		raw     string
		code    int
		message string
	}{
		"whole":             {`{"code":-32011,"message":"no","data":{"kind":"event"}}`, -32011, "no"},
		"code as text":      {`{"code":"-32012","message":"no"}`, -32012, "no"},
		"code as a float":   {`{"code":-32012.0}`, -32012, ""},
		"code out of range": {`{"code":1e300,"message":"m"}`, 0, "m"},
		"odd message":       {`{"code":-32012,"message":{"x":1}}`, -32012, ""},
		"only words":        {`"denied"`, 0, "denied"},
		"a list":            {`[1]`, 0, "[1]"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := DecodeMessages([]byte(`{"id":1,"error":` + tt.raw + `}`))
			if err != nil {
				t.Fatal(err)
			}
			e := got[0].Error
			if e.Code != tt.code || e.Message.Raw() != tt.message {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestErrorNamesOfBothProfiles(t *testing.T) {
	for name, codes := range map[Name][2]int{
		NotFound: {-32011, -32023}, Forbidden: {-32012, -32024}, ResourceExhausted: {-32013, -32025},
		Unsupported: {-32014, -32026}, CallbackEndpointError: {-32015, -32027},
	} {
		equal(t, [2]int{ProfileSketch.Code(name), ProfileSEP.Code(name)}, codes)
		equal(t, [2]Name{NameOf(codes[0]), NameOf(codes[1])}, [2]Name{name, name})
	}
	for code, name := range map[int]Name{
		-32700: ParseError, -32600: InvalidRequest, -32601: MethodNotFound, -32602: InvalidParams, -32603: InternalError,
		-32022: UnsupportedVersion, -32021: MissingCapability, -32020: HeaderMismatch, -32000: UnknownError, 0: UnknownError,
		-32016: NotFound, -32017: Unsupported, -32018: UnknownError, -32010: UnknownError, -32028: UnknownError,
	} {
		equal(t, NameOf(code), name)
	}
	equal(t, ProfileSEP.Code(ParseError), CodeInternal)
}

// The numbers changed from draft to draft, the names did not.
func TestErrorNamesDecideBeforeCodes(t *testing.T) {
	for _, tt := range []struct {
		code    int
		message string
		want    Name
	}{
		{-32050, "Forbidden", Forbidden},
		{0, "NotFound", NotFound},
		{-32014, "CursorExpired", CursorExpired},
		{-32015, "InvalidCallbackUrl", InvalidParams},
		{-32014, "EndpointVerificationFailed", CallbackEndpointError},
		{-32012, "Unauthorized", Forbidden},
		{-32006, "SubscriptionNotFound", NotFound},
		{-32013, "TooManySubscriptions", ResourceExhausted},
		{-32017, "DeliveryModeUnsupported", Unsupported},
		{-32050, "forbidden for you", UnknownError},
		{-32024, "NotFound: no access", Forbidden},
		{CodeInternal, "Forbidden", InternalError},
		{CodeMethodNotFound, "NotFound", MethodNotFound},
		{CodeInvalidRequest, "Unsupported", InvalidRequest},
		{CodeParse, "Unsupported", ParseError},
	} {
		equal(t, (&Error{Code: tt.code, Message: text(tt.message)}).Name(), tt.want)
	}
}

func TestErrorDetails(t *testing.T) {
	e := &Error{Code: -32023, Message: text("a\x1b[2Jb"), Data: json.RawMessage(`{"kind":"event","limit":3}`)}
	wrapped := fmt.Errorf("poll: %w", e)
	equal(t, NameFrom(wrapped), NotFound)
	equal(t, []bool{
		Is(wrapped, NotFound, "kind", "event"), Is(wrapped, NotFound, "", ""), Is(wrapped, NotFound, "kind", "x"),
		Is(wrapped, Forbidden, "", ""), Is(errors.New("x"), NotFound, "", ""),
	}, []bool{true, true, false, false, false})
	equal(t, e.Detail("limit"), trust.Text{})
	equal(t, (&Error{}).Detail("kind"), trust.Text{})
	equal(t, NameFrom(fmt.Errorf("http: %w", ErrDenied)), Forbidden)
	equal(t, NameFrom(errors.New("reset")), "")
	equal(t, e.Name(), NotFound)
	why := &Error{Code: -32027, Data: json.RawMessage(`{"reason":"tls\u001b_error","limit":3}`)}
	equal(t, why.Error(), `server answered CallbackEndpointError (-32027) (reason tls\x1b_error)`)
	for _, s := range []string{e.Error(), (&Error{Code: -32012}).Error()} {
		for _, c := range []byte(s) {
			if c < 0x20 {
				t.Errorf("%q can act on a terminal", s)
			}
		}
	}
}

func TestDecodeList(t *testing.T) {
	got, err := DecodeList([]byte(`{"resultType":"complete","nextCursor":"p2","events":[
		{"name":"a","title":"A","description":"d","delivery":["push","poll","carrier-pigeon",7],"inputSchema":{"type":"object"},"payloadSchema":true,"cursorless":true,"$schema":"x"},
		{"name":"null delivery","delivery":null,"inputSchema":null},
		{"name":"odd members","delivery":"push","title":5,"inputSchema":[],"payloadSchema":"x"},
		{"name":"empty delivery","delivery":[]},
		{"description":"no name"}, {"name":""}, {"name":3}, null, "x"]}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Why) != 5 || !errors.Is(got.Why[0], ErrMalformed) || !strings.Contains(got.Why[0].Error(), "descriptor 5: ") || !strings.Contains(got.Why[0].Error(), "no name") {
		t.Errorf("why: %v", got.Why)
	}
	got.Why = nil
	next := text("p2")
	equal(t, got, ListResult{
		Types: []Descriptor{
			{Name: text("a"), Title: text("A"), Description: text("d"), Delivery: []trust.Text{text("push"), text("poll"), text("carrier-pigeon")},
				InputSchema: json.RawMessage(`{"type":"object"}`), PayloadSchema: json.RawMessage(`true`), Cursorless: true},
			{Name: text("null delivery")}, {Name: text("odd members")}, {Name: text("empty delivery")},
		},
		Next: &next, Bad: 5,
	})
	for name, raw := range map[string]string{"no events": `{}`, "events null": `{"events":null}`, "events odd": `{"events":{}}`, "empty next page": `{"nextCursor":""}`, "next page null": `{"nextCursor":null}`} {
		if got, err := DecodeList([]byte(raw)); err != nil || got.Types != nil || got.Next != nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for _, raw := range []string{`null`, `[]`, `"x"`, ``} {
		if _, err := DecodeList([]byte(raw)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: %v", raw, err)
		}
	}
}

func TestDecodePoll(t *testing.T) {
	const year = 365 * 24 * time.Hour
	tests := map[string]struct {
		raw  string
		want PollResult
	}{
		"nothing":             {`{}`, PollResult{}},
		"all":                 {`{"events":[{"eventId":"e"}],"cursor":"c","truncated":true,"hasMore":true,"nextPollMs":1500}`, PollResult{Events: []json.RawMessage{json.RawMessage(`{"eventId":"e"}`)}, Cursor: at("c"), Truncated: true, HasMore: true, NextPoll: 1500 * time.Millisecond}},
		"cursor null":         {`{"cursor":null}`, PollResult{Cursor: Cursor{Present: true, Null: true}}},
		"cursor empty":        {`{"cursor":""}`, PollResult{Cursor: at("")}},
		"cursor a number":     {`{"cursor":7}`, PollResult{Cursor: Cursor{Present: true, Number: true, Text: text("7")}}},
		"cursor an object":    {`{"cursor":{}}`, PollResult{}},
		"events null":         {`{"events":null}`, PollResult{}},
		"texts for truth":     {`{"truncated":"true","hasMore":"true"}`, PollResult{Truncated: true, HasMore: true}},
		"texts for untruth":   {`{"truncated":"false","hasMore":""}`, PollResult{}},
		"odd members":         {`{"truncated":"yes","hasMore":1,"nextPollMs":[]}`, PollResult{}},
		"seconds":             {`{"nextPollSeconds":2}`, PollResult{NextPoll: 2 * time.Second}},
		"both":                {`{"nextPollSeconds":2,"nextPollMs":5}`, PollResult{NextPoll: 5 * time.Millisecond}},
		"pause as text":       {`{"nextPollMs":"250"}`, PollResult{NextPoll: 250 * time.Millisecond}},
		"pause null":          {`{"nextPollMs":null}`, PollResult{}},
		"pause negative":      {`{"nextPollMs":-5}`, PollResult{NextPoll: -5 * time.Millisecond}},
		"pause absurd":        {`{"nextPollMs":1e300}`, PollResult{NextPoll: year}},
		"pause beyond floats": {`{"nextPollMs":1e999}`, PollResult{NextPoll: year}},
		"pause far negative":  {`{"nextPollMs":-1e300}`, PollResult{NextPoll: -year}},
		"pause not a number":  {`{"nextPollMs":"NaN"}`, PollResult{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := DecodePoll([]byte(tt.raw))
			if err != nil {
				t.Fatal(err)
			}
			equal(t, got, tt.want)
		})
	}
	for _, raw := range []string{`[]`, `{"events":{}}`, `{"events":"none"}`} {
		if _, err := DecodePoll([]byte(raw)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestDecodeSubscribe(t *testing.T) {
	when := time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		raw  string
		want SubscribeResult
	}{
		"nothing":             {`{}`, SubscribeResult{}},
		"all":                 {`{"id":"s","refreshBefore":"2026-07-28T12:00:00Z","cursor":"c","truncated":true}`, SubscribeResult{ID: text("s"), RefreshBefore: when, Expires: true, Cursor: at("c"), Truncated: true}},
		"no expiry":           {`{"refreshBefore":null}`, SubscribeResult{}},
		"unreadable":          {`{"refreshBefore":"soon"}`, SubscribeResult{Expires: true}},
		"a number":            {`{"refreshBefore":17}`, SubscribeResult{Expires: true}},
		"another zone":        {`{"refreshBefore":"2026-07-28T14:00:00.000+02:00"}`, SubscribeResult{RefreshBefore: when, Expires: true}},
		"no zone":             {`{"refreshBefore":"2026-07-28T12:00:00"}`, SubscribeResult{RefreshBefore: when, Expires: true}},
		"a space for the T":   {`{"refreshBefore":" 2026-07-28 12:00:00"}`, SubscribeResult{RefreshBefore: when, Expires: true}},
		"status with nothing": {`{"deliveryStatus":{}}`, SubscribeResult{Status: &DeliveryStatus{Active: true}}},
		"status null":         {`{"deliveryStatus":null}`, SubscribeResult{}},
		"status odd":          {`{"deliveryStatus":"ok"}`, SubscribeResult{}},
		"status": {`{"deliveryStatus":{"active":false,"lastDeliveryAt":"t","lastError":"timeout","failedSince":null,"throttled":true,"retryAfterMs":30}}`,
			SubscribeResult{Status: &DeliveryStatus{LastDeliveryAt: text("t"), LastError: text("timeout"), Throttled: true, RetryAfter: 30 * time.Millisecond}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := DecodeSubscribe([]byte(tt.raw))
			if err != nil {
				t.Fatal(err)
			}
			equal(t, got, tt.want)
		})
	}
	if _, err := DecodeSubscribe([]byte(`null`)); !errors.Is(err, ErrMalformed) {
		t.Error(err)
	}
}

func TestRoute(t *testing.T) {
	for raw, want := range map[string]ID{
		`{"_meta":{"io.modelcontextprotocol/subscriptionId":18}}`:                  "18",
		`{"_meta":{"io.modelcontextprotocol/subscriptionId":"18"}}`:                "18",
		`{"_meta":{"io.modelcontextprotocol/subscriptionId":"a"},"requestId":"b"}`: "a",
		`{"requestId":18}`: "18",
		`{"requestId":"18","_meta":{"progressToken":1}}`: "18",
		`{}`: "", `{"_meta":7,"requestId":1}`: "", `[]`: "", ``: "",
	} {
		if got := (Note{Params: json.RawMessage(raw)}).Route(); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}

func TestDecodeMark(t *testing.T) {
	for raw, want := range map[string]Mark{
		`{}`: {}, `[]`: {}, `null`: {}, ``: {},
		`{"cursor":null}`:                 {Cursor: Cursor{Present: true, Null: true}},
		`{"cursor":"c","truncated":true}`: {Cursor: at("c"), Truncated: true},
		`{"type":"gap","cursor":"c"}`:     {Cursor: at("c")},
	} {
		equal(t, DecodeMark([]byte(raw)), want)
	}
}

func TestDecodeFault(t *testing.T) {
	for name, tt := range map[string]struct {
		raw, message string
		code         int
	}{
		"nested":       {`{"error":{"code":-32012,"message":"no"}}`, "no", -32012},
		"flat":         {`{"code":-32012,"message":"no"}`, "no", -32012},
		"reason":       {`{"reason":"quota"}`, "quota", 0},
		"code, reason": {`{"code":-32012,"reason":"quota"}`, "quota", -32012},
		"words":        {`{"error":"gone"}`, "gone", 0},
		"null":         {`{"error":null,"reason":"quota"}`, "quota", 0},
		"nothing":      {`{}`, "", 0},
		"no object":    {`7`, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			e := DecodeFault([]byte(tt.raw))
			if e.Code != tt.code || e.Message.Raw() != tt.message {
				t.Errorf("%+v", e)
			}
		})
	}
	equal(t, DecodeFault([]byte(`{"error":{"code":1,"data":{"kind":"event"}}}`)).Detail("kind"), text("event"))
	equal(t, DecodeFault([]byte(`{"error":{"code":1,"data":null}}`)).Data, nil)
}

func TestServerTextIsClippedInErrors(t *testing.T) {
	e := &Error{Code: CodeInternal, Message: text(strings.Repeat("é", 10_000)), Data: []byte(`{"reason":"` + strings.Repeat("x", 10_000) + `"}`)}
	if got := e.Error(); len(got) > 3000 || !strings.Contains(got, "é…") || !utf8.ValidString(got) {
		t.Errorf("%d bytes: %.80s", len(got), got)
	}
	if got := (&Error{Message: text("it has expired")}).Error(); got != "server answered: it has expired" {
		t.Errorf("without a code: %s", got)
	}
}
