// Regions of graphs and their programs, on graphs written as the Python package describes them.
#include "regions/partition.h"
#include "regions/program.h"

#include <doctest/doctest.h>

#include <set>

using namespace warpwright::regions;
using nlohmann::json;

namespace {

json value(const std::string &name, const std::vector<std::int64_t> &shape, std::vector<std::int64_t> strides = {},
           const std::string &dtype = "float32") {
  if (strides.empty()) {
    strides.assign(shape.size(), 1);
    for (std::size_t d = shape.size(); d-- > 1;)
      strides[d - 1] = strides[d] * shape[d];
  }
  return {{"name", name}, {"dtype", dtype}, {"shape", shape}, {"strides", strides}, {"device", "cuda:0"}};
}

json input(const json &result) { return {{"op", ""}, {"results", {result}}}; }

json node(const std::string &op, const json &args, const json &result, const std::vector<std::string> &tags = {"pointwise"}) {
  return {{"op", op}, {"args", args}, {"results", {result}}, {"tags", tags}};
}

json read(const std::string &name) { return {{"n", name}}; }

Graph graph(const std::vector<json> &nodes, const std::vector<std::string> &outputs) {
  const auto made = graph_of({{"nodes", nodes}, {"outputs", outputs}});
  REQUIRE_MESSAGE(made.has_value(), (made ? "" : made.error().message));
  return *made;
}

/// x -> mm -> relu -> add x, `count` times over.
Graph layers(int count) {
  std::vector<json> nodes = {input(value("x0", {8, 8})), input(value("w", {8, 8}))};
  for (int i = 0; i < count; ++i) {
    const std::string x = "x" + std::to_string(i), n = std::to_string(i), next = "x" + std::to_string(i + 1);
    nodes.push_back(node("aten.mm.default", {read(x), read("w")}, value("mm" + n, {8, 8}), {}));
    nodes.push_back(node("aten.relu.default", json::array({read("mm" + n)}), value("relu" + n, {8, 8})));
    nodes.push_back(node("aten.mul.Tensor", {read("relu" + n), 2.0}, value("mul" + n, {8, 8})));
    nodes.push_back(node("aten.add.Tensor", {read("mul" + n), read(x)}, value(next, {8, 8})));
  }
  return graph(nodes, {"x" + std::to_string(count)});
}

} // namespace

TEST_CASE("A graph that may be one region is one") {
  const auto regions = partition(layers(3));
  REQUIRE(regions.size() == 1);
  CHECK(regions[0].size() == 12);
}

TEST_CASE("Equal layers become regions with one key") {
  const Graph whole = layers(20);
  const auto regions = partition(whole, {.fewest = 24, .most = 30});
  REQUIRE(regions.size() == 20);
  std::set<std::string> keys;
  for (const auto &region : regions)
    keys.insert(key_of(program_of(whole, region)->document));
  CHECK(keys.size() == 1);
}

TEST_CASE("Of equally narrow cuts the last one is taken, so that regions are few") {
  std::vector<json> nodes = {input(value("x0", {4}))};
  for (int i = 0; i < 100; ++i)
    nodes.push_back(node("aten.tanh.default", json::array({read("x" + std::to_string(i))}),
                         value("x" + std::to_string(i + 1), {4})));
  std::vector<std::size_t> sizes;
  for (const auto &region : partition(graph(nodes, {"x100"}), {.fewest = 4, .most = 48}))
    sizes.push_back(region.size());
  CHECK(sizes == std::vector<std::size_t>{48, 48, 4});
}

TEST_CASE("A part in which many values cross every cut is cut where few do, though it gets longer") {
  std::vector<json> nodes = {input(value("x0", {4}))};
  for (int formula = 0; formula < 3; ++formula) {
    const std::string x = "x" + std::to_string(formula), n = std::to_string(formula) + "_";
    const auto name = [&](int chain, int step) { return step == 0 ? x : "c" + n + std::to_string(chain) + "_" + std::to_string(step); };
    for (int step = 1; step <= 10; ++step)
      for (int chain = 0; chain < 6; ++chain)
        nodes.push_back(node("aten.tanh.default", json::array({read(name(chain, step - 1))}), value(name(chain, step), {4})));
    std::string sum = name(0, 10);
    for (int chain = 1; chain < 6; ++chain) {
      const std::string next = chain == 5 ? "x" + std::to_string(formula + 1) : "s" + n + std::to_string(chain);
      nodes.push_back(node("aten.add.Tensor", {read(sum), read(name(chain, 10))}, value(next, {4})));
      sum = next;
    }
  }
  std::vector<std::size_t> sizes;
  for (const auto &region : partition(graph(nodes, {"x3"}), {.fewest = 4, .most = 48}))
    sizes.push_back(region.size());
  CHECK(sizes == std::vector<std::size_t>{65, 65, 65});
}

