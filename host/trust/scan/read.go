package scan

import (
	"eventdeck/host/internal/jsontext"
	"eventdeck/host/trust/strict"
)

// ReadObject is [strict.ParseObject] and [Scan] in one walk over the text. With an error
// the report is that of a refused text.
//
// Errors: those of [strict.ParseObject].
func ReadObject(raw []byte, lim jsontext.Limits) ([]strict.Member, Report, error) {
	p := prefilter(raw)
	s := scanner{raw: raw, collect: p.slow()}
	members, err := strict.ParseObjectWith(raw, lim, &s)
	if err != nil {
		return nil, scanRefused(raw, err), err
	}
	return members, s.finish(p), nil
}
