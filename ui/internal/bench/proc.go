//go:build linux

package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// process reads the statistics of a process (Linux).
type process int

// cpu returns the CPU time of the process, in user and system mode.
func (p process) cpu() (time.Duration, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", int(p)))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat has %d fields", int(p), len(fields))
	}
	ticks := 0
	for _, f := range fields[11:13] { // utime, stime
		n, err := strconv.Atoi(f)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / 100, nil // USER_HZ
}

// cpuDuring runs do and returns the CPU time of the process meanwhile.
func (p process) cpuDuring(do func() error) (time.Duration, error) {
	before, err := p.cpu()
	if err != nil {
		return 0, err
	}
	if err := do(); err != nil {
		return 0, err
	}
	after, err := p.cpu()
	return after - before, err
}

// memory returns the anonymous memory of a process in bytes: resident memory without mapped files.
func (p process) memory() (int, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", int(p)))
	if err != nil {
		return 0, err
	}
	_, rest, found := strings.Cut(string(raw), "RssAnon:")
	if fields := strings.Fields(rest); found && len(fields) > 0 {
		kb, err := strconv.Atoi(fields[0])
		return kb << 10, err
	}
	return 0, fmt.Errorf("/proc/%d/status has no RssAnon", int(p))
}

// machine describes the machine of the measurements.
func machine() string {
	model := "unknown processor"
	if raw, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, rest, ok := strings.Cut(string(raw), "model name"); ok {
			line, _, _ := strings.Cut(rest, "\n")
			model = strings.TrimLeft(line, "\t :")
		}
	}
	load := ""
	if raw, err := os.ReadFile("/proc/loadavg"); err == nil {
		load, _, _ = strings.Cut(string(raw), " ")
	}
	return fmt.Sprintf("%d cores, %s, %s/%s, %s, load %s at the beginning", runtime.NumCPU(), model, runtime.GOOS, runtime.GOARCH, runtime.Version(), load)
}

// quantile returns a quantile of durations, 0 of none.
func quantile(d []time.Duration, q float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	d = slices.Clone(d)
	slices.Sort(d)
	return d[min(int(float64(len(d))*q), len(d)-1)]
}
