package session

import "context"

// outbox is the queue of the goroutine that writes to a connection.
type outbox struct {
	writes chan write
	stop   chan struct{} // closed when nothing more is to be written
	failed chan struct{} // closed when writing failed
	gone   <-chan struct{}
}

// write is a queued frame; done, with one slot, gets the outcome.
type write struct {
	frame []byte
	done  chan error
}

// init prepares the queue; gone is closed when the connection is over.
func (o *outbox) init(gone <-chan struct{}) {
	o.writes, o.stop, o.failed, o.gone = make(chan write), make(chan struct{}), make(chan struct{}), gone
}

// run writes, in the order of arrival, until close or the first failure.
func (o *outbox) run(replies <-chan []byte, to func(frame []byte) error) {
	for {
		var w write
		select {
		case w = <-o.writes:
		case frame := <-replies:
			w = write{frame, make(chan error, 1)}
		case <-o.stop:
			return
		}
		err := to(w.frame)
		w.done <- err
		if err != nil {
			close(o.failed)
			return
		}
	}
}

// put queues a frame and waits until it is written.
//
// Errors: [ErrLost], that of writing, the cause of ctx.
func (o *outbox) put(ctx context.Context, frame []byte) error {
	w := write{frame, make(chan error, 1)}
	select {
	case o.writes <- w:
	case <-o.failed:
		return ErrLost
	case <-o.gone:
		return ErrLost
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (o *outbox) close() { close(o.stop) }