TEST_CASE("A network of convolutions is cut rarely, since regions hand values on in the module's layout") {
  std::vector<json> nodes = {input(value("x0", {1, 8, 8, 8})), input(value("w", {8, 8, 1, 1}))};
  for (int i = 0; i < 100; ++i) {
    const std::string x = "x" + std::to_string(i), n = std::to_string(i), next = "x" + std::to_string(i + 1);
    nodes.push_back(node("aten.convolution.default", {read(x), read("w"), nullptr, {1, 1}, {0, 0}, {1, 1}, false, {0, 0}, 1},
                         value("c" + n, {1, 8, 8, 8}), {}));
    nodes.push_back(node("aten.relu.default", json::array({read("c" + n)}), value(next, {1, 8, 8, 8})));
  }
  CHECK(partition(graph(nodes, {"x100"})).size() == 1);
  for (json &one : nodes)
    if (one.value("op", "") == "aten.convolution.default")
      one["args"][8] = 8; // depthwise convolutions do not gain from another layout alone
  CHECK(partition(graph(nodes, {"x100"})).size() > 1);
}

TEST_CASE("What another device computes for the graph divides no region") {
  const auto on_cpu = [](json one) {
    for (json &result : one["results"])
      result["device"] = "cpu";
    return one;
  };
  const Graph whole =
      graph({input(value("x", {4})), node("aten.relu.default", json::array({read("x")}), value("a", {4})),
             on_cpu(node("aten.full.default", {{4}, 2.0}, value("two", {4}))),
             on_cpu(node("aten.exp.default", json::array({read("two")}), value("e", {4}))),
             node("prims.device_put.default", {read("e"), {{"device", "cuda:0"}}}, value("put", {4})),
             node("aten.neg.default", json::array({read("a")}), value("b", {4})),
             node("aten.mul.Tensor", {read("put"), read("b")}, value("c", {4}))},
            {"c"});
  const auto regions = partition(whole);
  REQUIRE(regions.size() == 1);
  CHECK(regions[0] == std::vector<std::size_t>{1, 5, 6});
  CHECK(reasons_against(whole)[3] == "is on another device than most operators");
}

TEST_CASE("A number on another device costs the region the operator that reads it, and no other") {
  json number = input(value("n", {}));
  number["results"][0]["device"] = "cpu";
  const Graph whole =
      graph({input(value("x", {4})), number, node("aten.relu.default", json::array({read("x")}), value("a", {4})),
             node("aten.neg.default", json::array({read("a")}), value("b", {4})),
             node("aten.mul.Tensor", {read("b"), read("n")}, value("c", {4}))},
            {"c"});
  CHECK(partition(whole) == std::vector<std::vector<std::size_t>>{{2, 3}});
  CHECK(reasons_against(whole)[4] == "reads a tensor of another device");
}

TEST_CASE("What reads complex numbers is left to the compiler") {
  const Graph whole =
      graph({input(value("z", {4}, {}, "complex64")), node("aten.view_as_real.default", json::array({read("z")}), value("parts", {4, 2})),
             node("aten.neg.default", json::array({read("parts")}), value("a", {4, 2})),
             node("aten.exp.default", json::array({read("a")}), value("b", {4, 2}))},
            {"b"});
  CHECK(partition(whole) == std::vector<std::vector<std::size_t>>{{2, 3}});
  CHECK(reasons_against(whole)[1] == "reads complex64");
}

