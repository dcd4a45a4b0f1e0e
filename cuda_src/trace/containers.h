// What trace.cpp keeps its state in. The containers of the C++ library would do,
// were it not for what they need to throw exceptions: it ties the trace library
// to the glibc of the machine where it is built, and a program in a container
// may have an older one.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// resized gives memory as realloc does. A process without memory is at its end.
inline void *resized(void *old, size_t size) {
    void *to = std::realloc(old, size);
    if (!to) std::fputs("cudaproof trace: out of memory\n", stderr), std::abort();
    return to;
}

// A growing run of values that need no destructor. Zero is the empty one.
template <typename T> struct List {
    T *at;
    size_t count, room;

    void add(const T *values, size_t n) {
        if (n == 0) return;
        if (count + n > room) {
            room = (count + n) * 2;
            at = static_cast<T *>(resized(at, room * sizeof(T)));
        }
        std::memcpy(at + count, values, n * sizeof(T));
        count += n;
    }
    void release() { std::free(at), *this = {}; }
};

// Bytes of a record.
struct Bytes : List<char> {
    Bytes() : List<char>{} {}
    ~Bytes() { release(); }
    Bytes(const Bytes &) = delete;
    Bytes &operator=(const Bytes &) = delete;

    template <typename T> void put(T value) { add(reinterpret_cast<const char *>(&value), sizeof value); }
    // putText adds a text and its zero byte, the empty text for nullptr.
    void putText(const char *text) { add(text ? text : "", text ? std::strlen(text) + 1 : 1); }
};

// The key of a map: up to two numbers or addresses.
struct Key {
    uint64_t a, b;
    bool operator==(const Key &o) const { return a == o.a && b == o.b; }
};
inline Key key(uint64_t a, uint64_t b = 0) { return {a, b}; }
inline Key key(const void *a, uint64_t b = 0) { return {reinterpret_cast<uintptr_t>(a), b}; }

// A hash table with linear probing, of values that need no destructor.
template <typename V> class Map {
    struct Slot {
        Key key;
        bool used;
        V value;
    };
    Slot *slots = nullptr;
    size_t room = 0, count = 0; // room is a power of two

    // slot gives the place of a key or the free one for it.
    Slot *slot(Key k) const {
        uint64_t h = (k.a ^ k.b * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
        for (size_t i = h ^ h >> 32;; i++)
            if (Slot *s = &slots[i & (room - 1)]; !s->used || s->key == k) return s;
    }
    void resize(size_t wanted) {
        Slot *old = slots;
        const size_t n = room;
        room = wanted, slots = static_cast<Slot *>(resized(nullptr, room * sizeof(Slot)));
        std::memset(static_cast<void *>(slots), 0, room * sizeof(Slot));
        for (size_t i = 0; i < n; i++)
            if (old[i].used) *slot(old[i].key) = old[i];
        std::free(old);
    }

  public:
    // find gives nullptr where there is none.
    V *find(Key k) const {
        Slot *s = room ? slot(k) : nullptr;
        return s && s->used ? &s->value : nullptr;
    }
    // at gives the value of a key, zero where there was none.
    V &at(Key k) {
        if (V *v = find(k)) return *v;
        if (count * 2 >= room) resize(room ? room * 2 : 64);
        Slot *s = slot(k);
        s->key = k, s->used = true, count++;
        return s->value;
    }
    template <typename F> void each(F f) {
        for (size_t i = 0; i < room; i++)
            if (slots[i].used) f(slots[i].value);
    }
    // removeIf keeps the values for which f says false.
    template <typename F> void removeIf(F f) {
        size_t removed = 0;
        for (size_t i = 0; i < room; i++)
            if (slots[i].used && f(slots[i].value)) slots[i].used = false, removed++;
        count -= removed;
        if (removed) resize(room); // what lay behind a removed one must be found again
    }
};
