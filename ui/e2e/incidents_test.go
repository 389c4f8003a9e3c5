//go:build !windows

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"eventdeck/host/mcptest"
)

// incidents is an MCP server with one type, incident.created, which delivers by push or poll
// the events that a test adds, and replays them from a cursor.
type incidents struct {
	address string
	schema  string // of the arguments of its type
	closed  chan struct{}

	mu   sync.Mutex
	sent []string      // events, without the end of the object
	said []string      // calls of its tools
	more chan struct{} // closed when there is another one
}

func newIncidents(t *testing.T) *incidents {
	s := &incidents{schema: `{"type":"object","properties":{"team":{"type":"string"}}}`, closed: make(chan struct{}), more: make(chan struct{})}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	t.Cleanup(func() { close(s.closed) })
	s.address = web.URL + "/mcp"
	return s
}

// send sends an event with the present time for each payload.
func (s *incidents) send(payloads ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, data := range payloads {
		n := len(s.sent) + 1
		s.sent = append(s.sent, fmt.Sprintf(`"eventId":"inc_%d","name":"incident.created","timestamp":%q,"cursor":"%d","data":%s`,
			n, time.Now().UTC().Format(time.RFC3339Nano), n, data))
	}
	close(s.more)
	s.more = make(chan struct{})
}

// ServeHTTP implements [http.Handler].
func (s *incidents) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m, ok := mcptest.Read(w, r)
	if !ok {
		return
	}
	switch m.Method {
	case "server/discover":
		m.Answer(w, mcptest.Discovered("incidents"))
	case "events/list":
		m.Answer(w, `"result":{"events":[{"name":"incident.created","delivery":["push","poll"],"inputSchema":`+s.schema+`}]}`)
	case "events/poll":
		s.poll(w, m)
	case "events/stream":
		s.stream(w, r, m)
	case "tools/list":
		m.Answer(w, `"result":{"tools":[{"name":"get_incident","inputSchema":{"type":"object"}},{"name":"rollback","inputSchema":{"type":"object","properties":{"env":{"type":"string"},"to":{"type":"integer"}}}},{"name":"drop","inputSchema":{"type":"object"}}]}`)
	case "tools/call":
		s.call(w, m)
	default:
		m.Answer(w, mcptest.NoMethod)
	}
}

// call records a call of a tool.
func (s *incidents) call(w http.ResponseWriter, m mcptest.Call) {
	var named struct{ Params struct{ Name string } }
	_ = json.Unmarshal(m.Body, &named) // it is read already
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = append(s.said, named.Params.Name+" "+string(m.Params.Arguments))
	m.Answer(w, `"result":{"content":[{"type":"text","text":"done"}]}`)
}

// calls returns the calls of its tools, in order.
func (s *incidents) calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.said)
}

// poll answers with the events behind the cursor, at most 1,000.
func (s *incidents) poll(w http.ResponseWriter, m mcptest.Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from := s.from(m, len(s.sent))
	to := min(len(s.sent), from+1000)
	events := "{" + strings.Join(s.sent[from:to], "},{") + "}"
	if from == to {
		events = ""
	}
	m.Answer(w, fmt.Sprintf(`"result":{"events":[%s],"cursor":"%d","hasMore":%t,"nextPollMs":1000}`, events, to, to < len(s.sent)))
}

// from is the position of the cursor of a call; without a cursor it is end.
func (s *incidents) from(m mcptest.Call, end int) int {
	var cursor string
	if json.Unmarshal(m.Params.Cursor, &cursor) == nil && cursor != "" {
		end, _ = strconv.Atoi(cursor) // it is one of ours
	}
	return end
}