TEST_CASE("Vectors that are computed from inputs alone are in the region that reads them") {
  const Graph whole =
      graph({input(value("x", {4})), input(value("v", {4})), node("aten.relu.default", json::array({read("x")}), value("a", {4})),
             node("aten.neg.default", json::array({read("a")}), value("a2", {4})),
             node("aten.rand_like.default", json::array({read("a2")}), value("r", {4}), {"nondeterministic_seeded"}),
             node("aten.sqrt.default", json::array({read("v")}), value("s", {4})),
             node("aten.reciprocal.default", json::array({read("s")}), value("t", {4})),
             node("aten.mul.Tensor", {read("t"), read("r")}, value("c", {4}))},
            {"c"});
  const auto regions = partition(whole);
  REQUIRE(regions.size() == 2);
  CHECK(regions[0] == std::vector<std::size_t>{2, 3});
  CHECK(regions[1] == std::vector<std::size_t>{5, 6, 7});
}

TEST_CASE("An operator that draws random numbers ends a region, and what does not need it stays together") {
  const Graph whole =
      graph({input(value("x", {4, 4})), node("aten.relu.default", json::array({read("x")}), value("a", {4, 4})),
             node("aten.rand_like.default", json::array({read("a")}), value("r", {4, 4}), {"nondeterministic_seeded"}),
             node("aten.neg.default", json::array({read("a")}), value("b", {4, 4})),
             node("aten.mul.Tensor", {read("b"), read("r")}, value("c", {4, 4})),
             node("aten.exp.default", json::array({read("c")}), value("d", {4, 4}))},
            {"d"});
  const auto regions = partition(whole);
  REQUIRE(regions.size() == 2);
  CHECK(regions[0] == std::vector<std::size_t>{1, 3});
  CHECK(regions[1] == std::vector<std::size_t>{4, 5});
}

TEST_CASE("What reads a tensor before it is written and what reads it afterwards are in two regions") {
  json copy = node("aten.copy_.default", {read("x"), read("b")}, value("y", {4}), {});
  copy["writes"] = true;
  const Graph whole = graph({input(value("x", {4})), node("aten.relu.default", json::array({read("x")}), value("a", {4})),
                             node("aten.neg.default", json::array({read("a")}), value("b", {4})), copy,
                             node("aten.exp.default", json::array({read("x")}), value("c", {4})),
                             node("aten.abs.default", json::array({read("c")}), value("d", {4}))},
                            {"a", "d"});
  const auto regions = partition(whole);
  REQUIRE(regions.size() == 2);
  CHECK(regions[0] == std::vector<std::size_t>{1, 2});
  CHECK(regions[1] == std::vector<std::size_t>{4, 5});
  CHECK(ordered_nodes(whole) == std::vector<std::size_t>{3});
}

TEST_CASE("What reads no tensor has no program: a call of it would have no device") {
  const Graph whole = graph({node("aten.full.default", {json({4}), 1.0}, value("a", {4}), {}),
                             node("aten.exp.default", json::array({read("a")}), value("b", {4}))},
                            {"b"});
  CHECK(!program_of(whole, {0, 1}));
}

TEST_CASE("_unsafe_view is a view: a region gives its base, so that no two outputs share memory") {
  const Graph whole = graph({input(value("x", {4})), node("aten.exp.default", json::array({read("x")}), value("a", {4})),
                             node("aten._unsafe_view.default", {read("a"), json({2, 2})}, value("b", {2, 2}), {})},
                            {"a", "b"});
  const auto program = program_of(whole, {1, 2});
  REQUIRE(program->outputs.size() == 1);
  CHECK(program->outputs[0].name == "a");
}

TEST_CASE("Operators that write, have unknown sizes or other kinds of numbers are in no region") {
  CHECK(reason_against(graph_of({{"nodes", {input(value("x", {4})),
                                            {{"op", "aten.copy_.default"}, {"args", {read("x"), read("x")}},
                                             {"results", {value("y", {4})}}, {"writes", true}}}},
                                 {"outputs", json::array()}})->nodes[1]) == "writes to an argument");
  CHECK(reason_against(graph({input(value("s", {4}, {}, "int64")), node("prims.inductor_lookup_seed.default", {read("s"), 0}, value("y", {}, {}, "int64"))},
                             {"y"}).nodes[1]) == "is Inductor's own");
  CHECK(reason_against(graph({input(value("c", {4})), node("aten.lift_fresh_copy.default", json::array({read("c")}), value("y", {4}), {})},
                             {"y"}).nodes[1]) == "copies a constant");
  CHECK(reason_against(graph({input(value("c", {4})), node("prims.device_put.default", {read("c"), {{"device", "cuda:0"}}}, value("y", {4}))},
                             {"y"}).nodes[1]) == "copies to another device");
  json unknown = value("y", {4});
  unknown["shape"] = {nullptr};
  CHECK(reason_against(graph({node("aten.full.default", json::array(), unknown)}, {}).nodes[0]) == "a size is known only at run time");
  CHECK(reason_against(graph({node("aten.full.default", json::array(), value("y", {4}, {}, "complex64"))}, {}).nodes[0]) ==
        "computes with complex64");
}

