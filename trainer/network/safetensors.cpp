#include "trainer/network/safetensors.h"

#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace warpwright::trainer {
namespace {

using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little && sizeof(float) == 4);

constexpr std::size_t kLengthBytes = 8, kMostHeaderBytes = 100'000'000; ///< of the format

Result<NamedTensor> decode(const std::string &name, const Json &entry, std::string_view bytes) {
  NamedTensor tensor;
  tensor.name = name;
  if (entry.at("dtype") != "F32")
    return fail("tensor " + name + " is of type " + entry.at("dtype").dump(), "Only F32 is read");
  tensor.shape = entry.at("shape").get<std::vector<std::int64_t>>();
  const auto begin = entry.at("data_offsets").at(0).get<std::size_t>();
  const auto end = entry.at("data_offsets").at(1).get<std::size_t>();
  std::size_t elements = 1;
  for (const std::int64_t extent : tensor.shape)
    elements *= std::size_t(extent);
  if (begin > end || end > bytes.size() || end - begin != elements * sizeof(float))
    return fail("tensor " + name + " does not lie within the file");
  tensor.values.resize(elements);
  std::memcpy(tensor.values.data(), bytes.data() + begin, end - begin);
  return tensor;
}

Result<TensorFile> decode_file(std::string_view bytes) {
  std::uint64_t length = 0;
  if (bytes.size() < kLengthBytes)
    return fail("it is too short");
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > kMostHeaderBytes || length > bytes.size() - kLengthBytes)
    return fail("its header does not fit");
  TensorFile file;
  try {
    const Json header = Json::parse(bytes.substr(kLengthBytes, length));
    const std::string_view data = bytes.substr(kLengthBytes + length);
    for (const auto &[name, entry] : header.items()) {
      if (name == "__metadata__") {
        file.metadata = entry.get<std::map<std::string, std::string>>();
        continue;
      }
      auto tensor = decode(name, entry, data);
      if (!tensor)
        return std::unexpected(tensor.error());
      file.tensors.push_back(std::move(*tensor));
    }
  } catch (const nlohmann::json::exception &error) {
    return fail(std::string("its header cannot be read: ") + error.what());
  }
  return file;
}

Error system_error(const std::string &what) {
  return {what + ": " + std::strerror(errno),
          errno == ENOSPC ? "Free some space; the last checkpoint is kept" : ""};
}

} // namespace

Result<TensorFile> read_safetensors(const std::string &path) {
  std::ifstream input(path, std::ios::binary);
  if (!input)
    return fail("cannot read the weights " + path, "Name a file that a stage has written");
  const std::string bytes(std::istreambuf_iterator<char>(input), {});
  auto file = decode_file(bytes);
  if (!file)
    return fail(path + " is no safetensors file: " + file.error().message, file.error().remedy);
  return file;
}

Result<void> write_safetensors(const std::string &path, const TensorFile &file) {
  Json header = Json::object();
  if (!file.metadata.empty())
    header["__metadata__"] = file.metadata;
  std::size_t offset = 0;
  for (const NamedTensor &tensor : file.tensors) {
    const std::size_t end = offset + tensor.values.size() * sizeof(float);
    header[tensor.name] = {
        {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes,
              ' '); // as the format asks
  const std::uint64_t length = text.size();
  std::string bytes(reinterpret_cast<const char *>(&length), kLengthBytes);
  bytes += text;
  for (const NamedTensor &tensor : file.tensors)
    bytes.append(reinterpret_cast<const char *>(tensor.values.data()),
                 tensor.values.size() * sizeof(float));
  return write_atomically(path, bytes);
}

Result<void> write_atomically(const std::string &path, const std::string &bytes) {
  if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty()) {
    std::error_code ignored; // opening says what is wrong
    std::filesystem::create_directories(folder, ignored);
  }
  const std::string fresh = path + ".new";
  const int file = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0)
    return std::unexpected(system_error("cannot write " + fresh));
  bool good = true;
  for (std::size_t sent = 0; good && sent < bytes.size();) {
    const ssize_t count = ::write(file, bytes.data() + sent, bytes.size() - sent);
    good = count >= 0 || errno == EINTR;
    sent += count > 0 ? std::size_t(count) : 0;
  }
  good = good && ::fsync(file) == 0;
  const Error problem = system_error("cannot write " + fresh);
  ::close(file);
  if (!good) {
    ::unlink(fresh.c_str());
    return std::unexpected(problem);
  }
  if (::rename(fresh.c_str(), path.c_str()) != 0)
    return std::unexpected(system_error("cannot rename " + fresh));
  return {};
}

} // namespace warpwright::trainer