// stream sends the events behind the cursor, and then new ones, until the host goes away.
func (s *incidents) stream(w http.ResponseWriter, r *http.Request, m mcptest.Call) {
	w.Header().Set("Content-Type", "text/event-stream")
	meta := fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/subscriptionId":%s}`, m.ID)
	note := func(method, params string) {
		fmt.Fprintf(w, `data: {"jsonrpc":"2.0","method":"notifications/events/%s","params":{%s,%s}}`+"\n\n", method, params, meta)
	}
	s.mu.Lock()
	next := s.from(m, len(s.sent))
	s.mu.Unlock()
	note("active", fmt.Sprintf(`"cursor":"%d"`, next))
	for {
		s.mu.Lock()
		fresh, more := s.sent[next:], s.more
		s.mu.Unlock()
		for _, e := range fresh {
			note("event", e)
		}
		next += len(fresh)
		w.(http.Flusher).Flush()
		select {
		case <-more:
		case <-r.Context().Done():
			return
		case <-s.closed:
			return
		}
	}
}

// reacting is a world with that server, named pager, rules on its events, and a directory in
// which commands record their starts.
type reacting struct {
	*world
	server *incidents
	told   string
}

// newReacting returns a world whose subscription has had one event, which matches no rule.
func newReacting(t *testing.T, rules string) *reacting {
	t.Helper()
	w := newWorld(t)
	r := &reacting{world: w, server: newIncidents(t), told: filepath.Join(w.dir, "told")}
	if err := os.Mkdir(r.told, 0o700); err != nil {
		t.Fatal(err)
	}
	r.write("servers.json", `{"mcpServers":{"pager":{"url":`+strconv.Quote(r.server.address)+`}}}`)
	r.rules(rules)
	// The first event arrives before any rule runs.
	p := w.start(nil, r.args("tail", "pager", "incident.created", "--mode", "push", "--count", "1", "--json")...)
	p.await(p.stdout, 1, contains(`"state":"live"`))
	r.server.send(`{"severity":"P4","service":"none"}`)
	if code := p.wait(); code != 0 {
		t.Fatalf("tail ends with %d: %s", code, p.stderr.text())
	}
	return r
}

func (r *reacting) write(name, text string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *reacting) read(name string) string {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

// rules writes the file of rules. In it, DIR stands for the directory of this world, and ON
// for the trigger that all rules share.
func (r *reacting) rules(text string) {
	r.t.Helper()
	text = strings.NewReplacer("DIR", r.dir, "ON", `"on":{"server":"pager","type":"incident.created"},"wait":"1ms"`).Replace(text)
	r.write("new-rules.json", text)
	if err := os.Rename(filepath.Join(r.dir, "new-rules.json"), filepath.Join(r.dir, "rules.json")); err != nil {
		r.t.Fatal(err)
	}
}

// command writes a shell script that first records its start, with its input, in a file.
func (r *reacting) command(name, then string) { r.t.Helper(); r.script(name, "/bin/sh", then) }

// script is command for another interpreter than the shell.
func (r *reacting) script(name, interpreter, then string) {
	r.t.Helper()
	r.program(name, fmt.Sprintf("#!%[4]s\n/bin/cat >%[1]s/new.$$ && /bin/mv %[1]s/new.$$ %[1]s/%[2]s.$EVENTDECK_RUN.$$\n%[3]s\n", r.told, name, then, interpreter))
}

// program writes an executable file in one step, as an installer does.
func (r *reacting) program(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.WriteFile(path+".new", []byte(text), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		r.t.Fatal(err)
	}
}

// args are a command line, with the flags for data and configuration of this world.
func (r *reacting) args(words ...string) []string {
	return append(words, "--data", r.data(), "--config", filepath.Join(r.dir, "servers.json"))
}

// host starts a process that runs the reactions, and waits until they run.
func (r *reacting) host(env ...string) *process {
	r.t.Helper()
	p := r.start(env, r.args("react", "run")...)
	p.await(p.stderr, 1, contains("reactions run: "))
	return p
}

// does runs a command that must end with 0, and returns what it printed.
func (r *reacting) does(words ...string) string {
	r.t.Helper()
	return r.ends(0, words).stdout.text()
}

// ends runs a command that must end with the given code.
func (r *reacting) ends(want int, words []string) *process {
	r.t.Helper()
	p := r.start(nil, r.args(words...)...)
	if code := p.wait(); code != want {
		r.t.Fatalf("%v ends with %d: %s", words, code, p.stderr.text())
	}
	return p
}

// arms arms a rule as it stands now.
func (r *reacting) arms(rule string) {
	r.t.Helper()
	var shown struct{ Hash string }
	if line := r.does("rules", "show", rule, "--json"); json.Unmarshal([]byte(line), &shown) != nil {
		r.t.Fatal(line)
	}
	r.does("rules", "arm", rule, shown.Hash)
}

// refuses runs a command that must end with 1, and returns its standard error.
func (r *reacting) refuses(words ...string) string {
	r.t.Helper()
	return r.ends(1, words).stderr.text()
}

// ran is a line of runs list.
type ran struct {
	ID, Rule, State, Why string
	Members, Attempt     int
	Hash                 string // of runs show
}

func (r *reacting) runs() (all []ran) {
	r.t.Helper()
	for _, line := range strings.Split(r.does("runs", "list", "--json", "--limit", "1000"), "\n") {
		if line == "" {
			continue
		}
		var one ran
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			r.t.Fatal(err, line)
		}
		all = append(all, one)
	}
	return all
}

