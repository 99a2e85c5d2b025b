// The texts of a state and how they are parsed; see state.h.
#include "generator/text/source/state.h"

#include <llvm/Support/MemoryBuffer.h>

namespace warpwright::source {

std::string base_name(const std::string &kernel) {
  const std::string name = kernel.substr(0, kernel.find('<'));
  return name.substr(name.rfind(':') + 1);
}

std::string State::text() const {
  return includer.path.empty() ? file.text : file.text + kTextEnd + includer.text;
}

void State::set_text(std::string text) {
  const std::size_t end = includer.path.empty() ? text.size() : text.find(kTextEnd);
  if (end < text.size())
    includer.text = text.substr(end + 1);
  file.text = std::move(text);
  file.text.resize(std::min(end, file.text.size()));
}

Result<std::unique_ptr<analysis::ParsedUnit>> parse(const State &state) {
  auto files = llvm::vfs::getRealFileSystem();
  if (state.includer.path.empty())
    return analysis::parse_stub(state.file, state.settings, std::move(files));
  auto changed = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  changed->addFile(state.includer.path, 0, llvm::MemoryBuffer::getMemBufferCopy(state.includer.text));
  auto all = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(std::move(files));
  all->pushOverlay(std::move(changed));
  return analysis::parse_stub(state.file, state.settings, std::move(all));
}

} // namespace warpwright::source
