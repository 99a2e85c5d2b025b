// Implementation of reading files: one file at a time goes from the strand to the pool and back.
#include "server/workspace_files.h"

#include "server/protocol/uri.h"

#include <fstream>

namespace warpwright::server {

namespace {

namespace fs = std::filesystem;

/// Larger files are taken for generated ones and are not read.
constexpr std::uintmax_t kMaxBytes = 1 << 20;

/// Cheap test for a keyword. A text without the keyword has no kernel.
bool may_hold_kernels(const std::string &path, const std::string &text) {
  const std::string language = language_of(path);
  const char *needed = language == "python" ? "Module" : language == "cuda" ? "__global__" : "Tensor";
  return text.find(needed) != std::string::npos;
}

} // namespace

void WorkspaceFiles::read(std::vector<std::string> uris, protocol::PositionEncoding encoding,
                          Done done) {
  read_next(std::make_shared<Reading>(Reading{std::move(uris), 0, encoding, std::move(done), {}}));
}

void WorkspaceFiles::read_next(std::shared_ptr<Reading> reading) {
  if (reading->next == reading->uris.size())
    return reading->done(std::move(reading->found));
  const std::string uri = reading->uris[reading->next++];
  const auto found = known_.find(uri);
  Known known = found == known_.end() ? Known{} : found->second;
  pool_.post([this, reading, uri, known = std::move(known), analyze = analyze_, strand = strand_,
              alive = std::weak_ptr(alive_)]() mutable {
    const std::string path = protocol::path_of(uri);
    std::error_code missing;
    const auto time = fs::last_write_time(path, missing);
    const std::uintmax_t size = missing ? 0 : fs::file_size(path, missing);
    if (missing || size > kMaxBytes) {
      known = {};
    } else if (time != known.time || size != known.size) {
      known = {time, size, nullptr};
      std::ifstream file(path, std::ios::binary);
      const auto text = std::make_shared<const std::string>(std::istreambuf_iterator<char>(file),
                                                            std::istreambuf_iterator<char>());
      try {
        if (may_hold_kernels(path, *text))
          known.snapshot =
              std::make_shared<Snapshot>(uri, 0, text, analyze(path, *text), reading->encoding);
      } catch (const std::exception &) {
        known.snapshot = nullptr; // opening the file in the editor shows the error
      }
    }
    boost::asio::post(strand, [this, reading, uri, known = std::move(known), alive]() mutable {
      if (alive.expired())
        return;
      if (known.snapshot && !known.snapshot->facts.kernels.empty())
        reading->found.push_back(known.snapshot);
      known_[uri] = std::move(known);
      read_next(reading);
    });
  });
}

} // namespace warpwright::server
