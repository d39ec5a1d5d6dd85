// SPDX-License-Identifier: MIT
// Preloaded by a test of the Python package: ends the program if the package calls a function of
// the C interface with the GIL. A callback of the driver may wait for the GIL while it holds a lock
// that HIP takes. GIL_CHECK_LIBRARY is the path of the library. The test reads the number of calls
// at its end: without any, it has checked nothing.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int32_t roc_function(intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t);
typedef int python_function(void);

static atomic_long count;

// Returns the number of checked calls.
__attribute__((visibility("default"))) long gil_check_count(void) { return atomic_load(&count); }

// Returns a function of Python; null if this version does not have it.
static python_function* find_in_python(char const* name) {
  void* const address = dlsym(RTLD_DEFAULT, name);
  python_function* result;
  memcpy(&result, &address, sizeof result);
  return result;
}

static int holds_gil(void) {
  python_function* is_ending = find_in_python("Py_IsFinalizing");
  if (is_ending == NULL) is_ending = find_in_python("_Py_IsFinalizing");
  // The main thread keeps the GIL while the interpreter ends.
  return find_in_python("PyGILState_Check")() && !is_ending();
}

// Returns the library's function of the name, after the check.
static roc_function* find_checked(char const* name) {
  atomic_fetch_add(&count, 1);
  if (holds_gil()) {
    fprintf(stderr, "gil_check: %s was called with the GIL\n", name);
    abort();
  }
  // Python loads the library locally: dlsym(RTLD_NEXT, ...) does not find its functions.
  char const* const path = getenv("GIL_CHECK_LIBRARY");
  void* const library = path != NULL ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
  void* const address = library != NULL ? dlsym(library, name) : NULL;
  if (address == NULL) {
    fprintf(stderr, "gil_check: %s has no function %s\n", path != NULL ? path : "no library", name);
    abort();
  }
  dlclose(library);
  roc_function* result;
  memcpy(&result, &address, sizeof result);
  return result;
}

// The functions have at most six parameters, all of them integers or addresses.
#define CHECKED(name)                                                                       \
  roc_function name;                                                                        \
  __attribute__((visibility("default"))) int32_t name(intptr_t a, intptr_t b, intptr_t c,   \
                                                      intptr_t d, intptr_t e, intptr_t f) { \
    return find_checked(#name)(a, b, c, d, e, f);                                           \
  }

CHECKED(roc_allocate)
CHECKED(roc_allocate_host)
CHECKED(roc_copy)
CHECKED(roc_copy_async)
CHECKED(roc_deregister)
CHECKED(roc_device_count)
CHECKED(roc_event_create)
CHECKED(roc_event_create_timed)
CHECKED(roc_event_destroy)
CHECKED(roc_event_elapsed_time)
CHECKED(roc_event_query)
CHECKED(roc_event_record)
CHECKED(roc_event_synchronize)
CHECKED(roc_fill)
CHECKED(roc_fill_async)
CHECKED(roc_free)
CHECKED(roc_free_host)
CHECKED(roc_get_device)
CHECKED(roc_record_stream)
CHECKED(roc_register_host)
CHECKED(roc_set_device)
CHECKED(roc_stream_create)
CHECKED(roc_stream_destroy)
CHECKED(roc_stream_device)
CHECKED(roc_stream_from_native)
CHECKED(roc_stream_native)
CHECKED(roc_stream_per_thread)
CHECKED(roc_stream_query)
CHECKED(roc_stream_synchronize)
CHECKED(roc_stream_wait)
CHECKED(roc_synchronize_device)
CHECKED(roc_zero)
CHECKED(roc_zero_async)