TEST_CASE("Attention counts as random only where it drops something") {
  const auto attention = [](double dropout) {
    return graph({input(value("q", {1, 2, 4, 8})),
                  node("aten._scaled_dot_product_flash_attention.default", {read("q"), read("q"), read("q"), dropout, true},
                       value("y", {1, 2, 4, 8}), {"nondeterministic_seeded"})},
                 {"y"});
  };
  CHECK(reason_against(attention(0).nodes[1]) == "");
  CHECK(reason_against(attention(0.1).nodes[1]) == "nondeterministic_seeded");
  const auto program = program_of(attention(0), {1});
  CHECK(python_of(program->document, {}).find("scaled_dot_product_attention(a0, a0, a0, is_causal=True)") != std::string::npos);
}

TEST_CASE("Operators of training graphs whose results a plan does not have are in no region") {
  const auto several = [](const std::string &op, const json &args, const std::vector<std::string> &names) {
    json results = json::array();
    for (const std::string &name : names)
      results.push_back(value(name, {1, 2, 4, 8}));
    return graph({input(value("q", {1, 2, 4, 8})), {{"op", op}, {"args", args}, {"results", results}}}, {"y"}).nodes[1];
  };
  const json attention = {read("q"), read("q"), read("q"), nullptr, true};
  CHECK(reason_against(several("aten._scaled_dot_product_efficient_attention.default", attention, {"y", ""})) == "");
  CHECK(reason_against(several("aten._scaled_dot_product_efficient_attention.default", attention, {"y", "logsumexp"})) == "keeps what its gradient needs");
  const auto convolution = [&](bool all) {
    return several("aten.convolution_backward.default", {read("q"), read("q"), read("q"), {4}, {1}, {0}, {1}, false, {0}, 1, {all, true, true}}, {"y", "w", "b"});
  };
  CHECK(reason_against(convolution(true)) == "");
  CHECK(reason_against(convolution(false)) == "gives no tensor for one of its results");
}

TEST_CASE("A fused multiply-add of Inductor's is written in public operators") {
  const auto program = program_of(graph({input(value("x", {4})), node("prims.fma.default", {read("x"), 2.0, read("x")}, value("y", {4}))}, {"y"}), {1});
  CHECK(python_of(program->document, {}).find("b0 = (a0 * 2.0 + a0)") != std::string::npos);
}

TEST_CASE("A maximum over windows of Inductor's is written as PyTorch's, where nobody reads the places") {
  const auto pool = [](const std::string &op, const std::string &places, const json &window) {
    json one = node(op, {read("x"), window, window, json::array({0, 0}), json::array({1, 1}), false}, value("y", {1, 2, 4, 4}), {});
    one["results"].push_back(value(places, {1, 2, 4, 4}, {}, "int8"));
    std::vector<std::string> outputs = {"y"};
    if (!places.empty())
      outputs.push_back(places);
    return graph({input(value("x", {1, 2, 8, 8})), one}, outputs);
  };
  const std::string op = "prims._low_memory_max_pool2d_with_offsets.default";
  const Graph read_alone = pool(op, "", {2, 2});
  CHECK(reason_against(read_alone.nodes[1]) == "");
  CHECK(python_of(program_of(read_alone, {1})->document, {}).contains("torch.nn.functional.max_pool2d(a0, [2, 2], [2, 2], [0, 0], [1, 1], False)"));
  CHECK(reason_against(pool("prims._low_memory_max_pool_with_offsets.default", "", {2, 2}).nodes[1]) == "");
  CHECK(reason_against(pool(op, "places", {2, 2}).nodes[1]) == "keeps what its gradient needs");
}

