#include "trainer/records/unpacked.h"

#include "support/files.h"
#include "support/process.h"

#include <chrono>

namespace warpwright::trainer {
namespace {

constexpr std::chrono::minutes kUnpackLimit{5};

Result<std::string> unpacked(const std::string &path, const std::string &program) {
  auto run = run_captured({program, "-dc", "--", path}, "", kUnpackLimit);
  if (!run)
    return fail("cannot unpack " + path + ": " + describe(run.error()), "Install " + program);
  if (run->status.code != 0)
    return fail("cannot unpack " + path + ": " + run->errors);
  return std::move(run->output);
}

} // namespace

Result<std::string> unpacked_text(const std::string &path) {
  if (path.ends_with(".xz"))
    return unpacked(path, "xz");
  if (path.ends_with(".gz"))
    return unpacked(path, "gzip");
  return read_file(path);
}

} // namespace warpwright::trainer
