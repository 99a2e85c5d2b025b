// The folder of a capture: names of its files, and their lines as structs.
//
// A capture has one folder for each process that called CUDA, named by the process id. Each holds
// capture.json (the process, its GPUs, totals, what was skipped), launches.jsonl, copies.jsonl and
// graphs.jsonl (one line for each distinct operation) and order.jsonl. Operations share one
// sequence of ids from 0. modules/ has the machine code that was loaded. A line of order.jsonl is
// [id, count]: the operation ran `count` times in a row. docs/use/programs.md describes the files for
// users. The capture library writes them, the command line reads them. Thread: values, any.
#pragma once

#include "support/error.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::capture {

inline constexpr char kCaptureFile[] = "capture.json", kLaunchesFile[] = "launches.jsonl",
                      kCopiesFile[] = "copies.jsonl", kGraphsFile[] = "graphs.jsonl",
                      kOrderFile[] = "order.jsonl", kModulesFolder[] = "modules",
                      /// Written by the command line into the capture's own folder.
    kRunFile[] = "run.json";

/// Environment of a captured program. CUDA_INJECTION64_PATH is the driver's name.
inline constexpr char kInjectionVariable[] = "CUDA_INJECTION64_PATH",
                      kFolderVariable[] = "WARPWRIGHT_CAPTURE_FOLDER",
                      /// Recording ends this long after the driver's start; absent: at the exit.
    kMillisecondsVariable[] = "WARPWRIGHT_CAPTURE_FOR_MS";

using Id = std::uint32_t;
using Dimensions = std::array<std::uint32_t, 3>;

/// A pointer into a live allocation.
struct Pointer {
  std::uint32_t at = 0;           ///< its offset in the parameter, bytes
  std::uint64_t allocation = 0;   ///< number of the allocation, in the order of appearance
  std::uint64_t offset = 0;       ///< from the start of the allocation, bytes
  std::uint64_t extent_bytes = 0; ///< from the pointer to the end of the allocation
  std::string memory;             ///< "device", "host", "managed" or "pool"
  std::uint64_t address = 0;      ///< in the process while it runs; not written
};

struct Parameter {
  std::string bytes; ///< as passed, with zeros for the pointers
  std::vector<Pointer> pointers;
};

/// Runs of one distinct operation.
struct Statistics {
  std::uint64_t count = 0;     ///< calls that the driver accepted and started
  std::uint64_t captured = 0;  ///< calls that added the operation to a graph instead
  std::uint64_t in_graphs = 0; ///< runs as a part of a graph
  std::uint64_t failed = 0;    ///< calls that the driver refused
  std::uint64_t timed = 0;     ///< runs with a GPU time
  double total_ns = 0;         ///< GPU time of the timed runs
  std::optional<double> min_ns;
  std::optional<double> median_ns; ///< of a random sample where there are many runs
  /// Places of the first and the last call in the order, from 0; absent without a call that ran.
  std::optional<std::uint64_t> first, last;
};

struct Launch {
  std::string kernel; ///< the mangled name
  Dimensions grid{}, block{};
  Dimensions cluster{}; ///< zeros: none
  bool cooperative = false;
  std::uint32_t shared_bytes = 0; ///< dynamic shared memory of a block
  /// Absent: unknown, because the driver does not tell, the launch is known from the GPU's records
  /// only, or the kernel was launched with too many different values (`varied`).
  std::optional<std::vector<Parameter>> parameters;
  bool varied = false;
};

/// Bytes from a pointer of the launch to the next one into the same allocation, which may be a larger
/// block of a pool. @param launch with parameters
std::uint64_t extent_of(const Pointer &pointer, const Launch &launch);

/// Numbers of up to 8 bytes, as a little-endian machine has them.
std::int64_t integer_of(const std::string &bytes, bool is_signed);
double real_of(const std::string &bytes);

/// A copy or a fill.
struct Copy {
  std::string call;      ///< the driver's function
  std::string direction; ///< "host to device", ..., "fill"; empty: not known
  std::optional<std::uint64_t> size_bytes;
  std::optional<Pointer> to, from; ///< absent: memory that CUDA does not know
  bool varied = false;             ///< as in Launch, for `to` and `from`
};

struct Graph {
  /// Runs of each launch, copy and fill, by id, as parts of this graph.
  std::map<Id, std::uint64_t> operations;
};

/// A thing that the capture left out, and why.
struct Skipped {
  std::string what, why;
  std::uint64_t count = 0;
};

struct Gpu {
  std::string name;
  std::string compute; ///< "9.0"
  bool operator==(const Gpu &) const = default;
};

struct Totals {
  std::uint64_t launches = 0, copies = 0, graph_launches = 0; ///< calls that ran
  double gpu_ns = 0; ///< sum of all GPU times of kernels, copies and fills
};

/// capture.json.
struct ProcessFacts {
  int pid = 0;
  std::vector<std::string> command;
  std::string started, updated; ///< dates in UTC
  bool ended = false;           ///< false: still running, or killed
  std::string cupti;            ///< path of the library; empty: none was opened
  int driver_version = 0;       ///< 13000 for CUDA 13.0; 0: unknown
  std::vector<Gpu> gpus;
  Totals totals;
  std::vector<Skipped> skipped;
  std::string stopped; ///< why recording ended before the process did; empty: it did not
};

/// run.json: the captured command as the user gave it.
struct RunFacts {
  std::vector<std::string> command;
  std::string folder;        ///< where it was started; empty: not known
  std::string started;       ///< date in UTC
  std::optional<int> status; ///< as a shell gives it, 128 + N for the signal N; absent: not ended
};

template <class Operation>
struct Line {
  Id id = 0;
  Operation operation;
  Statistics statistics;
};

/// A process folder as read.
struct ProcessFolder {
  std::filesystem::path path;
  ProcessFacts process;
  std::vector<Line<Launch>> launches;
  std::vector<Line<Copy>> copies;
  std::vector<Line<Graph>> graphs;
};

/// One line of text, without a newline.
std::string to_line(Id id, const Launch &launch, const Statistics &statistics);
std::string to_line(Id id, const Copy &copy, const Statistics &statistics);
std::string to_line(Id id, const Graph &graph, const Statistics &statistics);
std::string to_text(const ProcessFacts &process);

/// Reads the folder of one process. A last line that a kill has cut short is left out.
/// Errors: no capture.json, or a file that is not in this form; with the path.
Result<ProcessFolder> read_process(const std::filesystem::path &folder);

/// The folder with the captures that have no folder named by the user:
/// $XDG_CACHE_HOME/warpwright/captures, else ~/.cache/warpwright/captures.
/// Errors: neither XDG_CACHE_HOME nor HOME is set.
Result<std::filesystem::path> captures_folder();

std::string to_text(const RunFacts &run);
/// Errors: as read_process.
Result<RunFacts> read_run(const std::filesystem::path &capture);

/// Runs of order.jsonl, with neighbors of the same id joined. Errors: as read_process.
Result<std::vector<std::pair<Id, std::uint64_t>>> read_order(const std::filesystem::path &folder);

/// The folders of a capture's processes, in the order of their process ids.
std::vector<std::filesystem::path> process_folders(const std::filesystem::path &capture);

/// Replaces a file that only its owner can read: written beside it and renamed. The disk is not
/// waited for, since only the machine's failure would lose the file.
/// Errors: the file cannot be written, with the path and the system's reason.
Result<void> write_private(const std::filesystem::path &path, const std::string &text);

/// Adds to a file that only its owner can read. Errors: as write_private.
Result<void> append_private(const std::filesystem::path &path, const std::string &text);

} // namespace warpwright::capture