TEST_CASE("An attention whose query heads share keys says so") {
  const auto text = [](std::int64_t heads) {
    const Graph whole = graph({input(value("q", {1, 8, 4, 8})), input(value("k", {1, heads, 4, 8})),
                               node("aten._scaled_dot_product_flash_attention.default",
                                    {read("q"), read("k"), read("k"), 0, true},
                                    value("y", {1, 8, 4, 8}), {"nondeterministic_seeded"})},
                              {"y"});
    return python_of(program_of(whole, {2})->document, {});
  };
  CHECK(text(8).find("enable_gqa") == std::string::npos);
  CHECK(text(2).find("(a0, a1, a1, is_causal=True, enable_gqa=True)") != std::string::npos);
}

TEST_CASE("The rows of attention's bias begin where PyTorch wants them, also at the border of a region") {
  const auto operators = [](std::int64_t keys) {
    const auto program = program_of(
        graph({input(value("q", {1, 2, keys, 8})), input(value("bias", {1, 2, keys, keys})),
               node("aten._scaled_dot_product_efficient_attention.default", {read("q"), read("q"), read("q"), read("bias"), false},
                    value("y", {1, 2, keys, 8}), {"nondeterministic_seeded"})},
              {"y"}),
        {2});
    REQUIRE(program.has_value());
    return program->document["operators"];
  };
  CHECK(operators(16).size() == 1);
  const json padded = operators(13);
  REQUIRE(padded.size() == 3);
  CHECK(padded[0]["op"] == "aten.constant_pad_nd.default");
  CHECK(padded[0]["args"] == json::parse(R"([{"v": [0, 0]}, [0, 3]])"));
  CHECK(padded[1]["args"] == json::parse(R"([{"v": [2, 0]}, -1, 0, 13])"));
  CHECK(padded[2]["args"][3] == json::parse(R"({"v": [3, 0]})"));
}

TEST_CASE("A program has no padding of products, which Inductor adds by measurement") {
  const auto program = [](bool is_padded) {
    std::vector<json> nodes = {input(value("x", {7, 6})), input(value("w", {6, 5})),
                               input(value("bias", {5}))};
    std::vector<std::size_t> inside;
    const auto add = [&](const char *op, const json &args, const char *name,
                         const std::vector<std::int64_t> &shape) {
      inside.push_back(nodes.size());
      nodes.push_back(node(op, args, value(name, shape), {}));
    };
    if (is_padded) {
      add("aten.constant_pad_nd.default", {read("x"), {0, 2, 0, 1}}, "xp", {8, 8});
      add("aten.constant_pad_nd.default", {read("w"), {0, 3, 0, 2}}, "wp", {8, 8});
      add("aten.constant_pad_nd.default", {read("bias"), {0, 3}}, "bp", {8});
      add("aten.addmm.default", {read("bp"), read("xp"), read("wp")}, "p", {8, 8});
      add("aten.slice.Tensor", {read("p"), 1, 0, -3}, "c", {8, 5});
      add("aten.slice.Tensor", {read("c"), 0, 0, -1}, "y", {7, 5});
    } else {
      add("aten.addmm.default", {read("bias"), read("x"), read("w")}, "y", {7, 5});
    }
    add("aten.relu.default", json::array({read("y")}), "z", {7, 5});
    auto made = program_of(graph(nodes, {"z"}), inside);
    REQUIRE(made.has_value());
    return made->document;
  };
  CHECK(program(true) == program(false));
  CHECK(python_of(program(true), {}).find("b0 = torch.ops.aten.addmm.default(a0, a1, a2)") !=
        std::string::npos);
}

TEST_CASE("Padding stays where it is not cut off alone") {
  const auto operators = [](const json &cut, const json &pads) {
    const auto made = program_of(
        graph({input(value("x", {7, 8})), input(value("w", {8, 8})),
               node("aten.constant_pad_nd.default", {read("x"), pads}, value("xp", {8, 8}), {}),
               node("aten.mm.default", {read("xp"), read("w")}, value("p", {8, 8}), {}),
               node("aten.slice.Tensor", cut, value("y", {7, 8}), {}),
               node("aten.relu.default", json::array({read("y")}), value("z", {7, 8}))},
              {"z"}),
        {2, 3, 4, 5});
    REQUIRE(made.has_value());
    return made->document["operators"].size();
  };
  CHECK(operators({read("p"), 0, 0, -1}, {0, 0, 0, 1}) == 2);
  CHECK(operators({read("p"), 0, 1, 8}, {0, 0, 0, 1}) == 4);  // other rows
  CHECK(operators({read("p"), 0, 0, -1}, {0, 0, 1, 0}) == 4); // padded before the first row
}

