package tool

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// CacheFolder makes the folder for programs that are built once, and makes sure
// that nobody else can put a program there.
func CacheFolder() (string, error) {
	const hint = "set XDG_CACHE_HOME to a folder of your own"
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache folder: %w; %s", err, hint)
	}
	dir := filepath.Join(cache, "cudaproof")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("cache folder: %w; %s", err, hint)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", fmt.Errorf("cache folder: %w; %s", err, hint)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !ok || int(stat.Uid) != os.Geteuid() {
		return "", fmt.Errorf("cache folder %s is not a folder of this user with mode 0700 (it is %v, owner %d), so programs in it are not trusted; "+
			"remove it, or %s", dir, info.Mode(), stat.Uid, hint)
	}
	return dir, nil
}
