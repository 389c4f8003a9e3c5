package react

import (
	"reflect"
	"testing"
	"time"

	"eventdeck/host/event"
)

func fullRules() []Rule {
	base := Rule{
		Name: "page-p1", On: Source{"pager", "incident.created", event.KindEvent}, When: ".severity=P1", Key: []string{".service", ".region"},
		Wait: 10 * time.Second, Once: Once{[]string{".incidentId"}, 6 * time.Hour}, Age: 15 * time.Minute, Mode: ModeAsk,
		Window: Window{Count: 5, Within: time.Minute},
		Limits: Limits{Rate{6, time.Hour}, 1, 100, 500_000, 100_000, 5 * time.Minute},
	}
	command, webhook, note := base, base, base
	command.Do.Command = &Command{Argv: []string{"/bin/echo", "<a>"}, Stdin: StdinNDJSON, Env: []string{"HOME"}, Dir: "/srv", RepeatSafe: true,
		Confine: &Confine{Read: []string{"/srv"}, Write: []string{"/tmp"}, Net: true}, Trusted: true}
	webhook.Do.Webhook = &Webhook{URL: "https://example.com", Secret: "${KEY}", Private: true}
	note.Do.Note = "look"
	rate, absent, bare := note, note, note
	rate.Window = Window{Rate: 10, Per: time.Second}
	absent.Window = Window{Absent: 36 * time.Hour}
	bare.When, bare.Key, bare.Once, bare.Window, bare.Limits = "", nil, Once{}, Window{}, Limits{}
	return []Rule{command, webhook, note, rate, absent, bare}
}

func TestFrozenRulesComeBack(t *testing.T) {
	for _, r := range fullRules() {
		back, err := Thaw(r.Freeze())
		if err != nil || !reflect.DeepEqual(back, r) {
			t.Errorf("%s\ncame back as %+v, %v\nwas %+v", r.Freeze(), back, err, r)
		}
	}
	if _, err := Thaw(Frozen(`{"name":"a","new":1}`)); err == nil {
		t.Error("a member that is not known was passed over")
	}
}

// change gives a member at every depth another value, one at a time.
func change(v reflect.Value, path string, check func(path string)) {
	was := reflect.ValueOf(v.Interface())
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			change(v.Field(i), path+"."+v.Type().Field(i).Name, check)
		}
		return
	case reflect.Pointer:
		if !v.IsNil() {
			change(v.Elem(), path, check)
		}
		return
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Int, reflect.Int64:
		if v.Type() == reflect.TypeFor[time.Duration]() && path == ".Limits.Runs.Per" {
			v.SetInt(int64(time.Minute))
		} else {
			v.SetInt(v.Int() + 1)
		}
	case reflect.Bool:
		v.SetBool(!v.Bool())
	default:
		v.SetZero()
	}
	check(path)
	v.Set(was)
}

func TestEveryMemberOfARuleIsInItsHash(t *testing.T) {
	for _, r := range fullRules()[:4] {
		whole := r.Hash("/usr/bin/echo", "00ff")
		change(reflect.ValueOf(&r).Elem(), "", func(path string) {
			place := path == ".Where" || path == ".Lines"
			unused := r.Do.Command != nil && path == ".Do.Note" || r.Do.Webhook != nil && path == ".Do.Note"
			if same := r.Hash("/usr/bin/echo", "00ff") == whole; same != (place || unused) {
				t.Errorf("%s changed: the hash is the same: %v", path, same)
			}
		})
		if r.Hash("/bin/echo", "00ff") == whole || r.Hash("/usr/bin/echo", "00fe") == whole {
			t.Error("another program has the same hash")
		}
	}
}

func TestSpellings(t *testing.T) {
	for text, want := range map[string]time.Duration{"90s": 90 * time.Second, "1d": day, "2d12h": 60 * time.Hour, "0s": 0, "1h30m": 90 * time.Minute,
		"": -1, "d": -1, "-1s": -1, "1": -1, "1d-1h": -1, "99999d": -1, "1w": -1, "1dx": -1, "9e9h": -1} {
		if got, err := ParseDuration(text); (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("duration %q: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]Rate{"6/h": {6, time.Hour}, "100/s": {100, time.Second}, "1/d": {1, day},
		"0/h": {}, "6": {}, "/h": {}, "6/w": {}, "-1/h": {}, "6/h/h": {}, "99999999999/s": {}} {
		if got, err := ParseRate(text); (err != nil) != (want.N == 0) || got != want || err == nil && got.String() != text {
			t.Errorf("rate %q: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]int64{"0.50": 500_000, "5.00": 5_000_000, "0.000001": 1, "12.345": 12_345_000,
		"": -1, "1.": -1, ".5": -1, "-1": -1, "1e3": -1, "0.0000001": -1, "9999999999999999": -1} {
		if got, err := ParseMoney(text); (err != nil) != (want < 0) || err == nil && (got != want || Money(got) != text) {
			t.Errorf("money %q: %v, %v, %q", text, got, err, Money(got))
		}
	}
	if !(Rate{61, time.Hour}).Above(Rate{1, time.Minute}) || (Rate{60, time.Hour}).Above(Rate{1, time.Minute}) {
		t.Error("rates are not compared by what they allow")
	}
}
