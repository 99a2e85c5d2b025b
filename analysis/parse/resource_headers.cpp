// Unpacks the archive of Clang's headers, a tar file compressed with zstd by CMake
// (resource_headers.cmake).
//
// Only the features of that tar file are supported: regular files whose names fit into the header.
// Thread: any.
#include "analysis/parse/resource_headers.h"

#include <charconv>
#include <cstring>
#include <string_view>
#include <zstd.h>

__asm__(".pushsection .rodata.resource_headers,\"aR\",@progbits\n"
        ".global warpwright_resource_headers\n"
        "warpwright_resource_headers:\n"
        ".incbin \"" WARPWRIGHT_RESOURCE_ARCHIVE "\"\n"
        ".global warpwright_resource_headers_end\n"
        "warpwright_resource_headers_end:\n"
        ".byte 0\n"
        ".popsection\n");
extern "C" const char warpwright_resource_headers[], warpwright_resource_headers_end[];

namespace warpwright::analysis {
namespace {

constexpr std::size_t kBlock = 512; // block size of POSIX ustar

Result<std::string> decompress(std::string_view packed) {
  const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(),
                                                                          ZSTD_freeDStream);
  std::string result;
  ZSTD_inBuffer input{packed.data(), packed.size(), 0};
  for (std::size_t more = 1; more != 0;) {
    const std::size_t before = result.size();
    result.resize(before + (std::size_t{1} << 20));
    ZSTD_outBuffer output{result.data() + before, result.size() - before, 0};
    more = ZSTD_decompressStream(stream.get(), &output, &input);
    result.resize(before + output.pos);
    if (ZSTD_isError(more) || (output.pos == 0 && input.pos == input.size && more != 0))
      return fail("cannot unpack the built-in Clang headers",
                  "the program is damaged: install it again");
  }
  return result;
}

std::string_view field(std::string_view header, std::size_t offset, std::size_t size) {
  const std::string_view raw = header.substr(offset, size);
  return raw.substr(0, std::min(raw.find('\0'), raw.size()));
}

} // namespace

Result<std::shared_ptr<const ResourceHeaders>> ResourceHeaders::unpack() {
  auto headers = std::make_shared<ResourceHeaders>();
  Result<std::string> archive = decompress(
      {warpwright_resource_headers,
       static_cast<std::size_t>(warpwright_resource_headers_end - warpwright_resource_headers)});
  if (!archive)
    return std::unexpected(archive.error());
  headers->archive_ = std::move(*archive);
  if (Result<void> done = headers->index(); !done)
    return std::unexpected(done.error());
  return headers;
}

Result<void> ResourceHeaders::index() {
  for (std::size_t offset = 0; offset + kBlock <= archive_.size();) {
    const std::string_view header = std::string_view(archive_).substr(offset, kBlock);
    if (header[0] == '\0')
      break;
    const std::string_view digits = field(header, 124, 12);
    std::size_t size = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), size, 8);
    const Range content{offset + kBlock, offset + kBlock + size};
    if (content.end >= archive_.size())
      return fail("the built-in Clang headers end early",
                  "the program is damaged: install it again");
    if (header[156] == '0' || header[156] == '\0')
      entries_.push_back({std::string(field(header, 0, 100)), content});
    offset = content.begin + (size + kBlock - 1) / kBlock * kBlock;
  }
  // Clang needs a 0 after each file. It overwrites padding, or the header of the next file, which
  // has been read already.
  for (const Entry &entry : entries_)
    archive_[entry.range.end] = '\0';
  return {};
}

void ResourceHeaders::add_to(llvm::vfs::InMemoryFileSystem &files) const {
  for (const Entry &entry : entries_) {
    const std::string path = std::string(kDirectory) + "/include/" + entry.name;
    const llvm::StringRef content(archive_.data() + entry.range.begin, entry.range.size());
    files.addFile(path, 0, llvm::MemoryBuffer::getMemBuffer(content, path));
  }
}

} // namespace warpwright::analysis
