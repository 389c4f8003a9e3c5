package themes

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const smallest = `{"base": "dark"}`

// Theme files may have up to maxFile bytes.
func TestThemeFilesAreBounded(t *testing.T) {
	for n, fits := range map[int]bool{maxFile - 1: true, maxFile: true, maxFile + 1: false} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a.json"), []byte(smallest+strings.Repeat(" ", n-len(smallest))), 0o600); err != nil {
			t.Fatal(err)
		}
		found, err := ReadDir(dir)
		if fits != (len(found) == 1) || fits != (err == nil) || !fits && (!errors.Is(err, ErrFile) || !strings.Contains(err.Error(), "a.json: longer than 65536 bytes")) {
			t.Errorf("%d bytes: %d themes, %v", n, len(found), err)
		}
	}
}

// A directory may have up to maxFiles themes; one more does not hide the others.
func TestThemesAreBounded(t *testing.T) {
	dir := t.TempDir()
	for n := 1; n <= maxFiles+1; n++ {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("t%03d.json", n)), []byte(smallest), 0o600); err != nil {
			t.Fatal(err)
		}
		if n < maxFiles-1 {
			continue
		}
		found, err := ReadDir(dir)
		if len(found) != min(n, maxFiles) || (n <= maxFiles) != (err == nil) || err != nil && !strings.Contains(err.Error(), "has more than 100; the rest is left out") {
			t.Errorf("%d files: %d themes, %v", n, len(found), err)
		}
	}
}
