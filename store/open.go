// Package store keeps the event log, the subscriptions and the journal of reactions in
// one bbolt file. It implements [event.Store].
//
// One goroutine writes. It commits what is queued in groups: at once when the
// last commit began 5 ms ago or more, else when 5 ms have passed or 2,048
// records are there. Records, the hashes by which duplicates are found, cursors
// and changes of subscriptions share one transaction, and no caller hears of it
// before it has returned. Readers use snapshots and never wait for the writer.
//
// Secrets are sealed; the key is in the system's keyring, or in a file beside
// the store where no keyring can be had. All files are private to the user.
package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
	"eventdeck/store/datadir"
	"eventdeck/store/private"
	"eventdeck/store/seal"
	"eventdeck/store/tables"
)

// Errors of [Open] and of a [Store], besides those of package event.
var (
	// ErrLocked: another process has the store open. The text names it.
	ErrLocked = boltfile.ErrLocked
	// ErrNewer: a newer program has written the store.
	ErrNewer = boltfile.ErrNewer
	// ErrForeign: the file is a database of another program.
	ErrForeign = boltfile.ErrForeign
	// ErrUnreleased: the store has a layout that no release had.
	ErrUnreleased = boltfile.ErrUnreleased
	// ErrDamaged: the content of the file is not what was written.
	ErrDamaged = event.ErrDamaged
	// ErrGone: the file was removed or replaced while it was open.
	ErrGone = errors.New("the store is gone")
	// ErrBatch: a change is invalid; a mistake of the caller.
	ErrBatch = errors.New("not a valid change of the store")
)

// Options tell how to open a store. The zero value of all but Dir is right for
// the program.
type Options struct {
	// Dir is the directory of the store. With Temporary it is the directory in
	// which the temporary one is made, and "" means the system's place for these.
	Dir string

	// Temporary makes a new store with its key in memory, and Close removes it.
	Temporary bool

	// Imports says that records of another log will be stored: they begin a new generation, if
	// the store has records.
	Imports bool

	// MaxSize bounds the database file, in bytes. 0 means no bound. Beyond it batches
	// fail with [event.ErrFull].
	MaxSize int64

	// KeyPlace is where the sealing key of a new store is kept, [seal.InKeyring] or
	// [seal.InFile]; "" means in the keyring if it can be had at once, else in a file.
	KeyPlace string
	// Prompt lets the keyring ask the operator to unlock it when a secret is first needed.
	Prompt bool

	Keyring seal.Keyring     // nil means the system's
	Random  io.Reader        // nil means crypto/rand
	Now     func() time.Time // nil means time.Now
	Hooks   Hooks

	hash        tables.HashFunc
	keyEvery    time.Duration // how often a locked key is looked for; 0: 2 s
	noAwait     bool          // a locked key is not looked for
	maxAudit    uint64        // entries of the audit log that are kept; 0: 100,000
	noSnapshots bool          // none is made by itself
}

// Hooks are called at fixed moments of every commit, on the writer's goroutine. They exist for
// tests that end the process there or simulate a failing disk.
type Hooks struct {
	BeforeCommit func() // all is in the transaction, nothing is in the file
	AfterCommit  func() // all is in the file, no caller was told

	FailBefore func() error // its error fails the commit; nothing is in the file
	FailAfter  func() error // its error fails the commit although all is in the file, as a failed last sync does
}

