#include "fake_cuda.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { kSuccess = 0, kInvalidValue = 1, kInvalidConfiguration = 9 };
enum { kMostAllocations = 64, kMostThreadsOfBlock = 1024 };

static const Hooks *hooks;
static atomic_uint correlations;
static atomic_ullong node_ids;
static struct {
  Address start;
  size_t size_bytes;
  char *bytes; /* on the host */
} allocations[kMostAllocations];
static unsigned allocation_count;
static Stream capturing;
static Graph graphs[8], *graph;
static unsigned graph_count;

void fake_attach(const Hooks *given) { hooks = given; }

Status cuInit(unsigned flags) {
  static int is_initialized;
  const char *path = getenv("CUDA_INJECTION64_PATH");
  (void)flags;
  if (!is_initialized && path) {
    void *library = dlopen(path, RTLD_NOW);
    int (*initialize)(void) = library ? (int (*)(void))dlsym(library, "InitializeInjection") : NULL;
    if (!initialize)
      abort();
    initialize();
  }
  is_initialized = 1;
  return kSuccess;
}

Status cuDriverGetVersion(int *version) {
  *version = 13000;
  return kSuccess;
}
Status cuCtxGetDevice(int *device) {
  *device = 0;
  return kSuccess;
}
Status cuDeviceGetName(char *name, int size, int device) {
  (void)device;
  strncpy(name, "Fake GPU", (size_t)size);
  return kSuccess;
}
Status cuDeviceGetAttribute(int *value, int attribute, int device) {
  (void)device;
  *value = attribute == 75 ? 9 : 0; /* COMPUTE_CAPABILITY_MAJOR; the minor is 76 */
  return kSuccess;
}

Status cuMemAlloc_v2(Address *address, size_t size_bytes) {
  allocations[allocation_count].start = *address =
      0x7f0000000000 + 0x10000000ull * allocation_count;
  allocations[allocation_count].bytes = calloc(1, size_bytes);
  allocations[allocation_count++].size_bytes = size_bytes;
  return kSuccess;
}

/* The bytes behind an address of the fake GPU, or those of the host. */
static char *bytes_at(Address address) {
  for (unsigned i = 0; i < allocation_count; ++i)
    if (address - allocations[i].start < allocations[i].size_bytes)
      return allocations[i].bytes + (address - allocations[i].start);
  return (char *)address;
}

Status cuStreamCreate(Stream *stream, unsigned flags) {
  (void)flags;
  *stream = (Stream)0x2000;
  return kSuccess;
}
Status cuStreamDestroy_v2(Stream stream) {
  return stream == (Stream)0x2000 ? kSuccess : kInvalidValue;
}
Status cuStreamQuery(Stream stream) {
  return stream ? kSuccess : kInvalidValue; /* the default stream has a handle of its own */
}

/* Memory that is not the driver's has the type 0 and the range 0. */
Status cuPointerGetAttributes(unsigned count, const int *attributes, void **data, Address pointer) {
  for (unsigned i = 0; i < count; ++i) {
    unsigned found = 0;
    while (found < allocation_count &&
           pointer - allocations[found].start >= allocations[found].size_bytes)
      ++found;
    const int known = found < allocation_count;
    switch (attributes[i]) {
    case 2: /* MEMORY_TYPE: device */
      *(unsigned *)data[i] = known ? 2 : 0;
      break;
    case 7: /* BUFFER_ID */
      *(uint64_t *)data[i] = known ? 1000 + 7 * found : 0;
      break;
    case 8: /* IS_MANAGED */
      *(unsigned *)data[i] = 0;
      break;
    case 11: /* RANGE_START_ADDR */
      *(uint64_t *)data[i] = known ? allocations[found].start : 0;
      break;
    case 12: /* RANGE_SIZE */
      *(size_t *)data[i] = known ? allocations[found].size_bytes : 0;
      break;
    case 17: /* MEMPOOL_HANDLE */
      *(void **)data[i] = NULL;
      break;
    default:
      return kInvalidValue;
    }
  }
  return kSuccess;
}

Status cuFuncGetParamInfo(const Kernel *kernel, size_t index, size_t *offset, size_t *size) {
  if (index >= kernel->parameter_count)
    return kInvalidValue;
  *offset = 0;
  for (size_t i = 0; i <= index; ++i) {
    *size = kernel->sizes[i];
    *offset = (*offset + *size - 1) / *size * *size;
    *offset += i < index ? *size : 0;
  }
  return kSuccess;
}

/* The text stands for the cubin. */
Status cuModuleLoadData(void **module, const char *text) {
  static int loaded;
  *module = &loaded;
  if (hooks)
    hooks->module(6, text, strlen(text));
  return kSuccess;
}

Status cuModuleUnload(void *module) {
  (void)module;
  if (hooks)
    hooks->module(7, NULL, 0);
  return kSuccess;
}

Status cuStreamIsCapturing(Stream stream, int *status) {
  *status = stream && stream == capturing;
  return kSuccess;
}

