package e2e

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/mcptest"
	"eventdeck/host/receiver"
)

// behaviour is what a server does wrong. The zero behaviour is correct, and sends one event.
type behaviour struct {
	status int           // HTTP status of what is asked of it about a subscription
	fault  string        // or a JSON-RPC error
	after  int           // of such requests are answered as they should be
	heals  time.Duration // after the first, all are

	quiet    bool   // sends no event
	notes    string // of a stream: notifications in place of active, separated by blanks; "-" is none
	forged   bool   // deliveries are signed with an unknown secret
	unlisted bool   // knows no events/list
	unsaid   bool   // does not say that it has events
	denied   bool   // asks for a token
}

// strange is a server with a behaviour. It has one type, which it offers in every mode.
type strange struct {
	behaviour
	once    sync.Once     // when it is asked for the subscription first
	began   time.Time     // then
	reached chan struct{} // closed then; nil: nobody waits

	mu    sync.Mutex
	asked int
	sent  sync.WaitGroup
}

func (s *strange) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m, ok := mcptest.Read(w, r)
	if !ok {
		return
	}
	if s.denied {
		http.Error(w, "who?", http.StatusUnauthorized)
		return
	}
	switch m.Method {
	case "server/discover":
		capabilities := `{"events":{}}`
		if s.unsaid {
			capabilities = `{}`
		}
		s.answer(w, m.ID, `"result":{"supportedVersions":["2026-07-28"],"capabilities":`+capabilities+`,"serverInfo":{"name":"strange","version":"1"}}`)
		return
	case "events/list":
		if s.unlisted {
			break
		}
		s.answer(w, m.ID, `"result":{"events":[{"name":"load.tick","delivery":["poll","push","webhook"]}]}`)
		return
	case "events/poll", "events/stream", "events/subscribe":
		s.once.Do(func() {
			s.began = time.Now()
			if s.reached != nil {
				close(s.reached)
			}
		})
		if s.fails(w, m.ID) {
			return
		}
	}
	switch m.Method {
	case "events/poll":
		s.answer(w, m.ID, fmt.Sprintf(`"result":{"events":[%s],"cursor":"c1","nextPollMs":200}`, s.event("")))
	case "events/stream":
		s.stream(w, r, m.ID)
	case "events/subscribe":
		d := m.Params.Delivery
		if secret := event.NewSecret(d.Secret); !s.quiet {
			if s.forged {
				secret = event.NewSecret("whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz")
			}
			s.sent.Go(func() { s.deliver(d.URL, secret) })
		}
		s.answer(w, m.ID, `"result":{"id":"remote","refreshBefore":null,"cursor":"c1"}`)
	case "events/unsubscribe":
		s.answer(w, m.ID, `"result":{}`)
	default:
		s.answer(w, m.ID, `"error":{"code":-32601,"message":"no such method"}`)
	}
}

func (s *strange) answer(w http.ResponseWriter, id json.RawMessage, answer string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, id, answer)
}

// fails answers a request as the behaviour says, and reports whether it did.
func (s *strange) fails(w http.ResponseWriter, id json.RawMessage) bool {
	s.mu.Lock()
	s.asked++
	well := s.asked <= s.after || s.heals > 0 && time.Since(s.began) > s.heals
	s.mu.Unlock()
	switch {
	case well:
		return false
	case s.status != 0:
		http.Error(w, "no", s.status)
		return true
	case s.fault != "":
		s.answer(w, id, `"error":`+s.fault)
		return true
	}
	return false
}

func (s *strange) event(member string) string {
	if s.quiet {
		return ""
	}
	return `{"eventId":"evt_1","name":"load.tick","timestamp":"2026-02-19T16:00:00Z","data":{"n":1}` + member + `}`
}