// Store is an [event.Store] in a bbolt file. All its methods may be called from
// any goroutine.
type Store struct {
	db        *bolt.DB
	reader    *boltfile.Reader
	dir       string
	temporary bool
	hash      tables.HashFunc
	hashKey   []byte
	hooks     Hooks
	maxAudit  uint64
	snapshots bool // are made
	snapshot  snapshots

	key         sealing
	queue       *queue
	generations generations
	signs       signs
	index       *index
	subs        subCache
	usage       usageTable
	pruner      *pruner
	now         func() time.Time
	last        atomic.Uint64
	audited     atomic.Uint64 // newest entry of the audit log
	watchers    watchers
	load        load

	loaded  chan struct{} // closed when the index is loaded
	stopped chan struct{} // closed when the writer has ended

	background     sync.WaitGroup  // all goroutines but the writer's
	ctx            context.Context // of the background work; it ends when Close begins
	stopBackground context.CancelFunc

	damage atomic.Pointer[error] // that a read has met
	end    end

	mu  sync.Mutex
	err error

	closing  sync.Once
	closeErr error
}

var _ event.Store = (*Store)(nil)

// Open opens the store in o.Dir, and makes it if there is none. It waits at most
// 1 s for another process to release it, and 0.5 s for the keyring: without its
// sealing key the store is open, and its secrets are locked.
//
// Errors: [ErrLocked], [ErrNewer], [ErrUnreleased], [ErrForeign], [ErrDamaged],
// [event.ErrFull], and others of the file system.
func Open(ctx context.Context, o Options) (*Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	o = o.withDefaults()
	dir, err := prepareDir(o)
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", err)
	}
	s, err := open(ctx, dir, o)
	if err != nil {
		if o.Temporary {
			err = errors.Join(err, os.RemoveAll(dir))
		}
		if boltfile.IsNoSpace(err) {
			err = fmt.Errorf("%w: %w", event.ErrFull, err)
		}
		return nil, fmt.Errorf("open the store: %w", err)
	}
	go s.run()
	ctx, s.stopBackground = context.WithCancel(context.WithoutCancel(ctx))
	s.ctx = ctx
	s.background.Go(func() { s.runPruner(ctx) })
	s.background.Go(func() { s.watchFile(ctx) })
	if !o.noAwait {
		s.background.Go(func() { s.awaitKey(ctx, o.keyEvery, o.Prompt) })
	}
	if s.snapshots {
		s.background.Go(func() { s.runSnapshots(ctx) })
	}
	return s, nil
}

