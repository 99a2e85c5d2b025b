// Implementation of Injection, and the entry that the driver calls.
#include "runner/capture/injection.h"

#include "support/files.h"
#include "support/words.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <unistd.h>

namespace warpwright::capture {
namespace {

constexpr std::chrono::seconds kWriteInterval{1};
constexpr std::uint32_t kFlushCompleted = 0, kFlushForced = 1;
constexpr std::size_t kBufferBytes = 1 << 20;
constexpr int kRecordKinds[] = {kKernelRecord, kCopyRecord, kFillRecord, kPeerCopyRecord};
/// In a call's own 64 bits: the operation's id + 1, and whether it is captured into a graph.
constexpr std::uint64_t kCapturedBit = 1ull << 32;

Injection *injection = nullptr;
thread_local bool is_in_callback = false;
/// The captured call in progress on this thread.
thread_local std::optional<Id> captured_call;

/// Runs our code on a thread of the program or of CUPTI.
template <class Action>
void protect(Action action) {
  const int kept = errno;
  try {
    action();
  } catch (const std::exception &error) {
    injection->stop(std::string("an error in the capture library: ") + error.what());
  }
  errno = kept;
}

void on_callback(void *, int domain, std::uint32_t id, const void *data) {
  if (is_in_callback || !injection->is_on() || !data)
    return;
  is_in_callback = true; // the driver's functions that we call are not recorded
  protect([&] {
    if (domain == kDriverApiDomain)
      injection->on_call(id, *static_cast<const ApiCall *>(data));
    else if (domain == kResourceDomain)
      injection->on_resource(id, *static_cast<const ResourceData *>(data));
  });
  is_in_callback = false;
}

void on_buffer_wanted(std::uint8_t **buffer, std::size_t *size, std::size_t *most_records) {
  *buffer = static_cast<std::uint8_t *>(std::aligned_alloc(8, kBufferBytes));
  *size = *buffer ? kBufferBytes : 0;
  *most_records = 0;
}

void on_buffer_full(cuda::CUcontext, std::uint32_t, std::uint8_t *buffer, std::size_t,
                    std::size_t valid) {
  protect([&] { injection->on_records(buffer, valid); });
  std::free(buffer);
}

template <class T>
T read(const unsigned char *record, std::size_t offset) {
  T value{};
  std::memcpy(&value, record + offset, sizeof value);
  return value;
}

Timed read_timed(const unsigned char *record, const RecordPlaces &places) {
  const auto start = read<std::uint64_t>(record, kRecordStart);
  const auto end = read<std::uint64_t>(record, kRecordEnd);
  return {.correlation = read<std::uint32_t>(record, places.correlation),
          .graph_node = read<std::uint64_t>(record, places.graph_node),
          .ns = start != 0 && end > start ? static_cast<double>(end - start) : 0};
}

Launch read_kernel(const unsigned char *record) {
  const auto *name = read<const char *>(record, kKernelName);
  return {.kernel = name ? name : "",
          .grid = read<Dimensions>(record, kKernelGrid),
          .block = read<Dimensions>(record, kKernelBlock),
          .cluster = {},
          .cooperative = false,
          .shared_bytes = read<std::uint32_t>(record, kKernelSharedBytes),
          .parameters = std::nullopt,
          .varied = false};
}

std::vector<std::string> own_command() {
  std::vector<std::string> command;
  const auto text = read_file("/proc/self/cmdline");
  for (std::size_t begin = 0, end; text && (end = text->find('\0', begin)) != std::string::npos;
       begin = end + 1)
    command.push_back(text->substr(begin, end - begin));
  return command;
}

} // namespace

Injection::Injection(FolderWriter writer, std::optional<std::chrono::milliseconds> duration,
                     std::vector<WantedLaunch> wanted)
    : writer_(std::move(writer)),
      deadline_(duration ? std::optional(std::chrono::steady_clock::now() + *duration)
                         : std::nullopt) {
  if (!wanted.empty())
    contents_.emplace(std::move(wanted), writer_.folder());
  process_.pid = ::getpid();
  process_.command = own_command();
  process_.started = utc_now();
  if (!facts_.missing().empty())
    recording_.skip("parameters of launches", "the driver lacks " + facts_.missing());
}

Result<void> Injection::subscribe() {
  cupti_ = TRY(Cupti::open());
  process_.cupti = cupti_->library.path();
  const auto check = [&](CuptiStatus status, const char *what) -> Result<void> {
    if (status == 0)
      return {};
    return fail(std::string("CUPTI refuses ") + what + ": " + reason_of(status));
  };
  if (const auto done =
          check(cupti_->subscribe(&subscriber_, on_callback, nullptr), "to subscribe");
      !done) {
    subscriber_ = nullptr;
    return done;
  }
  std::vector<std::uint32_t> calls = copy_calls();
  calls.insert(calls.end(), {kLaunchKernel, kLaunchKernelPtsz, kLaunchCooperativeKernel,
                             kLaunchCooperativeKernelPtsz, kLaunchKernelEx, kLaunchKernelExPtsz,
                             kGraphLaunch, kGraphLaunchPtsz});
  bool are_launches_on = false;
  for (const std::uint32_t id : calls) // an older CUPTI does not know the newest functions
    if (cupti_->enable_callback(1, subscriber_, kDriverApiDomain, id) == 0)
      are_launches_on |= id == kLaunchKernel;
  if (!are_launches_on)
    return fail("CUPTI refuses callbacks of cuLaunchKernel");
  for (const std::uint32_t id :
       {kModuleLoaded, kModuleUnloadStarting, kGraphNodeCreated, kGraphNodeCloned})
    TRY(check(cupti_->enable_callback(1, subscriber_, kResourceDomain, id),
              "callbacks of resources"));
  TRY(check(cupti_->register_buffers(on_buffer_wanted, on_buffer_full), "buffers for records"));
  for (const int kind : kRecordKinds)
    TRY(check(cupti_->enable_records(kind), "GPU times"));
  return {};
}

void Injection::start() {
  is_on_ = true;
  if (const auto subscribed = subscribe(); !subscribed) {
    stop(describe(subscribed.error()));
    detach();
    write(false);
    return;
  }
  write(false);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { protect([this] { write_periodically(); }); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Injection::note_gpu(std::uint32_t context) {
  thread_local std::uint32_t last = 0;
  if (last == context + 1)
    return;
  last = context + 1;
  {
    const std::lock_guard lock(mutex_);
    if (!contexts_.insert(context).second)
      return;
  }
  const auto gpu = facts_.current_gpu();
  const int version = facts_.version();
  const std::lock_guard lock(mutex_);
  process_.driver_version = version;
  if (gpu && std::ranges::find(process_.gpus, *gpu) == process_.gpus.end())
    process_.gpus.push_back(*gpu);
}

void Injection::begin(std::uint32_t id, const ApiCall &call) {
  std::optional<Id> operation;
  bool is_captured = false;
  if (id == kGraphLaunch || id == kGraphLaunchPtsz) {
    operation = recording_.find_graph(
        read<std::uint64_t>(static_cast<const unsigned char *>(call.parameters), 0));
  } else if (const auto launch = launch_call(id, call.parameters)) {
    Launch read = read_launch(*launch, call.symbol, facts_);
    is_captured = facts_.is_capturing(launch->config.stream, launch->per_thread);
    if (contents_)
      contents_->look(*launch, read, is_captured, [&](const std::string &what, const std::string &why) {
        recording_.skip(what, why);
      });
    operation = recording_.find(std::move(read));
  } else if (auto copy = read_copy(id, call.function, call.parameters, facts_)) {
    is_captured = copy->has_stream && facts_.is_capturing(copy->stream, copy->per_thread);
    operation = recording_.find(std::move(copy->copy));
  }
  if (!operation)
    return;
  *call.own_data = *operation + 1ull + (is_captured ? kCapturedBit : 0);
  if (is_captured)
    captured_call = operation;
  else
    recording_.begun(*operation, call.correlation);
}

void Injection::on_call(std::uint32_t id, const ApiCall &call) {
  if (!call.own_data || !call.parameters)
    return;
  if (call.site == 0) {
    *call.own_data = 0;
    note_gpu(call.context_uid);
    begin(id, call);
    return;
  }
  captured_call.reset();
  if (*call.own_data == 0)
    return;
  const bool is_captured = (*call.own_data & kCapturedBit) != 0;
  const Id operation = static_cast<Id>((*call.own_data & ~kCapturedBit) - 1);
  const bool has_failed = call.status && *call.status != 0;
  recording_.ended(operation, call.correlation,
                   has_failed    ? Outcome::Failed
                   : is_captured ? Outcome::Captured
                                 : Outcome::Ran);
}

void Injection::on_resource(std::uint32_t id, const ResourceData &resource) {
  if (id == kModuleUnloadStarting)
    facts_.forget_functions();
  else if (resource.descriptor && id == kModuleLoaded)
    take_module(*static_cast<const ModuleData *>(resource.descriptor));
  else if (resource.descriptor)
    take_node(id, *static_cast<const GraphData *>(resource.descriptor));
}

void Injection::take_module(const ModuleData &module) {
  if (module.cubin && !modules_.take({module.cubin, module.size_bytes}))
    recording_.skip("machine code of modules", "it is larger than a capture keeps");
}

void Injection::take_node(std::uint32_t id, const GraphData &graph) {
  std::uint64_t node = 0, original = 0;
  if ((id == kGraphNodeCreated && !captured_call) || cupti_->graph_node_id(graph.node, &node) != 0)
    return;
  if (id == kGraphNodeCreated)
    recording_.add_node(*captured_call, node);
  else if (id == kGraphNodeCloned && cupti_->graph_node_id(graph.original_node, &original) == 0)
    recording_.add_cloned_node(original, node);
}

void Injection::on_records(std::uint8_t *buffer, std::size_t valid_bytes) {
  if (is_abandoned_)
    return;
  unsigned char *record = nullptr;
  while (valid_bytes > 0 && cupti_->next_record(buffer, valid_bytes, &record) == 0) {
    const auto kind = read<std::uint32_t>(record, 0);
    const Timed timed = read_timed(record, kind == kKernelRecord     ? kKernelPlaces
                                           : kind == kPeerCopyRecord ? kPeerCopyPlaces
                                                                     : kCopyPlaces);
    if (std::ranges::find(kRecordKinds, static_cast<int>(kind)) == std::end(kRecordKinds) ||
        recording_.timed(timed))
      continue;
    if (kind == kKernelRecord)
      recording_.timed_unexplained(timed, read_kernel(record));
    else
      recording_.skip("times of copies", "no recorded call started them");
  }
}

void Injection::stop(const std::string &reason) {
  is_on_ = false;
  const std::lock_guard lock(mutex_);
  if (process_.stopped.empty())
    process_.stopped = reason;
}

void Injection::detach() {
  if (!subscriber_)
    return;
  cupti_->flush(kFlushForced);
  for (const int kind : kRecordKinds)
    cupti_->disable_records(kind);
  cupti_->unsubscribe(std::exchange(subscriber_, nullptr));
}

void Injection::write(bool is_end) {
  ProcessFacts process;
  {
    const std::lock_guard lock(mutex_);
    process_.ended = is_end;
    process = process_;
  }
  if (const auto written = writer_.write(recording_, modules_, std::move(process)); !written)
    stop(describe(written.error()));
}

void Injection::write_periodically() {
  std::unique_lock lock(mutex_);
  while (!is_ending_) {
    end_.wait_for(lock, kWriteInterval, [&] { return is_ending_; });
    if (is_ending_)
      return;
    lock.unlock();
    if (deadline_ && std::chrono::steady_clock::now() >= *deadline_)
      stop("the time given with --for was over");
    if (is_on())
      cupti_->flush(kFlushCompleted);
    else
      detach();
    write(false);
    if (!is_on())
      return;
    lock.lock();
  }
}

void Injection::finish() {
  if (is_abandoned_)
    return;
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  end_.notify_all();
  if (thread_.joinable())
    thread_.join();
  is_on_ = false;
  if (subscriber_)
    cupti_->flush(kFlushForced);
  write(true);
}

void Injection::abandon() {
  is_on_ = false;
  is_abandoned_ = true;
}

} // namespace warpwright::capture

/// Entry for the driver, which loads the library inside cuInit. @return 1; the driver goes on with
/// any value
extern "C" int InitializeInjection() {
  using namespace warpwright::capture;
  const char *folder = std::getenv(kFolderVariable);
  if (injection || !folder || !*folder)
    return 1;
  try {
    auto writer = FolderWriter::make(folder);
    if (!writer)
      return 1;
    std::optional<std::chrono::milliseconds> duration;
    if (const char *text = std::getenv(kMillisecondsVariable))
      duration = std::chrono::milliseconds(std::strtoll(text, nullptr, 10));
    std::vector<WantedLaunch> wanted;
    if (const char *file = std::getenv(kWantedVariable))
      if (auto read = read_wanted(file))
        wanted = *std::move(read);
    injection = new Injection(*std::move(writer), duration, std::move(wanted));
    protect([] { injection->start(); });
    pthread_atfork(nullptr, nullptr, [] { injection->abandon(); });
    std::atexit([] { protect([] { injection->finish(); }); });
  } catch (const std::exception &) {
    // No memory for the capture: the program runs unrecorded, and nothing is left to note it with.
  }
  return 1;
}
