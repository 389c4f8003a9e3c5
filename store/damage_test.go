package store

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"eventdeck/store/boltfile"
	"eventdeck/store/datadir"
)

// seedsEnv sets how many seeds TestDamage tries, and seedEnv the only one.
const (
	seedsEnv = "EVENTDECK_DAMAGE"
	seedEnv  = "EVENTDECK_DAMAGE_SEED"
)

// damageLimit bounds a command on a damaged store, on a busy machine.
const damageLimit = 60 * time.Second

// TestDamage damages the file of a store in a way that follows from a seed: flipped bits,
// empty, misplaced and garbled pages, a cut. Then the program checks it, prints it, follows
// the server with it, recovers it, and follows again. The check finds each change of a key or
// a value that is in use; nothing is stored twice or invented, missing events are behind a gap
// record, nothing hangs, and every command ends as documented.
func TestDamage(t *testing.T) {
	if raceDetector {
		t.Skip("the program that is run is not built for the detector")
	}
	seeds := 8
	if n, err := strconv.Atoi(os.Getenv(seedsEnv)); err == nil {
		seeds = n
	}
	w := newDamageWorld(t)
	if only, err := strconv.Atoi(os.Getenv(seedEnv)); err == nil {
		w.try(t, only)
		return
	}
	next := make(chan int)
	var wg sync.WaitGroup
	for range 3 * runtime.GOMAXPROCS(0) { // most of it waits for the disk
		wg.Go(func() {
			for seed := range next {
				w.try(t, seed)
			}
		})
	}
	for seed := range seeds {
		next <- seed
	}
	close(next)
	wg.Wait()
	t.Logf("%d seeds: %+v", seeds, w.sums)
}

// damageWorld is a server that replays, and a store of the events that it has sent.
type damageWorld struct {
	program string
	url     string
	base    damageBase
	sent    map[int]string // number of an event -> its id and data

	mu   sync.Mutex
	sums damageSums
}

// damageBase is a store before it is harmed.
type damageBase struct {
	dir   string
	file  []byte
	used  []entryPlace   // begin and end of every key and value in use, by pairs
	lines map[int]string // by their sequence number
}

// damageSums counts the results: how often a key or a value in use was changed, and how often
// the check found that; how often it found anything; how many of the
// stored records were unchanged after a recovery; how many stores could not be recovered
// without a copy.
type damageSums struct{ Changed, ChangedFound, Found, Stored, Recovered, NeedACopy int }

func newDamageWorld(t *testing.T) *damageWorld {
	w := &damageWorld{program: filepath.Join(t.TempDir(), "eventdeck"), sent: map[int]string{}}
	w.build(t)
	w.serve(t)
	first := filepath.Join(t.TempDir(), "store")
	w.mustRun(t, "tail", w.url, "load.tick", "--mode", "push", "--data", first, "--count", "300")
	w.mustRun(t, "tail", w.url, "load.tick", "--mode", "push", "--data", first, "--from", "saved", "--count", "1200")
	all := w.mustRun(t, "tail", w.url, "load.tick", "--mode", "push", "--from", w.firstCursor(t, first), "--count", "4000")
	for _, line := range lines(all) {
		if n, what, ok := sentEvent(line); ok {
			w.sent[n] = what
		}
	}
	w.base = w.newBase(t, first)
	return w
}

// makePrivate gives a copied store the modes of one.
func makePrivate(t *testing.T, dir string) {
	t.Helper()
	mustDo(t, os.Chmod(dir, 0o700))
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	mustDo(t, err)
	for _, f := range files {
		mustDo(t, os.Chmod(f, 0o600))
	}
}