TEST_CASE("A region computes positions itself, which are no inputs, and leaves larger constants outside") {
  const auto reads = [](const std::vector<std::int64_t> &shape) {
    const Graph whole = graph({input(value("x", {8})), node("aten.rand.default", json::array({json({8})}), value("r", {8}), {"nondeterministic_seeded"}),
                               node("prims.iota.default", json::array({8}), value("i", {8}, {}, "int64"), {}),
                               node("aten.mul.Tensor", {read("i"), 0.5}, value("half", shape)),
                               node("aten.index_select.default", {read("x"), 0, read("half")}, value("a", shape), {}),
                               node("aten.relu.default", json::array({read("a")}), value("b", shape))},
                              {"b", "half"});
    const auto program = program_of(whole, {4, 5});
    REQUIRE(program);
    CHECK(program->operators == 2);
    CHECK(program->outputs.size() == 1); // who else reads the positions has them from elsewhere
    return program->document["operators"].size() == 4 ? program->inputs.size() : 100 + program->inputs.size();
  };
  CHECK(reads({8, 1}) == 1);
  CHECK(reads({4, 2}) == 102);
}

TEST_CASE("A view is made anew outside, and its base is the region's output") {
  json view = node("aten.view.default", {read("a"), {2, 2}}, value("v", {2, 2}), {});
  view["view"] = true;
  const Graph whole = graph({input(value("x", {4})), node("aten.relu.default", json::array({read("x")}), value("a", {4})),
                             node("aten.neg.default", json::array({read("a")}), value("b", {4})), view},
                            {"v", "b"});
  const auto program = program_of(whole, partition(whole)[0]);
  REQUIRE(program->outputs.size() == 2);
  CHECK(program->outputs[0].name == "a");
  CHECK(program->outputs[1].name == "b");
}

TEST_CASE("A tensor in another order of dimensions is permuted at the border, one with gaps is copied") {
  const Graph whole = graph({input(value("x", {2, 3, 4, 5}, {60, 1, 15, 3})), input(value("y", {4}, {2})),
                             node("aten.relu.default", json::array({read("x")}), value("a", {2, 3, 4, 5}, {60, 1, 15, 3})),
                             node("aten.neg.default", json::array({read("a")}), value("b", {2, 3, 4, 5}, {60, 1, 15, 3})),
                             node("aten.abs.default", json::array({read("y")}), value("c", {4}))},
                            {"b", "c"});
  const auto program = program_of(whole, partition(whole)[0]);
  const std::vector<std::size_t> order{0, 2, 3, 1};
  CHECK(program->inputs[0].order == order);
  CHECK(program->inputs[1].is_copied);
  CHECK(program->outputs[0].order == order);
  CHECK(program->document["inputs"][0]["shape"] == json({2, 4, 5, 3}));
  const std::string text = python_of(program->document, {});
  CHECK(text.find("a0 = a0.permute(0, 3, 1, 2,)") != std::string::npos);
  CHECK(text.find("b1.permute(0, 2, 3, 1,).contiguous()") != std::string::npos);
}

TEST_CASE("Inputs are drawn as a real call had them") {
  const Graph whole = graph({input(value("x", {4})), input(value("i", {4}, {}, "int64")),
                             node("aten.index_select.default", {read("x"), 0, read("i")}, value("a", {4}), {})},
                            {"a"});
  const auto program = program_of(whole, partition(whole)[0]);
  const std::string text =
      python_of(program->document, {{{"mean", 1.0}, {"std", 0.0}, {"low", 1.0}}, {{"low", 0}, {"high", 3}}});
  CHECK(text.find("(1.0 + 0.05 * torch.randn([4])).abs().clamp_min(0.5)") != std::string::npos);
  CHECK(text.find("torch.randint(0, 4, [4], dtype=torch.int64)") != std::string::npos);
  const std::string varied = python_of(program->document, {{{"mean", -2.0}, {"std", 1.5}, {"low", -6.0}, {"high", -1.0}}, {{"low", 0}, {"high", 3}}});
  CHECK(varied.contains("def within(values, low, high)"));
  CHECK(varied.contains("within(-2.0 + 1.5 * torch.randn([4]), -6.0, -1.0),"));
}

