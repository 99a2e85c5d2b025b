#include "trainer/network/checkpoint.h"

#include "trainer/network/safetensors.h"

namespace warpwright::trainer {
namespace {

using Json = nlohmann::json;

constexpr const char *kFormat = "warpwright-policy-1";

Json shape_json(const NetworkShape &shape) {
  return {{"vocabulary", shape.vocabulary},
          {"width", shape.width},
          {"layers", shape.layers},
          {"heads", shape.heads},
          {"context", shape.context}};
}

NetworkShape shape_from(const Json &json) {
  return {json.at("vocabulary"), json.at("width"), json.at("layers"), json.at("heads"),
          json.at("context")};
}

} // namespace

Model make_model(const NetworkConfig &network, const std::vector<std::string> &words,
                 std::uint64_t seed, const std::string &device) {
  Model model;
  model.vocabulary = std::make_shared<Vocabulary>(words);
  const NetworkShape shape{model.vocabulary->size(), network.width, network.layers, network.heads,
                           network.context};
  model.network = Network::make(shape, seed, device);
  return model;
}

Result<Model> load_model(const std::string &path, const std::string &device) {
  auto file = read_safetensors(path);
  if (!file)
    return std::unexpected(file.error());
  if (file->metadata["format"] != kFormat)
    return fail(path + " holds no policy of format " + kFormat,
                "It was written by another version, or is something else");
  Model model;
  try {
    const NetworkShape shape = shape_from(Json::parse(file->metadata.at("shape")));
    model.vocabulary = std::make_shared<Vocabulary>(
        Json::parse(file->metadata.at("vocabulary")).get<std::vector<std::string>>());
    if (model.vocabulary->size() != shape.vocabulary)
      return fail(path + ": its vocabulary does not fit its network");
    model.stage = file->metadata["stage"];
    model.step = Json::parse(file->metadata.at("step"));
    model.state = Json::parse(file->metadata.at("state"));
    model.network = Network::make(shape, 0, device);
    model.network->set_steps(Json::parse(file->metadata.at("optimizer_steps")));
  } catch (const Json::exception &error) {
    return fail(path + ": its metadata cannot be read: " + error.what());
  } catch (const std::out_of_range &) { // of map::at
    return fail(path + ": its metadata is not complete");
  }
  if (const std::string problem = model.network->take(file->tensors); !problem.empty())
    return fail(path + ": " + problem);
  return model;
}

Result<void> save_model(const std::string &path, const Model &model, bool with_optimizer) {
  TensorFile file;
  file.metadata = {{"format", kFormat},
                   {"version", WARPWRIGHT_VERSION},
                   {"stage", model.stage},
                   {"step", std::to_string(model.step)},
                   {"optimizer_steps", std::to_string(model.network->steps())},
                   {"shape", shape_json(model.network->shape()).dump()},
                   {"vocabulary", Json(model.vocabulary->words()).dump()},
                   {"state", model.state.dump()}};
  file.tensors = model.network->tensors(with_optimizer);
  return write_safetensors(path, file);
}

std::string checkpoint_path(const std::string &folder, const std::string &stage) {
  return folder + "/" + stage + ".checkpoint.safetensors";
}
std::string weights_path(const std::string &folder, const std::string &stage) {
  return folder + "/" + stage + ".safetensors";
}

} // namespace warpwright::trainer
