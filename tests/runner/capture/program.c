/* Programs to capture, by name. Each prints a line and ends with the status 7. */
#include "fake_cuda.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const Kernel kScale = {"_Z5scalePfif", 3, {8, 4, 4}, 2000};
static const Kernel kSum = {"_Z3sumPKfPf", 2, {8, 8}, 3000};
static const Kernel kPack = {"_Z4pack6Params", 1, {24}, 100};
static Address input, output;
static const Stream kStream = (Stream)0x1000;

static void allocate(void) {
  cuInit(0);
  cuMemAlloc_v2(&input, 4096);
  cuMemAlloc_v2(&output, 1024);
}

static Status scale(Address x, int n, unsigned grid, Stream stream) {
  float factor = 2;
  void *parameters[] = {&x, &n, &factor};
  return cuLaunchKernel(&kScale, grid, 1, 1, 256, 1, 1, 64, stream, parameters, NULL);
}

static Status sum(Stream stream) {
  void *parameters[] = {&input, &output};
  return cuLaunchKernel(&kSum, 1, 1, 1, 128, 1, 1, 0, stream, parameters, NULL);
}

/* Two kernels that a program loads at one address, one after the other. */
static void modules(void) {
  allocate();
  static Kernel kernel = {"_Z5firsti", 1, {4}, 10};
  void *module = NULL;
  int number = 1;
  double wide = 1;
  void *parameters[] = {&number};
  cuModuleLoadData(&module, "the first cubin");
  cuLaunchKernel(&kernel, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL);
  cuModuleUnload(module);
  kernel = (Kernel){"_Z6secondd", 1, {8}, 10};
  parameters[0] = &wide;
  cuModuleLoadData(&module, "the second cubin");
  cuModuleLoadData(&module, "the first cubin");
  cuLaunchKernel(&kernel, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL);
}

static void launches(void) {
  allocate();
  char host[4096] = {0};
  cuMemcpyHtoDAsync_v2(input, host, sizeof host, kStream);
  cuMemsetD32_v2(output, 0, 256);
  for (int i = 0; i < 100; ++i)
    scale(input, 1000, 4, NULL);
  for (int i = 0; i < 3; ++i)
    sum(kStream);
  scale(input + 512, 1000, 4, NULL);
  cuMemcpyDtoH_v2(host, output, 1024);
}

/* A buffer that is zero at the first launch, ascending at the second, a permutation at the third. */
static void contents(void) {
  allocate();
  int numbers[1024];
  for (int run = 0; run < 3; ++run) {
    for (int i = 0; i < 1024; ++i)
      numbers[i] = run == 0 ? 0 : run == 1 ? 2 * i : 5 * i % 1024;
    cuMemcpyHtoDAsync_v2(input, numbers, sizeof numbers, kStream);
    scale(input, 1024, 4, NULL);
  }
}

/* The other ways to launch, a refused launch, and parameters as one buffer. */
static void forms(void) {
  allocate();
  void *parameters[] = {&input, &output};
  Attribute attributes[] = {{.id = 4, .cluster = {2, 1, 1}}, {.id = 2, .number = 1}};
  const Config config = {{8, 1, 1}, {32, 1, 1}, 16, kStream, attributes, 2};
  cuLaunchKernelEx(&config, &kSum, parameters, NULL);
  cuLaunchCooperativeKernel(&kSum, 2, 1, 1, 32, 1, 1, 0, kStream, parameters);
  struct {
    int n;
    Address x;
    double value;
  } packed = {5, output + 8, 1};
  size_t size = sizeof packed;
  void *extra[] = {(void *)1, &packed, (void *)2, &size, NULL};
  cuLaunchKernel(&kPack, 1, 1, 1, 1, 1, 1, 0, kStream, NULL, extra);
  if (cuLaunchKernel(&kSum, 1, 1, 1, 2048, 1, 1, 0, kStream, parameters, NULL) == 0)
    abort();
}

static void graph(void) {
  allocate();
  Graph *captured = NULL, *executable = NULL;
  cuStreamBeginCapture_v2(kStream, 0);
  scale(input, 500, 2, kStream);
  sum(kStream);
  scale(input, 500, 2, kStream);
  cuStreamEndCapture(kStream, &captured);
  cuGraphInstantiateWithFlags(&executable, captured, 0);
  sum(kStream);
  for (int i = 0; i < 5; ++i)
    cuGraphLaunch(executable, kStream);
}

static void *many(void *unused) {
  (void)unused;
  for (int i = 0; i < 1000; ++i)
    scale(input, i % 2, 4, NULL);
  return NULL;
}

static void threads(void) {
  pthread_t started[4];
  allocate();
  for (int i = 0; i < 4; ++i)
    pthread_create(&started[i], NULL, many, NULL);
  for (int i = 0; i < 4; ++i)
    pthread_join(started[i], NULL);
}

/* Runs until it is killed, or until the file exists. */
static void waiting(const char *file) {
  allocate();
  for (int i = 0; i < 1000; ++i)
    scale(input, 1000, 4, NULL);
  while (access(file, F_OK) != 0)
    usleep(1000);
  sum(kStream);
}

/* A child is this program anew. */
static void children(const char *self) {
  allocate();
  sum(kStream);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    execl(self, self, "launches", (char *)NULL);
    _exit(1);
  }
  waitpid(child, NULL, 0);
  sum(kStream);
}

/* A child that only forks ends while the parent's record has no end. */
static void forked(void) {
  allocate();
  sum(kStream);
  const pid_t child = fork();
  if (child == 0)
    exit(0);
  waitpid(child, NULL, 0);
  _exit(7);
}

/* Counts threads besides the main one that would take the program's signals. */
static int signal_threads(void) {
  int count = 0;
  DIR *tasks = opendir("/proc/self/task");
  for (const struct dirent *task; (task = readdir(tasks));) {
    char path[300], line[300];
    unsigned long long blocked = ~0ull;
    snprintf(path, sizeof path, "/proc/self/task/%s/status", task->d_name);
    FILE *status =
        atoi(task->d_name) > 0 && atoi(task->d_name) != getpid() ? fopen(path, "r") : NULL;
    while (status && fgets(line, sizeof line, status))
      sscanf(line, "SigBlk: %llx", &blocked);
    if (status)
      fclose(status);
    count += !(blocked >> (SIGUSR1 - 1) & 1);
  }
  closedir(tasks);
  return count;
}

int main(int count, char **arguments) {
  const char *name = count > 1 ? arguments[1] : "";
  if (getenv("LOAD_CUPTI") && !dlopen(getenv("LOAD_CUPTI"), RTLD_NOW))
    abort();
  errno = 123;
  if (strcmp(name, "launches") == 0)
    launches();
  else if (strcmp(name, "modules") == 0)
    modules();
  else if (strcmp(name, "contents") == 0)
    contents();
  else if (strcmp(name, "forms") == 0)
    forms();
  else if (strcmp(name, "graph") == 0)
    graph();
  else if (strcmp(name, "threads") == 0)
    threads();
  else if (strcmp(name, "waiting") == 0)
    waiting(arguments[2]);
  else if (strcmp(name, "forked") == 0)
    forked();
  else if (strcmp(name, "children") == 0)
    children(arguments[0]);
  const int kept = errno;
  printf("%s: errno %d, signal threads %d\n", name, kept, signal_threads());
  return 7;
}
