package trust_test

import (
	"testing"

	"eventdeck/host/trust"
)

func BenchmarkLine(b *testing.B) {
	for name, s := range map[string]string{"ascii": "Bump golang.org/x/net from 0.61.0 to 0.62.0", "mixed": "Обновите Docker до версии 27 – 日本語", "hostile": "ok\x1b[2J\x1b[Hnothing to see\u202e"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				trust.Line(trust.Untrusted(s)).Clip(40)
			}
		})
	}
}
