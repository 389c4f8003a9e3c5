package dialect

import "eventdeck/host/session"

const MCPE = "MCPE"

func mcpe() Kind {
	return Kind{Name: MCPE, Speaks: func(session.Info) bool { return false }}
}
func saysMCPE(session.Info) bool { return false }
