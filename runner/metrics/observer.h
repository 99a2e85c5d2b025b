// Interface through which the service's parts report events, so that the scheduler and the workers
// do not depend on metrics. Every method does nothing unless it is overridden.
// Thread: the service's strand.
#pragma once

#include <cstddef>
#include <string>

namespace warpwright::runner {

/// Result of compiling a job ahead of its device.
enum class CompiledAhead {
  Hit,     ///< its code was on the shelves when the device took it
  Miss,    ///< the device was free first and compiles the job itself
  Refused, ///< the job does not compile and never reached the device
  Lost,    ///< the compile worker failed; the device compiles the job itself
};

class Observer {
public:
  virtual ~Observer() = default;
  virtual void job_accepted() {}
  /// @param outcome the verdict's ("verified"), or "cancelled" or "error"
  /// @param seconds from the job's acceptance to its end
  virtual void job_finished(const std::string & /*device*/, const std::string & /*outcome*/,
                            double /*seconds*/) {}
  /// @param stage "queued", "compiling", "verifying", "measuring"
  virtual void stage_ended(const std::string & /*device*/, const std::string & /*stage*/,
                           double /*seconds*/) {}
  virtual void queue_changed(const std::string & /*device*/, std::size_t /*waiting*/) {}
  /// @param again false for the first process of a device
  virtual void worker_started(const std::string & /*device*/, bool /*again*/) {}
  virtual void worker_lost(const std::string & /*device*/) {}
  /// Called for each layer when a worker is ready. @param holds whether the layer is active
  virtual void layer_entered(const std::string & /*device*/, const std::string & /*layer*/,
                             bool /*holds*/) {}
  virtual void compiled_ahead(CompiledAhead) {}
  virtual void clients_changed(std::size_t /*connected*/) {}
};

} // namespace warpwright::runner
