// What the service's parts tell whoever counts: a small interface, so that the scheduler and the
// workers know nothing of metrics. Every method does nothing unless it is overridden.
// Thread: the service's strand.
#pragma once

#include <cstddef>
#include <string>

namespace warpwright::runner {

/// What the compile workers did for a job before its device took it.
enum class CompiledAhead {
  Hit,     ///< its code was in the cache when the device took it
  Miss,    ///< the device was free first, and compiles itself
  Refused, ///< it does not compile: the device never saw it
  Lost,    ///< the compile worker ended; the device compiles itself
};

class Observer {
public:
  virtual ~Observer() = default;
  virtual void job_accepted() {}
  /// @param outcome of the verdict ("verified"), else "cancelled" or "error"
  /// @param seconds from its coming in to its end
  virtual void job_finished(const std::string & /*device*/, const std::string & /*outcome*/,
                            double /*seconds*/) {}
  /// @param stage "queued", "compiling", "verifying", "measuring"
  virtual void stage_ended(const std::string & /*device*/, const std::string & /*stage*/,
                           double /*seconds*/) {}
  virtual void queue_changed(const std::string & /*device*/, std::size_t /*waiting*/) {}
  /// @param again false for the first process of a device
  virtual void worker_started(const std::string & /*device*/, bool /*again*/) {}
  virtual void worker_lost(const std::string & /*device*/) {}
  /// A worker is ready. @param holds whether this layer of its isolation does
  virtual void layer_entered(const std::string & /*device*/, const std::string & /*layer*/,
                             bool /*holds*/) {}
  virtual void compiled_ahead(CompiledAhead) {}
  virtual void clients_changed(std::size_t /*connected*/) {}
};

} // namespace warpwright::runner
