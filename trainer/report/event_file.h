// TensorBoard event files: scalars by step, written without TensorFlow.
//
// A file is TFRecord frames (length, masked CRC-32C of the length, data, masked CRC-32C of the data) of `Event` protocol buffers; of
// these only wall_time (1), step (2), file_version (3) and summary (5) with simple_value are written, which is what scalar
// charts need. Sources: tensorflow/core/lib/io/record_writer.cc, util/event.proto, framework/summary.proto. Thread: one a writer.
#pragma once

#include "trainer/report/log_data.h"

#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

namespace warpwright::trainer {

/// CRC-32C (Castagnoli), reflected, as iSCSI has it.
std::uint32_t crc32c(std::string_view bytes);

/// One TFRecord.
std::string tensorboard_record(std::string_view data);

/// An `Event` with the scalars of one step.
std::string scalar_event(double wall_time_s, std::int64_t step,
                         const std::map<std::string, double> &scalars);

/// A folder a stage below `folder`, each with one file, which is written anew. @return how many files
/// Errors: a folder or file that cannot be written.
Result<int> write_event_files(const TrainingLog &log, const std::string &folder);

} // namespace warpwright::trainer
