package cli

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"eventdeck/host"
	"eventdeck/host/attach"
	"eventdeck/host/event"
	"eventdeck/host/export"
	"eventdeck/ui/cli/plain"
	"eventdeck/ui/cli/program"
)

// importBatch is the number of records that are stored at once.
const importBatch = 500

func (a *app) storeImportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE",
		Short: "Store the records that export wrote",
		Long: "import reads the lines of `eventdeck export --raw` from FILE, or from standard input when FILE is -, and\n" +
			"adds the records that are not stored yet. Payloads are parsed as strictly as on arrival. Lines\n" +
			"without the exact bytes are stored with their data alone. A line that is wrong ends it; what came before\n" +
			"it is stored, and running it again is safe.",
		Example: "eventdeck store import kept.ndjson --data ~/copy\ngunzip < kept.ndjson.gz | eventdeck store import -",
		Args:    plain.ExactArgs(1),
		Run: a.Run(func(cmd *cobra.Command, args []string) error {
			return a.imports(cmd.Context(), args[0])
		}),
	}
}

func (a *app) imports(ctx context.Context, name string) (err error) {
	in, size := a.Stdin, uint64(0)
	if name != "-" {
		file, openErr := os.Open(name)
		if openErr != nil {
			return openErr
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		in = file
		if info, statErr := file.Stat(); statErr == nil && info.Mode().IsRegular() {
			size = uint64(info.Size())
		}
	}
	o, err := a.Kept()
	if err != nil {
		return err
	}
	o.Imports = true
	store, c, err := a.OpenOrAttach(ctx, o)
	if err != nil {
		return err
	}
	if c != nil {
		return errors.Join(fmt.Errorf("importing records: %w: process %d has %s open; quit it first", attach.ErrNotHere, c.PID(), o.Dir), c.Close())
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	a.SayHowSealed(store.Info())
	i := importer{ctx: ctx, store: store, markers: map[[sha256.Size]byte]bool{}}
	done, err := noReactionTo(ctx, store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	counted := &program.CountedReader{In: in}
	stop := a.Working("importing", func() (uint64, uint64) { return counted.Count.Load(), size })
	err = i.run(counted)
	stop()
	if err != nil {
		return fmt.Errorf("%s: %w; of what came before, %s new", name, err, event.Some(i.stored, "record is", "records are"))
	}
	a.Say("%s new, %s", event.Some(i.stored, "record is", "records are"), thereAlready(i.known))
	return nil
}

// importer stores records. The store recognises duplicates of events; a record of another kind
// has no identity and is recognised by its content.
type importer struct {
	ctx           context.Context
	store         event.Store
	markers       map[[sha256.Size]byte]bool
	batch         []event.Record
	stored, known int
}

func (i *importer) run(in io.Reader) error {
	err := i.store.Scan(1, i.store.Last(), func(r *event.Record) bool {
		if r.Kind != event.KindEvent {
			i.markers[fingerprint(*r)] = true
		}
		return i.ctx.Err() == nil
	})
	if err != nil {
		return err
	}
	err = export.Read(in, i.take)
	return errors.Join(err, i.flush())
}

func (i *importer) take(r *event.Record) error {
	if i.ctx.Err() != nil {
		return program.ErrStopped
	}
	var err error
	if r.Server, err = host.AddressName(i.ctx, i.store, r.Server); err != nil { // a line may hold a whole address
		return err
	}
	if r.Kind != event.KindEvent {
		key := fingerprint(*r)
		if i.markers[key] {
			i.known++
			return nil
		}
		i.markers[key] = true
	}
	i.batch = append(i.batch, *r)
	if len(i.batch) < importBatch {
		return nil
	}
	return i.flush()
}

// flush stores the records taken so far and waits for the commit.
func (i *importer) flush() error {
	if len(i.batch) == 0 {
		return nil
	}
	done := make(chan error, 1)
	batch := event.Batch{Records: i.batch, Done: func(o event.Outcome, err error) {
		i.stored += o.Stored
		i.known += o.Duplicates
		done <- err
	}}
	i.batch = nil
	// Records that were read are stored even if the operator ends the import now.
	if err := i.store.Submit(context.WithoutCancel(i.ctx), batch); err != nil {
		return err
	}
	return <-done
}

// fingerprint hashes everything in a record but its number.
func fingerprint(r event.Record) [sha256.Size]byte {
	r.Seq = 0
	return sha256.Sum256(export.AppendLine(nil, &r, true))
}

func thereAlready(n int) string {
	if n == 1 {
		return "1 was there already"
	}
	return fmt.Sprintf("%d were there already", n)
}

// noReactionTo notes that all records stored until done is called are imported. They start no
// reaction, even if the import is killed, and reactions are held until the operator lets them
// go on.
func noReactionTo(ctx context.Context, store event.Store) (done func() error, err error) {
	journal := store.Journal()
	if journal == nil {
		return func() error { return nil }, nil
	}
	first := store.Last() + 1
	entry := event.JournalEntry{Table: event.TableReact, Key: fmt.Sprintf("%s%016x", event.PrefixImported, first)}
	begin := event.JournalChange{Put: []event.JournalEntry{entry}}
	undo := event.JournalChange{Delete: []event.JournalEntry{entry}}
	if _, err := journal.Entry(event.TableReact, event.KeyLag); errors.Is(err, event.ErrNotFound) {
		lag := event.JournalEntry{Table: event.TableReact, Key: event.KeyLag, Value: []byte("records were imported")}
		begin.Put, undo.Delete = append(begin.Put, lag), append(undo.Delete, lag)
	}
	if err := journal.Change(ctx, begin); err != nil {
		return nil, err
	}
	return func() error {
		last, ctx := store.Last(), context.WithoutCancel(ctx) // also after the operator has ended the import
		if last < first {
			return journal.Change(ctx, undo)
		}
		entry.Value = fmt.Appendf(nil, "%016x", last)
		return journal.Change(ctx, event.JournalChange{Put: []event.JournalEntry{entry}})
	}, nil
}
