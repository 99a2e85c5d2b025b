// The seam between the runner and what runs kernels: a CUDA GPU, the CPU backend, a fake in tests.
//
// The verifier, the measuring loop and the worker's main loop know this and nothing else of a
// device. A Device compiles device source, owns memory and runs launches in order on one stream; it
// decides nothing about right or wrong. It leaves out guard regions and poison
// (runner/verify/guarded_buffer.h puts them round every buffer), queues and timeouts of whole jobs
// (the service's, which kills the process). Thread: one, the worker's job thread.
#pragma once

#include "support/model/verdict.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace warpwright::runner {

/// What went wrong on a device, in the terms of the verdict.
struct Fault {
  enum class Kind {
    CompileFailed, ///< the source, options or a kernel's name; `message` holds the compiler's first
                   ///< error
    BadLaunch,     ///< a shape or argument that the device refuses; nothing ran
    Crash,         ///< illegal or misaligned address, trap, deadlock
    Timeout,       ///< did not end before the deadline
    Unsupported,   ///< this backend cannot run it; says nothing about the source
    OutOfMemory,
    Suspected, ///< host code did what no honest answer needs: flags, patches, threads (docs/candidates.md)
    Internal, ///< the device or its driver, not the job
  };
  Kind kind = Kind::Internal;
  std::string message;      ///< one sentence
  std::string log;          ///< the compiler's whole log, when there is one
  bool device_lost = false; ///< nothing can run in this process any more: report, then exit
};
template <class T>
using DeviceResult = std::expected<T, Fault>;

inline std::unexpected<Fault> fault(Fault::Kind kind, std::string message,
                                    bool device_lost = false) {
  return std::unexpected(Fault{kind, std::move(message), {}, device_lost});
}

/// A device address in bytes; on the CPU backend the host pointer.
using Address = std::uint64_t;

/// Every allocation starts and ends at a multiple of this.
inline constexpr std::size_t kAlignment = 256;

struct CompileRequest {
  std::string source;
  std::vector<std::string> options; ///< checked against the allow-list already
  std::vector<std::string> kernels; ///< name expressions: "saxpy", "reduce<float, 256>"
};

/// Compiled source. Kernels are addressed by their index in the request.
class Program {
public:
  virtual ~Program() = default;
  /// One for each kernel of the request, same order.
  virtual const std::vector<model::CompileReport> &reports() const = 0;
};

/// One kernel argument by value, little-endian as the kernel's parameter stores it; pointers are 8
/// bytes.
struct ArgumentValue {
  std::array<unsigned char, 8> bytes{};
  std::uint32_t size_bytes = 0;
  bool is_address = false; ///< of a place in a buffer; so bind_plan() marks them
  template <class T>
  static ArgumentValue of(T value) {
    static_assert(sizeof(T) <= 8);
    ArgumentValue argument;
    std::memcpy(argument.bytes.data(), &value, sizeof(T));
    argument.size_bytes = sizeof(T);
    return argument;
  }
  bool operator==(const ArgumentValue &) const = default;
};

struct LaunchOperation {
  const Program *program = nullptr; ///< of the same device
  std::size_t kernel = 0;
  std::string kernel_name; ///< for messages
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t shared_bytes = 0; ///< dynamic
  std::vector<ArgumentValue> arguments;
  bool cooperative = false; ///< all blocks at once; Unsupported where the device does not hold them
};
/// Sets `size_bytes` bytes from `address` on.
struct FillOperation {
  Address address = 0;
  unsigned char byte = 0;
  std::size_t size_bytes = 0;
};
/// A tensor in memory of the device.
struct TensorArgument {
  Address address = 0;
  model::Dtype dtype = model::Dtype::Float32;
  std::vector<std::int64_t> shape, strides; ///< elements; strides empty: contiguous
  std::string name; ///< of a task's buffer, as the module knows it: "x", "conv1.weight"; else empty
  bool operator==(const TensorArgument &) const = default;
};

