package event

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"eventdeck/host/trust"
)

// Errors of a [Store].
var (
	// ErrClosed: the store was closed.
	ErrClosed = errors.New("the store is closed")
	// ErrNotFound: no such record, subscription or setting.
	ErrNotFound = errors.New("not found")
	// ErrFenced: an earlier batch with the same fence failed.
	ErrFenced = errors.New("an earlier batch was not stored")
	// ErrFull: the disk has no room. Nothing of the batch was kept; the same
	// batch may be submitted again.
	ErrFull = errors.New("no room to store events")
	// ErrDamaged: stored data differ from what was written.
	ErrDamaged = errors.New("the store is damaged")
	// ErrKeyLocked: the key that seals secrets cannot be had now; the text says why, and what to
	// do. Everything else works meanwhile: see [Store.Unlocked].
	ErrKeyLocked = errors.New("secrets are locked")
	// ErrSilent: another process has the store open and does not answer; it may be
	// stopped.
	ErrSilent = errors.New("the process with the store does not answer")
)

// Batch is a set of changes that the store commits whole or not at all.
type Batch struct {
	Sub     SubID
	Records []Record // Seq is ignored; events are kept once per (Sub, EventID)

	// Cursor replaces the stored position when it is not nil; it is committed in
	// the same transaction as the records that it follows.
	Cursor *Cursor
	// Newest is the first event that lies between the stored position and Cursor; zero
	// if there is none, or it is not known. See [Subscription.MoveTo].
	Newest trust.Text

	// Update changes the subscription in the same transaction, after Cursor. It
	// runs on the writer's goroutine and must not block or keep the pointer. For
	// an unknown Sub it gets a zero Subscription and creates it.
	Update func(*Subscription)
	// IfKept skips Update and Cursor for an unknown Sub, so that a late change does not
	// bring back a subscription that was removed.
	IfKept bool

	// Remove deletes the subscription itself; its records stay. Ended is what the receiver
	// remembers of its paths.
	Remove bool
	Ended  []Ended

	// Audit holds entries for the audit log; Seq is ignored. They are committed in the
	// same transaction.
	Audit []AuditEntry

	// Fence, when not nil, ties this batch to those submitted before it with the
	// same fence: once one of them has failed, the store refuses the later ones
	// with [ErrFenced], so that a cursor never passes events that were not kept.
	Fence *Fence

	// Awaited: a caller waits for the commit, e.g. the sender of a webhook delivery. The
	// batch is committed sooner then, in a smaller group.
	Awaited bool

	// Done is called once, after the commit or its failure, on the writer's
	// goroutine. It must not block.
	Done func(Outcome, error)
}

// Fence orders the batches of one delivery: see [Batch]. The zero Fence lets everything pass.
type Fence struct{ broken atomic.Bool }

// Break marks the fence: a batch that carries it was not stored.
func (f *Fence) Break() { f.broken.Store(true) }

// Broken reports whether a batch with this fence has failed.
func (f *Fence) Broken() bool { return f.broken.Load() }

// Outcome is the result of a [Batch].
type Outcome struct {
	Stored     int    // records that are new
	Duplicates int    // events that were stored before
	Changed    int    // of these, events whose data differ from those that are stored
	Last       uint64 // sequence number of the newest stored record, 0 if none
}

// Refusal is a webhook delivery that was refused, or an event, in any mode, that came again with
// other data. It never holds the body.
type Refusal struct {
	At     time.Time
	Sub    SubID  // if the path was known
	Reason string // our words, e.g. "signature wrong"
	Status int    // HTTP status that was answered; 0: none, it did not come by webhook
	Bytes  int64  // length of the body, as far as it was read
}

// ServerSeen is what the store keeps of a server between runs.
type ServerSeen struct {
	Name      string
	Era       string
	Version   string // protocol version
	Transport string
	Title     trust.Text // the server's own name
	Release   trust.Text // the server's own version
	At        time.Time
}

