// Owners of driver objects. Each owner destroys its object; if the context is lost, the driver
// ignores that. Thread: the job thread. The Driver must outlive the owners.
#pragma once

#include "runner/cuda/driver.h"

#include <utility>

namespace warpwright::runner::cuda {

/// Owner of one driver object. `Destroy` points to the member of Driver that destroys the object.
template <class Handle, auto Destroy>
class Owned {
public:
  Owned() = default;
  Owned(const Driver &driver, Handle handle) : driver_(&driver), handle_(handle) {}
  Owned(Owned &&other) noexcept { *this = std::move(other); }
  Owned &operator=(Owned &&other) noexcept {
    std::swap(driver_, other.driver_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() {
    if (handle_ && !driver_->abandoned)
      (driver_->*Destroy)(handle_);
  }
  Handle get() const { return handle_; }
  explicit operator bool() const { return handle_ != Handle{}; }

private:
  const Driver *driver_ = nullptr;
  Handle handle_{};
};

using Module = Owned<CUmodule, &Driver::cuModuleUnload>;
using Memory = Owned<CUdeviceptr, &Driver::cuMemFree>;
using Stream = Owned<CUstream, &Driver::cuStreamDestroy>;
using Event = Owned<CUevent, &Driver::cuEventDestroy>;
using Graph = Owned<CUgraph, &Driver::cuGraphDestroy>;
using GraphExec = Owned<CUgraphExec, &Driver::cuGraphExecDestroy>;

/// The device's primary context, current on the thread that made this object.
class PrimaryContext {
public:
  PrimaryContext(const Driver &driver, CUdevice device) : driver_(driver), device_(device) {
    CUcontext context = nullptr;
    status_ = driver_.cuDevicePrimaryCtxRetain(&context, device);
    if (status_ == 0)
      status_ = driver_.cuCtxSetCurrent(context);
  }
  PrimaryContext(const PrimaryContext &) = delete;
  ~PrimaryContext() { driver_.cuDevicePrimaryCtxRelease(device_); }
  Status status() const { return status_; }

private:
  const Driver &driver_;
  CUdevice device_;
  Status status_ = 0;
};

inline Event make_event(const Driver &driver) {
  CUevent event = nullptr;
  return driver.cuEventCreate(&event, 0) == 0 ? Event(driver, event) : Event();
}

} // namespace warpwright::runner::cuda
