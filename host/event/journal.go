package event

import "context"

// Journal keeps small entries in tables, for one part of the host that gives them
// their meaning. What is changed together is committed together.
//
// It is a part of the store's file: a copy, a check, recovery and the checksums cover it.
type Journal interface {
	// Change commits all of a change or nothing, after what was submitted before it.
	// It returns after the commit. Errors: ErrClosed, ErrFull, the cause of ctx.
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
	TableRules     JournalTable = "rules"     // what the operator decided of a rule
	TableRuns      JournalTable = "runs"      // runs
	TableApprovals JournalTable = "approvals" // verdicts of the operator
	TableGrants    JournalTable = "grants"    // approvals for more than one act
	TableSpend     JournalTable = "spend"     // what was used, by day
	TableReact     JournalTable = "react"     // position, windows, stop switch
)

// KeyLag is the entry of TableReact that says, in words, why the journal may not know
// of acts that were done: the store was restored or recovered. It is there until the
// operator has looked at it.
const KeyLag = "lag"

// PrefixImported begins the keys of entries of TableReact that tell which records were
// imported, and start nothing. The rest of the key is the first sequence number in 16
// hexadecimal digits, the value the last one in as many, or empty while the import goes
// on or after it was killed: then all that were there when that was noticed.
const PrefixImported = "imported/"

// JournalChange is what is committed together. Errors of a change that cannot be stored
// as it is name the entry; none of it is stored then.
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
