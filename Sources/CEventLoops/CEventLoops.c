// What needs more of the C library than Swift's own view of it has, and so cannot be inline.
#define _GNU_SOURCE
#include "CEventLoops.h"

#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>

// A segment that nothing writes to is as in its file, unless the linker had to write into it.
static int is_as_in_file(const struct dl_phdr_info *object) {
  for (int i = 0; i < object->dlpi_phnum; i++) {
    if (object->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; entry++)
      if (entry->d_tag == DT_TEXTREL || (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL))) return 0;
  }
  return 1;
}

static int release_object(struct dl_phdr_info *object, size_t size, void *unused) {
  (void)size;
  (void)unused;
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  if (!is_as_in_file(object)) return 0;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W)) continue;
    uintptr_t start = (object->dlpi_addr + segment->p_vaddr + page - 1) & ~(page - 1);
    // What lies behind the file's part is not in the file.
    uintptr_t end = (object->dlpi_addr + segment->p_vaddr + segment->p_filesz) & ~(page - 1);
    if (start < end) madvise((void *)start, end - start, MADV_DONTNEED);
  }
  return 0;
}

void event_release_memory(void) {
  malloc_trim(0);
  dl_iterate_phdr(release_object, NULL);
}

int event_pipe(int *ends) { return pipe2(ends, O_CLOEXEC); }

#if __has_feature(thread_sanitizer)
void __tsan_acquire(void *address);
void __tsan_release(void *address);
static char locks[1024];
void event_lock_taken(int number) { __tsan_acquire(&locks[number & 1023]); }
void event_lock_left(int number) { __tsan_release(&locks[number & 1023]); }
#else
void event_lock_taken(int number) { (void)number; }
void event_lock_left(int number) { (void)number; }
#endif
