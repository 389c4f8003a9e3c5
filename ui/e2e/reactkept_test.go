//go:build !windows

package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// armedRule acts by itself on each P1, per service.
const armedRule = `{"rules":{"page":{ON,"when":".severity=P1","key":".service","mode":"auto","do":{"command":["DIR/page"],"trusted":true}}}}`

// After eight hours away an armed rule does nothing by itself about replayed events: every
// record is in a run that asks. How many runs these are depends on the order of arrival.
func TestReactionOnAReplayOfHoursAsks(t *testing.T) {
	r := newReacting(t, armedRule)
	r.command("page", "")
	clock := envClock + "=" + filepath.Join(r.dir, "clock")
	p := r.host(clock)
	r.arms("page")
	r.server.send(`{"severity":"P1","service":"a"}`)
	r.in("done", 1)
	p.kill()
	r.server.send(`{"severity":"P1","service":"a"}`, `{"severity":"P1","service":"b"}`, `{"severity":"P1","service":"a"}`)
	r.write("clock", "8h")
	r.host(clock)
	var found []ran
	r.awaits("all three in runs that ask", func(all []ran) bool {
		found = nil
		members := 0
		for _, run := range all {
			if run.State == "asking" {
				found, members = append(found, run), members+run.Members
			}
		}
		return members == 3
	})
	for _, run := range found {
		if !strings.Contains(run.Why, "older") {
			t.Errorf("it asks because %q", run.Why)
		}
	}
	if n := len(r.starts("page")); n != 1 {
		t.Errorf("%d starts", n)
	}
}

// A restored copy of the store holds all acts until `react go`; events that came meanwhile
// ask.
func TestReactionsOfARestoredStoreAreHeld(t *testing.T) {
	r := newReacting(t, armedRule)
	r.command("page", "")
	p := r.host()
	r.arms("page")
	r.does("store", "backup", filepath.Join(r.dir, "copy.db"))
	r.server.send(`{"severity":"P1","service":"a"}`)
	r.in("done", 1)
	p.kill()
	r.does("store", "restore", filepath.Join(r.dir, "copy.db"))
	p = r.host()
	p.await(p.stderr, 1, contains("nothing acts", "react go"))
	r.server.send(`{"severity":"P1","service":"b"}`)
	r.awaits("what came meanwhile", func(all []ran) bool { return len(all) == 2 })
	if n := len(r.starts("page")); n != 1 {
		t.Errorf("%d starts while reactions are held", n)
	}
	r.does("react", "go")
	r.asking(2)
}

// A data directory that was copied with cp holds all acts once, until `react go`; one that was
// moved acts as before.
func TestReactionsOfACopiedStoreAreHeld(t *testing.T) {
	r := newReacting(t, armedRule)
	r.command("page", "")
	p := r.host()
	r.arms("page")
	p.kill()
	aside := filepath.Join(r.dir, "aside")
	if err := os.Rename(r.data(), aside); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cp", "-R", aside, r.data()).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p = r.host()
	p.await(p.stderr, 1, contains("nothing acts", "copy", "react go"))
	r.does("react", "go")
	r.server.send(`{"severity":"P1","service":"a"}`)
	r.in("done", 1)
	p.kill()
	if err := errors.Join(os.RemoveAll(r.data()), os.Rename(aside, r.data())); err != nil {
		t.Fatal(err)
	}
	r.host()
	r.server.send(`{"severity":"P1","service":"b"}`)
	r.awaits("an act of what was moved", func(all []ran) bool { return len(all) > 0 && len(r.starts("page")) > 1 })
}

// Imported records start nothing, even if an armed rule matches them; like a restored copy
// they hold all acts until `react go`.
func TestImportedRecordsStartNoReaction(t *testing.T) {
	r := newReacting(t, armedRule)
	r.command("page", "")
	p := r.host()
	r.arms("page")
	r.server.send(`{"severity":"P1","service":"a"}`)
	r.in("done", 1)
	if said := r.refuses("store", "import", filepath.Join(r.dir, "rules.json")); !strings.Contains(said, "importing records: not possible from here") {
		t.Errorf("while the host has the store: %s", said)
	}
	p.kill()
	before := len(r.stored())
	r.write("log.ndjson", strings.ReplaceAll(r.does("export", "--format", "ndjson"), "inc_", "imported_")+"\n")
	r.does("store", "import", filepath.Join(r.dir, "log.ndjson"))
	if n := len(r.stored()); n < before+2 {
		t.Fatalf("%d records before the import, %d behind it", before, n)
	}
	p = r.host()
	p.await(p.stderr, 1, contains("nothing acts", "react go"))
	r.does("react", "go")
	r.server.send(`{"severity":"P1","service":"b"}`)
	r.in("done", 2)
	if all := r.runs(); len(all) != 2 || len(r.starts("page")) != 2 {
		t.Errorf("%d starts; the runs: %+v", len(r.starts("page")), all)
	}
}
