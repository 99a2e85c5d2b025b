// Interface between the runner and devices that run kernels: a CUDA GPU, the CPU backend, a fake in
// tests.
//
// The verifier, the measuring loop and the worker's main loop use only this interface. A Device
// compiles device source, owns memory and runs launches in order on one stream; it does not judge
// results. Not part of a device: guard regions and poison (runner/verify/guarded_buffer.h adds them
// to every buffer), queues, and timeouts of whole jobs (the service kills the process). Thread:
// one, the worker's job thread.
#pragma once

#include "plan/program.h"
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

/// An error of a device, classified for the verdict.
struct Fault {
  enum class Kind {
    CompileFailed, ///< the source, options or a kernel's name; `message` holds the compiler's first
                   ///< error
    BadLaunch,     ///< a shape or argument that the device refuses; nothing ran
    Crash,         ///< illegal or misaligned address, trap, deadlock
    Timeout,       ///< did not end before the deadline
    Unsupported,   ///< this backend cannot run it; says nothing about the source
    OutOfMemory,
    Suspected, ///< forbidden acts of host code: flags, patches, threads (docs/use/candidates.md)
    Internal,  ///< the device or its driver, not the job
  };
  Kind kind = Kind::Internal;
  std::string message;      ///< one sentence
  std::string log;          ///< the compiler's whole log, if any
  bool device_lost = false; ///< this process can use the device no more: report, then exit
};
template <class T>
using DeviceResult = std::expected<T, Fault>;

inline std::unexpected<Fault> fault(Fault::Kind kind, std::string message,
                                    bool device_lost = false) {
  return std::unexpected(Fault{kind, std::move(message), {}, device_lost});
}

/// A device address in bytes; on the CPU backend, a host pointer.
using Address = std::uint64_t;

/// Every allocation starts and ends at a multiple of this.
inline constexpr std::size_t kAlignment = 256;

struct CompileRequest {
  std::string source;
  std::vector<std::string> options; ///< already checked against the allow-list
  std::vector<std::string> kernels; ///< name expressions: "saxpy", "reduce<float, 256>"
  bool separable = false;           ///< as model::Plan says
  bool operator==(const CompileRequest &) const = default;
};

/// Compiled source. Kernels are addressed by their index in the request.
class Program {
public:
  virtual ~Program() = default;
  /// One report for each kernel, in the request's order.
  virtual const std::vector<model::CompileReport> &reports() const = 0;
};

inline constexpr std::uint32_t kTensorMapBytes = 128; ///< of a CUtensorMap

/// One kernel argument by value, little-endian as the kernel's parameter stores it; pointers are 8
/// bytes.
struct ArgumentValue {
  std::vector<unsigned char> bytes;
  std::uint32_t size_bytes = 0; ///< of the parameter
  std::vector<std::uint32_t> addresses; ///< places in `bytes` of addresses in buffers; set by bind_plan()
  /// Set: the parameter is a CUtensorMap of the memory at the address, encoded when the launch starts.
  std::shared_ptr<const plan::TensorMap> map = nullptr;
  template <class T>
  static ArgumentValue of(T value) {
    ArgumentValue argument;
    argument.bytes.resize(sizeof(T));
    std::memcpy(argument.bytes.data(), &value, sizeof(T));
    argument.size_bytes = sizeof(T);
    return argument;
  }
  /// Writes what `moved` gives for each address in a buffer.
  template <class Moved> void move_addresses(const Moved &moved) {
    for (const std::uint32_t at : addresses) {
      Address address = 0;
      std::memcpy(&address, bytes.data() + at, sizeof address);
      address = moved(address);
      std::memcpy(bytes.data() + at, &address, sizeof address);
    }
  }
  bool operator==(const ArgumentValue &) const = default;
};