/// A prepared call of a TorchHost: of the module or of an ATen operator, with its tensors bound. Valid until the host forgets it.
using CallHandle = std::int64_t;
class TorchHost;

/// Runs a prepared call. In a plain run the call's results are then published, that is copied into the buffers that it was bound to.
/// In a recording nothing is copied while the clock runs: later operations of the same recording that are bound to a place in
/// `results` are given the host's own tensor in its stead, and what lies there is published when the clock has stopped.
struct TorchOperation {
  std::shared_ptr<const CallHandle> call; ///< the last copy makes the host forget it
  bool is_module = false;                 ///< the task's module; else an ATen operator, or
  bool is_host_code = false;              ///< another system's module, in a process of its own
  std::string name;                       ///< for messages: "the module", "aten::convolution"
  std::vector<TensorArgument> results;    ///< what it was bound to publish to
};
using Operation = std::variant<LaunchOperation, FillOperation, TorchOperation>;

/// What a call of a candidate for a torch module is given, and makes for itself, as a module does. Empty for all others.
struct CallFrame {
  std::vector<TensorArgument>
      arguments; ///< In and InOut buffers: the module's inputs, parameters and state
  std::vector<TensorArgument> outputs;     ///< made at each call, and returned
  std::vector<TensorArgument> temporaries; ///< made at each call
};

/// Operations made ready to be timed again and again (a CUDA graph).
class Recording {
public:
  virtual ~Recording() = default;
  /// Why it has no device time, though it can be timed as called: a module that cannot be captured. Empty: it has.
  virtual std::string why_no_device_time() const { return {}; }
};

/// What the driver says of the GPU at one moment; absent is what it does not tell.
struct ClockReading {
  std::optional<double> sm_mhz, memory_mhz, temperature_c;
  std::optional<bool> power_capped; ///< the clock is lower than it could be, to save power
};

/// One timed run.
struct Sample {
  double ns = 0;
  bool throttled = false; ///< the clock was held down meanwhile: not to be used
  ClockReading clocks{};  ///< of the last reading, which may be some milliseconds old
};

struct Capabilities {
  bool can_measure = false;       ///< record() and time() work, and their times are a GPU's
  bool has_guard_pages = false;   ///< touching the byte after an allocation is a Crash
  bool has_thread_orders = false; ///< set_thread_order() does something
  bool host_memory = false;       ///< an Address is a host pointer of this process
  bool device_checks =
      false; ///< large buffers are generated and compared by kernels of the runner's own
  /// Above this many elements in all buffers a task takes long: check_sizes serve better. nullopt:
  /// any.
  std::optional<std::int64_t> preferred_max_elements;
};

enum class ThreadOrder { Forward, Reverse };

class Device {
public:
  virtual ~Device() = default;

  virtual const model::DeviceInfo &info() const = 0;
  virtual Capabilities capabilities() const = 0;

  /// Every program has `__device__` variables of its own, as their initialisers say: compiling the same
  /// request again is how a module is loaded anew, and a device keeps what makes that fast.
  /// Faults: CompileFailed (with the log), Unsupported.
  virtual DeviceResult<std::unique_ptr<Program>> compile(const CompileRequest &request) = 0;
  /// What of compile() leaves the device alone, so that others may use it meanwhile. What fails, compile() says.
  virtual void compile_ahead(const CompileRequest &) {}
  /// Resident warps over the most a multiprocessor holds, for this launch; nullopt where it has no
  /// meaning.
  virtual std::optional<double> occupancy(const LaunchOperation &) { return std::nullopt; }

