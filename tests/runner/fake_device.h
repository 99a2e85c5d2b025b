// A device in this process's memory whose "kernels" are C++ functions chosen by name, well-behaved
// and not.
//
// Every kernel gets (x, y, n): pointers and an int, as saxpy and square of tasks.h do. Names it
// knows are in kKernels; of the source only the words fake_ns=NUMBER (the time of a launch) and
// fake_wrong (the last element is one too high) count, so that a commit can change a kernel. time() returns made-up times: 1000 ns, or 100 ns for
// kernels whose name starts with "fast" (but see kernel_ns()), with a little noise, and 1000 ns for calls of `torch_host`;
// time_as_called() adds 5000 ns.
#pragma once

#include "runner/device/torch_host.h"
#include "runner/device/device.h"
#include "runner/verify/torch_operations.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <new>
#include <numeric>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace warpwright::runner::testing {

/// Of one loaded module: what `__device__` variables would hold.
struct FakeState {
  ThreadOrder order = ThreadOrder::Forward;
  int launches = 0;
  std::vector<float> cache;
  std::map<const float *, std::vector<float>> by_pointer;
  std::map<float, std::vector<float>> by_first_element;
  std::function<void()> later; ///< what the kernel does after it seems to have ended
};
using FakeKernel = void (*)(FakeState &, float *x, float *y, int n);

inline void square_all(float *x, float *y, int n) {
  for (int i = 0; i < n; ++i)
    y[i] = x[i] * x[i];
}

template <class T, class Function> void floor_all(const T *x, float *y, int n, Function function) {
  for (int i = 0; i < n; ++i)
    reinterpret_cast<int *>(y)[i] = static_cast<int>(std::floor(function(x[i])));
}
inline float quotient(float a) { return a / 1e-3F; }

