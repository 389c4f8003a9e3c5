package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/mcptest"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
	"eventdeck/ui/cli/program"
)

var incident = event.Type{
	Name: trust.Untrusted("incident.created"), Description: trust.Untrusted("A page\n\x1b[31m"),
	Modes: []event.Mode{event.ModePush, event.ModePoll}, OtherModes: []trust.Text{trust.Untrusted("pigeon")},
	InputSchema:   []byte(`{"type": "object", "properties": {"severity": {"enum": ["P1", "P2"]}}}`),
	PayloadSchema: []byte("{ }"),
}

func TestUsageErrors(t *testing.T) {
	tests := map[string]struct {
		args []string
		says string
	}{
		"unknown flag":       {[]string{"tail", "--nope"}, "unknown flag: --nope; `eventdeck tail --help` lists the flags"},
		"flag needs value":   {[]string{"servers", "--config"}, "flag needs an argument"},
		"bad duration":       {[]string{"tail", "pager", "t", "--for", "soon"}, `--for "soon": must be a duration, such as 90s or 10m; `},
		"bad count":          {[]string{"tail", "pager", "t", "--count", "-1"}, `--count "-1": must be a whole number from 0 to 18446744073709551615; `},
		"count too large":    {[]string{"tail", "pager", "t", "--count", "99999999999999999999"}, `--count "99999999999999999999": must be a whole number from 0 to `},
		"neither yes nor no": {[]string{"tail", "pager", "t", "--plain=maybe"}, `--plain "maybe": must be true or false; `},
		"tail without type":  {[]string{"tail", "pager"}, "an argument is missing; usage: eventdeck tail SERVER TYPE"},
		"too much":           {[]string{"types", "a", "b"}, `"b" is one argument too many`},
		"misspelled":         {[]string{"tial", "pager", "t"}, `no command "tial", did you mean "tail"?`},
		"subs":               {[]string{"subs"}, "refresh ID or rotate ID"},
		"subs misspelled":    {[]string{"subs", "lst"}, `did you mean "list"?`},
		"subs rm":            {[]string{"subs", "rm"}, "usage: eventdeck subs rm ID"},
		"mode":               {[]string{"tail", "pager", "t", "--mode", "pull"}, "must be auto, poll, push or webhook"},
		"max age":            {[]string{"tail", "pager", "t", "--max-age", "-1s"}, "--max-age"},
		"negative for":       {[]string{"tail", "pager", "t", "--for", "-1s"}, "--for"},
		"plain and json":     {[]string{"tail", "pager", "t", "--plain", "--json"}, "--plain goes with neither"},
		"plain and raw":      {[]string{"events", "--plain", "--raw"}, "--plain goes with neither"},
		"arg":                {[]string{"tail", "pager", "t", "--arg", "x"}, "key=value"},
		"args":               {[]string{"tail", "pager", "t", "--args", "[]"}, "--args: "},
		"header":             {[]string{"tail", "pager", "t", "--header", "x"}, "--header: "},
		"header to process":  {[]string{"tail", "chat", "t", "--header", "K: v"}, "takes no headers"},
		"no proxy":           {[]string{"tail", "https://h.example/mcp", "t", "--trusted-proxy", "proxy.example"}, "--trusted-proxy must be an address"},
		"inherit to all":     {[]string{"servers", "--inherit", "TOKEN"}, "--header and --inherit need a SERVER"},
		"inherit to a URL":   {[]string{"types", "https://h.example/mcp", "--inherit", "TOKEN"}, "is no process"},
		"header to all":      {[]string{"servers", "--header", "K: v"}, "--header and --inherit need a SERVER"},
		"header variable":    {[]string{"types", "pager", "--header", "K: ${NONE}"}, "${NONE}"},
		"since":              {[]string{"events", "--since", "yesterday"}, "--since"},
		"callback":           {[]string{"tail", "pager", "t", "--callback-url", "http://h"}, "--callback-url must look like https://"},
		"listen":             {[]string{"tail", "pager", "t", "--listen", "8443"}, "--listen must look like"},
		"plain http":         {[]string{"tail", "pager", "t", "--listen", "0.0.0.0:80", "--plain-http"}, "on loopback only"},
		"no demo server":     {[]string{"demo-server"}, "an argument is missing"},
		"demo server":        {[]string{"demo-server", "mail"}, "use pager, chat, archive, digest"},
		"unknown shell":      {[]string{"completion", "klingon"}, `there is no shell "klingon"; there are bash, fish`},
		"below two commands": {[]string{"import", "a", "b"}, `did you mean "servers import" or "store import"?`},
		"misspelled shell":   {[]string{"completion", "bsh"}, `did you mean "bash"?`},
		"unknown scheme":     {[]string{"tail", "ftp://h/mcp", "t"}, "only http, https, ws, wss and stdio: are spoken"},
		"types, scheme":      {[]string{"types", "ftp://h/mcp"}, "only http, https, ws, wss and stdio: are spoken"},
		"no host":            {[]string{"tail", "https:///mcp", "t"}, "the host is missing"},
		"demo speed":         {[]string{"demo-server", "pager", "--speed", "0"}, "--speed"},
		"demo hijacked":      {[]string{"demo-server", "pager", "--hijacked"}, "--hijacked"},
		"demo rate":          {[]string{"demo-server", "pager", "--rate", "-1"}, "--rate"},
		"screen":             {nil, "`eventdeck tail SERVER TYPE`"},
		"demo screen":        {[]string{"demo"}, "`eventdeck tail SERVER TYPE`"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.expect(t, exitUsage, tt.says, tt.args...)
			if b.out.String() != "" || len(b.opened) != b.store.closed {
				t.Errorf("stdout %q, %d stores opened, %d closed", b.out.String(), len(b.opened), b.store.closed)
			}
		})
	}
}

