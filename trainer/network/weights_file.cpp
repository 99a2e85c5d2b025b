#include "trainer/network/weights_file.h"

#include <stdexcept>

namespace warpwright::trainer {
namespace {

using Json = nlohmann::json;

NetworkShape shape_from(const Json &json) {
  NetworkShape shape;
  shape.vocabulary = json.at("vocabulary");
  shape.width = json.at("width");
  shape.layers = json.at("layers");
  shape.heads = json.at("heads");
  shape.context = json.at("context");
  return shape;
}

} // namespace

Json shape_json(const NetworkShape &shape) {
  return {{"vocabulary", shape.vocabulary},
          {"width", shape.width},
          {"layers", shape.layers},
          {"heads", shape.heads},
          {"context", shape.context}};
}

Result<WeightsFile> read_weights(const std::string &path) {
  auto file = TRY(read_safetensors(path));
  if (file.metadata["format"] != kWeightsFormat)
    return fail(path + " holds no policy of format " + kWeightsFormat,
                "It was written by another version, or is something else");
  WeightsFile weights;
  try {
    weights.shape = shape_from(Json::parse(file.metadata.at("shape")));
    weights.vocabulary = std::make_shared<Vocabulary>(
        Json::parse(file.metadata.at("vocabulary")).get<std::vector<std::string>>());
    if (weights.vocabulary->size() != weights.shape.vocabulary)
      return fail(path + ": its vocabulary does not fit its network");
    weights.stage = file.metadata["stage"];
    weights.step = Json::parse(file.metadata.at("step"));
    weights.state = Json::parse(file.metadata.at("state"));
    weights.optimizer_steps = Json::parse(file.metadata.at("optimizer_steps"));
  } catch (const Json::exception &error) {
    return fail(path + ": its metadata cannot be read: " + error.what());
  } catch (const std::out_of_range &) { // thrown by map::at
    return fail(path + ": its metadata is not complete");
  }
  weights.tensors = std::move(file.tensors);
  return weights;
}

} // namespace warpwright::trainer
