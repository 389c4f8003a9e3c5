package tables

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"eventdeck/host/event"
	"eventdeck/store/boltfile"
)

// NewGeneration returns the id of a new generation.
//
// Errors: those of random.
func NewGeneration(random io.Reader) (string, error) {
	id := make([]byte, 16)
	if _, err := io.ReadFull(random, id); err != nil {
		return "", fmt.Errorf("generation: no randomness: %w", err)
	}
	return hex.EncodeToString(id), nil
}

// LoadGenerations reads the generations of a store.
//
// Error: [event.ErrDamaged].
func LoadGenerations(tx *boltfile.Tx) (g event.Generations, err error) {
	value, err := tx.Bucket(Meta).Get(KeyGenerations)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(value, &g); err != nil || len(g) == 0 {
		return nil, fmt.Errorf("%w: its generations cannot be read", event.ErrDamaged)
	}
	return g, nil
}

// PutGenerations stores the generations.
//
// Errors: [event.ErrDamaged], those of bbolt.
func PutGenerations(tx *boltfile.Tx, g event.Generations) error {
	value, err := json.Marshal(g)
	if err != nil {
		return err
	}
	return tx.Bucket(Meta).Put(KeyGenerations, value)
}
