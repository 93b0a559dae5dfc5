package runtimes

import "sync"

// memo is a small concurrent map of things that were found out once and can be
// checked cheaply. When it grows too large it forgets everything.
type memo[K comparable, V any] struct {
	mu sync.Mutex
	m  map[K]V
}

func newMemo[K comparable, V any]() *memo[K, V] { return &memo[K, V]{m: map[K]V{}} }

func (m *memo[K, V]) get(k K) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.m[k]
	return v, ok
}

func (m *memo[K, V]) put(k K, v V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.m) >= maxCacheEntries {
		clear(m.m)
	}
	m.m[k] = v
}

func (m *memo[K, V]) drop(k K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.m, k)
}
