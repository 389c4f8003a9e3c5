//go:build linux

package main

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"eventdeck/host/event"
)

// webhookSend is the sender's process: it reads a run from standard input, and writes the result to
// standard output.
func webhookSend([]string) error {
	var run hookRun
	if err := json.NewDecoder(os.Stdin).Decode(&run); err != nil {
		return err
	}
	s, err := newSender(run)
	var res hookResult
	if err == nil {
		res, err = s.run()
	}
	if err != nil {
		res.Failed = err.Error()
	}
	return json.NewEncoder(os.Stdout).Encode(res)
}

// deliveryID is the id of the nth delivery of all.
func deliveryID(n int) string { return fmt.Sprintf("evt_%09d", n) }

// sender writes requests by itself: the cost of an HTTP client would dominate the measurement.
type sender struct {
	hookRun
	address string
	config  *tls.Config
	keys    [][]byte
	paths   []string
	next    atomic.Int64
	end     time.Time
	began   time.Time

	mu       sync.Mutex
	taken    int
	statuses map[int]int
	times    []time.Duration
}

func newSender(run hookRun) (*sender, error) {
	pem, err := os.ReadFile(run.CA)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errors.New("no authority in " + run.CA)
	}
	s := &sender{hookRun: run, config: &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"}, statuses: map[int]int{}}
	for _, h := range run.Hooks {
		u, err := url.Parse(h.URL)
		if err != nil {
			return nil, err
		}
		key, err := event.NewSecret(h.Secret).WebhookKey()
		if err != nil {
			return nil, err
		}
		s.address = u.Host
		s.keys, s.paths = append(s.keys, key), append(s.paths, u.Path)
	}
	return s, nil
}

func (s *sender) run() (hookResult, error) {
	links := make([]*link, s.Conns)
	for i := range links {
		var err error
		if links[i], err = s.dial(); err != nil {
			return hookResult{}, err
		}
		defer links[i].c.Close()
	}
	s.began = time.Now()
	s.end = s.began.Add(s.For)
	errs := make(chan error, len(links)+badLinks)
	var all sync.WaitGroup
	for _, l := range links {
		all.Go(func() { errs <- s.good(l) })
	}
	var bad atomic.Int64
	if s.Bad > 0 {
		for i := range badLinks {
			all.Go(func() { errs <- s.bad(i, &bad) })
		}
	}
	all.Wait()
	close(errs)
	var err error
	for e := range errs {
		err = errors.Join(err, e)
	}
	slices.Sort(s.times)
	res := hookResult{Sent: int(s.next.Load()), Taken: s.taken, Bad: int(bad.Load()), Statuses: s.statuses, Took: time.Since(s.began)}
	if n := len(s.times); n > 0 {
		res.P50, res.P99 = s.times[n/2], s.times[n*99/100]
	}
	return res, err
}

// good sends deliveries on one connection, each after the response to the one before.
func (s *sender) good(l *link) error {
	macs := make([]hash.Hash, len(s.keys))
	for i, key := range s.keys {
		macs[i] = hmac.New(sha256.New, key)
	}
	statuses, taken := map[int]int{}, 0
	var times []time.Duration
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.taken += taken
		s.times = append(s.times, times...)
		for status, n := range statuses {
			s.statuses[status] += n
		}
	}()
	for {
		n := int(s.next.Add(1)) - 1
		due := time.Now()
		if s.Rate > 0 {
			due = s.began.Add(time.Duration(n) * time.Second / time.Duration(s.Rate))
		}
		if due.After(s.end) {
			s.next.Add(-1)
			return nil
		}
		time.Sleep(time.Until(due))
		at := (s.From + n) % len(s.paths)
		status, _, err := l.ask(func(b []byte) []byte { return s.delivery(b, s.From+n, at, macs[at], &l.body) })
		if err != nil {
			return err
		}
		times = append(times, time.Since(due)) // delays count from when the delivery was due
		statuses[status]++
		if status == 204 {
			taken++
		}
	}
}

// filler makes a delivery about 600 bytes long.
var filler = strings.Repeat("connection pool exhausted; ", 16)