struct LaunchOperation {
  const Program *program = nullptr; ///< a program of the same device
  std::size_t kernel = 0;
  std::string kernel_name; ///< for messages
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t shared_bytes = 0; ///< dynamic shared memory
  std::vector<ArgumentValue> arguments;
  bool cooperative = false; ///< all blocks run at once; Unsupported if the device cannot hold them
  bool overlapped = false;  ///< may begin while the launch before it ends; its kernel waits itself
};
/// Sets `size_bytes` bytes from `address` on.
struct FillOperation {
  Address address = 0;
  unsigned char byte = 0;
  std::size_t size_bytes = 0;
};
/// A tensor in the device's memory.
struct TensorArgument {
  Address address = 0;
  model::Dtype dtype = model::Dtype::Float32;
  std::vector<std::int64_t> shape, strides; ///< in elements; empty strides: contiguous
  std::string name; ///< the module's name of a task's buffer: "x", "conv1.weight"; else empty
  bool operator==(const TensorArgument &) const = default;
};

/// A prepared call of a TorchHost, of the module or of an ATen operator, with its tensors bound.
/// Valid until TorchHost::forget().
using CallHandle = std::int64_t;
class TorchHost;

/// Runs a prepared call. In a plain run, the call's results are then published, which means copied
/// into the bound buffers. In a recording, nothing is copied while the clock runs: later operations
/// of the same recording that are bound to a place in `results` get the host's own tensor, and the
/// results are published after the clock has stopped.
struct TorchOperation {
  std::shared_ptr<const CallHandle> call; ///< the host forgets the call with the last copy
  /// The task's module; with neither flag, an ATen operator.
  bool is_module = false;
  bool is_host_code = false;           ///< another system's module, in its own process
  std::string name;                    ///< for messages: "the module", "aten::convolution"
  std::vector<TensorArgument> results; ///< the buffers for its results
};
using Operation = std::variant<LaunchOperation, FillOperation, TorchOperation>;

/// Tensors of a call of a candidate for a torch module: those it gets, and those it makes itself,
/// as a module does. Empty for all other candidates.
struct CallFrame {
  std::vector<TensorArgument>
      arguments; ///< In and InOut buffers: the module's inputs, parameters and state
  std::vector<TensorArgument> outputs;     ///< made at each call and returned
  std::vector<TensorArgument> temporaries; ///< made at each call
};

/// Operations prepared for repeated timing (a CUDA graph).
class Recording {
public:
  virtual ~Recording() = default;
  /// Why there is no device time although the recording can be timed as called, such as a module
  /// that cannot be captured. Empty: there is device time.
  virtual std::string why_no_device_time() const { return {}; }
};

/// The driver's values of the GPU's state at one moment; absent: not reported.
struct ClockReading {
  std::optional<double> sm_mhz, memory_mhz, temperature_c;
  std::optional<bool> power_capped; ///< the clock is reduced to save power
};

/// One timed run.
struct Sample {
  double ns = 0;
  bool throttled = false; ///< the clock was throttled during the run; do not use the sample
  ClockReading clocks{};  ///< from the last reading, which may be some milliseconds old
};

struct Capabilities {
  bool can_measure = false;       ///< record() and time() work, and times are a GPU's
  bool has_guard_pages = false;   ///< an access to the byte after an allocation is a Crash
  bool has_thread_orders = false; ///< set_thread_order() has an effect
  bool host_memory = false;       ///< an Address is a host pointer of this process
  bool device_checks = false;     ///< the runner's own kernels generate and compare large buffers
  /// Number of elements in all buffers above which a task takes long, so that check_sizes are
  /// preferred. nullopt: no limit.
  std::optional<std::int64_t> preferred_max_elements;
};

enum class ThreadOrder { Forward, Reverse };

class Device {
public:
  virtual ~Device() = default;

  virtual const model::DeviceInfo &info() const = 0;
  virtual Capabilities capabilities() const = 0;

  /// Every program has its own `__device__` variables with their initial values. To load a module
  /// anew, compile the same request again; a device caches what makes that fast.
  /// Faults: CompileFailed (with the log), Unsupported.
  virtual DeviceResult<std::unique_ptr<Program>> compile(const CompileRequest &request) = 0;
  /// Does the part of compile() that does not use the device, so that other processes may use it
  /// meanwhile. Errors are reported by compile().
  virtual void compile_ahead(const CompileRequest &) {}
  /// Resident warps of this launch, relative to the maximum of a multiprocessor; nullopt: not
  /// defined for this device.
  virtual std::optional<double> occupancy(const LaunchOperation &) { return std::nullopt; }

