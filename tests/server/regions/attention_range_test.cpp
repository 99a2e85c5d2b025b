// One text of an attention kernel serves a range of lengths.
#include "generator/families/attention/attention.h"
#include "generator/ops/graph_index.h"
#include "server/regions/size_constants.h"
#include "support/model/graph_json.h"
#include "tests/analysis/nvrtc_probe.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

using namespace warpwright;

namespace {

model::Graph attention_of(std::int64_t batch, std::int64_t length) {
  const auto node = [](const std::string &name, const std::string &op, nlohmann::json inputs, nlohmann::json attributes,
                       std::vector<std::int64_t> shape) {
    return nlohmann::json{{"name", name},
                          {"op", op},
                          {"inputs", std::move(inputs)},
                          {"attributes", std::move(attributes)},
                          {"types", {{{"dtype", "bfloat16"}, {"shape", std::move(shape)}}}}};
  };
  nlohmann::json nodes = nlohmann::json::array();
  for (const char *name : {"q", "k", "v"})
    nodes.push_back(node(name, "input", nlohmann::json::array(), {{"torch_name", name}}, {batch, 16, length, 64}));
  nodes.push_back(node("y", "attention", {"q", "k", "v"}, {{"causal", true}, {"scale", 0.125}}, {batch, 16, length, 64}));
  return model::graph_from_json({{"nodes", nodes}, {"outputs", {"y"}}, {"updates", nlohmann::json::array()}}).value();
}

} // namespace

TEST_CASE("An attention of long prompts has one text for a range of batches and lengths, which compiles") {
  const elements::DeviceFacts hopper{arch::gpu_named("h200").value()};
  const elements::Family &family = families::attention::kAttentionFamily;
  const elements::Configuration chosen{{"groups", 2}, {"keys", 128}, {"stages", 3}, {"turns", 1}};
  std::vector<std::string> texts;
  std::vector<symbolic::Sizes> sizes;
  for (const auto &[batch, length] : {std::pair{3, 101}, {5, 211}, {2, 509}, {7, 1021}, {11, 2039}}) {
    const model::Graph graph = attention_of(batch, length);
    const ops::GraphIndex index(graph);
    const elements::Region region{.nodes = {"y"}, .anchor = "y", .inputs = {"q", "k", "v"}, .outputs = {"y"}};
    const auto lowering = family.lower(index, region, chosen, hopper, "region");
    REQUIRE_MESSAGE(lowering, (lowering ? "" : describe(lowering.error())));
    texts.push_back(std::string(elements::ElementWriter::prelude()) + lowering->source);
    sizes.push_back({{"n0", batch}, {"n1", length}});
  }
  const auto fitted = symbolic::fit_integers(texts, sizes);
  REQUIRE_MESSAGE(fitted, (fitted ? "" : describe(fitted.error())));
  CHECK(!fitted->values.empty());
  const auto sized = server::with_size_constants(*fitted, sizes.back());
  REQUIRE_MESSAGE(sized, (sized ? "" : describe(sized.error())));
  const std::string source = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n" + sized->text.at(sizes.front()).value();
  const auto errors = tests::nvrtc_errors(source, {}, "sm_90a");
  CHECK_MESSAGE(errors.value_or("").empty(), *errors);
}
