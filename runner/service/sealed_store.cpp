// Files of the store. An entry's file is named by the HMAC of the entry's name and holds the seal
// in hex, a newline, and the text.
#include "runner/service/sealed_store.h"

#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

namespace warpwright::runner {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSecretBytes = 32;
constexpr const char *kSecretFile = "secret";

std::string hmac_hex(const std::string &secret, const std::string &bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size(), digest, &size);
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (unsigned i = 0; i < size; ++i) {
    hex += kDigits[digest[i] >> 4];
    hex += kDigits[digest[i] & 15];
  }
  return hex;
}

/// Writes a temporary file and moves it into place, so that no reader sees a partial file. False:
/// failed.
bool write_whole(const fs::path &path, const std::string &bytes, bool may_replace) {
  std::string name = path.string() + ".XXXXXX";
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC); // readable by this user only
  if (descriptor < 0)
    return false;
  const bool written =
      ::write(descriptor, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
  ::close(descriptor);
  const bool placed =
      written && (may_replace ? ::rename(name.c_str(), path.c_str()) == 0
                              : ::link(name.c_str(), path.c_str()) == 0);
  if (!placed || !may_replace)
    ::unlink(name.c_str());
  return placed;
}

/// Reads the secret. Empty: no file, or one that another user owns or could read or write.
std::string read_secret(const fs::path &path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  struct stat status {};
  std::string secret(kSecretBytes, '\0');
  const bool usable = descriptor >= 0 && fstat(descriptor, &status) == 0 &&
                      S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
                      (status.st_mode & 077) == 0 &&
                      ::read(descriptor, secret.data(), kSecretBytes) == ssize_t{kSecretBytes};
  if (descriptor >= 0)
    ::close(descriptor);
  return usable ? secret : "";
}

std::string find_secret(const fs::path &folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  fs::permissions(folder, fs::perms::owner_all, error);
  const fs::path path = folder / kSecretFile;
  if (std::string known = read_secret(path); !known.empty())
    return known;
  ::unlink(path.c_str()); // texts sealed with a lost or exposed secret are ignored
  std::string secret(kSecretBytes, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char *>(secret.data()), kSecretBytes) != 1)
    return "";
  write_whole(path, secret, /*may_replace=*/false);
  return read_secret(path); // another runner may have created it first
}

} // namespace

SealedStore::SealedStore(fs::path folder) : folder_(std::move(folder)) {
  if (!folder_.empty())
    secret_ = find_secret(folder_);
}

std::string SealedStore::seal(const std::string &name, const std::string &text) const {
  return hmac_hex(secret_, std::to_string(name.size()) + ":" + name + text);
}

fs::path SealedStore::file_of(const std::string &name) const {
  return folder_ / hmac_hex(secret_, name);
}

std::optional<std::string> SealedStore::read(const std::string &name) const {
  if (!keeps())
    return std::nullopt;
  std::ifstream file(file_of(name), std::ios::binary);
  std::string seal_read;
  if (!file || !std::getline(file, seal_read))
    return std::nullopt;
  std::ostringstream rest;
  rest << file.rdbuf();
  std::string text = std::move(rest).str();
  const std::string wanted = seal(name, text);
  if (seal_read.size() != wanted.size() ||
      CRYPTO_memcmp(seal_read.data(), wanted.data(), wanted.size()) != 0)
    return std::nullopt;
  return text;
}

void SealedStore::write(const std::string &name, const std::string &text) const {
  if (keeps())
    write_whole(file_of(name), seal(name, text) + "\n" + text, /*may_replace=*/true);
}

} // namespace warpwright::runner
