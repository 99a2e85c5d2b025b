// Writer of TensorBoard event files with scalars by step, without TensorFlow.
//
// A file is a sequence of TFRecord frames (length, masked CRC-32C of the length, data, masked CRC-32C of the data) that
// hold `Event` protocol buffers. Scalar charts need only wall_time (1), step (2), file_version (3) and summary (5) with
// simple_value; nothing else is written. Sources: tensorflow/core/lib/io/record_writer.cc, util/event.proto,
// framework/summary.proto. Thread: one per file.
#pragma once

#include "trainer/report/log_data.h"

#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

namespace warpwright::trainer {

/// CRC-32C (Castagnoli), reflected, as in iSCSI.
std::uint32_t crc32c(std::string_view bytes);

/// The TFRecord frame of `data`.
std::string tensorboard_record(std::string_view data);

/// An `Event` with the scalars of one step.
std::string scalar_event(double wall_time_s, std::int64_t step,
                         const std::map<std::string, double> &scalars);

/// Writes one event file per stage, each in its own folder below `folder`. @return number of files
/// Errors: a folder or file that cannot be written.
Result<int> write_event_files(const TrainingLog &log, const std::string &folder);

} // namespace warpwright::trainer
