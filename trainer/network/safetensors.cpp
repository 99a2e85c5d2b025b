#include "trainer/network/safetensors.h"

#include "support/files.h"

#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace warpwright::trainer {
namespace {

using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little && sizeof(float) == 4);

constexpr std::size_t kLengthBytes = 8, kMostHeaderBytes = 100'000'000; ///< from the format

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
      file.tensors.push_back(TRY(decode(name, entry, data)));
    }
  } catch (const nlohmann::json::exception &error) {
    return fail(std::string("its header cannot be read: ") + error.what());
  }
  return file;
}

} // namespace

Result<TensorFile> read_safetensors(const std::string &path) {
  std::ifstream input(path, std::ios::binary);
  if (!input)
    return fail("cannot read the weights " + path, "Name a file that a stage has written");
  const std::string bytes(std::istreambuf_iterator<char>(input), {});
  auto file = decode_file(bytes);
  if (!file)
    return fail(path + " is not a safetensors file: " + file.error().message, file.error().remedy);
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
              ' '); // alignment that the format requires
  const std::uint64_t length = text.size();
  std::string bytes(reinterpret_cast<const char *>(&length), kLengthBytes);
  bytes += text;
  for (const NamedTensor &tensor : file.tensors)
    bytes.append(reinterpret_cast<const char *>(tensor.values.data()),
                 tensor.values.size() * sizeof(float));
  if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty()) {
    std::error_code ignored; // the write reports the problem
    std::filesystem::create_directories(folder, ignored);
  }
  return write_atomically(path, bytes);
}

} // namespace warpwright::trainer
