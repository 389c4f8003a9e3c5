package eventlog

import "eventdeck/host/event"

// AuditReader is the audit log as a store keeps it; see [event.Store].
type AuditReader interface {
	AuditLast() uint64
	AuditBefore(seq uint64, fn func(event.AuditEntry) bool) error
}

// Audit reads the audit log: who did what, with what outcome. All methods may be called from
// any goroutine.
type Audit struct{ store AuditReader }

// NewAudit returns the audit log that the store keeps.
func NewAudit(store AuditReader) *Audit { return &Audit{store} }

// Last returns the sequence number of the newest entry, 0 if there is none.
func (a *Audit) Last() uint64 { return a.store.AuditLast() }

// Before calls fn for the entries before seq, newest first, until fn returns
// false. Zero means from the newest one. Errors: those of the store.
func (a *Audit) Before(seq uint64, fn func(event.AuditEntry) bool) error {
	return a.store.AuditBefore(seq, fn)
}

// Mapped returns a view of the audit log in which fn has been applied to every entry.
func (a *Audit) Mapped(fn func(event.AuditEntry) event.AuditEntry) *Audit {
	return NewAudit(&mappedAudit{a.store, fn})
}

type mappedAudit struct {
	AuditReader
	fn func(event.AuditEntry) event.AuditEntry
}

func (m *mappedAudit) AuditBefore(seq uint64, fn func(event.AuditEntry) bool) error {
	return m.AuditReader.AuditBefore(seq, func(e event.AuditEntry) bool { return fn(m.fn(e)) })
}
