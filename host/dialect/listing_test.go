package dialect

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"eventdeck/host/wire"
)

// lister is a server that lists types on pages of perPage types each.
func lister(t *testing.T, capabilities, method, format string, perPage ...int) *peer {
	return newPeer(t, capabilities, func(c call) string {
		if c.method != method {
			return notFound
		}
		var params struct{ Cursor string }
		_ = json.Unmarshal(c.params, &params) // the first page has none
		page, number := 0, 0
		if _, err := fmt.Sscan(params.Cursor, &page); err != nil {
			page = 0
		}
		for _, n := range perPage[:page] {
			number += n
		}
		var items []string
		for i := range perPage[page] {
			items = append(items, fmt.Sprintf(format, number+i))
		}
		next := ""
		if page+1 < len(perPage) {
			next = fmt.Sprintf(`,"nextCursor":"%d"`, page+1)
		}
		member := map[string]string{wire.MethodList: "events", methodResources: "resources"}[c.method]
		return fmt.Sprintf(`"result":{"%s":[%s]%s}`, member, strings.Join(items, ","), next)
	})
}

// Lists below, at and above each bound, in each dialect that lists.
func TestListsOfTypesAreBounded(t *testing.T) {
	for name, d := range map[string]struct{ capabilities, method, format string }{
		"MCP Events": {`{"events":{}}`, wire.MethodList, `{"name":"t%d","delivery":["poll"]}`},
		"SEP-1803":   {`{"resources":{"events":true,"subscribe":true}}`, methodResources, `{"uri":"event://t%d","name":"t"}`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, c := range []struct {
				what  string
				opts  Options
				pages []int
				types int
				says  string // "" where all are listed
			}{
				{"types below", Options{types: 4}, []int{2, 1}, 3, ""},
				{"types at", Options{types: 4}, []int{2, 2}, 4, ""},
				{"types at, and an empty page", Options{types: 4}, []int{2, 2, 0}, 4, ""},
				{"types above", Options{types: 4}, []int{2, 2, 1}, 4, "are taken"},
				{"types above on one page", Options{types: 4}, []int{9}, 4, "are taken"},
				{"pages below", Options{typePages: 3}, []int{1, 1}, 2, ""},
				{"pages at", Options{typePages: 3}, []int{1, 1, 1}, 3, ""},
				{"pages above", Options{typePages: 3}, []int{1, 1, 1, 1}, 3, "pages were read"},
				{"bytes below", Options{typeBytes: 100_000}, []int{1, 1}, 2, ""},
				{"bytes above", Options{typeBytes: 10}, []int{1, 1}, 1, "its pages have more than 10 bytes"},
				{"bytes above on the last page", Options{typeBytes: 10}, []int{3}, 3, ""},
			} {
				dialect, _ := lister(t, d.capabilities, d.method, d.format, c.pages...).connect(c.opts)
				types, skipped, err := dialect.List(background(t))
				if len(types) != c.types || skipped.Count != 0 {
					t.Errorf("%s: %d types, %d skipped", c.what, len(types), skipped.Count)
				}
				if (c.says == "") != (err == nil) || err != nil && (!errors.Is(err, ErrPartial) || !strings.Contains(err.Error(), c.says+", and the server has more")) {
					t.Errorf("%s: %v, want %q", c.what, err, c.says)
				}
			}
		})
	}
}

// A limit of one is reported in the singular.
func TestLimitOfOneIsReportedInTheSingular(t *testing.T) {
	l := listing{opts: Options{types: 1, typePages: 1, typeBytes: 1 << 20}, pages: 1}
	for want, err := range map[string]error{"cut short: 1 page was read, and": l.full(), "cut short: 1 type is taken, and": l.enough(1)} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// The limit is exact to the byte.
func TestBytesOfAListAreCounted(t *testing.T) {
	for n, full := range map[int]bool{9: false, 10: false, 11: true} {
		l := listing{opts: Options{typeBytes: 10, typePages: 5}}
		l.page(make([]byte, 4))
		l.page(make([]byte, n-4))
		if err := l.full(); (err != nil) != full {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}
