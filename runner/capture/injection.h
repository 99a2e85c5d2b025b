// The capture in a program: subscription to CUPTI, the thread that writes, the end.
//
// The driver loads the library inside cuInit and calls InitializeInjection. From then on CUPTI
// calls back on the program's threads. Nothing here may change the program: errors end the
// recording and are noted in capture.json, errno is kept, no stream is waited for, signals are left
// to the program's threads, and a forked child records nothing until it has executed another
// program. The object is never destroyed, because CUPTI may call back until the process ends.
// Thread: on_... any; the writing thread and the exit handler do the rest.
#pragma once

#include "runner/capture/contents_reader.h"
#include "runner/capture/copy_reader.h"
#include "runner/capture/folder_writer.h"
#include "runner/capture/launch_reader.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <set>
#include <thread>

namespace warpwright::capture {

class Injection {
public:
  /// @param wanted launches whose buffers are looked at; empty: no stream is waited for
  Injection(FolderWriter writer, std::optional<std::chrono::milliseconds> duration,
            std::vector<WantedLaunch> wanted);

  /// Subscribes and starts the writing thread. On an error the reason is written, and nothing is
  /// recorded.
  void start();

  bool is_on() const { return is_on_.load(std::memory_order_relaxed); }
  void on_call(std::uint32_t id, const ApiCall &call);
  void on_resource(std::uint32_t id, const ResourceData &resource);
  void on_records(std::uint8_t *buffer, std::size_t valid_bytes);
  /// Ends the recording for a reason. The first reason is kept.
  void stop(const std::string &reason);
  /// The process exits: fetches the last records and writes.
  void finish();
  /// For a forked child: this process is not the one that records.
  void abandon();

private:
  Result<void> subscribe();
  void begin(std::uint32_t id, const ApiCall &call);
  void note_gpu(std::uint32_t context);
  void take_module(const ModuleData &module);
  void take_node(std::uint32_t id, const GraphData &graph);
  void write_periodically();
  void detach();
  void write(bool is_end);

  std::optional<Cupti> cupti_;
  void *subscriber_ = nullptr;
  DriverFacts facts_;
  Recording recording_;
  ModuleStore modules_;
  FolderWriter writer_;
  std::optional<ContentsReader> contents_;
  const std::optional<std::chrono::steady_clock::time_point> deadline_;

  std::atomic<bool> is_on_ = false;
  std::atomic<bool> is_abandoned_ = false;
  std::mutex mutex_; ///< of the members below
  std::condition_variable end_;
  bool is_ending_ = false;
  ProcessFacts process_;
  std::set<std::uint32_t> contexts_;
  std::thread thread_;
};

} // namespace warpwright::capture
