//go:build !linux

package store

import "errors"

func mountSmall(string, string) (func() error, error) { return nil, errors.ErrUnsupported }

func mountReadOnly(string) (func() error, error) { return nil, errors.ErrUnsupported }
