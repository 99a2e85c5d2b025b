// Implementation of lookups in the facts of one version, and of the source hash.
#include "server/snapshot.h"

#include "support/hash.h"

#include <filesystem>

namespace warpwright::server {

Snapshot::Snapshot(std::string uri, std::int64_t version, std::shared_ptr<const std::string> text,
                   AnalysisResult result, protocol::PositionEncoding encoding)
    : uri(std::move(uri)), version(version), text(std::move(text)), facts(std::move(result.facts)),
      project(std::move(result.project)), positions(*this->text, encoding) {
  for (const analysis::Kernel &kernel : this->facts.kernels)
    source_hashes.push_back(kernel.slice.empty() ? "" : source_hash(kernel.slice));
}

const analysis::Kernel *Snapshot::find_kernel(const std::string &name) const {
  for (const analysis::Kernel &kernel : facts.kernels)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}

Snapshot::Hit Snapshot::hit(std::size_t offset) const {
  const auto touches = [offset](Range range) {
    return range.begin <= offset && offset <= range.end;
  };
  for (const analysis::Kernel &kernel : facts.kernels)
    if (touches(kernel.name_range))
      return {&kernel, kernel.name_range, true};
  for (const analysis::Launch &launch : facts.launches)
    if (touches(launch.range))
      if (const analysis::Kernel *kernel = find_kernel(launch.kernel))
        return {kernel, launch.range, true};
  for (const analysis::Kernel &kernel : facts.kernels)
    if (touches(kernel.range))
      return {&kernel, kernel.range, false};
  return {};
}

std::string language_of(const std::string &path) {
  const std::string extension = std::filesystem::path(path).extension();
  if (extension == ".py")
    return "python";
  const bool is_cpp = extension.starts_with(".c") || extension.starts_with(".h");
  return is_cpp && extension != ".cu" && extension != ".cuh" ? "cpp" : "cuda";
}

std::string source_hash(std::string_view device_source) {
  std::string text;
  while (!device_source.empty()) {
    const std::size_t end = std::min(device_source.find('\n'), device_source.size() - 1) + 1;
    const std::string_view line = device_source.substr(0, end);
    if (!line.starts_with("#line"))
      text += line;
    device_source.remove_prefix(end);
  }
  return sha256_hex(text);
}

} // namespace warpwright::server