static Status launch(uint32_t id, const char *name, const void *parameters, const Node *node,
                     Stream stream) {
  uint64_t own = 0xdead;
  const uint32_t correlation = ++correlations;
  Status status = kSuccess;
  if (hooks)
    hooks->call(0, id, name, parameters, NULL, node->kernel->name, &own, correlation);
  if (node->block[0] > kMostThreadsOfBlock) {
    status = kInvalidConfiguration;
  } else if (stream && stream == capturing) {
    Node *added = &graph->nodes[graph->count++];
    *added = *node;
    added->id = ++node_ids;
    if (hooks)
      hooks->node(13, added, NULL);
  } else if (hooks) {
    hooks->kernel_record(node, correlation);
  }
  if (hooks)
    hooks->call(1, id, name, parameters, &status, node->kernel->name, &own, correlation);
  return status;
}

Status cuLaunchKernel(const Kernel *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                      unsigned by, unsigned bz, unsigned shared_bytes, Stream stream,
                      void **parameters, void **extra) {
  const struct {
    const Kernel *kernel;
    unsigned numbers[7];
    Stream stream;
    void **parameters, **extra;
  } call = {kernel, {gx, gy, gz, bx, by, bz, shared_bytes}, stream, parameters, extra};
  const Node node = {0, kernel, {gx, gy, gz}, {bx, by, bz}, shared_bytes};
  return launch(307, "cuLaunchKernel", &call, &node, stream);
}

Status cuLaunchCooperativeKernel(const Kernel *kernel, unsigned gx, unsigned gy, unsigned gz,
                                 unsigned bx, unsigned by, unsigned bz, unsigned shared_bytes,
                                 Stream stream, void **parameters) {
  const struct {
    const Kernel *kernel;
    unsigned numbers[7];
    Stream stream;
    void **parameters;
  } call = {kernel, {gx, gy, gz, bx, by, bz, shared_bytes}, stream, parameters};
  const Node node = {0, kernel, {gx, gy, gz}, {bx, by, bz}, shared_bytes};
  return launch(477, "cuLaunchCooperativeKernel", &call, &node, stream);
}

Status cuLaunchKernelEx(const Config *config, const Kernel *kernel, void **parameters,
                        void **extra) {
  const struct {
    const Config *config;
    const Kernel *kernel;
    void **parameters, **extra;
  } call = {config, kernel, parameters, extra};
  Node node = {0, kernel, {0}, {0}, config->shared_bytes};
  memcpy(node.grid, config->grid, sizeof node.grid);
  memcpy(node.block, config->block, sizeof node.block);
  return launch(652, "cuLaunchKernelEx", &call, &node, config->stream);
}

static Status copy(uint32_t id, const char *name, const void *parameters, uint32_t kind) {
  uint64_t own = 0;
  const uint32_t correlation = ++correlations;
  const Status status = kSuccess;
  if (!hooks)
    return status;
  hooks->call(0, id, name, parameters, NULL, NULL, &own, correlation);
  hooks->copy_record(kind, 500, correlation);
  hooks->call(1, id, name, parameters, &status, NULL, &own, correlation);
  return status;
}

Status cuMemcpyAsync(Address to, Address from, size_t size_bytes, Stream stream) {
  const uint64_t call[] = {to, from, size_bytes, (uint64_t)stream};
  memcpy(bytes_at(to), bytes_at(from), size_bytes);
  return copy(305, "cuMemcpyAsync", call, 2);
}
Status cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t size_bytes, Stream stream) {
  memcpy(bytes_at(to), from, size_bytes);
  const uint64_t call[] = {to, (uint64_t)from, size_bytes, (uint64_t)stream};
  return copy(277, "cuMemcpyHtoDAsync_v2", call, 1);
}
Status cuMemcpyDtoH_v2(void *to, Address from, size_t size_bytes) {
  const uint64_t call[] = {(uint64_t)to, from, size_bytes};
  return copy(278, "cuMemcpyDtoH_v2", call, 1);
}
Status cuMemsetD32_v2(Address to, unsigned value, size_t count) {
  const uint64_t call[] = {to, value, count};
  return copy(251, "cuMemsetD32_v2", call, 2);
}

Status cuStreamBeginCapture_v2(Stream stream, int mode) {
  (void)mode;
  capturing = stream;
  graph = &graphs[graph_count++];
  return kSuccess;
}

Status cuStreamEndCapture(Stream stream, Graph **result) {
  (void)stream;
  capturing = NULL;
  *result = graph;
  return kSuccess;
}

Status cuGraphInstantiateWithFlags(Graph **executable, Graph *from, unsigned long long flags) {
  (void)flags;
  *executable = &graphs[graph_count++];
  **executable = *from;
  for (unsigned i = 0; i < from->count; ++i) {
    (*executable)->nodes[i].id = ++node_ids;
    if (hooks)
      hooks->node(20, &(*executable)->nodes[i], &from->nodes[i]);
  }
  return kSuccess;
}

Status cuGraphLaunch(Graph *executable, Stream stream) {
  const struct {
    Graph *executable;
    Stream stream;
  } call = {executable, stream};
  uint64_t own = 0;
  const uint32_t correlation = ++correlations;
  const Status status = kSuccess;
  if (!hooks)
    return status;
  hooks->call(0, 514, "cuGraphLaunch", &call, NULL, NULL, &own, correlation);
  for (unsigned i = 0; i < executable->count; ++i)
    hooks->kernel_record(&executable->nodes[i], correlation);
  hooks->call(1, 514, "cuGraphLaunch", &call, &status, NULL, &own, correlation);
  return status;
}
