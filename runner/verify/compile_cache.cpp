#include "runner/verify/compile_cache.h"

#include <openssl/evp.h>

namespace warpwright::runner {
namespace {

using nlohmann::json;

std::string to_base64(const std::string &bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0'); // with the final zero
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char *>(text.data()),
                                   reinterpret_cast<const unsigned char *>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

std::optional<std::string> from_base64(const std::string &text) {
  std::string bytes(3 * (text.size() / 4) + 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char *>(bytes.data()),
                                   reinterpret_cast<const unsigned char *>(text.data()),
                                   static_cast<int>(text.size()));
  if (size < 0 || text.size() % 4 != 0)
    return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  bytes.resize(static_cast<std::size_t>(size) - padding);
  return bytes;
}

} // namespace

json to_json(const CompiledCode &code) {
  return {{"cubin", to_base64(code.cubin)},
          {"lowered_names", code.lowered_names},
          {"log", code.log},
          {"compile_ms", code.compile_ms}};
}

Result<CompiledCode> compiled_code_from_json(const json &document) {
  try {
    auto cubin = from_base64(document.at("cubin").get_ref<const std::string &>());
    if (!cubin)
      return fail("compiled code that is not base 64");
    return CompiledCode{std::move(*cubin), document.at("lowered_names"), document.at("log"),
                        document.at("compile_ms")};
  } catch (const json::exception &error) {
    return fail(std::string("compiled code that cannot be read: ") + error.what());
  }
}

} // namespace warpwright::runner
