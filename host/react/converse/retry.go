package converse

import (
	"context"
	"errors"
	"fmt"
	"time"

	"eventdeck/host/model"
	"eventdeck/host/react"
)

// maxAsked is how often a question is asked while the provider of the model is busy.
const maxAsked = 5

// firstWait is the wait after the first try. It doubles after each further one.
const firstWait = 2 * time.Second

// again sets when a failed question is asked again, zero for never, and adds that to the reason.
// before are the earlier steps.
func (l *loop) again(ctx context.Context, before []react.Step, s *react.Step, err error) {
	var status *model.StatusError
	if !errors.As(err, &status) || !status.Busy() {
		return
	}
	tries := 1
	for i := len(before) - 1; i >= 0 && !before[i].Again.IsZero(); i-- {
		tries++
	}
	if tries >= maxAsked {
		s.Why += fmt.Sprintf("; it was asked %d times", tries)
		return
	}
	pause := firstWait << (tries - 1)
	pause = max(pause+time.Duration(l.o.Jitter()*float64(pause)/5), status.After)
	if end, ok := ctx.Deadline(); ok && time.Until(end) < pause {
		s.Why += fmt.Sprintf("; the run has not the time to ask again in %s", react.FormatDuration(pause.Round(time.Second)))
		return
	}
	s.Again = l.o.Now().Add(pause)
	s.Why += fmt.Sprintf("; asked again in %s", react.FormatDuration(pause.Round(time.Second)))
}

// rest waits until a question may be asked again, including one of an earlier attempt. It returns
// a result if the time of the attempt ends first.
func (l *loop) rest(ctx context.Context, until time.Time) *react.Result {
	pause := until.Sub(l.o.Now())
	if pause <= 0 {
		return nil
	}
	if l.o.Wait(ctx, pause) != nil {
		return l.stopped(ctx, context.Cause(ctx))
	}
	return nil
}
