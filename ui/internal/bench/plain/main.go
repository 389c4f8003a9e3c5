// Command plain is a minimal program that shows events with Bubble Tea: it reads lines from its
// standard input into a list and draws the newest of them. It stores and checks nothing.
// Measurements compare with it.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"
)

// rows is the number of kept lines.
const rows = 200

type changed struct{}

type model struct {
	mu     sync.Mutex
	lines  []string
	asked  bool // a message is on its way
	width  int
	height int
}

func (m *model) Init() tea.Cmd { return nil }

func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		if msg.String() == "q" {
			return m, tea.Quit
		}
	case changed:
		m.mu.Lock()
		m.asked = false
		m.mu.Unlock()
	}
	return m, nil
}

func (m *model) View() tea.View {
	m.mu.Lock()
	shown := m.lines[max(0, len(m.lines)-m.height):]
	var b strings.Builder
	for i, line := range shown {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(line[:min(len(line), m.width)])
	}
	m.mu.Unlock()
	v := tea.NewView(b.String())
	v.AltScreen = true
	return v
}

func (m *model) read(p *tea.Program) {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		m.mu.Lock()
		m.lines = append(m.lines, in.Text())
		if len(m.lines) > 2*rows {
			m.lines = append(m.lines[:0], m.lines[rows:]...)
		}
		send := !m.asked
		m.asked = true
		m.mu.Unlock()
		if send {
			p.Send(changed{})
		}
	}
}

func main() {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		fmt.Fprintln(os.Stderr, "plain:", err)
		os.Exit(1)
	}
	m := &model{}
	p := tea.NewProgram(m, tea.WithInput(tty), tea.WithOutput(os.Stdout))
	go m.read(p)
	if _, err := p.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "plain:", err)
		os.Exit(1)
	}
}
