// Programs to capture on a real GPU, by name. Each ends with the status 7, but `killed`.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

void check(cudaError_t status) {
  if (status != cudaSuccess) {
    std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
    std::exit(1);
  }
}

constexpr int kCount = 4096;

__global__ void scale(float *x, int n, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] *= factor;
}

struct Range {
  const float *begin;
  long long count;
};

__global__ void total(Range range, float *out) {
  float sum = 0;
  for (long long i = threadIdx.x; i < range.count; i += blockDim.x)
    sum += range.begin[i];
  atomicAdd(out, sum);
}

float *allocated(std::size_t count) {
  float *memory;
  check(cudaMalloc(&memory, count * sizeof(float)));
  return memory;
}

void scale_on(cudaStream_t stream, float *x) {
  scale<<<kCount / 256, 256, 0, stream>>>(x, kCount, 0.5F);
  check(cudaGetLastError());
}

void launches(int count) {
  float *x = allocated(kCount), *out = allocated(1);
  check(cudaMemset(x, 0, kCount * sizeof(float)));
  for (int i = 0; i < count; ++i)
    scale_on(nullptr, x);
  for (int i = 0; i < 9; ++i)
    total<<<1, 128>>>({x + 1024, kCount - 1024}, out);
  float host = 0;
  check(cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost));
}

void graph() {
  float *x = allocated(kCount), *out = allocated(1);
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  check(cudaStreamCreate(&stream));
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  scale_on(stream, x);
  total<<<1, 128, 0, stream>>>({x, kCount}, out);
  scale_on(stream, x);
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < 5; ++i)
    check(cudaGraphLaunch(executable, stream));
  check(cudaStreamSynchronize(stream));
}

void memories() {
  float *managed, *pool, *host;
  check(cudaMallocManaged(&managed, kCount * sizeof(float)));
  check(cudaMallocAsync(&pool, kCount * sizeof(float), nullptr));
  check(cudaMallocHost(&host, kCount * sizeof(float)));
  for (float *one : {managed, pool, host})
    scale_on(nullptr, one);
  check(cudaDeviceSynchronize());
}

void fork_and_run(const char *self) {
  const pid_t child = fork();
  if (child == 0) {
    execl(self, self, "launches", "100", nullptr);
    _exit(1);
  }
  launches(50);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 7)
    std::exit(1);
}

void killed() {
  launches(100);
  check(cudaDeviceSynchronize());
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  std::raise(SIGKILL);
}

/// Prints the nanoseconds of a launch of a program that waits after each thousand.
void cost(int count) {
  float *x = allocated(kCount);
  const auto run = [x](int launches) {
    for (int i = 0; i < launches; ++i) {
      scale_on(nullptr, x);
      if (i % 1000 == 999)
        check(cudaDeviceSynchronize());
    }
    check(cudaDeviceSynchronize());
  };
  run(2000);
  const auto begin = std::chrono::steady_clock::now();
  run(count);
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  std::printf("%.0f\n", took.count() / count);
}

} // namespace

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  const int count = argc > 2 ? std::atoi(argv[2]) : 100;
  if (!std::strcmp(what, "launches"))
    launches(count);
  else if (!std::strcmp(what, "graph"))
    graph();
  else if (!std::strcmp(what, "memories"))
    memories();
  else if (!std::strcmp(what, "fork"))
    fork_and_run(argv[0]);
  else if (!std::strcmp(what, "killed"))
    killed();
  else if (!std::strcmp(what, "cost"))
    cost(count);
  else
    return 1;
  return 7;
}
