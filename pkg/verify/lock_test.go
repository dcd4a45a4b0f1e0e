package verify

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestLockProject(t *testing.T) {
	dir := t.TempDir()
	unlock, err := lockProject(t.Context(), dir, func() { t.Error("waited for a free lock") })
	if err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	waited := false
	if _, err := lockProject(ctx, dir, func() { waited = true }); !errors.Is(err, context.DeadlineExceeded) || !waited {
		t.Errorf("second lock: %v, waited %v; want to wait until the deadline", err, waited)
	}

	go func() {
		time.Sleep(50 * time.Millisecond)
		unlock()
	}()
	unlock2, err := lockProject(t.Context(), dir, func() {})
	if err != nil {
		t.Fatalf("after the first was released: %v", err)
	}
	unlock2()
}