  /// @param size_bytes a multiple of kAlignment, more than 0. The contents are undefined.
  virtual DeviceResult<Address> allocate(std::size_t size_bytes) = 0;
  virtual void free(Address address) = 0;
  /// Names `size_bytes` bytes from `address` on, inside one allocation, for messages of faults.
  virtual void set_name(Address /*address*/, std::size_t /*size_bytes*/,
                        const std::string & /*name*/) {}
  /// Memory operations are ordered with launches; upload() and download() are complete when they
  /// return.
  virtual DeviceResult<void> upload(Address to, const void *from, std::size_t size_bytes) = 0;
  virtual DeviceResult<void> download(void *to, Address from, std::size_t size_bytes) = 0;
  virtual DeviceResult<void> fill(const FillOperation &fill) = 0;
  virtual DeviceResult<void> copy(Address to, Address from, std::size_t size_bytes) = 0;

  /// Starts a launch; its errors may only be reported by synchronize().
  virtual DeviceResult<void> launch(const LaunchOperation &launch) = 0;
  /// Waits until all started work has ended. Faults: Crash, Timeout (after the deadline).
  virtual DeviceResult<void> synchronize() = 0;
  /// Time by which launches must be done. If a device cannot interrupt itself, the service kills
  /// the process a little later.
  virtual void set_deadline(std::chrono::steady_clock::time_point) {}

  /// Order of a block's threads between barriers.
  virtual void set_thread_order(ThreadOrder) {}

  /// Called when a job begins.
  virtual void start_job() {}
  /// Whether an allocation has failed since the job began, even if the job continued without it.
  virtual bool ran_out_of_memory() const { return false; }

  /// Null: torch operations are Unsupported. Valid as long as the device.
  virtual TorchHost *torch() { return nullptr; }

  virtual DeviceResult<std::unique_ptr<Recording>> record(std::span<const Operation>) {
    return fault(Fault::Kind::Unsupported, "this device measures nothing");
  }
  /// Like record(), for one side of a torch task. The time as called is that of one call from
  /// Python, of the task's module or of a module that runs the operations on memory that it
  /// allocates. Runs the operations several times first.
  /// @param frame empty: the operations are a part of a call, and the recording has no time as called
  virtual DeviceResult<std::unique_ptr<Recording>> record_module(std::span<const Operation>,
                                                                 const CallFrame & /*frame*/) {
    return fault(Fault::Kind::Unsupported, "this device has no torch to measure with");
  }
  /// Device time of one run of the recording with a cold L2 cache. Returns when all its work has
  /// ended.
  virtual DeviceResult<Sample> time(Recording &) {
    return fault(Fault::Kind::Unsupported, "this device measures nothing");
  }
  /// Whether the flush of the L2 cache before each following sample also evicts lines that a kernel
  /// marked to be evicted last.
  virtual void set_thorough_flush(bool /*thorough*/) {}
  /// Host time in ns of `runs` consecutive runs of the recording, from before the first starts
  /// until all have ended. nullopt: not available.
  virtual DeviceResult<std::optional<double>> time_batch(Recording &, int /*runs*/) {
    return std::optional<double>();
  }
  /// The part of the interval between two time stamps that is not the kernel between them, in ns;
  /// one sample, taken like those of time(). nullopt: not known.
  virtual DeviceResult<std::optional<double>> time_bracket() { return std::optional<double>(); }
  /// Host time of one call from Python of the operations given to record_module(), with a cold L2
  /// cache, until the stream is idle.
  virtual DeviceResult<Sample> time_call(Recording &) {
    return fault(Fault::Kind::Unsupported, "this device has no torch to measure with");
  }
  /// Makes the next time_call() run a few untimed calls of this recording directly before its clock
  /// starts, so that the host's code is warm, as in a program that calls repeatedly. The recording
  /// should have other inputs; its results are not published.
  virtual DeviceResult<void> warm_call(Recording &) { return {}; }
  /// Host time of one run by plain launches with a cold L2 cache, from before the first driver call
  /// until the stream is idle.
  virtual DeviceResult<Sample> time_as_called(std::span<const Operation>) {
    return fault(Fault::Kind::Unsupported, "this device measures nothing");
  }
};

} // namespace warpwright::runner
