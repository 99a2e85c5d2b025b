// Lines of a capture's files as text, and the two ways of writing them.
#include "runner/capture/files/capture_files.h"

#include "runner/capture/files/json_lines.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace warpwright::capture {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string hex(const std::string &bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

Json to_json(const Pointer &pointer) {
  return {{"allocation", pointer.allocation},
          {"offset", pointer.offset},
          {"extent_bytes", pointer.extent_bytes},
          {"memory", pointer.memory}};
}

Json to_json(const Parameter &parameter) {
  Json json{{"bytes", hex(parameter.bytes)}};
  for (const Pointer &pointer : parameter.pointers) {
    Json one{{"at", pointer.at}};
    one.update(to_json(pointer));
    json["pointers"].push_back(one);
  }
  return json;
}

void add(Json &json, const Statistics &statistics) {
  json["count"] = statistics.count;
  const auto add_unless_zero = [&](const char *name, std::uint64_t count) {
    if (count != 0)
      json[name] = count;
  };
  add_unless_zero("captured", statistics.captured);
  add_unless_zero("in_graphs", statistics.in_graphs);
  add_unless_zero("failed", statistics.failed);
  if (statistics.timed != 0) {
    json["timed"] = statistics.timed;
    json["total_ns"] = statistics.total_ns;
  }
  const auto add_if_known = [&](const char *name, const auto &value) {
    if (value)
      json[name] = *value;
  };
  add_if_known("min_ns", statistics.min_ns);
  add_if_known("median_ns", statistics.median_ns);
  add_if_known("first", statistics.first);
  add_if_known("last", statistics.last);
}

Result<void> write(const fs::path &path, const std::string &text, int flags) {
  const int descriptor =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
  std::size_t written = 0;
  while (descriptor >= 0 && written < text.size()) {
    const ssize_t count = ::write(descriptor, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      break;
    written += static_cast<std::size_t>(count);
  }
  const std::string reason = std::strerror(errno);
  if (descriptor >= 0)
    ::close(descriptor);
  if (descriptor < 0 || written < text.size())
    return fail("cannot write " + path.string() + ": " + reason);
  return {};
}

} // namespace

std::uint64_t extent_of(const Pointer &pointer, const Launch &launch) {
  std::uint64_t extent = pointer.extent_bytes;
  for (const Parameter &parameter : *launch.parameters)
    for (const Pointer &other : parameter.pointers)
      if (other.allocation == pointer.allocation && other.offset > pointer.offset)
        extent = std::min(extent, other.offset - pointer.offset);
  return extent;
}

std::int64_t integer_of(const std::string &bytes, bool is_signed) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
  const std::size_t bits = bytes.size() * 8;
  if (is_signed && bits < 64 && (value >> (bits - 1) & 1))
    value |= ~std::uint64_t{0} << bits;
  return static_cast<std::int64_t>(value);
}

double real_of(const std::string &bytes) {
  if (bytes.size() == sizeof(float)) {
    float value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  double value = 0;
  std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
  return value;
}

std::string to_line(Id id, const Launch &launch, const Statistics &statistics) {
  Json json{{"id", id}, {"kernel", launch.kernel}, {"grid", launch.grid}, {"block", launch.block}};
  if (launch.cluster != Dimensions{})
    json["cluster"] = launch.cluster;
  if (launch.cooperative)
    json["cooperative"] = true;
  json["shared_bytes"] = launch.shared_bytes;
  if (launch.parameters) {
    json["parameters"] = Json::array();
    for (const Parameter &parameter : *launch.parameters)
      json["parameters"].push_back(to_json(parameter));
  }
  if (launch.varied)
    json["varied"] = true;
  add(json, statistics);
  return line_of(json);
}

std::string to_line(Id id, const Copy &copy, const Statistics &statistics) {
  Json json{{"id", id}, {"call", copy.call}};
  if (!copy.direction.empty())
    json["direction"] = copy.direction;
  if (copy.size_bytes)
    json["size_bytes"] = *copy.size_bytes;
  if (copy.to)
    json["to"] = to_json(*copy.to);
  if (copy.from)
    json["from"] = to_json(*copy.from);
  if (copy.varied)
    json["varied"] = true;
  add(json, statistics);
  return line_of(json);
}

std::string to_line(Id id, const Graph &graph, const Statistics &statistics) {
  Json json{{"id", id}, {"operations", Json::array()}};
  for (const auto &[operation, count] : graph.operations)
    json["operations"].push_back({operation, count});
  add(json, statistics);
  return line_of(json);
}

std::string to_text(const ProcessFacts &process) {
  Json json{{"version", 1},
            {"pid", process.pid},
            {"command", process.command},
            {"started", process.started},
            {"updated", process.updated},
            {"ended", process.ended},
            {"cupti", process.cupti},
            {"driver_version", process.driver_version},
            {"gpus", Json::array()},
            {"totals",
             {{"launches", process.totals.launches},
              {"copies", process.totals.copies},
              {"graph_launches", process.totals.graph_launches},
              {"gpu_ns", process.totals.gpu_ns}}},
            {"skipped", Json::array()}};
  for (const Gpu &gpu : process.gpus)
    json["gpus"].push_back({{"name", gpu.name}, {"compute", gpu.compute}});
  for (const Skipped &skipped : process.skipped)
    json["skipped"].push_back(
        {{"what", skipped.what}, {"why", skipped.why}, {"count", skipped.count}});
  if (!process.stopped.empty())
    json["stopped"] = process.stopped;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<fs::path> captures_folder() {
  const auto value = [](const char *name) {
    const char *text = std::getenv(name);
    return fs::path(text ? text : "");
  };
  const fs::path cache = value("XDG_CACHE_HOME"), home = value("HOME");
  if (cache.empty() && home.empty())
    return fail("there is no folder for captures: neither HOME nor XDG_CACHE_HOME is set",
                "Name a folder with --out");
  return (cache.empty() ? home / ".cache" : cache) / "warpwright" / "captures";
}

std::string to_text(const RunFacts &run) {
  Json json{{"version", 1}, {"command", run.command}, {"folder", run.folder}, {"started", run.started}};
  if (run.status)
    json["status"] = *run.status;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<void> write_private(const fs::path &path, const std::string &text) {
  const fs::path beside = path.string() + ".new";
  TRY(write(beside, text, O_TRUNC));
  if (::rename(beside.c_str(), path.c_str()) != 0)
    return fail("cannot write " + path.string() + ": " + std::strerror(errno));
  return {};
}

Result<void> append_private(const fs::path &path, const std::string &text) {
  return write(path, text, O_APPEND);
}

} // namespace warpwright::capture
