/* Refuses what FAKE_CUPTI_REFUSES names: "subscribe", "records" or "next_record". */
#include "fake_cuda.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { kRecordBytes = 256, kMostRecords = 1 << 16 };
enum { kNoMoreRecords = 12, kNotPermitted = 35, kOtherSubscriber = 39 };

typedef void Callback(void *user, int domain, uint32_t id, const void *data);

static Callback *callback;
static void *user;
static unsigned char enabled[8][1024];
static void (*buffer_wanted)(uint8_t **, size_t *, size_t *);
static void (*buffer_full)(void *, uint32_t, uint8_t *, size_t, size_t);
static unsigned char is_kind_enabled[64];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of the records */
static unsigned char records[kMostRecords][kRecordBytes];
static size_t record_count;

static int refuses(const char *what) {
  const char *refused = getenv("FAKE_CUPTI_REFUSES");
  return refused && strcmp(refused, what) == 0;
}

static void on_call(int site, uint32_t id, const char *function, const void *parameters,
                    const int *status, const char *symbol, uint64_t *own, uint32_t correlation) {
  const struct {
    int site;
    const char *function;
    const void *parameters;
    const int *status;
    const char *symbol;
    void *context;
    uint32_t context_uid;
    uint64_t *own;
    uint32_t correlation;
  } data = {site, function, parameters, status, symbol, NULL, 1, own, correlation};
  if (callback && enabled[1][id])
    callback(user, 1, id, &data);
}

static void on_node(uint32_t id, const Node *node, const Node *original) {
  const void *graph[7] = {NULL, NULL, node, original};
  const void *data[3] = {NULL, NULL, graph};
  if (callback && enabled[3][id])
    callback(user, 3, id, data);
}

static void on_module(uint32_t id, const void *cubin, size_t size_bytes) {
  const struct {
    uint32_t id;
    size_t size_bytes;
    const void *cubin;
  } module = {1, size_bytes, cubin};
  const void *data[3] = {NULL, NULL, &module};
  if (callback && enabled[3][id])
    callback(user, 3, id, data);
}

static unsigned char *new_record(uint32_t kind, uint64_t ns) {
  unsigned char *record = records[record_count++];
  const uint64_t start = 1000000 + record_count, end = start + ns;
  memset(record, 0, kRecordBytes);
  memcpy(record, &kind, 4);
  memcpy(record + 16, &start, 8);
  memcpy(record + 24, &end, 8);
  return record;
}

static void on_kernel_record(const Node *run, uint32_t correlation) {
  pthread_mutex_lock(&mutex);
  if (is_kind_enabled[10] && record_count < kMostRecords) {
    unsigned char *record = new_record(10, run->kernel->ns);
    memcpy(record + 52, run->grid, 12);
    memcpy(record + 64, run->block, 12);
    memcpy(record + 80, &run->shared_bytes, 4);
    memcpy(record + 92, &correlation, 4);
    memcpy(record + 104, &run->kernel->name, 8);
    memcpy(record + 144, &run->id, 8);
  }
  pthread_mutex_unlock(&mutex);
}

static void on_copy_record(uint32_t kind, uint64_t ns, uint32_t correlation) {
  pthread_mutex_lock(&mutex);
  if (is_kind_enabled[kind] && record_count < kMostRecords)
    memcpy(new_record(kind, ns) + 44, &correlation, 4);
  pthread_mutex_unlock(&mutex);
}

int cuptiSubscribe(void **subscriber, Callback *given, void *given_user) {
  static const Hooks hooks = {on_call, on_node, on_module, on_kernel_record, on_copy_record};
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  void (*attach)(const Hooks *) =
      driver ? (void (*)(const Hooks *))dlsym(driver, "fake_attach") : NULL;
  if (refuses("subscribe"))
    return kOtherSubscriber;
  if (!attach)
    abort();
  *subscriber = &callback;
  callback = given;
  user = given_user;
  attach(&hooks);
  return 0;
}

int cuptiUnsubscribe(void *subscriber) {
  (void)subscriber;
  callback = NULL;
  return 0;
}

int cuptiEnableCallback(uint32_t enable, void *subscriber, int domain, uint32_t id) {
  (void)subscriber;
  if (id > 790) /* functions of a later CUPTI */
    return 1;
  enabled[domain][id] = (unsigned char)enable;
  return 0;
}

int cuptiActivityRegisterCallbacks(void (*wanted)(uint8_t **, size_t *, size_t *),
                                   void (*full)(void *, uint32_t, uint8_t *, size_t, size_t)) {
  buffer_wanted = wanted;
  buffer_full = full;
  return 0;
}

int cuptiActivityEnable(int kind) {
  if (refuses("records"))
    return kNotPermitted;
  is_kind_enabled[kind] = 1;
  return 0;
}

int cuptiActivityDisable(int kind) {
  is_kind_enabled[kind] = 0;
  return 0;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, unsigned char **record) {
  unsigned char *next = *record ? *record + kRecordBytes : buffer;
  if (refuses("next_record") || next >= buffer + valid)
    return kNoMoreRecords;
  *record = next;
  return 0;
}

int cuptiActivityFlushAll(uint32_t flag) {
  (void)flag;
  for (;;) {
    uint8_t *buffer = NULL;
    size_t size = 0, most = 0, count = 0;
    buffer_wanted(&buffer, &size, &most);
    pthread_mutex_lock(&mutex);
    count = record_count < size / kRecordBytes ? record_count : size / kRecordBytes;
    memcpy(buffer, records, count * kRecordBytes);
    memmove(records, records + count, (record_count - count) * kRecordBytes);
    record_count -= count;
    pthread_mutex_unlock(&mutex);
    buffer_full(NULL, 0, buffer, size, count * kRecordBytes);
    if (count == 0)
      return 0;
  }
}

int cuptiGetGraphNodeId(void *node, uint64_t *id) {
  *id = ((const Node *)node)->id;
  return 0;
}