TEST_CASE("Truth values are drawn in the share of a real call, and both occur") {
  const Graph whole = graph({input(value("m", {4}, {}, "bool")), node("aten.logical_not.default", json::array({read("m")}), value("a", {4}, {}, "bool"))},
                            {"a"});
  const auto program = program_of(whole, {1});
  CHECK(python_of(program->document, {}).contains("torch.rand([4]) < 0.5,"));
  CHECK(python_of(program->document, {{{"share", 0.75}}}).contains("torch.rand([4]) < 0.75,"));
  CHECK(python_of(program->document, {{{"share", 1.0}}}).contains("torch.rand([4]) < 0.95,"));
}

TEST_CASE("A conversion to an input's half type follows the input, so that the runner may compute the region in float64") {
  const Graph whole = graph({input(value("x", {4}, {}, "bfloat16")),
                             node("prims.convert_element_type.default", {read("x"), {{"dtype", "float32"}}}, value("a", {4})),
                             node("aten.exp.default", json::array({read("a")}), value("b", {4})),
                             node("prims.convert_element_type.default", {read("b"), {{"dtype", "bfloat16"}}}, value("c", {4}, {}, "bfloat16"))},
                            {"c"});
  const std::string text = python_of(program_of(whole, partition(whole)[0])->document, {});
  CHECK(text.find("b0 = a0.to(torch.float32)") != std::string::npos);
  CHECK(text.find("b2 = b1.to(a0.dtype)") != std::string::npos);
}

TEST_CASE("A graph that reads what nobody made is refused") {
  CHECK(!graph_of({{"nodes", {node("aten.neg.default", json::array({read("x")}), value("a", {4}))}}, {"outputs", {"a"}}}));
  CHECK(!graph_of({{"outputs", {"a"}}}));
}

TEST_CASE("Sizes that differ from call to call belong to the program, under its own names") {
  const auto size = [](const char *symbol, int factor, int hint) { return json{{"size", {{factor, symbol}}}, {"hint", hint}}; };
  const auto tensor = [&](const char *name, const char *symbol) {
    json one = value(name, {24, 4});
    one["shape"][0] = size(symbol, 3, 24);
    return one;
  };
  const auto made = [&](const char *symbol, const char *first) {
    const auto graph = graph_of({{"symbols", {{symbol, {{"hint", 8}, {"low", 2}, {"high", 64}}}}},
                                 {"nodes",
                                  {input(tensor(first, symbol)), node("aten.exp.default", json::array({read(first)}), tensor("e", symbol)),
                                   node("aten.view.default", {read("e"), {size(symbol, 12, 96)}}, value("v", {96}))}},
                                 {"outputs", {"v"}}});
    REQUIRE(graph.has_value());
    return program_of(*graph, {1, 2}).value();
  };
  const Program program = made("s3", "x");
  CHECK(program.symbols == std::vector<std::string>{"s3"});
  CHECK(program.document["inputs"][0]["shape"] == json::parse(R"([{"size": [[3, "n0"]]}, 4])"));
  CHECK(key_of(program.document) == key_of(made("s7", "y").document));
  const std::string text = python_of(program.document, json(), {"n0"});
  CHECK(text.find("def __init__(self, n0)") != std::string::npos);
  CHECK(text.find(".reshape([(12 * self.n0)])") != std::string::npos);
  CHECK(text.find("def get_inputs(n0)") != std::string::npos);
  CHECK(text.find("torch.randn([(3 * n0), 4])") != std::string::npos);
}

TEST_CASE("Inputs that hold indices are drawn below the least extent that they index") {
  const Graph whole = graph(
      {input(value("x", {8, 1, 30})), input(value("rows", {5}, {}, "int64")),
       input(value("at", {4, 1}, {}, "int64")), input(value("count", {4}, {}, "int64")),
       node("aten.unsqueeze.default", {read("rows"), 1}, value("column", {5, 1}, {}, "int64"), {}),
       node("aten._unsafe_index.Tensor",
            {read("x"), json::array({read("column"), nullptr, read("at")})}, value("y", {5, 1}),
            {}),
       node("aten.index_select.default", {read("x"), -1, read("rows")}, value("z", {8, 1, 5}), {}),
       node("aten.add.Tensor", {read("count"), 1}, value("more", {4}, {}, "int64"))},
      {"y", "z", "more"});
  Graph viewed = whole;
  viewed.nodes[4].is_view = true;
  const auto program = program_of(viewed, {4, 5, 6, 7});
  REQUIRE(program);
  const std::string text = python_of(program->document, {});
  CHECK(text.contains("torch.randint(0, 8, [5], dtype=torch.int64)"));
  CHECK(text.contains("torch.randint(0, 30, [4, 1], dtype=torch.int64)"));
  CHECK(text.contains("torch.randint(0, 2, [4], dtype=torch.int64)"));
  // What the example's values were counts more.
  const json known = json::array({{{"low", 1}, {"high", 3}}, nullptr, nullptr, nullptr});
  CHECK(python_of(program->document, known).contains("torch.randint(1, 4"));
}