// Store keeps the log and the subscriptions. One goroutine writes; any number
// may read. Implementations commit in groups, and call nothing back before the
// commit has returned.
type Store interface {
	// Submit queues a batch and waits only while the queue is full.
	// Errors: ErrClosed, or the cause of ctx. Then Done is not called.
	Submit(ctx context.Context, b Batch) error

	// Last returns the newest committed sequence number.
	Last() uint64
	// Generations returns those of the log. They do not change while the store is open.
	Generations() Generations
	// Get returns one record. Error: ErrNotFound.
	Get(seq uint64) (Record, error)
	// Forward calls fn for the records from seq on, oldest first, until fn
	// returns false. It ends with the record that was the newest when it was
	// called, and holds up no commit while fn runs.
	Forward(seq uint64, fn func(Record) bool) error
	// Backward is Forward in the other direction, from seq down.
	Backward(seq uint64, fn func(Record) bool) error
	// Scan calls fn for the records from..to, downwards when to is less, until fn
	// returns false. It lends them: a record and everything it refers to are
	// valid until fn returns, and nothing of it may be kept or changed. fn must
	// not call the store. Other goroutines may scan meanwhile.
	Scan(from, to uint64, fn func(*Record) bool) error
	// HasEvent reports whether the event is stored for the subscription.
	HasEvent(sub SubID, id trust.Text) bool

	// Subscriptions returns all subscriptions, in order of creation.
	Subscriptions() []Subscription
	// Subscription returns one subscription. Error: ErrNotFound.
	Subscription(id SubID) (Subscription, error)
	// EndedHooks returns the webhook paths of subscriptions that are over.
	EndedHooks() []Ended

	// Setting and SetSetting keep small values of the host, e.g. the receiver's
	// address. Error of Setting: ErrNotFound.
	Setting(key string) (string, error)
	SetSetting(ctx context.Context, key, value string) error

	// Credential and SetCredential keep secrets of the host, e.g. the tokens of a
	// sign-in, sealed. The zero Secret removes one. Errors: ErrNotFound of Credential, and
	// ErrKeyLocked.
	Credential(name string) (Secret, error)
	SetCredential(ctx context.Context, name string, value Secret) error
	// Unlocked returns a channel that is closed once secrets can be read and stored, which is at
	// once unless the sealing key is locked. Until then secrets of subscriptions are zero, and
	// none may be set. Who asks needs one: on a terminal, the operator may be asked to unlock.
	Unlocked() <-chan struct{}

	// Saw stores what was seen of a server; Servers returns all of them.
	Saw(ctx context.Context, s ServerSeen) error
	Servers() []ServerSeen

	// Refuse keeps refused deliveries among the newest 1,000, in one commit.
	Refuse(ctx context.Context, r ...Refusal) error
	// Refusals returns the kept ones, newest first.
	Refusals() []Refusal

	// Audit appends to the audit log and returns after the commit. The newest
	// 100,000 entries are kept.
	Audit(ctx context.Context, e AuditEntry) error
	// AuditLast returns the sequence number of the newest entry, 0 if there is none.
	AuditLast() uint64
	// AuditBefore calls fn for the entries before seq, newest first, until fn
	// returns false. Zero means from the newest one.
	AuditBefore(seq uint64, fn func(AuditEntry) bool) error

	// Marks returns the operator's marks, in order of Seq.
	Marks() []Mark
	// SetMark stores a mark and replaces one of the same kind at the same record.
	// RemoveMark removes one; it is no error if there is none.
	SetMark(ctx context.Context, m Mark) error
	RemoveMark(ctx context.Context, seq uint64, line bool) error

	// Journal keeps what reactions have decided and done.
	Journal() Journal

	// Retention returns how much is kept; SetRetention changes it. Records beyond the
	// bounds are pruned, oldest first, in small steps.
	Retention() Retention
	SetRetention(ctx context.Context, r Retention) error

	// Watch calls fn after every commit that stored records, with the records in
	// order and their sequence numbers set, on the writer's goroutine: fn must
	// not block. The records do not change any more: fn may keep them, and must not
	// write to them. The returned function ends it.
	Watch(fn func([]Record)) (stop func())

	// Info tells where and how the store keeps its data.
	Info() StoreInfo
	// Close commits what is queued and closes the file.
	Close() error
}

// StoreFile is the name of the file of a store in its data directory.
const StoreFile = "state.db"

// StoreInfo describes an open store.
type StoreInfo struct {
	Path      string // directory
	Holder    int    // the process that has it open, 0: this one
	Temporary bool   // removed at exit
	// Generations are those of the log; see [Store.Generations].
	Generations Generations
	Sealed      string // where the sealing key is kept: "keyring", "file" or "memory"
	Locked      error  // why the sealing key cannot be had, an ErrKeyLocked; nil: it is there
	Err         error  // the last commit failed with this; nil when the next succeeded
	Damage      error  // a read has met ErrDamaged since the store was opened
	Subs        int    // subscriptions
	Records     uint64 // that are kept
	Bytes       int64  // of these records, without what the file needs around them
	FileBytes   int64  // of the file
	Load        StoreLoad
}

// StoreLoad tells how busy a store is.
type StoreLoad struct {
	Queued, QueuedMax           int // what waits to be committed, and the bound beyond which Submit waits
	QueuedBytes, QueuedBytesMax int
	Commits                     uint64        // since the store was opened
	Records                     uint64        // stored by these
	CommitP50, CommitP95        time.Duration // how long recent commits took
}