func (o Options) withDefaults() Options {
	if o.Keyring == nil {
		o.Keyring = seal.SystemKeyring()
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.hash == nil {
		o.hash = tables.KeyedHash
	}
	if o.keyEvery == 0 {
		o.keyEvery = keyEvery
	}
	return o
}

func prepareDir(o Options) (string, error) {
	if o.Temporary {
		return datadir.Temporary(o.Dir)
	}
	if o.Dir == "" {
		return "", errors.New("no data directory was given")
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return "", fmt.Errorf("data directory: %w", err)
	}
	return dir, private.Dir(dir)
}

func open(ctx context.Context, dir string, o Options) (*Store, error) {
	datadir.RemoveLeftovers(dir, o.Now())
	db, file, err := datadir.Open(dir, o.MaxSize)
	if err != nil {
		return nil, err
	}
	s := &Store{
		db: db, reader: boltfile.NewReader(db), dir: dir, end: end{file: file, broken: make(chan struct{})}, temporary: o.Temporary,
		hash: o.hash, hooks: o.Hooks, maxAudit: cmp.Or(o.maxAudit, maxAudit), snapshots: !o.Temporary && !o.noSnapshots,
		snapshot: snapshots{wake: make(chan struct{}, 1)}, queue: newQueue(queueRecords, queueBytes), index: &index{table: tables.NewHashTable(0)}, pruner: newPruner(), now: o.Now,
		loaded: make(chan struct{}), stopped: make(chan struct{}),
	}
	s.checkFile()
	if err := boltfile.Guard(nil, func() error { return s.prepare(ctx, o) }); err != nil {
		if errors.Is(err, ErrDamaged) {
			s.fail(err)
			err = s.failed()
		}
		return nil, errors.Join(err, datadir.RemoveHolder(dir), s.closeDB())
	}
	return s, nil
}

// notEmptied refuses a database without tables that was initialised before: initialising it
// again would hide the loss.
func (s *Store) notEmptied() error {
	version, err := boltfile.Version(s.db)
	if err != nil || version > 0 {
		return nil // tables.Prepare says what is wrong with the version
	}
	_, err = os.Lstat(filepath.Join(s.dir, datadir.WitnessFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	return &datadir.FileError{Path: filepath.Join(s.dir, datadir.DB), Err: fmt.Errorf("%w: it was initialised and has no tables now", ErrDamaged), Advice: datadir.DamageAdvice}
}

// prepare makes the tables of a new database, and loads what is held in memory, except for the index.
func (s *Store) prepare(ctx context.Context, o Options) error {
	// Only informative: a full disk must not keep the store from being read.
	_ = datadir.WriteHolder(s.dir, s.now())
	if err := s.notEmptied(); err != nil {
		return err
	}
	isNew, err := tables.Prepare(s.db, o.Random)
	if err != nil {
		return datadir.Misplaced(filepath.Join(s.dir, datadir.DB), err)
	}
	if err := s.findGeneration(o, isNew); err != nil {
		return err
	}
	if err := s.openKey(ctx, o); err != nil {
		return err
	}
	if err := s.loadRetention(); err != nil {
		return err
	}
	return boltfile.View(s.db, func(tx *boltfile.Tx) (err error) {
		if err := tables.QuickCheck(tx); err != nil {
			return err
		}
		if s.usage.total, s.usage.bySub, err = tables.LoadUsage(tx); err != nil {
			return err
		}
		hashKey, err := tx.Bucket(tables.Meta).Get(tables.KeyHash)
		if err != nil {
			return err
		}
		s.hashKey = slices.Clone(hashKey)
		s.last.Store(tx.Bucket(tables.Events).Counter())
		s.audited.Store(tx.Bucket(tables.Audit).Counter())
		s.subs.byID, err = tables.LoadSubs(tx, s.key.state.Load().sealer)
		return err
	})
}

// lastErr returns the error of the last commit.
func (s *Store) lastErr() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *Store) setErr(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// Info implements [event.Store].
func (s *Store) Info() event.StoreInfo {
	kept := s.usage.all()
	var size int64
	if info, err := os.Stat(filepath.Join(s.dir, datadir.DB)); err == nil {
		size = info.Size()
	}
	var damage error
	if met := s.damage.Load(); met != nil {
		damage = *met
	}
	key := s.key.state.Load()
	s.subs.mu.RLock()
	subs := len(s.subs.byID)
	s.subs.mu.RUnlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.err
	if failed := s.failed(); failed != nil {
		err = failed
	}
	return event.StoreInfo{
		Path:        s.dir,
		Damage:      damage,
		Temporary:   s.temporary,
		Sealed:      key.kept,
		Locked:      key.locked,
		Generations: s.Generations(),
		Err:         err,
		Load:        s.loadNow(),
		Subs:        subs,
		Records:     uint64(max(0, kept.Records)),
		Bytes:       kept.Bytes,
		FileBytes:   size,
	}
}

// Close implements [event.Store]. It commits what is queued; callers that wait in Submit
// get [event.ErrClosed]. It must not be called by a Done or a watcher. A second call waits
// for the first one and returns the same.
//
// Errors: those of bbolt and of the file system.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.stopBackground()
		s.queue.close()
		s.await(s.stopped)
		s.background.Wait()
		if s.snapshots {
			s.snapshotAfter(0) // a store that was open for a short time would have none
		}
		errs := []error{datadir.RemoveHolder(s.dir), s.closeDB()}
		if w := s.generations.witness; w != nil {
			errs = append(errs, w.Close())
		}
		if s.temporary {
			errs = append(errs, os.RemoveAll(s.dir))
		}
		if err := errors.Join(errs...); err != nil {
			s.closeErr = fmt.Errorf("close the store: %w", err)
		}
	})
	return s.closeErr
}
