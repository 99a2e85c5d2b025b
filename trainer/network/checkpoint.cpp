#include "support/version.h"
#include "trainer/network/checkpoint.h"

#include "trainer/network/weights_file.h"

namespace warpwright::trainer {

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
  auto file = TRY(read_weights(path));
  Model model;
  model.vocabulary = std::move(file.vocabulary);
  model.stage = std::move(file.stage);
  model.step = file.step;
  model.state = std::move(file.state);
  model.network = Network::make(file.shape, 0, device);
  model.network->set_steps(file.optimizer_steps);
  if (const std::string problem = model.network->take(file.tensors); !problem.empty())
    return fail(path + ": " + problem);
  return model;
}

Result<void> save_model(const std::string &path, const Model &model, bool with_optimizer) {
  TensorFile file;
  file.metadata = {{"format", kWeightsFormat},
                   {"version", version()},
                   {"stage", model.stage},
                   {"step", std::to_string(model.step)},
                   {"optimizer_steps", std::to_string(model.network->steps())},
                   {"shape", shape_json(model.network->shape()).dump()},
                   {"vocabulary", nlohmann::json(model.vocabulary->words()).dump()},
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