inline const std::map<std::string, FakeKernel> kKernels = {
    {"square", [](FakeState &, float *x, float *y, int n) { square_all(x, y, n); }},
    {"fast_square", [](FakeState &, float *x, float *y, int n) { square_all(x, y, n); }},
    {"instant_square", [](FakeState &, float *x, float *y, int n) { square_all(x, y, n); }},
    {"fast_while_cached", [](FakeState &, float *x, float *y, int n) { square_all(x, y, n); }},
    {"fast_at_scale_one", [](FakeState &, float *x, float *y, int n) { square_all(x, y, n); }},
    {"fast_and_hides", [](FakeState &, float *x, float *y, int n) { square_all(x, y, n); }},
    {"overrun",
     [](FakeState &, float *x, float *y, int n) {
       square_all(x, y, n);
       y[n] = 1;
     }},
    {"underrun",
     [](FakeState &, float *x, float *y, int n) {
       square_all(x, y, n);
       y[-2] = 1;
     }},
    {"mutate",
     [](FakeState &, float *x, float *y, int n) {
       square_all(x, y, n);
       x[n / 2] += 1;
     }},
    {"skip_last", [](FakeState &, float *x, float *y, int n) { square_all(x, y, n - 1); }},
    {"skip_all", [](FakeState &, float *, float *, int) {}},
    {"nan",
     [](FakeState &, float *x, float *y, int n) {
       square_all(x, y, n);
       y[0] = std::numeric_limits<float>::quiet_NaN();
     }},
    {"inexact",
     [](FakeState &, float *x, float *y, int n) {
       square_all(x, y, n);
       for (int i = 0; i < n; ++i)
         y[i] *= 1.001F;
     }},
    {"wrong_tail",
     [](FakeState &, float *x, float *y, int n) {
       square_all(x, y, n);
       if (n % 4)
         y[n - 1] += 1;
     }},
    {"race",
     [](FakeState &state, float *x, float *y, int n) {
       square_all(x, y, n);
       if (state.order == ThreadOrder::Reverse)
         y[n / 3] *= 1.0000002F;
     }},
    {"fours",
     [](FakeState &state, float *x, float *y, int n) {
       square_all(x, y, n);
       if (n % 4)
         y[n - 1] = state.order == ThreadOrder::Reverse ? -1 : -2;
     }},
    {"constant",
     [](FakeState &, float *, float *y, int n) {
       for (int i = 0; i < n; ++i)
         y[i] = 3;
     }},
    {"index",
     [](FakeState &, float *, float *y, int n) {
       for (int i = 0; i < n; ++i)
         y[i] = static_cast<float>(i);
     }},
    {"even_only",
     [](FakeState &, float *x, float *y, int n) {
       for (int i = 0; i < n; i += 2)
         y[i] = x[i] * x[i];
     }},
    {"root",
     [](FakeState &, float *x, float *y, int n) {
       for (int i = 0; i < n; ++i)
         y[i] = std::sqrt(x[i]);
     }},
    {"root_of_positive",
     [](FakeState &, float *x, float *y, int n) {
       for (int i = 0; i < n; ++i)
         y[i] = x[i] < 0 ? 0 : std::sqrt(x[i]);
     }},
    {"cached",
     [](FakeState &state, float *x, float *y, int n) {
       if (++state.launches < 16 || static_cast<int>(state.cache.size()) != n) {
         square_all(x, y, n);
         state.cache.assign(y, y + n);
       } else
         std::copy(state.cache.begin(), state.cache.end(), y);
     }},
    {"cached_by_pointer",
     [](FakeState &state, float *x, float *y, int n) {
       std::vector<float> &kept = state.by_pointer[x];
       if (static_cast<int>(kept.size()) != n) {
         square_all(x, y, n);
         kept.assign(y, y + n);
       }
       std::copy(kept.begin(), kept.end(), y);
     }},
    {"cached_by_first_element",
     [](FakeState &state, float *x, float *y, int n) {
       std::vector<float> &kept = state.by_first_element[x[0]];
       if (static_cast<int>(kept.size()) != n) {
         square_all(x, y, n);
         kept.assign(y, y + n);
       }
       std::copy(kept.begin(), kept.end(), y);
     }},
    {"inexact_after_a_while",
     [](FakeState &state, float *x, float *y, int n) {
       square_all(x, y, n);
       if (++state.launches > 4)
         for (int i = 0; i < n; ++i)
           y[i] *= 1.001F;
     }},
    {"late",
     [](FakeState &state, float *x, float *y, int n) {
       square_all(x, y, n / 2);
       state.later = [=] { square_all(x, y, n); };
     }},
    {"mutate_after_a_while",
     [](FakeState &state, float *x, float *y, int n) {
       square_all(x, y, n);
       if (++state.launches > 4)
         x[n / 2] += 1;
     }},
    {"named_sizes_only",
     [](FakeState &, float *x, float *y, int n) {
       square_all(x, y, n);
       if (n != 7 && n != 1025 && n != 4096)
         y[n / 2] += 1;
     }},
    {"up_to_a_thousand",
     [](FakeState &, float *x, float *y, int n) {
       if (n < 1000 || n == 1025 || n == 4096)
         square_all(x, y, n);
     }},
    {"sum", [](FakeState &, float *x, float *y, int n) { y[0] = std::accumulate(x, x + n, 0.0F); }},
    {"sum_exactly",
     [](FakeState &, float *x, float *y, int n) {
       const auto *in = reinterpret_cast<double *>(x);
       *reinterpret_cast<double *>(y) = std::accumulate(in, in + n, 0.0);
     }},
    {"sum_in_parts",
     [](FakeState &, float *x, float *y, int n) {
       float parts[8] = {};
       for (int i = 0; i < n; ++i)
         parts[i % 8] += x[i];
       y[0] = std::accumulate(parts, parts + 8, 0.0F);
     }},
    {"sum_of_halves",
     [](FakeState &, float *x, float *y, int n) {
       y[0] = 0;
       for (int i = 0; i < n; ++i) // 11 bits of each term, as TF32 keeps
         y[0] += std::round(std::ldexp(x[i], 10)) / 1024;
     }},
    {"copy", [](FakeState &, float *x, float *y, int n) { std::copy(x, x + n, y); }},
    {"zeros", [](FakeState &, float *, float *y, int n) { std::fill(y, y + n, 0.0F); }},
    {"near_constant",
     [](FakeState &, float *x, float *y, int n) {
       for (int i = 0; i < n; ++i)
         y[i] = 5 + 1e-6F * std::sin(x[i]);
     }},
    {"tiny", // as softmax over long rows
     [](FakeState &, float *x, float *y, int n) {
       for (int i = 0; i < n; ++i)
         y[i] = 4e-6F * (1 + 0.5F * std::sin(x[i]));
     }},
    {"thrice",
     [](FakeState &, float *x, float *y, int n) {
       for (int i = 0; i < n; ++i)
         y[i] = 3 * x[i];
     }},
    {"thrice_exactly",
     [](FakeState &, float *x, float *y, int n) {
       for (int i = 0; i < n; ++i)
         reinterpret_cast<double *>(y)[i] = 3 * reinterpret_cast<double *>(x)[i];
     }},
    {"thrice_by_largest", // 22 bits of the largest element, for all
     [](FakeState &, float *x, float *y, int n) {
       float largest = 1e-30F;
       for (int i = 0; i < n; ++i)
         largest = std::max(largest, std::abs(x[i]));
       for (int i = 0; i < n; ++i)
         y[i] = 3 * (std::round(std::ldexp(x[i] / largest, 22)) * std::ldexp(largest, -22));
     }},
    {"steps", // integers that rounding decides, for one element in 500 of the larger drawings
     [](FakeState &, float *x, float *y, int n) { floor_all(x, y, n, [](float a) { return a * 1e3F; }); }},
    {"steps_exactly",
     [](FakeState &, float *x, float *y, int n) { floor_all(reinterpret_cast<double *>(x), y, n, [](double a) { return a * 1e3; }); }},
    {"steps_by_quotient", [](FakeState &, float *x, float *y, int n) { floor_all(x, y, n, quotient); }},
    {"steps_but_last",
     [](FakeState &, float *x, float *y, int n) { floor_all(x, y, n, quotient), ++reinterpret_cast<int *>(y)[n - 1]; }},
    {"coarse_steps", // of a number of 15 bits
     [](FakeState &, float *x, float *y, int n) {
       floor_all(x, y, n, [](float a) { return std::round(std::ldexp(a, 15)) * std::ldexp(1e3F, -15); });
     }},
    {"swing", // magnifies the rounding of 1e5 x
     [](FakeState &, float *x, float *y, int n) {
       for (int i = 0; i < n; ++i)
         y[i] = static_cast<float>(std::sin(static_cast<double>(1e5F * x[i])));
     }},
    {"swing_exactly",
     [](FakeState &, float *x, float *y, int n) {
       for (int i = 0; i < n; ++i)
         reinterpret_cast<double *>(y)[i] = std::sin(1e5 * reinterpret_cast<double *>(x)[i]);
     }},
    {"swing_otherwise",
     [](FakeState &, float *x, float *y, int n) {
       for (int i = 0; i < n; ++i)
         y[i] = static_cast<float>(std::sin(static_cast<double>(x[i] * 300.0F / 0.003F)));
     }},
    {"swing_off",
     [](FakeState &, float *x, float *y, int n) {
       for (int i = 0; i < n; ++i)
         y[i] = static_cast<float>(std::sin(1.0001e5 * static_cast<double>(x[i])));
     }},
    {"slow_square", // tells each start, so that runs can be counted
     [](FakeState &state, float *x, float *y, int n) {
       if (state.launches++ == 0)
         std::fputs("slow_square starts\n", stderr);
       usleep(20'000);
       square_all(x, y, n);
     }},
    {"crash", [](FakeState &, float *, float *, int) { raise(SIGSEGV); }},
    {"hang",
     [](FakeState &, float *, float *, int) {
       for (;;)
         pause();
     }},
    {"open_socket",
     [](FakeState &, float *x, float *y, int n) {
       square_all(x, y, n);
       syscall(SYS_socket, 2 /* AF_INET */, 1 /* SOCK_STREAM */, 0);
     }},
    {"crash_elsewhere", // but at the sizes of tasks.h
     [](FakeState &, float *x, float *y, int n) {
       if (n != 7 && n != 1025 && n != 4096)
         raise(SIGSEGV);
       square_all(x, y, n);
     }},
    {"hang_flagged", // while the file is there
     [](FakeState &, float *x, float *y, int n) {
       if (const char *flag = std::getenv("WARPWRIGHT_FAKE_FLAG"); flag && access(flag, F_OK) == 0)
         for (;;)
           pause();
       square_all(x, y, n);
     }},
    {"exit", [](FakeState &, float *, float *, int) { _exit(7); }},
};

class FakeProgram final : public Program {
public:
  explicit FakeProgram(const CompileRequest &request)
      : names(request.kernels), is_wrong(request.source.find("fake_wrong") != std::string::npos) {
    if (const auto at = request.source.find("fake_ns="); at != std::string::npos)
      ns = std::atof(request.source.c_str() + at + 8);
    for (const std::string &name : names)
      reports_.push_back({.kernel = name, .registers = 8, .compile_ms = 1});
  }
  const std::vector<model::CompileReport> &reports() const override { return reports_; }
  std::vector<std::string> names;
  bool is_wrong = false;
  std::optional<double> ns; ///< of a launch; absent: by the kernel's name
  mutable FakeState state;

private:
  std::vector<model::CompileReport> reports_;
};

class FakeDevice : public Device {
public:
  struct FakeRecording final : Recording {
    std::vector<Operation> operations;
  };

  explicit FakeDevice(bool can_measure = false, const char *kind = "cpu")
      : can_measure_(can_measure) {
    info_.kind = kind;
    info_.name = "Fake";
    info_.memory_bytes = std::uint64_t{1} << 30;
  }

  const model::DeviceInfo &info() const override { return info_; }
  Capabilities capabilities() const override {
    return {.can_measure = can_measure_,
            .has_thread_orders = true,
            .host_memory = true,
            .preferred_max_elements = preferred_max_elements};
  }
  DeviceResult<std::unique_ptr<Program>> compile(const CompileRequest &request) override {
    for (const std::string &name : request.kernels)
      if (!kKernels.contains(name))
        return std::unexpected(
            Fault{Fault::Kind::CompileFailed, "no kernel " + name, "the log", false});
    return std::make_unique<FakeProgram>(request);
  }
  bool ran_out_of_memory() const override { return hungry; }
  DeviceResult<Address> allocate(std::size_t size_bytes) override {
    if (++allocations == refused_allocation ||
        (refuses_further && refused_allocation > 0 && allocations > refused_allocation))
      return fault(Fault::Kind::OutOfMemory, "out of memory");
    ++live_allocations;
    return reinterpret_cast<Address>(std::aligned_alloc(kAlignment, size_bytes));
  }
  void free(Address address) override {
    --live_allocations;
    std::free(reinterpret_cast<void *>(address));
  }
  DeviceResult<void> upload(Address to, const void *from, std::size_t size) override {
    std::memcpy(reinterpret_cast<void *>(to), from, size);
    return {};
  }
  DeviceResult<void> download(void *to, Address from, std::size_t size) override {
    std::memcpy(to, reinterpret_cast<void *>(from), size);
    return {};
  }
  DeviceResult<void> fill(const FillOperation &fill) override {
    std::memset(reinterpret_cast<void *>(fill.address), fill.byte, fill.size_bytes);
    return {};
  }
  DeviceResult<void> copy(Address to, Address from, std::size_t size) override {
    std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), size);
    end_late_work();
    return {};
  }
  DeviceResult<void> launch(const LaunchOperation &launch) override {
    const auto value = [&](std::size_t index) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, launch.arguments.at(index).bytes.data(), 8);
      return bits;
    };
    const auto *program = static_cast<const FakeProgram *>(launch.program);
    program->state.order = order_;
    kKernels.at(program->names[launch.kernel])(program->state, reinterpret_cast<float *>(value(0)),
                                               reinterpret_cast<float *>(value(1)),
                                               static_cast<int>(value(2)));
    if (program->is_wrong)
      reinterpret_cast<float *>(value(1))[static_cast<int>(value(2)) - 1] += 1;
    later_ = std::exchange(program->state.later, nullptr);
    return {};
  }
  DeviceResult<void> synchronize() override {
    end_late_work();
    return {};
  }
  void set_thread_order(ThreadOrder order) override { order_ = order; }

  DeviceResult<std::unique_ptr<Recording>> record(std::span<const Operation> operations) override {
    auto recording = std::make_unique<FakeRecording>();
    recording->operations.assign(operations.begin(), operations.end());
    return recording;
  }
  TorchHost *torch() override { return torch_host; }
  DeviceResult<std::unique_ptr<Recording>> record_module(std::span<const Operation> operations,
                                                         const CallFrame &) override {
    return record(operations);
  }
  DeviceResult<Sample> time_call(Recording &recording) override {
    auto sample = time(recording);
    if (sample)
      sample->ns += 5000;
    return sample;
  }
  /// Runs, so that what a call leaves in its buffers is there.
  DeviceResult<void> warm_call(Recording &recording) override {
    const auto sample = time(recording);
    return sample ? DeviceResult<void>{} : std::unexpected(sample.error());
  }
  DeviceResult<Sample> time(Recording &recording) override {
    double ns = 0;
    for (const Operation &operation : static_cast<FakeRecording &>(recording).operations)
      if (const auto *call = std::get_if<TorchOperation>(&operation)) {
        if (auto ran = run_torch(*torch_host, *call); !ran)
          return std::unexpected(ran.error());
        noise_ = noise_ * 1664525U + 1013904223U;
        ns += 1000 * (1 + (noise_ >> 24) * 1e-5);
      } else if (const auto *kernel = std::get_if<LaunchOperation>(&operation)) {
        if (auto ran = launch(*kernel); !ran)
          return std::unexpected(ran.error());
        noise_ = noise_ * 1664525U + 1013904223U;
        ns += kernel_ns(*kernel) * (1 + (noise_ >> 24) * 1e-5);
      }
    ++timed_runs;
    return Sample{ns, throttled, clocks};
  }
  DeviceResult<Sample> time_as_called(std::span<const Operation> operations) override {
    FakeRecording recording;
    recording.operations.assign(operations.begin(), operations.end());
    auto sample = time(recording);
    if (sample)
      sample->ns += 5000;
    return sample;
  }

  void set_thorough_flush(bool thorough) override { thorough_flush_ = thorough; }
  /// The runs themselves, and what "hides" does outside of its stamps.
  DeviceResult<std::optional<double>> time_batch(Recording &recording, int runs) override {
    if (!has_host_clock)
      return std::optional<double>();
    double ns = 0;
    for (const Operation &operation : static_cast<FakeRecording &>(recording).operations)
      if (const auto *kernel = std::get_if<LaunchOperation>(&operation))
        ns += kernel_ns(*kernel) + (kernel->kernel_name.ends_with("_and_hides") ? 1e6 : 2000);
    return ns * runs;
  }

  TorchHost *torch_host = nullptr;
  bool has_host_clock = true;
  bool refuses_further = false; ///< not only that one, but all behind it
  int live_allocations = 0, allocations = 0, timed_runs = 0;
  int refused_allocation = 0; ///< which one; 0: none
  bool throttled = false;
  ClockReading clocks;
  std::optional<std::int64_t> preferred_max_elements;
  bool hungry = false; ///< jobs find too little memory