func (w *damageWorld) newBase(t *testing.T, dir string) damageBase {
	t.Helper()
	b := damageBase{dir: dir, lines: map[int]string{}}
	var err error
	b.file, err = os.ReadFile(filepath.Join(dir, datadir.DB))
	mustDo(t, err)
	newest, _, err := boltfile.MetaPages(bytes.NewReader(b.file))
	mustDo(t, err)
	all := func([]byte) bool { return true }
	sound, err := boltfile.ReadPages(bytes.NewReader(b.file)).Walk(t.Context(), newest.Root, all, func(table []byte, entries []boltfile.Entry) error {
		for _, e := range entries {
			b.used = append(b.used, entryPlace{string(table), e.Offset - int64(len(e.Key))}, entryPlace{string(table), e.Offset + int64(len(e.Stored))})
		}
		return nil
	})
	mustDo(t, err)
	if !sound {
		t.Fatal("it is not sound to begin with")
	}
	read := filepath.Join(t.TempDir(), "read")
	mustDo(t, os.CopyFS(read, os.DirFS(dir)))
	makePrivate(t, read)
	for _, line := range lines(w.mustRun(t, "events", "--data", read)) {
		b.lines[seqOf(t, line)] = line
	}
	return b
}

func (w *damageWorld) build(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("go", "build", "-o", w.program, "..").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// serve starts a server that sends a numbered event every millisecond and replays all of them.
func (w *damageWorld) serve(t *testing.T) {
	cmd := exec.Command(w.program, "demo-server", "pager", "--rate", "1000", "--listen", "127.0.0.1:0")
	out, err := cmd.StderrPipe()
	mustDo(t, err)
	mustDo(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	mustDo(t, err)
	w.url = strings.TrimSpace(strings.TrimPrefix(line, "listening on "))
	go func() { _, _ = out.Read(make([]byte, 1)) }()
}

func (w *damageWorld) firstCursor(t *testing.T, dir string) string {
	t.Helper()
	for _, line := range lines(w.mustRun(t, "events", "--data", dir)) {
		var in struct{ Cursor string }
		if json.Unmarshal([]byte(line), &in) == nil && in.Cursor != "" {
			return in.Cursor
		}
	}
	t.Fatal("no event has a cursor")
	return ""
}

// run runs the program until it ends; code is -1 if it had to be killed.
func (w *damageWorld) run(args ...string) (code int, stdout, stderr string) {
	cmd := w.command(args...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Start(); err != nil {
		return -2, "", err.Error()
	}
	hangs := time.AfterFunc(damageLimit, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	if !hangs.Stop() {
		return -1, out.String(), "it hangs: " + said.String()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), out.String(), said.String()
	} else if err != nil {
		return -2, out.String(), err.Error()
	}
	return 0, out.String(), said.String()
}

// command is a run of the program that finds no files of the user.
func (w *damageWorld) command(args ...string) *exec.Cmd {
	cmd := exec.Command(w.program, args...)
	cmd.Env = append(os.Environ(), "DBUS_SESSION_BUS_ADDRESS=", "XDG_STATE_HOME="+w.program+".home", "XDG_CONFIG_HOME="+w.program+".home")
	return cmd
}

func (w *damageWorld) mustRun(t *testing.T, args ...string) string {
	t.Helper()
	code, out, said := w.run(args...)
	if code != 0 {
		t.Fatalf("%q ends with %d: %s", args, code, said)
	}
	return out
}

func lines(out string) []string {
	out = strings.TrimSuffix(out, "\n")
	if out == "" {
		return nil
	}
	return strings.Split(out, "\n")
}

// stored is the part of a line that the test reads.
type stored struct {
	Seq          int
	Kind         string
	Subscription string
	EventID      string
	Cursor       string
	Cause        string
	Data         json.RawMessage
}

func seqOf(t *testing.T, line string) int {
	t.Helper()
	var in stored
	mustDo(t, json.Unmarshal([]byte(line), &in))
	return in.Seq
}

// sentEvent returns the number that the server gave an event, and its id and data.
func sentEvent(line string) (n int, what string, ok bool) {
	var in stored
	var data struct{ N int }
	if json.Unmarshal([]byte(line), &in) != nil || in.Kind != "event" || json.Unmarshal(in.Data, &data) != nil {
		return 0, "", false
	}
	return data.N, in.EventID + " " + string(in.Data), true
}

// try damages a store and checks what the commands make of it.
func (w *damageWorld) try(t *testing.T, seed int) {
	random := rand.New(rand.NewPCG(uint64(seed), 7))
	base := w.base
	bad, how := harm(random, bytes.Clone(base.file))
	fail := func(format string, args ...any) {
		t.Errorf("seed %d, %s: "+format, append([]any{seed, how}, args...)...)
	}
	parent, err := os.MkdirTemp("", "eventdeck-damage-")
	if err != nil {
		fail("%v", err)
		return
	}
	defer os.RemoveAll(parent)
	place := func(name string) string {
		dir := filepath.Join(parent, name)
		if err := errors.Join(os.CopyFS(dir, os.DirFS(base.dir)), os.WriteFile(filepath.Join(dir, datadir.DB), bad, 0o600)); err != nil {
			fail("%v", err)
		}
		makePrivate(t, dir)
		return dir
	}
	dir, followed := place("store"), place("followed")

	used := base.changed(bad)
	code, _, said := w.run("store", "check", "--data", dir)
	found := code != 0
	switch {
	case code != 0 && code != 1:
		fail("check ends with %d: %s", code, said)
	case found && !strings.Contains(said, "eventdeck store recover") && !strings.Contains(said, "--data DIR"):
		fail("check does not say what helps: %s", said)
	case !found && used:
		fail("check finds nothing")
	}

	code, out, said := w.run("events", "--data", dir)
	w.looksRight(fail, "events", code, said)
	if code == 0 && damagedMetaPage(bad) {
		fail("events says nothing of the meta page")
	}
	kept := lines(out)
	if out != "" && !strings.HasSuffix(out, "\n") {
		fail("events ends in the middle of a line")
	}
	for _, line := range kept {
		if want := base.lines[seqOf(t, line)]; line != want {
			fail("events prints %.600q, and %.600q was stored", line, want)
			break
		}
	}
	if code == 0 && len(kept) != len(base.lines) {
		fail("events prints %d of %d records, and ends with 0", len(kept), len(base.lines))
	}

	code, _, said = w.run("tail", w.url, "load.tick", "--mode", "push", "--data", followed, "--from", "saved", "--count", "20", "--for", "20s")
	w.looksRight(fail, "tail", code, said)
	if code == 0 && used {
		if code, _, said := w.run("store", "check", "--data", followed); code != 1 {
			fail("after tail check ends with %d: %s", code, said)
		}
	}

	code, account, said := w.run("store", "recover", "--data", dir)
	if code != 0 && !strings.Contains(said, "not all of its subscriptions are as they were") {
		if code != 1 || !strings.Contains(said, "eventdeck store restore FILE") {
			fail("recover ends with %d: %s", code, said)
		}
		w.count(used, found, 0, 0)
		return
	}
	if code, _, said := w.run("store", "check", "--data", dir); code != 0 {
		fail("after recover check ends with %d: %s", code, said)
	}
	recovered := w.look(fail, base, dir, account)
	code, _, said = w.run("tail", w.url, "load.tick", "--mode", "push", "--data", dir, "--from", "saved", "--count", "20", "--for", "30s")
	if code != 0 {
		fail("after recover tail ends with %d: %s", code, said)
	}
	w.look(fail, base, dir, account)
	w.count(used, found, recovered, len(base.lines))
}

// count adds the result of one seed; stored is 0 when the store could not be recovered.
func (w *damageWorld) count(changed, found bool, recovered, stored int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := map[bool]int{true: 1}
	w.sums.Changed += one[changed]
	w.sums.ChangedFound += one[changed && found]
	w.sums.Found += one[found]
	w.sums.Stored += stored
	w.sums.Recovered += recovered
	w.sums.NeedACopy += one[stored == 0]
}

// looksRight checks the end of a command on a damaged store.
func (w *damageWorld) looksRight(fail func(string, ...any), what string, code int, said string) {
	switch {
	case code == 0:
	case code != 1:
		fail("%s ends with %d: %s", what, code, said)
	case !strings.Contains(said, "eventdeck store recover") && !strings.Contains(said, "--data DIR"):
		fail("%s does not say what helps: %s", what, said)
	}
}

// look reads a recovered store: every event is there once and as it was sent, and missing ones
// are behind a gap record. It returns how many records are unchanged.
func (w *damageWorld) look(fail func(string, ...any), base damageBase, dir, account string) (recovered int) {
	code, out, said := w.run("events", "--data", dir)
	if code != 0 {
		fail("after recover events ends with %d: %s", code, said)
		return 0
	}
	seen, ids := map[int]bool{}, map[string]bool{}
	first, last, gap := 0, 0, false
	for _, line := range lines(out) {
		var in stored
		if err := json.Unmarshal([]byte(line), &in); err != nil {
			fail("%q: %v", line, err)
			return 0
		}
		gap = gap || in.Kind == "gap" && in.Cause == "damaged"
		if base.lines[in.Seq] == line {
			recovered++
		}
		n, what, ok := sentEvent(line)
		if !ok {
			continue
		}
		id := in.Subscription + " " + in.EventID
		if ids[id] || seen[n] {
			fail("event %d is there twice, as %s:\n%s", n, id, account)
		}
		seen[n], ids[id] = true, true
		if want, known := w.sent[n]; known && want != what {
			fail("%.300q was stored, and %.300q was sent", what, want)
			return recovered
		}
		if first == 0 || n < first {
			first = n
		}
		last = max(last, n)
	}
	if missing := last - first + 1 - len(seen); last > 0 && missing > 0 && !gap {
		fail("%d events are missing without a gap record:\n%s", missing, account)
	}
	return recovered
}

// changed reports whether the damage changed a byte of a key or a value that is in use.
func (b damageBase) changed(bad []byte) bool {
	for i := 0; i < len(b.used); i += 2 {
		from, to := b.used[i].at, b.used[i+1].at
		if to > int64(len(bad)) || !bytes.Equal(b.file[from:to], bad[from:to]) {
			return true
		}
	}
	return false
}

// damagedMetaPage reports whether one of the two meta pages is damaged: bbolt would then read
// the file as of the commit before.
func damagedMetaPage(file []byte) bool {
	_, sound, err := boltfile.MetaPages(bytes.NewReader(file))
	return err == nil && sound == 1
}

// harm damages a file.
func harm(random *rand.Rand, file []byte) (bad []byte, how string) {
	size := os.Getpagesize()
	page := func() int { return random.IntN(len(file)/size) * size }
	switch random.IntN(8) {
	case 0, 1:
		at, bit := random.IntN(len(file)), random.IntN(8)
		file[at] ^= 1 << bit
		return file, fmt.Sprintf("bit %d of byte %d", bit, at)
	case 2:
		n := 1 + random.IntN(64)
		for range n {
			file[random.IntN(len(file))] ^= 1 << random.IntN(8)
		}
		return file, fmt.Sprintf("%d bits", n)
	case 3:
		at := page()
		clear(file[at : at+size])
		return file, fmt.Sprintf("page %d is empty", at/size)
	case 4:
		at := random.IntN(len(file)/512) * 512
		clear(file[at : at+512])
		return file, fmt.Sprintf("sector %d is empty", at/512)
	case 5:
		from, to := page(), page()
		copy(file[to:to+size], file[from:from+size])
		return file, fmt.Sprintf("page %d lies in the place of %d", from/size, to/size)
	case 6:
		at, n := page(), 1+random.IntN(8)
		for i := at; i < min(len(file), at+n*size); i++ {
			file[i] = byte(random.Uint32())
		}
		return file, fmt.Sprintf("%d pages from %d are garbage", n, at/size)
	}
	n := random.IntN(len(file))
	return file[:n], fmt.Sprintf("cut to %d bytes", n)
}
