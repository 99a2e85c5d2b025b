// Functions of glibc after 2.28 that our programs and the archives in them call, in terms of 2.28.
//
// Linked statically where WARPWRIGHT_GLIBC asks for an older C library (cmake/portable.cmake). All
// symbols are hidden, so nothing outside of the program sees them. Where the machine's glibc has the
// function and the substitute is worse, the machine's is used. Thread: any.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

// The stat family, before 2.33: the first argument is the version of struct stat.
int __xstat(int, const char *, struct stat *);
int __lxstat(int, const char *, struct stat *);
int __fxstat(int, int, struct stat *);
int __fxstatat(int, int, const char *, struct stat *, int);
int __xmknod(int, const char *, mode_t, dev_t *);
#ifdef __x86_64__
enum { kStatVersion = 1 };
#else
enum { kStatVersion = 0 };
#endif
enum { kNodeVersion = 0 };

int stat(const char *path, struct stat *out) { return __xstat(kStatVersion, path, out); }
int lstat(const char *path, struct stat *out) { return __lxstat(kStatVersion, path, out); }
int fstat(int file, struct stat *out) { return __fxstat(kStatVersion, file, out); }
int fstatat(int folder, const char *path, struct stat *out, int flags) {
  return __fxstatat(kStatVersion, folder, path, out, flags);
}
int mknod(const char *path, mode_t mode, dev_t device) {
  return __xmknod(kNodeVersion, path, mode, &device);
}
// On 64-bit systems both structures are the same.
int stat64(const char *path, struct stat64 *out) { return stat(path, (struct stat *)out); }
int lstat64(const char *path, struct stat64 *out) { return lstat(path, (struct stat *)out); }
int fstat64(int file, struct stat64 *out) { return fstat(file, (struct stat *)out); }

/// Called by std::random_device. Since 2.36.
uint32_t arc4random(void) {
  uint32_t value;
  if (getrandom(&value, sizeof value, 0) != (ssize_t)sizeof value)
    abort(); // requests up to 256 bytes are neither cut nor interrupted
  return value;
}

/// Called by LLVM for statistics. Since 2.33.
struct mallinfo2 mallinfo2(void) {
  const struct mallinfo old = mallinfo();
  return (struct mallinfo2){.arena = (unsigned)old.arena,       .ordblks = (unsigned)old.ordblks,
                            .smblks = (unsigned)old.smblks,     .hblks = (unsigned)old.hblks,
                            .hblkhd = (unsigned)old.hblkhd,     .usmblks = (unsigned)old.usmblks,
                            .fsmblks = (unsigned)old.fsmblks,   .uordblks = (unsigned)old.uordblks,
                            .fordblks = (unsigned)old.fordblks, .keepcost = (unsigned)old.keepcost};
}

/// 0: the C++ library then counts references atomically, always. Since 2.32.
char __libc_single_threaded = 0;

struct search {
  uintptr_t address;
  struct dl_find_object *found;
};

/// dl_iterate_phdr's callback. Returns 1 at the object that holds the address.
static int find_in_object(struct dl_phdr_info *info, size_t size, void *data) {
  const struct search *search = data;
  (void)size;
  uintptr_t begin = 0, end = 0;
  void *unwind_table = NULL;
  int holds_address = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) *header = info->dlpi_phdr + i;
    const uintptr_t place = info->dlpi_addr + header->p_vaddr;
    if (header->p_type == PT_LOAD) {
      if (!end)
        begin = place;
      end = place + header->p_memsz;
      holds_address |= search->address >= place && search->address < end;
    }
    if (header->p_type == PT_GNU_EH_FRAME)
      unwind_table = (void *)place;
  }
  if (!holds_address || !unwind_table)
    return 0;
  *search->found = (struct dl_find_object){.dlfo_map_start = (void *)begin,
                                           .dlfo_map_end = (void *)end,
                                           .dlfo_eh_frame = unwind_table};
  return 1;
}

/// Called by GCC's unwinder for each exception. Since 2.35.
int _dl_find_object(void *address, struct dl_find_object *found) {
  // That of a newer glibc is many times faster, which counts where an exception leaves a deep stack.
  typedef int (*find_function)(void *, struct dl_find_object *);
  static _Atomic(find_function) installed;
  static _Atomic(int) looked_up;
  if (!looked_up) {
    installed = (find_function)dlsym(RTLD_DEFAULT, "_dl_find_object");
    looked_up = 1;
  }
  const find_function find = installed;
  if (find && find != _dl_find_object)
    return find(address, found);
  struct search search = {(uintptr_t)address, found};
  return dl_iterate_phdr(find_in_object, &search) ? 0 : -1;
}

/// Called by std::condition_variable::wait_for. Since 2.30. Before, waits take the wall clock, so
/// a step of that clock changes the length of the wait.
int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                           const struct timespec *until) {
  typedef int (*wait_function)(pthread_cond_t *, pthread_mutex_t *, clockid_t,
                               const struct timespec *);
  static _Atomic(wait_function) installed;
  static _Atomic(int) looked_up;
  if (!looked_up) {
    installed = (wait_function)dlsym(RTLD_DEFAULT, "pthread_cond_clockwait");
    looked_up = 1;
  }
  const wait_function wait = installed;
  if (wait)
    return wait(condition, mutex, clock, until);
  enum { kSecond = 1000000000 };
  struct timespec now, wall;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &wall);
  int64_t left_ns = (int64_t)(until->tv_sec - now.tv_sec) * kSecond + until->tv_nsec - now.tv_nsec;
  left_ns = (left_ns > 0 ? left_ns : 0) + wall.tv_nsec;
  wall.tv_sec += left_ns / kSecond;
  wall.tv_nsec = left_ns % kSecond;
  return pthread_cond_timedwait(condition, mutex, &wall);
}