  /// @param size_bytes a multiple of kAlignment, more than 0. The contents are undefined.
  virtual DeviceResult<Address> allocate(std::size_t size_bytes) = 0;
  virtual void free(Address address) = 0;
  /// For the messages of faults: `size_bytes` bytes from `address` on, inside one allocation, are
  /// `name`.
  virtual void set_name(Address /*address*/, std::size_t /*size_bytes*/,
                        const std::string & /*name*/) {}
  /// These three happen in the order of the launches; upload and download have ended when they
  /// return.
  virtual DeviceResult<void> upload(Address to, const void *from, std::size_t size_bytes) = 0;
  virtual DeviceResult<void> download(void *to, Address from, std::size_t size_bytes) = 0;
  virtual DeviceResult<void> fill(const FillOperation &fill) = 0;
  virtual DeviceResult<void> copy(Address to, Address from, std::size_t size_bytes) = 0;

  /// Starts a launch; what it does wrong may only show in synchronize().
  virtual DeviceResult<void> launch(const LaunchOperation &launch) = 0;
  /// Waits until all that was started has ended. Faults: Crash, Timeout (after the deadline).
  virtual DeviceResult<void> synchronize() = 0;
  /// When launches have to be done. A device that cannot interrupt itself leaves this to the
  /// service, which kills the process a little later.
  virtual void set_deadline(std::chrono::steady_clock::time_point) {}

  /// Order in which the threads of a block run where they are not ordered by barriers.
  virtual void set_thread_order(ThreadOrder) {}

  /// A job begins.
  virtual void start_job() {}
  /// Whether memory was missing at any time since the job began, also where the job went on without.
  virtual bool ran_out_of_memory() const { return false; }

  /// Null: operations of torch are Unsupported here. Valid as long as the device.
  virtual TorchHost *torch() { return nullptr; }

  virtual DeviceResult<std::unique_ptr<Recording>> record(std::span<const Operation>) {
    return fault(Fault::Kind::Unsupported, "this device measures nothing");
  }
  /// As record(), for one side of a torch task: what it times as called is one call from Python, of the task's module or of a
  /// module that runs the operations on memory that it makes for itself. Runs the operations some times before.
  virtual DeviceResult<std::unique_ptr<Recording>> record_module(std::span<const Operation>,
                                                                 const CallFrame &) {
    return fault(Fault::Kind::Unsupported, "this device has no torch to measure with");
  }
  /// Device time of one run of the recording with a cold L2 cache. All that the run started has ended.
  virtual DeviceResult<Sample> time(Recording &) {
    return fault(Fault::Kind::Unsupported, "this device measures nothing");
  }
  /// Whether the flush of the L2 before each of the next samples also drives out lines that a kernel asked to be evicted last.
  virtual void set_thorough_flush(bool /*thorough*/) {}
  /// Host time of `runs` runs of the recording one behind the other, from before the first is started until all have ended, ns.
  /// nullopt where that cannot be told.
  virtual DeviceResult<std::optional<double>> time_batch(Recording &, int /*runs*/) {
    return std::optional<double>();
  }
  /// What two stamps lie apart beyond a kernel between them, ns: one sample, taken as time() takes its own. nullopt where that is
  /// not known.
  virtual DeviceResult<std::optional<double>> time_bracket() { return std::optional<double>(); }
  /// Host time of one call from Python of what record_module() was given, with a cold L2 cache, until the stream is idle.
  virtual DeviceResult<Sample> time_call(Recording &) {
    return fault(Fault::Kind::Unsupported, "this device has no torch to measure with");
  }
  /// The next time_call() is preceded, right before its clock, by a few of this that nobody times: the host's code is then warm as in
  /// a program that calls again and again. Of other inputs; nothing is published.
  virtual DeviceResult<void> warm_call(Recording &) { return {}; }
  /// Host time of one run by plain launches with a cold L2 cache, from before the first call of the driver
  /// until the stream is idle.
  virtual DeviceResult<Sample> time_as_called(std::span<const Operation>) {
    return fault(Fault::Kind::Unsupported, "this device measures nothing");
  }
};

} // namespace warpwright::runner