func TestErrorsHaveTheirCode(t *testing.T) {
	forbidden := fmt.Errorf("%w: %w", host.ErrRefused, &wire.Error{Code: -32024, Message: trust.Untrusted("no\x1b[2J\nway")})
	tests := map[string]struct {
		connect, types, subscribe error
		code                      int
		says                      string
	}{
		"unreachable":   {fmt.Errorf("%w: connection refused", host.ErrUnreachable), nil, nil, exitError, "cannot connect: connection refused"},
		"no rights":     {fmt.Errorf("%w: 401", host.ErrRefused), nil, nil, exitRefused, "refused by the server: 401"},
		"no events":     {nil, host.ErrNoEvents, nil, exitError, "server has no events"},
		"unknown type":  {nil, nil, fmt.Errorf("%w %q; it has: incident.created", host.ErrUnknownType, "x"), exitError, "it has: incident.created"},
		"mode":          {nil, nil, fmt.Errorf("%w: has push, poll", host.ErrMode), exitError, "has push, poll"},
		"arguments":     {nil, nil, fmt.Errorf("%w: severity: must be one of\nP1, P2", host.ErrArguments), exitError, "severity: must be one of; P1, P2"},
		"forbidden":     {nil, nil, forbidden, exitRefused, "Forbidden"},
		"bad answer":    {nil, nil, &wire.Error{Code: -32603}, exitError, "InternalError"},
		"untyped value": {nil, nil, nil, exitError, `"severity" must be one of P1, P2, not "P9"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.standIn.connect = func(context.Context, string) error { return tt.connect }
			b.standIn.types, b.typesErr = []event.Type{incident}, tt.types
			b.standIn.subscribe = func(context.Context, host.Request) error { return tt.subscribe }
			args := []string{"tail", "pager", "incident.created", "--count", "1", "--arg", "severity=P1"}
			if name == "untyped value" {
				args[6] = "severity=P9"
			}
			b.expect(t, tt.code, tt.says, args...)
			if b.out.String() != "" || !b.closed || b.store.closed != 1 {
				t.Errorf("stdout %q, host closed %t, store closed %d", b.out.String(), b.closed, b.store.closed)
			}
		})
	}
}

func TestUnknownServersAndFiles(t *testing.T) {
	b := newBench(t)
	b.expect(t, exitUsage, `unknown server "pagr": did you mean "pager"?`, "types", "pagr")
	b = newBench(t)
	b.p.StdinTerminal, b.p.StdoutTerminal = true, true
	b.expect(t, exitUsage, `did you mean "types"?`, "typs")
	b = newBench(t)
	b.expect(t, exitError, "none.json", "servers", "--config", filepath.Join(t.TempDir(), "none.json"))
	b = newBench(t)
	bad := filepath.Join(t.TempDir(), "bad.json")
	if err := os.WriteFile(bad, []byte("{\n \"mcpServers\": }"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.expect(t, exitError, bad+":2:16: ", "servers", "--config", bad)
	b = newBench(t)
	b.expect(t, exitUsage, "server address", "types", "gopher://h")
}

func TestStoreThatCannotBeOpened(t *testing.T) {
	b := newBench(t)
	b.p.OpenStore = func(context.Context, program.StoreOptions) (event.Store, error) {
		return nil, errors.New("the store is in use: process 42 has /data open")
	}
	for _, args := range [][]string{{"tail", "pager", "t"}, {"subs", "list"}, {"events"}, {"subs", "rm", "x"}} {
		b.err = mcptest.Buffer{}
		b.expect(t, exitError, "process 42", append(args, "--data", b.data(t))...)
	}
}

func TestTypes(t *testing.T) {
	b := newBench(t)
	b.standIn.types = []event.Type{incident, {Name: trust.Untrusted("bare")}}
	b.expect(t, exitDone, "", "types", "pager", "--json", "--header", "authorization: Bearer ${TOKEN}")
	want := `{"name":"incident.created","description":"A page\n\u001b[31m","modes":["push","poll"],"inputSchema":{"type":"object","properties":{"severity":{"enum":["P1","P2"]}}},"payloadSchema":{}}
{"name":"bare","description":null,"modes":[],"inputSchema":null,"payloadSchema":null}
`
	if got := b.out.String(); got != want {
		t.Errorf("got %s", got)
	}
	headers := b.standIn.servers[0].Headers
	if len(headers) != 2 || headers["authorization"].Reveal() != "Bearer t0ken" || headers["X-Kept"].Reveal() != "1" {
		t.Errorf("headers %d: --header must replace the configured one", len(headers))
	}
	if len(b.opened) != 1 || !b.opened[0].Temporary {
		t.Errorf("opened %+v, want a temporary store", b.opened)
	}

	b = newBench(t)
	b.standIn.types = []event.Type{incident, {Name: trust.Untrusted("bare")}}
	b.expect(t, exitDone, "", "types", "pager")
	for _, want := range []string{"incident.created  push, poll, pigeon (not known here)\n", "A page", `arguments  { "type": "object"`, "bare  no mode\n"} {
		if !strings.Contains(b.out.String(), want) {
			t.Errorf("%q is missing in %s", want, b.out.String())
		}
	}
	b = newBench(t)
	b.standIn.view(host.ServerView{Name: "other", BadTypes: 7}, host.ServerView{Name: "pager", TypesErr: "the list was cut short", BadTypes: 2, BadWhy: []string{"page 1: incident is listed twice, the first one is kept"}})
	b.expect(t, exitDone, "not all event types are shown: the list was cut short", "types", "pager")
	if said := b.err.String(); !strings.Contains(said, "2 event types of the server are left out: page 1: incident is listed twice, the first one is kept; and 1 more") || strings.Contains(said, "7 event") {
		t.Errorf("said %q", said)
	}
	b = newBench(t)
	b.expect(t, exitDone, "lists no event types", "types", "stdio:x 'y z'")
	if s := b.standIn.servers[0]; s.Command != "x" || len(s.Args) != 1 || s.Args[0] != "y z" {
		t.Errorf("%+v", s)
	}
}

func TestServers(t *testing.T) {
	b := newBench(t)
	b.standIn.types = []event.Type{incident}
	b.standIn.connect = func(_ context.Context, server string) error {
		if server == "chat" {
			return fmt.Errorf("%w: exit status 1", host.ErrUnreachable)
		}
		return nil
	}
	b.expect(t, exitError, "1 of 2 servers are not ready: chat: cannot connect", "servers")
	for _, want := range []string{"NAME", "pager  http", "  2026-07-28 stateless  SEP-3415, 1 type ", "ready", "chat", "cannot connect: exit status 1"} {
		if !strings.Contains(b.out.String(), want) {
			t.Errorf("%q is missing in %s", want, b.out.String())
		}
	}
	b.out = mcptest.Buffer{}
	b.expect(t, exitDone, "", "servers", "pager", "--json")
	want := `{"name":"pager","address":"http://h/mcp","transport":"http","http":"","era":"2026-07-28 stateless","version":"2026-07-28","profile":"SEP-3415","title":"Pa\u001bger","release":"1.0","events":true,"types":1,"error":null}` + "\n"
	if got := b.out.String(); got != want {
		t.Errorf("got %s", got)
	}
	b = newBench(t)
	b.typesErr = host.ErrNoEvents
	b.expect(t, exitDone, "", "servers", "pager")
	if !strings.Contains(b.out.String(), "none") {
		t.Error(b.out.String())
	}
	b = newBench(t)
	b.p.Home = t.TempDir()
	b.expect(t, exitDone, "no server is configured: put one into "+b.p.Home, "servers")
}

// The report is printed whatever the server answers; the exit code is for scripts.
func TestExitCodeOfAServerThatIsNotReady(t *testing.T) {
	for name, tt := range map[string]struct {
		connect, types error
		code           int
		says           string
	}{
		"ready":       {nil, nil, exitDone, ""},
		"no events":   {nil, host.ErrNoEvents, exitDone, ""},
		"unreachable": {fmt.Errorf("%w: connection\nrefused", host.ErrUnreachable), nil, exitError, "eventdeck: cannot connect: connection; refused"},
		"no rights":   {fmt.Errorf("%w: HTTP 401", host.ErrRefused), nil, exitRefused, "eventdeck: refused by the server: HTTP 401"},
		"no list":     {nil, errors.New("the list of types was cut"), exitError, "eventdeck: the list of types was cut"},
	} {
		t.Run(name, func(t *testing.T) {
			for format, row := range map[string]string{"": "http://h:1/mcp", "--json": `"name":"http://h:1/mcp"`} {
				b := newBench(t)
				b.standIn.connect = func(context.Context, string) error { return tt.connect }
				b.typesErr = tt.types
				args := []string{"servers", "http://h:1/mcp"}
				if format != "" {
					args = append(args, format)
				}
				b.expect(t, tt.code, tt.says, args...)
				if !strings.Contains(b.out.String(), row) {
					t.Errorf("the report is missing: %q", b.out.String())
				}
				if tt.says == "" && b.err.String() != "" {
					t.Errorf("said %q", b.err.String())
				}
			}
		})
	}
}

func TestSmallCommands(t *testing.T) {
	b := newBench(t)
	b.expect(t, exitDone, "", "version")
	if got := b.out.String(); got != "eventdeck v1.2.3 "+runtime.Version()+" linux/"+runtime.GOARCH+"\n" {
		t.Errorf("version: %q", got)
	}
	b = newBench(t)
	b.expect(t, exitDone, "", "ca")
	if got := b.out.String(); !strings.HasPrefix(got, "/state/ca.pem\n") || !strings.Contains(got, `NODE_EXTRA_CA_CERTS="/state/ca.pem"`) || !strings.Contains(got, "update-ca-certificates") {
		t.Errorf("ca: %q", got)
	}
	b = newBench(t)
	b.expect(t, exitDone, "", "ca", "--json")
	if got := b.out.String(); got != `{"path":"/state/ca.pem"}`+"\n" {
		t.Errorf("ca: %q", got)
	}
	b = newBench(t)
	asked := "not asked"
	b.p.CA = func(dir string) (string, error) {
		asked = dir
		return "/state/ca.pem", nil
	}
	b.expect(t, exitDone, "the authority is one for all data directories; --data does not move it", "ca", "--json", "--data", b.data(t))
	if asked != "" || b.out.String() != `{"path":"/state/ca.pem"}`+"\n" {
		t.Errorf("asked for %q, got %q", asked, b.out.String())
	}
	for system, want := range map[string]string{"darwin": "add-trusted-cert", "windows": "certutil"} {
		if !strings.Contains(trustAdvice(system, "x"), want) {
			t.Errorf("%s: %s", system, trustAdvice(system, "x"))
		}
	}
	b = newBench(t)
	b.p.CA = func(string) (string, error) { return "", errors.New("no home directory") }
	b.expect(t, exitError, "no home directory", "ca")
}

func TestDemoServer(t *testing.T) {
	b := newBench(t)
	var name string
	var o host.DemoOptions
	b.p.DemoServer = func(ctx context.Context, n string, got host.DemoOptions) error {
		name, o = n, got
		return nil
	}
	b.expect(t, exitDone, "", "demo-server", "pager", "--listen", "127.0.0.1:7", "--speed", "2.5", "--seed", "9", "--rate", "500", "--token", "sesame", "--allow-loopback", "--server-key", "--fault", "replay-never,close-every=5s", "--ca", "f.pem")
	if name != "pager" || o.Listen != "127.0.0.1:7" || o.Speed != 2.5 || o.Seed != 9 || o.Rate != 500 || o.Token.Reveal() != "sesame" || !o.AllowLoopback || !o.ServerKey || !slices.Equal(o.Faults, []string{"replay-never", "close-every=5s"}) || !o.TrustCA || o.LoopbackPrincipal || o.CAFile != "f.pem" || o.In == nil || o.Out == nil || o.Err == nil {
		t.Errorf("%s %+v", name, o)
	}
	if b.flagsListen() != "" {
		t.Error("--listen of the demo server reached the receiver")
	}
	b.expect(t, exitDone, "", "demo-server", "model", "--hijacked")
	if name != "model" || !o.Hijacked {
		t.Errorf("%s %+v", name, o)
	}
	b.p.DemoServer = host.DemoServer
	b.expect(t, exitUsage, `there is no fault "nonsense"`, "demo-server", "pager", "--fault", "nonsense")
	if code := b.run(t, "demo-server", "--fault", "list"); code != exitDone {
		t.Errorf("the list of faults: %d, %s", code, b.err.String())
	}
	lines := strings.Split(strings.TrimSpace(b.out.String()), "\n")
	if name, sentence, _ := strings.Cut(lines[0], "\t"); name != "replay-live-ignored" || sentence == "" || len(lines) != len(host.DemoFaults()) {
		t.Errorf("the list of faults: %q", b.out.String())
	}
	b = newBench(t)
	b.p.DemoServer = func(ctx context.Context, _ string, _ host.DemoOptions) error {
		<-ctx.Done()
		return ctx.Err()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code := b.runIn(ctx, "demo-server", "chat"); code != exitDone {
		t.Errorf("interrupted: code %d", code)
	}
}

func TestDemoServerEndsWithItsInput(t *testing.T) {
	for _, test := range []struct {
		said string
		code int
		want string
	}{
		{"", exitDone, ""},
		{"{}\n", exitError, `give its address as "url"`},
	} {
		b := newBench(t)
		b.p.DemoServer = func(ctx context.Context, _ string, _ host.DemoOptions) error {
			<-ctx.Done()
			return ctx.Err()
		}
		in, tell, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		b.p.Stdin = in
		if _, err := tell.WriteString(test.said); err != nil {
			t.Fatal(err)
		}
		tell.Close()
		b.expect(t, test.code, test.want, "demo-server", "pager")
	}
}

// flagsListen is the address for deliveries that the host was given.
func (b *bench) flagsListen() string { return b.options.ListenAddr }

func TestTopSaysWhatAPathIs(t *testing.T) {
	newBench(t).expect(t, exitUsage, "a path begins with a dot, such as .severity", "top", "severity")
}

// A script must notice that an incident does not exist.
func TestReportOfNothing(t *testing.T) {
	newBench(t).expect(t, exitError, `no stored record has the value "INC-1"`, "report", "INC-1", "--data", t.TempDir())
	newBench(t).expect(t, exitDone, "", "report", "--data", t.TempDir())
	dir := t.TempDir()
	storeSome(t, dir, 3)
	for id, code := range map[string]int{"=1+1": exitDone, "INC-1": exitError} {
		b := newBench(t)
		b.realStores()
		if got := b.run(t, "report", id, "--data", dir); got != code || strings.Contains(b.out.String(), "# Incident "+id) != (code == exitDone) {
			t.Errorf("%s: code %d, %s%s", id, got, b.out.String(), b.err.String())
		}
	}
}

func TestNoColor(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		env  map[string]string
		want bool
	}{
		"by itself": {nil, nil, false},
		"flag":      {[]string{"--no-color"}, nil, true},
		"variable":  {nil, map[string]string{"NO_COLOR": "1"}, true},
		"empty":     {nil, map[string]string{"NO_COLOR": ""}, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.p.StdinTerminal, b.p.StdoutTerminal = true, true
			b.p.Env = environment(tt.env)
			var got program.ScreenOptions
			b.p.Screen = func(_ context.Context, o program.ScreenOptions) error {
				got = o
				return nil
			}
			b.expect(t, exitDone, "", append([]string{"pager"}, tt.args...)...)
			if got.NoColor != tt.want || got.API == nil {
				t.Errorf("%+v", got)
			}
			a := &app{&program.App{Program: b.p}}
			if hidden := a.helpOutput() != b.p.Stdout; hidden != tt.want {
				t.Errorf("help: terminal hidden %t, want %t", hidden, tt.want)
			}
		})
	}
}

func TestCompletion(t *testing.T) {
	for want, args := range map[string][]string{
		"pager\nchat\n":                          {"__complete", "types", ""},
		"webhook\n":                              {"__complete", "tail", "pager", "t", "--mode", ""},
		"pager\nchat\narchive\ndigest\nmodel\n:": {"__complete", "demo-server", ""},
	} {
		b := newBench(t)
		if code := b.run(t, args...); code != exitDone || !strings.Contains(b.out.String(), want) {
			t.Errorf("%q: code %d, got %q, want %q", args, code, b.out.String(), want)
		}
	}
}

func TestLogIsAPrivateFile(t *testing.T) {
	b := newBench(t)
	path := filepath.Join(t.TempDir(), "log")
	b.standIn.connect = func(context.Context, string) error {
		b.options.OnStderr("pager", trust.Untrusted("hello\x1b"))
		return nil
	}
	b.expect(t, exitDone, "", "types", "pager", "--log", path)
	content, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(content), "hello") || strings.Contains(string(content), "\x1b") {
		t.Errorf("%q, %v", content, err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	b = newBench(t)
	b.expect(t, exitError, "--log: ", "types", "pager", "--log", filepath.Join(path, "x"))
}

// Lines that net/http and other libraries write with package log go to the program's own log,
// and never to standard error, which is under the screen.
func TestLibrariesWriteToTheLog(t *testing.T) {
	b := newBench(t)
	path := filepath.Join(t.TempDir(), "log")
	b.p.Libraries = func(to *slog.Logger) { to.Warn("http: Accept error: too many open files") }
	b.expect(t, exitDone, "", "types", "pager", "--log", path)
	if content, err := os.ReadFile(path); err != nil || !strings.Contains(string(content), "too many open files") {
		t.Errorf("%q, %v", content, err)
	}
}

func TestSealingKeyIsReported(t *testing.T) {
	b := newBench(t)
	b.store.info.Sealed = "file"
	b.fill(1)
	const line = "the key that seals secrets is /data/state.key, as no keyring could be had"
	tail := []string{"tail", "pager", "t", "--count", "1", "--data", b.data(t)}
	b.expect(t, exitDone, line, tail...)
	if n := strings.Count(b.err.String(), "state.key"); n != 1 {
		t.Errorf("said %d times: %q", n, b.err.String())
	}
	b.expect(t, exitDone, "", "store", "info", "--data", b.data(t))
	if !strings.Contains(b.out.String(), "/data/state.key") {
		t.Errorf("store info: %s", b.out.String())
	}
	b.p.Env, b.err = environment(map[string]string{"EVENTDECK_KEY": "file"}), mcptest.Buffer{} // the operator knows
	b.expect(t, exitDone, "", tail...)
	if strings.Contains(b.err.String(), "state.key") {
		t.Errorf("said %q", b.err.String())
	}
	b.store.info.Locked = fmt.Errorf("%w: the keyring is locked; unlock it", event.ErrKeyLocked)
	b.expect(t, exitDone, "secrets are locked: the keyring is locked; unlock it; what needs one waits", tail...)
	b.out = mcptest.Buffer{}
	b.expect(t, exitDone, "", "store", "info", "--json", "--data", b.data(t))
	if !strings.Contains(b.out.String(), `"sealed":"file","locked":"secrets are locked: the keyring is locked; unlock it"`) {
		t.Errorf("store info: %s", b.out.String())
	}
}

func TestPlaceOfTheSealingKey(t *testing.T) {
	b := newBench(t)
	last := func() program.StoreOptions { return b.opened[len(b.opened)-1] }
	b.settings(t, `{"key": "keyring"}`)
	b.expect(t, exitDone, "", "store", "info", "--data", b.data(t))
	if o := last(); o.KeyPlace != "keyring" || o.Prompt {
		t.Errorf("%+v", o)
	}
	b.p.Env, b.p.StdinTerminal = environment(map[string]string{"EVENTDECK_KEY": "file"}), true
	b.expect(t, exitDone, "", "store", "info", "--data", b.data(t))
	if o := last(); o.KeyPlace != "file" || !o.Prompt {
		t.Errorf("%+v", o)
	}
	b.p.Env = environment(map[string]string{"EVENTDECK_KEY": "drawer"})
	b.expect(t, exitUsage, `EVENTDECK_KEY is "drawer"; it can be file or keyring`, "store", "info", "--data", b.data(t))

	b.p.Env, b.err = environment(nil), mcptest.Buffer{}
	var changed []string
	b.p.StoreTools.ChangeKey = func(_ context.Context, o program.StoreOptions, to string, lose bool, say func(string)) error {
		changed = append(changed, fmt.Sprint(o.KeyPlace, o.Prompt, to, lose))
		say("done")
		return nil
	}
	b.expect(t, exitDone, "", "store", "key", "file", "--data", b.data(t))
	b.expect(t, exitDone, "", "store", "key", "new", "--yes", "--data", b.data(t))
	b.expect(t, exitUsage, "use file, keyring or new", "store", "key", "drawer", "--data", b.data(t))
	if got := strings.Join(changed, ";"); got != "keyringtruefilefalse;keyringtruenewtrue" {
		t.Errorf("%s", got)
	}
}

func TestMistakeInTheSettingOfTheKey(t *testing.T) {
	b := newBench(t)
	b.settings(t, `{"key": "drawer"}`)
	b.expect(t, exitDone, `settings.json:1:9: "key" says where the sealing key of a new store is kept: "file" or "keyring"; the default holds`, "store", "info", "--data", b.data(t))
}

// Without a home directory what needs none works, and what needs one says what to give.
func TestWithoutHome(t *testing.T) {
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{exitUsage, "none is configured in a file, as no home directory is known", []string{"types", "pager"}},
		{exitError, "no home directory is known: set HOME, or give --data DIR", []string{"events"}},
		{exitDone, "", []string{"types", "http://127.0.0.1:1/mcp"}},
	} {
		b := newBench(t)
		b.p.Home = ""
		b.expect(t, c.code, c.says, c.args...)
	}
}
