// Runs kernels on the CPU backend in this process: buffers by value in and out, faults as they
// come.
#pragma once

#include "runner/cpu/cpu_device.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

namespace warpwright::runner::cpu_test {

/// A device buffer that holds `values`, and gives them back.
template <class T>
class DeviceArray {
public:
  DeviceArray(Device &device, const std::vector<T> &values)
      : device_(device), count_(values.size()) {
    // The payload ends where the guard starts.
    const std::size_t payload = count_ * sizeof(T),
                      total = (payload + kAlignment - 1) / kAlignment * kAlignment;
    base_ = device.allocate(total).value();
    address_ = base_ + (total - payload) / alignof(T) * alignof(T);
    device.upload(address_, values.data(), payload).value();
  }
  ~DeviceArray() { device_.free(base_); }
  DeviceArray(const DeviceArray &) = delete;
  Address address() const { return address_; }
  std::size_t size_bytes() const { return count_ * sizeof(T); }
  std::vector<T> values() const {
    std::vector<T> result(count_);
    device_.download(result.data(), address_, size_bytes()).value();
    return result;
  }

private:
  Device &device_;
  std::size_t count_;
  Address base_ = 0, address_ = 0;
};

struct Extent {
  std::uint32_t x = 1, y = 1, z = 1;
};
struct Shape {
  Extent grid, block;
  std::uint32_t shared_bytes = 0;
  bool cooperative = false;
};

inline ArgumentValue argument(std::int32_t value) { return ArgumentValue::of(value); }
inline ArgumentValue argument(float value) { return ArgumentValue::of(value); }
template <class T>
ArgumentValue argument(const DeviceArray<T> &array) {
  return ArgumentValue::of(array.address());
}

/// One device for a test case, with a deadline so that no kernel hangs the tests.
class Bench {
public:
  Bench() { device_->set_deadline(std::chrono::steady_clock::now() + std::chrono::seconds(20)); }
  Device &device() { return *device_; }

  DeviceResult<std::unique_ptr<Program>> compile(const std::string &source,
                                                 const std::string &kernel,
                                                 std::vector<std::string> options = {}) {
    return device_->compile({source, std::move(options), {kernel}});
  }
  template <class... Arguments>
  DeviceResult<void> run(const std::string &source, const std::string &kernel, const Shape &shape,
                         const Arguments &...arguments) {
    auto program = compile(source, kernel);
    if (!program)
      return std::unexpected(program.error());
    return launch(**program, kernel, shape, arguments...);
  }
  template <class... Arguments>
  DeviceResult<void> launch(const Program &program, const std::string &kernel, const Shape &shape,
                            const Arguments &...arguments) {
    LaunchOperation operation{&program,
                              0,
                              kernel,
                              {shape.grid.x, shape.grid.y, shape.grid.z},
                              {shape.block.x, shape.block.y, shape.block.z},
                              shape.shared_bytes,
                              {argument(arguments)...},
                              shape.cooperative};
    return device_->launch(operation);
  }

private:
  std::unique_ptr<Device> device_ = std::move(make_cpu_device().value());
};

/// Empty when it went well: so that a failing CHECK shows the message.
template <class T>
std::string message(const DeviceResult<T> &result) {
  return result ? ""
                : result.error().message +
                      (result.error().log.empty() ? "" : "\n" + result.error().log);
}

inline void check_fault(const DeviceResult<void> &result, Fault::Kind kind,
                        const std::vector<std::string> &parts) {
  REQUIRE_FALSE(result.has_value());
  INFO(message(result));
  CHECK(result.error().kind == kind);
  for (const std::string &part : parts) {
    INFO("expected: ", part);
    CHECK(result.error().message.find(part) != std::string::npos);
  }
}

} // namespace warpwright::runner::cpu_test