private:
  /// The made-up time of one launch, by the kernel's name.
  double kernel_ns(const LaunchOperation &launch) const {
    if (const auto ns = static_cast<const FakeProgram *>(launch.program)->ns)
      return *ns;
    const std::string &name = launch.kernel_name;
    if (name.starts_with("instant"))
      return 0;
    if (name.starts_with("fast_while_cached"))
      return thorough_flush_ ? 1000 : 900;
    if (name.starts_with("fast_at_scale_one")) {
      std::uint64_t bits = 0, n = 0;
      std::memcpy(&bits, launch.arguments.at(0).bytes.data(), 8);
      std::memcpy(&n, launch.arguments.at(2).bytes.data(), 4);
      const auto *x = reinterpret_cast<const float *>(bits);
      const auto [least, greatest] = std::minmax_element(x, x + n);
      return *greatest - *least < 16 && *greatest - *least > 1 ? 100 : 1000;
    }
    return name.starts_with("fast") ? 100 : 1000;
  }

  void end_late_work() {
    if (auto work = std::exchange(later_, nullptr))
      work();
  }

  model::DeviceInfo info_;
  bool can_measure_;
  ThreadOrder order_ = ThreadOrder::Forward;
  std::function<void()> later_;
  std::uint32_t noise_ = 1;
  bool thorough_flush_ = false;
};

} // namespace warpwright::runner::testing
