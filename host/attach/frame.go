package attach

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"io"
	"net"
	"sync"
)

// header begins every frame.
type header struct {
	ID     uint64 // of the request
	Verb   string // of a request
	Cancel bool   // the request is not wanted any more; without a body
	Failed *failure
	Body   bool // a value follows
}

// keptBuffer is what a buffer may hold on to between two frames.
const keptBuffer = 1 << 20

// frames reads and writes the frames of a connection. One goroutine may read, any
// number may write. After an error the connection is of no use.
type frames struct {
	conn net.Conn
	in   *bufio.Reader
	most uint32 // bytes of a frame that is read
	body bytes.Buffer
	dec  *gob.Decoder

	mu  sync.Mutex
	out bytes.Buffer
	enc *gob.Encoder
	cap int // bytes of a frame that is written
}

func newFrames(conn net.Conn, in *bufio.Reader, read, write int) *frames {
	f := &frames{conn: conn, in: in, most: uint32(read), cap: write}
	f.dec, f.enc = gob.NewDecoder(&f.body), gob.NewEncoder(&f.out)
	return f
}

// write sends a frame. A nil value is no body.
func (f *frames) write(h header, value any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	h.Body = value != nil
	f.out.Reset()
	f.out.Write(make([]byte, 4))
	if err := f.enc.Encode(h); err != nil {
		return err
	}
	if h.Body {
		if err := f.enc.Encode(value); err != nil {
			return err
		}
	}
	frame := f.out.Bytes()
	size := len(frame) - 4
	if size > f.cap {
		return fmt.Errorf("%w: it would have %d bytes", ErrFrame, size)
	}
	binary.BigEndian.PutUint32(frame, uint32(size))
	_, err := f.conn.Write(frame)
	if f.out.Cap() > keptBuffer {
		f.out = bytes.Buffer{}
	}
	return err
}

// next reads a frame and its header. Its body is read with value or skip.
func (f *frames) next() (h header, err error) {
	if f.body.Len() > 0 {
		return h, fmt.Errorf("%w: %d bytes too many", ErrFrame, f.body.Len())
	}
	if f.body.Cap() > keptBuffer {
		f.body = bytes.Buffer{}
	}
	var size [4]byte
	if _, err := io.ReadFull(f.in, size[:]); err != nil {
		return h, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > f.most {
		return h, fmt.Errorf("%w: it has %d bytes", ErrFrame, n)
	}
	if _, err := io.CopyN(&f.body, f.in, int64(n)); err != nil {
		return h, err
	}
	if err := f.dec.Decode(&h); err != nil {
		return h, fmt.Errorf("%w: %w", ErrFrame, err)
	}
	return h, nil
}

// value reads the body into the value that out points to.
func (f *frames) value(out any) error {
	if err := f.dec.Decode(out); err != nil {
		return fmt.Errorf("%w: %w", ErrFrame, err)
	}
	return nil
}

// skip passes over the body of a frame.
func (f *frames) skip(h header) error {
	if !h.Body {
		return nil
	}
	return f.value(nil)
}