// awaits lists the runs until they are as wanted, and returns them.
func (r *reacting) awaits(what string, wanted func([]ran) bool) []ran {
	r.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		all := r.runs()
		if wanted(all) {
			return all
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("%s never came; the runs: %+v", what, all)
		}
	}
}

// in waits until n runs are in a state, and returns them.
func (r *reacting) in(state string, n int) (found []ran) {
	r.t.Helper()
	r.awaits(fmt.Sprint(n, " runs that are ", state), func(all []ran) bool {
		found = nil
		for _, one := range all {
			if one.State == state {
				found = append(found, one)
			}
		}
		return len(found) == n
	})
	return found
}

// asking waits until n runs wait for an approval, and returns them with their hashes.
func (r *reacting) asking(n int) []ran {
	r.t.Helper()
	found := r.in("asking", n)
	for i := range found {
		if err := json.Unmarshal([]byte(r.does("runs", "show", found[i].ID, "--json")), &found[i]); err != nil || found[i].Hash == "" {
			r.t.Fatalf("runs show %s has no hash: %v", found[i].ID, err)
		}
	}
	return found
}

// inForce returns the hashes of the rules as the process that runs reactions has them.
func (r *reacting) inForce() map[string]string {
	r.t.Helper()
	hashes := map[string]string{}
	for _, line := range strings.Split(r.does("rules", "list", "--json"), "\n") {
		var rule struct{ Name, Hash string }
		if err := json.Unmarshal([]byte(line), &rule); err != nil {
			r.t.Fatal(err, line)
		}
		hashes[rule.Name] = rule.Hash
	}
	return hashes
}

// starts returns the standard input of each start of a command.
func (r *reacting) starts(name string) (inputs []string) {
	r.t.Helper()
	files, err := filepath.Glob(filepath.Join(r.told, name+".*"))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			r.t.Fatal(err)
		}
		inputs = append(inputs, string(text))
	}
	return inputs
}

// awaitStarts waits until a command was started n times.
func (r *reacting) awaitStarts(name string, n int) {
	r.t.Helper()
	r.until(fmt.Sprintf("%d starts of %s", n, name), func() bool { return len(r.starts(name)) >= n })
}

// until waits until a condition outside of the program holds.
func (r *reacting) until(what string, so func() bool) {
	r.t.Helper()
	for deadline := time.Now().Add(patience); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatalf("%s: never", what)
		}
	}
}

// release lets commands that wait for a file continue.
func (r *reacting) release(name string) {
	r.t.Helper()
	r.write(name, "")
}

// waitsFor is a shell command that waits for a file of this world.
func (r *reacting) waitsFor(name string) string {
	return fmt.Sprintf("while [ ! -e %s ]; do /bin/sleep 0.02; done", filepath.Join(r.dir, name))
}

func (r *reacting) exists(name string) bool {
	_, err := os.Lstat(filepath.Join(r.dir, name))
	return err == nil
}
