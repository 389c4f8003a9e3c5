package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/mcptest"
)

// malformed is a configuration with a mistake, the message about it, and the command that
// meets it.
type malformed struct {
	servers, settings string // "": what the bench has
	env               map[string]string
	args              []string
	code              int
	says              []string
}

func malformedConfigurations() map[string]malformed {
	server := func(members string) string {
		return `{"mcpServers": {"bad": {` + members + `}, "good": {"url": "http://127.0.0.1:1/mcp"}}}`
	}
	bad := []string{"types", "bad"}
	refused := func(members string, says ...string) malformed {
		return malformed{servers: server(members), args: bad, code: exitError, says: append(says, "servers.json:1:17", `server "bad"`)}
	}
	header := func(line string, says string) malformed {
		return malformed{args: []string{"types", "pager", "--header", line}, code: exitUsage, says: []string{"--header: ", says}}
	}
	settings := func(text string, says ...string) malformed {
		return malformed{settings: text, args: []string{"types", "pager"}, code: exitDone, says: append(says, "settings.json:1:", "the default holds in its place")}
	}
	collector := func(variable, value, says string) malformed {
		env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}
		env[variable] = value
		return malformed{env: env, args: []string{"types", "pager"}, code: exitUsage, says: []string{says}}
	}
	return map[string]malformed{
		"header without a name":     refused(`"url": "http://h/", "headers": {"": "s3cret"}`, `"" is not a header name`),
		"header with a line end":    refused(`"url": "http://h/", "headers": {"X": "s3cret\nEvil: 1"}`, `the value of "X" holds characters that no header may have`),
		"header name, line end":     refused(`"url": "http://h/", "headers": {"X\r\nEvil": "s3cret"}`, "is not a header name"),
		"header name with a blank":  refused(`"url": "http://h/", "headers": {"X Y": "s3cret"}`, "is not a header name"),
		"header with a control":     refused(`"url": "http://h/", "headers": {"X": "s3cret\u001b[31m"}`, "holds characters that no header may have"),
		"variable without a name":   refused(`"command": "x", "env": {"": "s3cret"}`, `"" is no environment variable`),
		"variable that is a pair":   refused(`"command": "x", "env": {"A=B": "s3cret"}`, `"A=B" is no environment variable`),
		"variable with NUL":         refused(`"command": "x", "env": {"A": "s3cret\u0000"}`, `"A" is no environment variable`),
		"address that is none":      refused(`"url": "http://[::1/s3cret"`, "not a URL"),
		"address with a control":    refused(`"url": "http://h/\u0007s3cret"`, "not a URL"),
		"variable that is not set":  {servers: server(`"url": "http://h/${NONE}"`), args: bad, code: exitError, says: []string{"servers.json:1:17", "${NONE}; set it, or take it out of the file"}},
		"servers, no JSON":          {servers: `{"mcpServers": `, args: bad, code: exitError, says: []string{"servers.json:1:16: unexpected end"}},
		"servers, not text":         {servers: "\x00\x1b[31m\xff", args: bad, code: exitError, says: []string{"servers.json:1:1: "}},
		"servers, empty":            {servers: " ", args: bad, code: exitError, says: []string{"the file is empty; it should hold"}},
		"servers, a list":           {servers: `{"mcpServers": []}`, args: bad, code: exitError, says: []string{`"mcpServers" must be an object`}},
		"option header, no colon":   header("s3cret", "write it as 'Name: value'"),
		"option header, no name":    header(": s3cret", `"" is not a header name`),
		"option header, line end":   header("X: s3cret\r\nEvil: 1", `the value of "X" holds characters that no header may have`),
		"option header, no such ${": header("X: ${NONE}", `needs ${NONE}`),
		"settings, no JSON":         settings(`{"keys": {`, "unexpected end"),
		"settings, not text":        settings("\x00\x1b[31m\xff", "settings.json:1:1: "),
		"settings, a list":          settings(`[]`, "the file must be an object"),
		"settings, twice":           settings(`{"key": "file", "key": "file"}`, `"key" is there twice`),
		"settings, no such place":   settings(`{"key": "drawer"}`, `"file" or "keyring"`),
		"collector, no URL":         collector("OTEL_EXPORTER_OTLP_ENDPOINT", "::s3cret", "OTEL_EXPORTER_OTLP_ENDPOINT is no http or https URL"),
		"collector, no time":        collector("OTEL_METRIC_EXPORT_INTERVAL", "s3cret", "OTEL_METRIC_EXPORT_INTERVAL is no number of milliseconds"),
		"collector, no header":      collector("OTEL_EXPORTER_OTLP_HEADERS", "s3cret", "OTEL_EXPORTER_OTLP_HEADERS must look like key=value"),
	}
}

// A mistake in a file of the operator is reported in one line that names the file, without a
// secret; other servers work, and the store and the file stay as they are.
func TestMalformedConfigurationIsReportedAndHarmsNothing(t *testing.T) {
	for name, m := range malformedConfigurations() {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.standIn.types = []event.Type{incident}
			dir := filepath.Join(b.p.Home, ".config", "eventdeck")
			files := map[string]string{"servers.json": servers, "settings.json": "{}"}
			if m.servers != "" {
				files["servers.json"] = m.servers
			}
			if m.settings != "" {
				files["settings.json"] = m.settings
			}
			for file, text := range files {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if m.env != nil {
				b.p.Env = environment(m.env)
			}
			b.expect(t, m.code, "eventdeck: ", m.args...)
			said := b.err.String()
			for _, want := range m.says {
				if !strings.Contains(said, want) {
					t.Errorf("%q does not say %q", said, want)
				}
			}
			if strings.Contains(said, "s3cret") || strings.Count(said, "\n") != 1 {
				t.Errorf("says %q", said)
			}
			for file, text := range files {
				if got, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(got) != text {
					t.Errorf("%s was changed: %q, %v", file, got, err)
				}
			}
			if strings.Contains(m.servers, `"good"`) {
				b.err = mcptest.Buffer{}
				b.expect(t, exitDone, "", "types", "good")
			}
			if len(b.removed)+len(b.verbs) > 0 {
				t.Errorf("removed %q, did %q", b.removed, b.verbs)
			}
		})
	}
}
