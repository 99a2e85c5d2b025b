// Reading of a capture's folders.
#include "runner/capture/files/capture_files.h"

#include "runner/capture/files/json_lines.h"

#include <algorithm>
#include <charconv>

namespace warpwright::capture {
namespace {

namespace fs = std::filesystem;
using PlainJson = nlohmann::json;

template <class T>
std::optional<T> optional_of(const PlainJson &json, const char *name) {
  const auto found = json.find(name);
  return found == json.end() ? std::nullopt : std::optional(found->get<T>());
}

std::string bytes_of(const std::string &hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    unsigned value = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, value, 16);
    bytes += static_cast<char>(value);
  }
  return bytes;
}

Pointer pointer_of(const PlainJson &json) {
  return {.at = json.value("at", std::uint32_t()),
          .allocation = json.at("allocation"),
          .offset = json.at("offset"),
          .extent_bytes = json.at("extent_bytes"),
          .memory = json.at("memory"),
          .address = 0};
}

Parameter parameter_of(const PlainJson &json) {
  Parameter parameter{.bytes = bytes_of(json.at("bytes")), .pointers = {}};
  for (const PlainJson &pointer : json.value("pointers", PlainJson::array()))
    parameter.pointers.push_back(pointer_of(pointer));
  return parameter;
}

Statistics statistics_of(const PlainJson &json) {
  return {.count = json.at("count"),
          .captured = json.value("captured", std::uint64_t()),
          .in_graphs = json.value("in_graphs", std::uint64_t()),
          .failed = json.value("failed", std::uint64_t()),
          .timed = json.value("timed", std::uint64_t()),
          .total_ns = json.value("total_ns", 0.0),
          .min_ns = optional_of<double>(json, "min_ns"),
          .median_ns = optional_of<double>(json, "median_ns"),
          .first = optional_of<std::uint64_t>(json, "first"),
          .last = optional_of<std::uint64_t>(json, "last")};
}

void read(const PlainJson &json, Launch &launch) {
  launch = {.kernel = json.at("kernel"),
            .grid = json.at("grid"),
            .block = json.at("block"),
            .cluster = json.value("cluster", Dimensions()),
            .cooperative = json.value("cooperative", false),
            .shared_bytes = json.at("shared_bytes"),
            .parameters = std::nullopt,
            .varied = json.value("varied", false)};
  if (!json.contains("parameters"))
    return;
  launch.parameters.emplace();
  for (const PlainJson &parameter : json.at("parameters"))
    launch.parameters->push_back(parameter_of(parameter));
}

void read(const PlainJson &json, Copy &copy) {
  copy = {.call = json.at("call"),
          .direction = json.value("direction", ""),
          .size_bytes = optional_of<std::uint64_t>(json, "size_bytes"),
          .to = std::nullopt,
          .from = std::nullopt,
          .varied = json.value("varied", false)};
  if (json.contains("to"))
    copy.to = pointer_of(json.at("to"));
  if (json.contains("from"))
    copy.from = pointer_of(json.at("from"));
}

void read(const PlainJson &json, Graph &graph) {
  for (const PlainJson &operation : json.at("operations"))
    graph.operations[operation.at(0)] = operation.at(1);
}

ProcessFacts process_of(const PlainJson &json) {
  const PlainJson &totals = json.at("totals");
  ProcessFacts process{.pid = json.at("pid"),
                       .command = json.at("command"),
                       .started = json.at("started"),
                       .updated = json.at("updated"),
                       .ended = json.at("ended"),
                       .cupti = json.at("cupti"),
                       .driver_version = json.at("driver_version"),
                       .gpus = {},
                       .totals = {.launches = totals.at("launches"),
                                  .copies = totals.at("copies"),
                                  .graph_launches = totals.at("graph_launches"),
                                  .gpu_ns = totals.at("gpu_ns")},
                       .skipped = {},
                       .stopped = json.value("stopped", "")};
  for (const PlainJson &gpu : json.at("gpus"))
    process.gpus.push_back({gpu.at("name"), gpu.at("compute")});
  for (const PlainJson &skipped : json.at("skipped"))
    process.skipped.push_back({skipped.at("what"), skipped.at("why"), skipped.at("count")});
  return process;
}

template <class Operation>
Result<std::vector<Line<Operation>>> read_operations(const fs::path &path) {
  std::vector<Line<Operation>> lines;
  TRY(read_lines(path, [&](const PlainJson &json) {
    Line<Operation> line{.id = json.at("id"), .operation = {}, .statistics = statistics_of(json)};
    read(json, line.operation);
    lines.push_back(std::move(line));
  }));
  return lines;
}

/// Calls `take` with the JSON of a whole file.
template <class Take>
Result<void> read_document(const fs::path &path, Take take) {
  const std::string text = TRY(read_file(path));
  try {
    take(PlainJson::parse(text));
  } catch (const PlainJson::exception &error) {
    return fail(path.string() + ": " + error.what(),
                "The file is not as a capture writes it; capture the program again");
  }
  return {};
}

} // namespace

Result<RunFacts> read_run(const fs::path &capture) {
  RunFacts run;
  TRY(read_document(capture / kRunFile, [&](const PlainJson &json) {
    run = {.command = json.at("command"),
           .folder = json.value("folder", ""),
           .started = json.at("started"),
           .status = optional_of<int>(json, "status")};
  }));
  return run;
}

Result<ProcessFolder> read_process(const fs::path &folder) {
  ProcessFolder result;
  result.path = folder;
  TRY(read_document(folder / kCaptureFile,
                    [&](const PlainJson &json) { result.process = process_of(json); }));
  result.launches = TRY(read_operations<Launch>(folder / kLaunchesFile));
  result.copies = TRY(read_operations<Copy>(folder / kCopiesFile));
  result.graphs = TRY(read_operations<Graph>(folder / kGraphsFile));
  return result;
}

Result<std::vector<std::pair<Id, std::uint64_t>>> read_order(const fs::path &folder) {
  std::vector<std::pair<Id, std::uint64_t>> order;
  TRY(read_lines(folder / kOrderFile, [&](const PlainJson &json) {
    const std::pair<Id, std::uint64_t> run(json.at(0), json.at(1));
    if (!order.empty() && order.back().first == run.first)
      order.back().second += run.second;
    else
      order.push_back(run);
  }));
  return order;
}

std::vector<fs::path> process_folders(const fs::path &capture) {
  std::vector<std::pair<int, fs::path>> numbered;
  std::error_code error;
  for (const fs::directory_entry &entry : fs::directory_iterator(capture, error)) {
    const std::string name = entry.path().filename();
    int pid = 0;
    std::from_chars(name.data(), name.data() + name.size(), pid);
    if (pid > 0 && fs::exists(entry.path() / kCaptureFile, error))
      numbered.emplace_back(pid, entry.path());
  }
  std::ranges::sort(numbered);
  std::vector<fs::path> folders;
  for (auto &[pid, path] : numbered)
    folders.push_back(std::move(path));
  return folders;
}

} // namespace warpwright::capture
