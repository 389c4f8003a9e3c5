package demo

import "context"

type hooks struct{}

func newHooks(*engine, PagerOptions) *hooks                               { return &hooks{} }
func (h *hooks) begin(context.Context, PagerOptions)                      {}
func (h *hooks) wait()                                                    {}
func (h *hooks) terminateAll(*fault)                                      {}
func (h *hooks) subscribe(context.Context, call) (map[string]any, *fault) { return nil, revokedFault() }
func (h *hooks) unsubscribe(call) (map[string]any, *fault)                { return nil, revokedFault() }
