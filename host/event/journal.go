package event

import "context"

// Journal keeps small entries in tables for one part of the host, which gives them their
// meaning.
//
// It is a part of the store's file: a copy, a check, recovery and the checksums cover it.
type Journal interface {
	// Change commits a change whole or not at all, after all batches that were submitted
	// before it, and returns after the commit. Errors: ErrClosed, ErrFull, the cause of ctx.
	Change(ctx context.Context, c JournalChange) error
	// Entry returns one value. Error: ErrNotFound.
	Entry(table JournalTable, key string) ([]byte, error)
	// Entries calls fn for the entries of a table whose keys begin with prefix, in the
	// order of their keys, until fn returns false. Values are valid until fn returns.
	Entries(table JournalTable, prefix string, fn func(key string, value []byte) bool) error
}

// JournalTable names a table of the journal.
type JournalTable string

// The tables.
const (
	TableRules     JournalTable = "rules"     // the operator's decisions about rules
	TableRuns      JournalTable = "runs"      // runs
	TableApprovals JournalTable = "approvals" // verdicts of the operator
	TableGrants    JournalTable = "grants"    // approvals for more than one act
	TableSpend     JournalTable = "spend"     // usage by day
	TableReact     JournalTable = "react"     // position, windows, stop switch
)

// KeyLag is the entry of TableReact that says, in words, why the journal may not know
// of acts that were done: the store was restored or recovered. It stays until the operator
// has seen it.
const KeyLag = "lag"

// PrefixImported begins the keys of entries of TableReact that tell which records were
// imported, and start nothing. The rest of the key is the first sequence number in 16
// hexadecimal digits; the value is the last one in the same form. It is empty while the import
// runs or after it was killed: then the range ends at the newest record when that was noticed.
const PrefixImported = "imported/"

// JournalChange is a change that is committed whole or not at all. The error for an entry that
// cannot be stored names it.
type JournalChange struct {
	Put    []JournalEntry
	Delete []JournalEntry // Value is ignored
	Audit  []AuditEntry   // Seq is ignored
}

// JournalEntry is one entry of a table. A key has 1 to 200 bytes, a value at most 1 MiB.
type JournalEntry struct {
	Table JournalTable
	Key   string
	Value []byte
}
