package react

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"
)

func TestMembersKeepBothEnds(t *testing.T) {
	for _, n := range []int{0, 1, 50, 51, 99, 100, 101, 5000} {
		var m Members
		for i := range n {
			r := record("s", "t", `{"n":1}`)
			r.Seq, r.ReceivedAt = uint64(i+1), noon.Add(time.Duration(i)*time.Second)
			m.Add(r)
		}
		if m.Count != uint64(n) || len(m.First) != min(n, 50) || len(m.Last) != min(max(n-50, 0), 50) {
			t.Errorf("%d members: %d, first %d, last %d", n, m.Count, len(m.First), len(m.Last))
		}
		if n > 0 && (m.First[0] != 1 || !m.From.Equal(noon) || !m.To.Equal(noon.Add(time.Duration(n-1)*time.Second))) {
			t.Errorf("%d members: from %v to %v", n, m.From, m.To)
		}
		if n > 50 && m.Last[len(m.Last)-1] != uint64(n) {
			t.Errorf("%d members: the last is %d", n, m.Last[len(m.Last)-1])
		}
	}
}

func TestMembersCountValues(t *testing.T) {
	var m Members
	for i := range 100 {
		m.Add(record("s", "t", fmt.Sprintf(`{"id":"%d","sev":"P%d","in":{"ok":%t},"list":[1],"odd name":1,"q":"a\u0062"}`, i, i%3, i%10 > 0)))
		if i == 50 { // a restart
			raw, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			m = Members{}
			if err := json.Unmarshal(raw, &m); err != nil {
				t.Fatal(err)
			}
		}
	}
	got := map[string]string{}
	for path, counts := range m.Top {
		for _, c := range counts {
			got[path] += fmt.Sprintf("%s:%d ", c.Value.Raw(), c.N)
		}
		if len(counts) == 0 {
			got[path] = "many"
		}
	}
	want := map[string]string{".id": "many", ".sev": "P0:34 P1:33 P2:33 ", ".in.ok": "true:90 false:10 ", ".q": "ab:100 "}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("counted %v, want %v", got, want)
	}
}

func FuzzMembersAreBounded(f *testing.F) {
	f.Add([]byte(`{"a":{"b":{"c":{"d":{"e":1}}}}}`))
	f.Add([]byte(`{"a`))
	f.Add([]byte("{\"a\":\f}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var m Members
		m.Add(record("s", "t", string(data)))
		if len(m.Top) > topPaths {
			t.Fatalf("%d paths", len(m.Top))
		}
	})
}
