#include "server/optimize/base_version.h"

#include "support/files.h"
#include "support/git.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <openssl/evp.h>
#include <unistd.h>

namespace warpwright::server {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = 4 << 20; ///< of a file that people wrote

/// Endings and names of files that decide what a kernel computes, and at which sizes.
constexpr auto kEndings = std::to_array<std::string_view>(
    {".cu", ".cuh", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc", ".ipp", ".c", ".cc", ".cpp",
     ".cxx", ".py", ".mk", ".toml", "/Makefile", "/makefile", "/GNUmakefile", "/CMakeLists.txt",
     "/compile_commands.json"});

bool is_source(const std::string &path) {
  return std::ranges::any_of(kEndings, [&](std::string_view ending) { return path.ends_with(ending); });
}

/// A file in a commit.
struct Blob {
  std::string path; ///< absolute
  std::string id;   ///< hash of the content
  std::size_t size = 0;
};

std::string first_line(const std::string &text) { return text.substr(0, text.find('\n')); }

/// "100644 blob 8d0e41 1234\tsrc/a.cu", separated by zero bytes. Symbolic links and submodules are
/// left out.
std::vector<Blob> sources_in(const std::string &listing, const std::string &root) {
  std::vector<Blob> blobs;
  for (const std::string &line : split_at_nul(listing)) {
    const std::size_t tab = line.find('\t'), id = line.find(" blob ");
    if (!line.starts_with("100") || tab == std::string::npos || id == std::string::npos)
      continue;
    Blob blob{root + "/" + line.substr(tab + 1), line.substr(id + 6, line.find(' ', id + 6) - id - 6)};
    const std::size_t digits = line.find_last_of(' ', tab) + 1;
    std::from_chars(line.data() + digits, line.data() + tab, blob.size);
    if (is_source(blob.path) && blob.size <= kMostBytes)
      blobs.push_back(std::move(blob));
  }
  return blobs;
}

/// Git's hash of a content, by SHA-1 or SHA-256 as the length of `like` says.
std::string blob_id(const std::string &content, const std::string &like) {
  const std::string object = "blob " + std::to_string(content.size()) + '\0' + content;
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(object.data(), object.size(), digest.data(), &size,
             like.size() > 40 ? EVP_sha256() : EVP_sha1(), nullptr);
  std::string hex;
  for (unsigned index = 0; index < size; ++index) {
    hex += "0123456789abcdef"[digest[index] >> 4];
    hex += "0123456789abcdef"[digest[index] & 15];
  }
  return hex;
}

bool is_unchanged(const Blob &blob) {
  std::error_code error;
  if (fs::file_size(blob.path, error) != blob.size || error)
    return false;
  const auto text = read_file(blob.path);
  return text && blob_id(*text, blob.id) == blob.id;
}

/// The contents of blobs, from the output of `cat-file --batch`: "ID blob SIZE\nCONTENT\n" for each.
Result<std::vector<std::string>> contents_of(const Git &git, const std::vector<Blob> &blobs) {
  std::string ids;
  for (const Blob &blob : blobs)
    ids += blob.id + "\n";
  const std::string output =
      blobs.empty() ? "" : TRY(git.run({"cat-file", "--batch"}, ids));
  std::vector<std::string> contents;
  std::size_t at = 0;
  for (const Blob &blob : blobs) {
    const std::size_t line = output.find('\n', at);
    const std::string head = blob.id + " blob " + std::to_string(blob.size);
    if (line == std::string::npos || output.compare(at, line - at, head) != 0 ||
        output.size() < line + 1 + blob.size + 1)
      return fail("git cat-file did not give " + blob.path);
    contents.push_back(output.substr(line + 1, blob.size));
    at = line + 1 + blob.size + 1;
  }
  return contents;
}

} // namespace

bool is_in_repository(const std::string &folder) {
  std::error_code ignored;
  for (fs::path path = folder;; path = path.parent_path()) {
    if (fs::exists(path / ".git", ignored))
      return true;
    if (path == path.parent_path())
      return false;
  }
}

Result<BaseVersion> base_version(const std::string &file, const std::string &revision) {
  const Git git(fs::path(file).parent_path().string());
  const std::string root = first_line(TRY(git.run({"rev-parse", "--show-toplevel"})));
  BaseVersion base;
  const auto commit =
      git.run({"rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"});
  if (!commit)
    return fail("there is no revision " + revision + " in " + root,
                "Commit the original first, or pass the edited text and leave the file as it was");
  base.commit = first_line(*commit);
  const std::string listing = TRY(git.run({"ls-tree", "-r", "-z", "-l", "--full-tree", base.commit}));
  std::vector<Blob> changed = sources_in(listing, root);
  const auto own = std::ranges::find(changed, file, &Blob::path);
  const bool has_file = own != changed.end();
  std::erase_if(changed, [](const Blob &blob) { return is_unchanged(blob); });
  const std::vector<std::string> contents = TRY(contents_of(git, changed));
  auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  for (std::size_t index = 0; index < changed.size(); ++index)
    memory->addFile(changed[index].path, 0, llvm::MemoryBuffer::getMemBufferCopy(contents[index]),
                    ::getuid(), ::getgid(), llvm::sys::fs::file_type::regular_file,
                    llvm::sys::fs::owner_read | llvm::sys::fs::owner_write);
  auto files =
      llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(llvm::vfs::getRealFileSystem());
  files->pushOverlay(std::move(memory));
  base.files = std::move(files);
  if (has_file)
    if (const auto buffer = base.files->getBufferForFile(file))
      base.text = (*buffer)->getBuffer().str();
  return base;
}

} // namespace warpwright::server
