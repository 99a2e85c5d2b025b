/* A driver and a CUPTI without a GPU, for captured programs in tests.
 *
 * fake_cuda.c is the driver: it loads the injection library as a real driver does, hands out
 * addresses that nothing lies behind, and reports calls and GPU records to fake_cupti.c. Ids and
 * layouts are those of NVIDIA's headers, written here a second time, so that a test does not repeat
 * an error of the library. GPU times are those that the kernel's table names. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct Kernel {
  const char *name;
  unsigned parameter_count;
  size_t sizes[4];
  uint64_t ns; /* each run takes this long */
} Kernel;

typedef struct Node {
  uint64_t id;
  const Kernel *kernel;
  unsigned grid[3], block[3], shared_bytes;
} Node;

typedef struct Graph {
  Node nodes[16];
  unsigned count;
} Graph;

typedef int Status;
typedef uint64_t Address;
typedef void *Stream;

typedef struct Attribute {
  int id, padding;
  union {
    char bytes[64];
    unsigned cluster[3];
    int number;
  };
} Attribute;

typedef struct Config {
  unsigned grid[3], block[3], shared_bytes;
  Stream stream;
  Attribute *attributes;
  unsigned count;
} Config;

/* Functions of CUPTI for the driver: null while nothing is subscribed. */
typedef struct Hooks {
  void (*call)(int site, uint32_t id, const char *function, const void *parameters,
               const int *status, const char *symbol, uint64_t *own, uint32_t correlation);
  void (*node)(uint32_t id, const Node *node, const Node *original);
  void (*module)(uint32_t id, const void *cubin, size_t size_bytes);
  void (*kernel_record)(const Node *run, uint32_t correlation);
  void (*copy_record)(uint32_t kind, uint64_t ns, uint32_t correlation);
} Hooks;

void fake_attach(const Hooks *hooks);

Status cuInit(unsigned flags);
Status cuMemAlloc_v2(Address *address, size_t size_bytes);
Status cuModuleLoadData(void **module, const char *text);
Status cuModuleUnload(void *module);
Status cuLaunchKernel(const Kernel *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      unsigned, Stream, void **, void **);
Status cuLaunchKernelEx(const Config *, const Kernel *, void **, void **);
Status cuLaunchCooperativeKernel(const Kernel *, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 unsigned, unsigned, Stream, void **);
Status cuMemcpyHtoDAsync_v2(Address, const void *, size_t, Stream);
Status cuMemcpyDtoH_v2(void *, Address, size_t);
Status cuMemsetD32_v2(Address, unsigned, size_t);
Status cuStreamBeginCapture_v2(Stream, int);
Status cuStreamEndCapture(Stream, Graph **);
Status cuGraphInstantiateWithFlags(Graph **, Graph *, unsigned long long);
Status cuGraphLaunch(Graph *, Stream);
