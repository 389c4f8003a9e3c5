package board

import "eventdeck/ui/tui/table"

// Boards are the tables behind the keys 4 and 5.
type Boards struct {
	Subs, Log table.Board
	All       bool // rows of all servers are shown, not only those of the scope
}

// Scoped reports whether a table is limited to the scope; see [Env.Scope].
func Scoped(t *table.Table) bool {
	switch t.Src.(type) {
	case *subsTable, *gapLedger:
		return true
	}
	return false
}

// New returns the boards with their tables.
func New(e *Env) Boards {
	return Boards{
		Subs: table.Board{Number: "4", Tabs: []*table.Table{
			table.New(e.Env, e.Focused, "Subscriptions", newSubsTable(e), false),
			table.New(e.Env, e.Focused, "Gaps", newGapLedger(e), false),
			table.New(e.Env, e.Focused, "At servers", newRemotes(e), false),
			table.New(e.Env, e.Focused, "Refused", &refusals{env: e}, false),
			table.New(e.Env, e.Focused, "Resumed", &resumed{env: e}, false),
		}},
		Log: table.Board{Number: "5", Tabs: []*table.Table{
			table.New(e.Env, e.Focused, "Audit", newAuditLog(e), true),
			table.New(e.Env, e.Focused, "Wire", newWireLog(e), true),
			table.New(e.Env, e.Focused, "App", newAppLog(e), true),
		}},
	}
}

// hostVersion changes when data of the host may have changed.
type hostVersion struct {
	version, last uint64
	second        int64
}

func hostVersionOf(e *Env) hostVersion {
	return hostVersion{e.Snap.Version, e.Snap.Last, e.Clock().Unix()}
}