func (s *sender) delivery(b []byte, n, at int, mac hash.Hash, body *[]byte) []byte {
	now := time.Now()
	*body = fmt.Appendf((*body)[:0], `{"eventId":"%s","name":"load","timestamp":"%s","data":{"n":%d,"severity":"P%d","text":"%s"}}`,
		deliveryID(n), now.UTC().Format(time.RFC3339Nano), n, 1+n%4, filler)
	mac.Reset()
	fmt.Fprintf(mac, "%s.%d.", deliveryID(n), now.Unix())
	mac.Write(*body)
	return request(b, s.address, s.paths[at], deliveryID(n), now, base64.StdEncoding.EncodeToString(mac.Sum(nil)), *body)
}

func request(b []byte, host, path, id string, at time.Time, signature string, body []byte) []byte {
	b = fmt.Appendf(b, "POST %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: bench\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"+
		"Webhook-Id: %s\r\nWebhook-Timestamp: %d\r\nWebhook-Signature: v1,%s\r\nX-Mcp-Subscription-Id: s\r\n\r\n",
		path, host, len(body), id, at.Unix(), signature)
	return append(b, body...)
}

// badLinks is the number of connections for bad requests.
const badLinks = 32

// bad sends bad requests: a wrong signature at a known path, an unknown path, no signature. It
// reopens closed connections.
func (s *sender) bad(i int, count *atomic.Int64) error {
	var l *link
	body := []byte(`{"eventId":"bad","name":"load","timestamp":"2026-01-01T00:00:00Z","data":{"text":"` + filler + `"}}`)
	for n := 0; ; n++ {
		due := s.began.Add(time.Duration(n*badLinks+i) * time.Second / time.Duration(s.Bad))
		if due.After(s.end) {
			if l != nil {
				l.c.Close()
			}
			return nil
		}
		time.Sleep(time.Until(due))
		if l == nil {
			var err error
			if l, err = s.dial(); err != nil {
				continue
			}
		}
		wrong := base64.StdEncoding.EncodeToString(make([]byte, sha256.Size))
		_, closed, err := l.ask(func(b []byte) []byte {
			switch n % 3 {
			case 0:
				return request(b, s.address, s.paths[n%len(s.paths)], "bad", time.Now(), wrong, body)
			case 1:
				return request(b, s.address, "/hooks/nobody", "bad", time.Now(), wrong, body)
			}
			return fmt.Appendf(b, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}", s.paths[n%len(s.paths)], s.address)
		})
		if err == nil {
			count.Add(1)
		}
		if closed || err != nil {
			l.c.Close()
			l = nil
		}
	}
}

// link is one connection for requests, one after another.
type link struct {
	c    *tls.Conn
	r    *bufio.Reader
	out  []byte
	body []byte
}

func (s *sender) dial() (*link, error) {
	c, err := tls.Dial("tcp", s.address, s.config)
	if err != nil {
		return nil, err
	}
	return &link{c: c, r: bufio.NewReader(c)}, nil
}

// ask sends a request and reads the response.
func (l *link) ask(write func([]byte) []byte) (status int, closed bool, err error) {
	l.out = write(l.out[:0])
	if _, err := l.c.Write(l.out); err != nil {
		return 0, true, err
	}
	length := 0
	for first := true; ; first = false {
		line, err := l.r.ReadSlice('\n')
		if err != nil {
			return 0, true, err
		}
		line = bytes.TrimSpace(line)
		switch {
		case first:
			if len(line) < 12 {
				return 0, true, fmt.Errorf("answer %q", line)
			}
			if status, err = strconv.Atoi(string(line[9:12])); err != nil {
				return 0, true, err
			}
		case len(line) == 0:
			_, err := io.CopyN(io.Discard, l.r, int64(length))
			return status, closed, err
		case bytes.HasPrefix(line, []byte("Content-Length: ")):
			if length, err = strconv.Atoi(string(line[16:])); err != nil {
				return 0, true, err
			}
		case bytes.Equal(line, []byte("Connection: close")):
			closed = true
		}
	}
}