// stream holds a stream open until the host goes away.
func (s *strange) stream(w http.ResponseWriter, r *http.Request, id json.RawMessage) {
	w.Header().Set("Content-Type", "text/event-stream")
	meta := fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/subscriptionId":%s}`, id)
	note := func(method, params string) {
		fmt.Fprintf(w, `data: {"jsonrpc":"2.0","method":"notifications/events/%s","params":%s}`+"\n\n", method, params)
		w.(http.Flusher).Flush()
	}
	w.(http.Flusher).Flush()
	notes := s.notes
	if notes == "" {
		notes = "active"
	}
	for _, n := range strings.Fields(notes) {
		switch n {
		case "-":
		case "error", "terminated":
			note(n, `{"error":{"code":-32603,"message":"the disk is full"},`+meta+`}`)
		case "forbidden":
			note("terminated", `{"error":`+forbidden+`,`+meta+`}`)
		default:
			note(n, `{`+meta+`}`)
		}
	}
	if !s.quiet {
		note("event", s.event(","+meta))
	}
	<-r.Context().Done()
}

func (s *strange) deliver(url string, secret event.Secret) {
	client := &http.Client{
		Timeout:   patience, // a second attempt would be a second delivery
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true},
	}
	body, now := s.event(""), time.Now()
	sig, err := receiver.Sign(secret, "evt_1", now, []byte(body))
	if err != nil {
		return
	}
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(receiver.HeaderID, "evt_1")
	req.Header.Set(receiver.HeaderTimestamp, strconv.FormatInt(now.Unix(), 10))
	req.Header.Set(receiver.HeaderSignature, sig)
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); { // the receiver may not listen yet
		req.Body = io.NopCloser(strings.NewReader(body))
		if resp, err := client.Do(req); err == nil {
			resp.Body.Close()
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

const (
	quota     = `{"code":-32025,"message":"too many subscriptions"}`
	forbidden = `{"code":-32024,"message":"not for you"}`
	gone      = `{"code":-32023,"message":"no such type","data":{"kind":"event"}}`
	callback  = `{"code":-32027,"message":"callback failed","data":{"reason":"challenge_failed"}}`
)

// exitRow is how tail ends in a mode, on a server with a behaviour.
type exitRow struct {
	name string
	mode string
	behaviour
	args []string
	code int
	says string // on standard error
}

const (
	// awaited is --for of rows that end when something happens, long before it is over.
	awaited = "3m"
	// spent is --for of rows that end when it is over: a busy machine takes long to start them
	// all.
	spent = "1m"
	// startingAtOnce is how many processes start at a time. Those that have started only wait,
	// and need little CPU.
	startingAtOnce = 4
)

// tail ends as its help says, in each mode and for each behaviour of the server. The table in
// docs/reliability.md is this one.
func TestTailEndsAsItsHelpSays(t *testing.T) {
	w := newWorld(t)
	rows := []exitRow{
		{"an event", "poll", behaviour{}, []string{"--for", awaited, "--count", "1"}, 0, ""},
		{"an event", "push", behaviour{}, []string{"--for", awaited, "--count", "1"}, 0, ""},
		{"an event", "webhook", behaviour{}, []string{"--for", awaited, "--count", "1"}, 0, ""},
		{"confirms, no event", "poll", behaviour{quiet: true}, []string{"--for", spent}, 0, ""},
		{"confirms, no event", "push", behaviour{quiet: true}, []string{"--for", spent}, 0, ""},
		{"confirms, no event", "webhook", behaviour{quiet: true}, []string{"--for", spent}, 0, ""},
		{"too few events", "poll", behaviour{}, []string{"--for", spent, "--count", "2"}, 3, "1 of 2 events came within 1m0s"},
		{"too few events", "push", behaviour{}, []string{"--for", spent, "--count", "2"}, 3, "1 of 2 events came within 1m0s"},
		{"too few events", "webhook", behaviour{}, []string{"--for", spent, "--count", "2"}, 3, "1 of 2 events came within 1m0s"},

		{"a heartbeat confirms", "push", behaviour{quiet: true, notes: "heartbeat"}, []string{"--for", spent}, 0, ""},
		{"an event confirms", "push", behaviour{notes: "-"}, []string{"--for", spent}, 0, ""},
		{"a silent stream", "push", behaviour{quiet: true, notes: "-"}, []string{"--for", spent}, 3, "--for 1m0s was over before"},
		{"a silent stream, no --for", "push", behaviour{quiet: true, notes: "-"}, nil, 1, "the subscription was not confirmed within"},

		{"503", "poll", behaviour{status: 503}, []string{"--for", spent}, 3, "HTTP 503"},
		{"503", "push", behaviour{status: 503}, []string{"--for", spent}, 3, "HTTP 503"},
		{"503", "webhook", behaviour{status: 503}, []string{"--for", spent}, 3, "HTTP 503"},
		{"503, no --for", "poll", behaviour{status: 503}, nil, 1, "HTTP 503"},
		{"503, no --for", "push", behaviour{status: 503}, nil, 1, "HTTP 503"},
		{"503, no --for", "webhook", behaviour{status: 503}, nil, 1, "HTTP 503"},
		{"429", "poll", behaviour{status: 429}, []string{"--for", spent}, 3, "HTTP 429"},
		{"429", "push", behaviour{status: 429}, []string{"--for", spent}, 3, "HTTP 429"},
		{"429", "webhook", behaviour{status: 429}, []string{"--for", spent}, 3, "HTTP 429"},
		{"quota", "poll", behaviour{fault: quota}, []string{"--for", spent}, 3, "too many subscriptions"},
		{"quota", "push", behaviour{fault: quota}, []string{"--for", spent}, 3, "too many subscriptions"},
		{"quota", "webhook", behaviour{fault: quota}, []string{"--for", spent}, 3, "too many subscriptions"},
		{"quota for a while", "poll", behaviour{fault: quota, heals: 3 * time.Second}, []string{"--for", awaited, "--count", "1"}, 0, ""},
		{"quota for a while", "push", behaviour{fault: quota, heals: 3 * time.Second}, []string{"--for", awaited, "--count", "1"}, 0, ""},
		{"quota for a while", "webhook", behaviour{fault: quota, heals: 3 * time.Second}, []string{"--for", awaited, "--count", "1"}, 0, ""},
		{"quota, no --for", "poll", behaviour{fault: quota}, nil, 1, "too many subscriptions"},
		{"quota, no --for", "push", behaviour{fault: quota}, nil, 1, "too many subscriptions"},
		{"quota, no --for", "webhook", behaviour{fault: quota}, nil, 1, "too many subscriptions"},

		{"forbidden", "poll", behaviour{fault: forbidden}, []string{"--for", awaited}, 4, "not for you"},
		{"forbidden", "push", behaviour{fault: forbidden}, []string{"--for", awaited}, 4, "not for you"},
		{"forbidden", "webhook", behaviour{fault: forbidden}, []string{"--for", awaited}, 4, "not for you"},
		{"no token", "poll", behaviour{denied: true}, []string{"--for", awaited}, 4, "HTTP 401"},
		{"no token", "push", behaviour{denied: true}, []string{"--for", awaited}, 4, "HTTP 401"},
		{"no token", "webhook", behaviour{denied: true}, []string{"--for", awaited}, 4, "HTTP 401"},
		{"401 while it runs", "poll", behaviour{status: 401, after: 2}, []string{"--for", awaited, "--count", "9"}, 4, "HTTP 401"},
		{"forbidden while it runs", "poll", behaviour{fault: forbidden, after: 2}, []string{"--for", awaited, "--count", "9"}, 4, "not for you"},

		{"terminated", "push", behaviour{notes: "active terminated"}, []string{"--for", awaited}, 1, "the disk is full"},
		{"rights taken away", "push", behaviour{notes: "active forbidden"}, []string{"--for", awaited, "--count", "9"}, 4, "not for you"},
		{"type removed", "poll", behaviour{fault: gone, after: 2}, []string{"--for", awaited, "--count", "9"}, 1, "no such type"},
		{"no such type", "push", behaviour{fault: gone}, []string{"--for", awaited}, 1, "no such type"},
		{"no such type", "webhook", behaviour{fault: gone}, []string{"--for", awaited}, 1, "no such type"},
		{"events/error", "push", behaviour{notes: "active error"}, []string{"--for", spent}, 0, "reports: server answered InternalError (-32603): the disk is full"},
		{"deliveries refused", "webhook", behaviour{forged: true}, []string{"--for", spent}, 0, "1 delivery was refused, the last one: signature wrong"},
		{"deliveries refused", "webhook", behaviour{forged: true}, []string{"--for", spent, "--count", "1"}, 3, "1 delivery was refused, the last one: signature wrong"},
		{"challenge failed", "webhook", behaviour{fault: callback}, []string{"--for", spent}, 3, "challenge_failed"},
		{"events that it does not advertise", "poll", behaviour{unsaid: true}, []string{"--for", awaited, "--count", "1"}, 0, "does not say that it has events; events/list was tried all the same"},
		{"no events at all", "poll", behaviour{unsaid: true, unlisted: true}, []string{"--for", awaited}, 1, "does not say that it has events; events/list was tried all the same"},
		{"no events/list", "poll", behaviour{unlisted: true}, []string{"--for", awaited}, 1, "no events"},
		{"no events/list", "push", behaviour{unlisted: true}, []string{"--for", awaited}, 1, "no events"},
		{"no events/list", "webhook", behaviour{unlisted: true}, []string{"--for", awaited}, 1, "no events"},
	}
	all := make([]*process, len(rows))
	tail := func(url string, row exitRow) *process {
		return w.start(nil, append([]string{"tail", url, "load.tick", "--json", "--mode", row.mode}, row.args...)...)
	}
	urls := make([]string, len(rows))
	starting := make(chan struct{}, startingAtOnce)
	for i, row := range rows {
		s := &strange{behaviour: row.behaviour, reached: make(chan struct{})}
		server := httptest.NewServer(s)
		t.Cleanup(func() {
			server.CloseClientConnections()
			server.Close()
			s.sent.Wait()
		})
		starting <- struct{}{}
		p := tail(server.URL, row)
		go func() {
			select {
			case <-s.reached:
			case <-p.exited:
			}
			<-starting
		}()
		all[i], urls[i] = p, server.URL
	}
	for i, row := range rows {
		code, said := all[i].wait(), all[i].stderr.text()
		// Without --for a first connection has only 10 s, in which a busy machine may not
		// reach the behaviour that the row is about.
		for deadline := time.Now().Add(patience); row.args == nil && tooLate(said, row.says) && time.Now().Before(deadline); {
			again := tail(urls[i], row)
			code, said = again.wait(), again.stderr.text()
		}
		if code != row.code || !strings.Contains(said, row.says) {
			t.Errorf("%s, %s %v: ends with %d, want %d, and says %q, want %q", row.mode, row.name, row.args, code, row.code, said, row.says)
		}
	}
	for name, row := range map[string]struct {
		args []string
		code int
	}{
		"nobody listens":           {[]string{"tail", "http://127.0.0.1:1/mcp", "load.tick"}, 1},
		"nobody listens, with for": {[]string{"tail", "http://127.0.0.1:1/mcp", "load.tick", "--for", "2s"}, 3},
		"usage":                    {[]string{"tail", "http://127.0.0.1:1/mcp", "load.tick", "--mode", "pigeon"}, 2},
	} {
		if out, code := w.run(row.args...); code != row.code || out != "" {
			t.Errorf("%s: %d, want %d", name, code, row.code)
		}
	}
}

// tooLate reports whether a command ran out of time instead of saying what it should.
func tooLate(said, want string) bool {
	return !strings.Contains(said, want) && (strings.Contains(said, "did not answer within") || strings.Contains(said, "was not confirmed within") || strings.Contains(said, "said nothing about it"))
}

// A tail that is attached fails as one in a process of its own does: with the cause, and its
// exit code.
func TestAttachedTailTellsWhyItCannotSubscribe(t *testing.T) {
	w := newWorld(t)
	_, url := w.pager("--rate", "1")
	owner := w.start(nil, "tail", url, "load.tick", "--json", "--data", w.data())
	owner.await(owner.stdout, 1, isEvent)
	denied := httptest.NewServer(&strange{behaviour: behaviour{denied: true}})
	t.Cleanup(denied.Close)
	const nobody = "http://127.0.0.1:1/mcp"
	rows := map[string]struct {
		args []string
		code int
		says string
	}{
		"no token":                 {[]string{denied.URL, "load.tick"}, 4, "HTTP 401"},
		"no token, with for":       {[]string{denied.URL, "load.tick", "--for", awaited}, 4, "HTTP 401"},
		"no token, typed argument": {[]string{denied.URL, "load.tick", "--arg", "a=b"}, 4, "HTTP 401"},
		"nobody listens":           {[]string{nobody, "load.tick"}, 1, "server cannot be reached"},
		"nobody listens, with for": {[]string{nobody, "load.tick", "--for", spent}, 3, "server cannot be reached"},
	}
	all := make(map[string]*process)
	for name, row := range rows {
		all[name] = w.start(nil, append([]string{"tail", "--json", "--mode", "poll", "--data", w.data()}, row.args...)...)
	}
	for name, row := range rows {
		p := all[name]
		if code := p.wait(); code != row.code || !strings.Contains(p.stderr.text(), row.says) {
			t.Errorf("%s: ends with %d, want %d, and says %q, want %q", name, code, row.code, p.stderr.text(), row.says)
		}
	}
}

// A subscription that ends as planned is no failure, and says so.
func TestTailEndsWithThePlannedEnd(t *testing.T) {
	w := newWorld(t)
	_, url := w.serve("digest", "--speed", "10")
	for _, after := range []time.Duration{3 * time.Second, 15 * time.Second, time.Minute, patience} {
		ends := time.Now().Add(after).UTC().Format(time.RFC3339)
		p := w.start(nil, "tail", url, "filtered-stream", "--json", "--args", `{"eventTypes":["load.*"],"expiresAt":"`+ends+`"}`)
		code, said := p.wait(), p.stderr.text()
		if strings.Contains(said, ends+" is over") || strings.Contains(said, "must be a time to come") {
			continue // a busy machine did not begin before
		}
		if code != 0 || !strings.Contains(said, "the subscription ended as planned") {
			t.Errorf("ends with %d, says %q", code, said)
		}
		return
	}
	t.Errorf("it did not begin within %v", patience)
}

// subs list shows the state that the process that runs a subscription knows, and the last
// known state of one that is not running.
func TestSubsListShowsTheStateOfASubscription(t *testing.T) {
	w := newWorld(t)
	s := &strange{behaviour: behaviour{forged: true}}
	server := httptest.NewServer(s)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		s.sent.Wait()
	})
	p := w.start(nil, "tail", server.URL, "load.tick", "--json", "--mode", "webhook", "--data", w.data())
	p.await(p.stderr, 1, contains("1 delivery was refused, the last one: signature wrong"))
	type fares struct {
		Running     bool
		State       string
		StateSeen   *struct{ State, Time string }
		StateReason string
		Evidence    string
		Error       string
		Refused     struct {
			Count  int
			Last   string
			Reason string
		}
	}
	look := func() (f fares) {
		t.Helper()
		out, code := w.run("subs", "list", "--json", "--data", w.data())
		if err := json.Unmarshal([]byte(out), &f); code != 0 || err != nil {
			t.Fatal(code, err, out)
		}
		return f
	}
	f := look() // the evidence is stored with the state
	for deadline := time.Now().Add(patience); (f.State != "refused" || f.Evidence != "no delivery was accepted") && time.Now().Before(deadline); f = look() {
		time.Sleep(100 * time.Millisecond)
	}
	if !f.Running || f.State != "refused" || f.StateReason != "refused" || f.StateSeen != nil || f.Refused.Count != 1 || f.Refused.Last == "" || f.Refused.Reason != "signature wrong" {
		t.Errorf("%+v", f)
	}
	if out, _ := w.run("subs", "list", "--data", w.data()); !strings.Contains(out, "refused, signature wrong, 1 delivery refused") {
		t.Errorf("for a person: %s", out)
	}
	p.kill()
	if f = look(); f.Running || f.State != "not-running" || f.StateSeen == nil || f.StateSeen.State != "refused" || f.StateSeen.Time == "" {
		t.Errorf("after a kill: %+v, seen %+v", f, f.StateSeen)
	}
	if f.Refused.Count != 1 || f.Refused.Last == "" || f.Refused.Reason != "signature wrong" {
		t.Errorf("after a kill: refused %+v", f.Refused)
	}
	if out, _ := w.run("subs", "list", "--data", w.data()); !strings.Contains(out, "not running, refused when last seen at 20") || !strings.Contains(out, "1 delivery was refused until 20") {
		t.Errorf("for a person: %s", out)
	}
}
