// Start of a program on glibc before 2.34: the program itself runs its constructors.
//
// Since 2.34 the C library runs them, and crt1.o no longer passes a function that does so. The linker
// replaces crt1.o's call by this one (--wrap, cmake/portable.cmake). A newer glibc accepts the function
// too, and then runs no constructors itself.
#include <stddef.h>

typedef void (*constructor)(int, char **, char **);
extern constructor __init_array_start[], __init_array_end[]; // defined by the linker
void _init(void);                                            // from crti.o

static void run_constructors(int count, char **arguments, char **environment) {
  _init();
  for (constructor *one = __init_array_start; one != __init_array_end; ++one)
    (*one)(count, arguments, environment);
}

int __real___libc_start_main(int (*)(int, char **, char **), int, char **, constructor,
                             void (*)(void), void (*)(void), void *);

int __wrap___libc_start_main(int (*main)(int, char **, char **), int count, char **arguments,
                             constructor init, void (*fini)(void), void (*loader_fini)(void),
                             void *stack_end) {
  (void)init;
  (void)fini; // the loader runs the destructors
  return __real___libc_start_main(main, count, arguments, run_constructors, NULL, loader_fini,
                                  stack_end);
}
