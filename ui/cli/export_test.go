package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/mcptest"
	"eventdeck/host/trust"
	"eventdeck/store"
	"eventdeck/store/seal"
	"eventdeck/ui/cli/program"
)

// realStores makes the bench use real stores.
func (b *bench) realStores() {
	b.p.OpenStore = func(ctx context.Context, o program.StoreOptions) (event.Store, error) {
		return store.Open(ctx, store.Options{Dir: o.Dir, Keyring: seal.NoKeyring()})
	}
}

// storeSome stores n events and two other records in a directory.
func storeSome(t *testing.T, dir string, n int) {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Dir: dir, Keyring: seal.NoKeyring()})
	if err != nil {
		t.Fatal(err)
	}
	base := event.Record{Sub: "abcd2345", Server: "pager", Type: trust.Untrusted("incident.created"), Mode: event.ModePush, ReceivedAt: at}
	gap, refused := base, base
	gap.Kind, gap.Gap = event.KindGap, &event.Gap{Cause: event.CauseSilent, From: at}
	refused.Kind, refused.Raw, refused.Reason = event.KindRejected, []byte("{\xff"), trust.Untrusted("not valid JSON")
	records := []event.Record{gap}
	for i := range n {
		r := base
		r.Kind, r.EventID = event.KindEvent, trust.Untrusted(fmt.Sprint("e", i+1))
		r.Raw = fmt.Appendf(nil, `{"eventId":"e%d", "data": {"n":%d,"title":"=1+1"}}`, i+1, i+1)
		r.Data = r.Raw[strings.Index(string(r.Raw), `{"n"`) : len(r.Raw)-1]
		records = append(records, r)
	}
	done := make(chan error, 1)
	if err := s.Submit(t.Context(), event.Batch{Sub: "abcd2345", Records: append(records, refused), Done: func(_ event.Outcome, err error) { done <- err }}); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// An export with raw bytes can be imported into another store; a second import changes
// nothing.
func TestExportAndImport(t *testing.T) {
	b := newBench(t)
	b.realStores()
	from, to := t.TempDir(), t.TempDir()
	storeSome(t, from, 2*importBatch)
	file := filepath.Join(t.TempDir(), "kept.ndjson")
	b.expect(t, exitDone, "1002 records are in "+file, "export", "--raw", "--output", file, "--data", from)
	b.err = mcptest.Buffer{}
	b.expect(t, exitError, "remove it or take another name", "export", "--output", file, "--data", from)
	b.err = mcptest.Buffer{}
	b.expect(t, exitError, "is a directory; name a file in it", "export", "--output", filepath.Dir(file), "--data", from)
	b.err = mcptest.Buffer{}
	b.expect(t, exitDone, "1002 records are new, 0 were there already", "store", "import", file, "--data", to)
	b.err = mcptest.Buffer{}
	b.expect(t, exitDone, "0 records are new, 1002 were there already", "store", "import", file, "--data", to)
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b.out = mcptest.Buffer{}
	b.expect(t, exitDone, "", "export", "--raw", "--data", to)
	if b.out.String() != string(want) {
		t.Errorf("the copy is not the same:\n%.600s\n%.600s", b.out.String(), want)
	}
	b.err = mcptest.Buffer{}
	b.p.Stdin = strings.NewReader(strings.SplitAfter(string(want), "\n")[1] + "nonsense\n")
	if code := b.run(t, "store", "import", "-", "--data", t.TempDir()); code != exitError || !strings.Contains(b.err.String(), "-: line 2: not a line of an export") || !strings.Contains(b.err.String(), "1 record is new") {
		t.Errorf("a mistake ends with %d: %s", code, b.err.String())
	}
}

// Lines of earlier versions name a server by its whole address: once imported they show no
// secret of it, and are distinguished as before.
func TestImportOfLinesWithSecretsInAddresses(t *testing.T) {
	b := newBench(t)
	b.realStores()
	from, to := t.TempDir(), t.TempDir()
	storeSome(t, from, 2)
	b.expect(t, exitDone, "", "export", "--raw", "--data", from)
	lines := strings.ReplaceAll(b.out.String(), `"server":"pager"`, `"server":"https://h.example/mcp?token=t0psecret"`)
	for _, want := range []string{"4 records are new", "0 records are new, 4 were there"} {
		b.err, b.p.Stdin = mcptest.Buffer{}, strings.NewReader(lines)
		b.expect(t, exitDone, want, "store", "import", "-", "--data", to)
	}
	b.out = mcptest.Buffer{}
	b.expect(t, exitDone, "", "events", "--json", "--data", to)
	if out := b.out.String(); strings.Contains(out, "t0psecret") || strings.Count(out, `"server":"https://h.example/mcp?token=…#`) != 4 {
		t.Errorf("shown are\n%s", out)
	}
}

func TestExportFormats(t *testing.T) {
	b := newBench(t)
	b.realStores()
	dir := t.TempDir()
	storeSome(t, dir, 3)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--format", "csv", "--columns", "seq,.n,.title", "--filter", ".n>1"}, "seq,.n,.title\r\n3,2,'=1+1\r\n4,3,'=1+1\r\n"},
		{[]string{"--format", "cloudevents", "--filter", ".n=1"}, `{"specversion":"1.0","id":"e1","source":"pager","type":"incident.created","time":"2026-07-28T12:00:00.005Z","subscription":"abcd2345","deliverymode":"push","receivedat":"2026-07-28T12:00:00.005Z","datacontenttype":"application/json","data":{"n":1,"title":"=1+1"}}` + "\n"},
		{[]string{"--filter", "id:e2"}, `{"seq":3,"kind":"event","server":"pager","type":"incident.created","subscription":"abcd2345","mode":"push","eventId":"e2","timestamp":null,"receivedAt":"2026-07-28T12:00:00.005Z","cursor":null,"data":{"n":2,"title":"=1+1"},"headline":"n 2, title =1+1","severity":null,"level":null,"status":null,"ids":[]}` + "\n"},
	} {
		b.out = mcptest.Buffer{}
		code := b.run(t, append([]string{"export", "--data", dir}, tt.args...)...)
		if got := b.out.String(); code != exitDone || got != tt.want {
			t.Errorf("%q\ngot  %q\nwant %q", tt.args, got, tt.want)
		}
	}
	b.out, b.err = mcptest.Buffer{}, mcptest.Buffer{}
	b.expect(t, exitUsage, "there are ndjson, csv, cloudevents", "export", "--format", "xml", "--data", dir)
	b.out, b.err = mcptest.Buffer{}, mcptest.Buffer{}
	b.expect(t, exitUsage, "there are seq, kind", "export", "--format", "csv", "--columns", "x", "--data", dir)
	b.err = mcptest.Buffer{}
	b.expect(t, exitError, "no subscription", "export", "nosuchid", "--data", dir)
}