TEST_CASE("Offsets of bags are drawn in ascending order from 0") {
  const Graph whole = graph(
      {input(value("weight", {30, 8})), input(value("i", {50}, {}, "int64")),
       input(value("offsets", {2, 7}, {}, "int64")),
       node("aten.select.int", {read("offsets"), 0, 1}, value("row", {7}, {}, "int64"), {}),
       node("aten._embedding_bag.default", {read("weight"), read("i"), read("row")}, value("y", {7, 8}), {})},
      {"y"});
  Graph viewed = whole;
  viewed.nodes[3].is_view = true;
  const auto program = program_of(viewed, {3, 4});
  REQUIRE(program);
  const std::string text = python_of(program->document, {});
  CHECK(text.contains("def ascending(values, dim, first)"));
  CHECK(text.contains("torch.randint(0, 30, [50], dtype=torch.int64)"));
  CHECK(text.contains("ascending(torch.randint(0, 50, [2, 7], dtype=torch.int64), 1, 0)"));
}

TEST_CASE("Integers are drawn as they were in a real call: ascending along a dimension, or with a number that stands for no index") {
  json permuted = value("i", {4, 5, 6}, {}, "int64");
  permuted["strides"] = {30, 1, 5};
  const Graph whole = graph({input(permuted), node("aten.add.Tensor", {read("i"), 1}, value("a", {4, 5, 6}, {}, "int64"))}, {"a"});
  const auto program = program_of(whole, {1});
  REQUIRE(program);
  const auto text = [&](int dimension) {
    return python_of(program->document, {{{"low", 2}, {"high", 9}, {"ascending", dimension}}});
  };
  CHECK(text(1).contains("ascending(torch.randint(2, 10, [4, 6, 5], dtype=torch.int64), 2, 2)"));
  CHECK(text(2).contains("dtype=torch.int64), 1, 2)"));
  CHECK(!python_of(program->document, {{{"low", 2}, {"high", 9}}}).contains("ascending"));
  const json marked = {{{"low", 2}, {"high", 9}, {"mark", {{"value", -100}, {"share", 0.25}}}}};
  CHECK(python_of(program->document, marked)
            .contains("torch.where(torch.rand([4, 6, 5]) < 0.25, -100, torch.randint(2, 10, [4, 6, 5], dtype=torch.int64))"));
}

TEST_CASE("Integers are drawn as they were in a real call: few of a range, or none twice") {
  json permuted = value("i", {4, 5, 6}, {}, "int64");
  permuted["strides"] = {30, 1, 5};
  const Graph whole = graph({input(permuted), node("aten.add.Tensor", {read("i"), 1}, value("a", {4, 5, 6}, {}, "int64"))}, {"a"});
  const auto program = program_of(whole, {1});
  REQUIRE(program);
  json profile = {{"low", 2}, {"high", 30}, {"distinct", 1}};
  const auto text = [&] { return python_of(program->document, json::array({profile})); };
  CHECK(text().contains("def distinct(low, end, shape, dim)"));
  CHECK(text().contains("distinct(2, 31, [4, 6, 5], 2).to(dtype=torch.int64)"));
  profile["values"] = {2, 3, 30};
  profile["shares"] = {0.5, 0.25, 0.25};
  CHECK(text().contains("torch.tensor([2,3,30], dtype=torch.int64)[distinct(0, 3, [4, 6, 5], 2)]"));
  profile["distinct"] = -1;
  CHECK(text().contains("[distinct(0, 3, [torch.Size([4, 6, 5]).numel()], 0).reshape([4, 6, 5])]"));
  profile.erase("distinct");
  CHECK(text().contains("torch.tensor([2,3,30], dtype=torch.int64)[torch.bucketize(torch.rand([4, 6, 5]), torch.tensor([0.5,0.75]))]"));
}
