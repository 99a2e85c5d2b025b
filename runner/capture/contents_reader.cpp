#include "runner/capture/contents_reader.h"

#include "runner/capture/value_statistics.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace warpwright::capture {
namespace {

constexpr std::uint64_t kMostOfBuffer = 64 << 20, kMostOfRun = 2ull << 30;
constexpr std::chrono::seconds kLongestWait{2};
constexpr cuda::Status kNotReady = 600; ///< CUDA_ERROR_NOT_READY
constexpr unsigned kNonBlocking = 1;    ///< CU_STREAM_NON_BLOCKING

std::string key_of(const std::string &kernel, const Dimensions &grid, const Dimensions &block) {
  std::string key = kernel;
  for (const Dimensions &dimensions : {grid, block})
    for (const std::uint32_t size : dimensions)
      key += ' ' + std::to_string(size);
  return key;
}

} // namespace

ContentsReader::ContentsReader(std::vector<WantedLaunch> wanted, std::filesystem::path folder)
    : folder_(std::move(folder)), library_({"libcuda.so.1"}) {
  for (const WantedLaunch &one : wanted)
    runs_[key_of(one.kernel, one.grid, one.block)].wanted.push_back(one.run);
  library_.bind(stream_query_, "cuStreamQuery");
  library_.bind(create_stream_, "cuStreamCreate");
  library_.bind(destroy_stream_, "cuStreamDestroy_v2");
  library_.bind(copy_, "cuMemcpyAsync");
}

std::optional<WantedLaunch> ContentsReader::counted(const Launch &launch) {
  const std::lock_guard lock(mutex_);
  const auto found = runs_.find(key_of(launch.kernel, launch.grid, launch.block));
  if (found == runs_.end())
    return std::nullopt;
  const std::uint64_t run = found->second.seen++;
  if (std::ranges::find(found->second.wanted, run) == found->second.wanted.end())
    return std::nullopt;
  return WantedLaunch{launch.kernel, launch.grid, launch.block, run};
}

std::string ContentsReader::wait(cuda::CUstream stream) const {
  const auto until = std::chrono::steady_clock::now() + kLongestWait;
  cuda::Status status = kNotReady;
  while ((status = stream_query_(stream)) == kNotReady && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  return status == 0           ? ""
         : status == kNotReady ? "the stream was busy for 2 s"
                               : "the driver gave error " + std::to_string(status);
}

std::string ContentsReader::copy(void *to, std::uint64_t from, std::size_t size_bytes) const {
  cuda::CUstream stream = nullptr; // one of our own, which waits for no other work
  if (const cuda::Status status = create_stream_(&stream, kNonBlocking); status != 0)
    return "the driver gave error " + std::to_string(status);
  const cuda::Status status = copy_(reinterpret_cast<std::uint64_t>(to), from, size_bytes, stream);
  std::string problem = status == 0 ? wait(stream) : "the driver gave error " + std::to_string(status);
  destroy_stream_(stream);
  return problem;
}

void ContentsReader::look(const LaunchCall &call, const Launch &launch, bool is_captured,
                          const std::function<void(const std::string &, const std::string &)> &skip) {
  const auto wanted = counted(launch);
  if (!wanted)
    return;
  const std::string what = "contents of buffers";
  if (is_captured)
    return skip(what, "the launch is captured into a graph");
  if (!launch.parameters || !stream_query_ || !create_stream_ || !destroy_stream_ || !copy_)
    return skip(what, "the driver lacks a function");
  const auto stream = DriverFacts::named_stream(call.config.stream, call.per_thread);
  if (const std::string problem = wait(stream); !problem.empty())
    return skip(what, problem);
  std::vector<std::uint64_t> bytes;
  std::string lines;
  for (std::size_t i = 0; i < launch.parameters->size(); ++i)
    for (const Pointer &pointer : (*launch.parameters)[i].pointers) {
      const std::uint64_t extent = extent_of(pointer, launch), seen = std::min(extent, kMostOfBuffer);
      if (seen == 0)
        continue;
      if (seen_bytes_.fetch_add(seen) + seen > kMostOfRun)
        return skip(what, "those before have 2 GiB");
      bytes.resize((seen + 7) / 8);
      if (const std::string problem = copy(bytes.data(), pointer.address, seen); !problem.empty()) {
        skip(what, problem);
        continue;
      }
      lines += to_line(SeenBuffer{.launch = *wanted,
                                  .parameter = i,
                                  .at = pointer.at,
                                  .size_bytes = extent,
                                  .seen_bytes = seen,
                                  .types = statistics_of({reinterpret_cast<const char *>(bytes.data()), seen})}) +
               "\n";
    }
  const std::lock_guard lock(mutex_);
  if (const auto written = append_private(folder_ / kContentsFile, lines); !written)
    skip(what, describe(written.error()));
}

} // namespace warpwright::capture
