#include "generator/families/recurrent/recurrent_text.h"

#include "generator/elements/window_text.h"

#include <algorithm>

namespace warpwright::families::recurrent {
namespace {

constexpr const char *kDevice = "\n"
#include "generator/device/recurrent.cuh.inc"
    ;
constexpr const char *kPolling = "\n"
#include "generator/device/recurrent_polling.cuh.inc"
    ;

constexpr std::string_view kKernel = R"cuda(
struct @P@_layers {
  using Passing = warpwright_recurrent::@PASSING@;
  static constexpr warpwright_recurrent::Cell kCell = warpwright_recurrent::Cell::@CELL@;
  static constexpr int @SIZES@;
};
extern "C" __global__ void __launch_bounds__(@T@, 1)
    @P@_recurrent(@PARAMETERS@, float *states, int first_layer) {
  warpwright_recurrent::Layers<@P@_layers>::run(states, first_layer,
      [&](const int line, const int row, const int k, float &weight) {
        switch (line) {
@INPUT_WEIGHTS@        }
      },
      [&](const int line, const int row, const int k, float &weight) {
        switch (line) {
@STATE_WEIGHTS@        }
      },
      [&](const int line, const int row, float &input_bias, float &state_bias) {
        switch (line) {
@BIASES@        }
      },
      [&](const int line, const int b, const int column, float &state, float &memory) {
@FIRST_STATES@      },
      [&](const int b, const int t, const int group, float4 &values) {
@INPUT@      },
      [&](const int line, const int b, const int group, float4 &values) {
@STATE@      },
      [&](const int b, const int t, const int feature, const float state) {
@OUTPUT@      },
      [&](const int line, const int b, const int column, const float state, const float memory) {
@LAST@      });
}
)cuda";

constexpr std::string_view name_of(Cell cell) {
  switch (cell) {
  case Cell::Lstm:
    return "Lstm";
  case Cell::Gru:
    return "Gru";
  case Cell::Tanh:
    return "Tanh";
  case Cell::Relu:
    return "Relu";
  }
  return {};
}

/// "values.x = element; ..." for four neighboring columns; the last group may extend beyond the value.
std::string load_group(elements::ElementWriter &writer, const std::string &value,
                       std::int64_t columns, const auto &index_of) {
  constexpr std::string_view kLanes = "xyzw";
  std::string text;
  const auto column = [](std::size_t lane) { return "4 * group + " + std::to_string(lane); };
  const auto assign = [&](std::size_t lane, const std::string &element) {
    return std::string("values.") + kLanes[lane] + " = " + element + ";\n";
  };
  if (columns % 4 == 0) {
    std::vector<elements::Index> lanes;
    for (std::size_t lane = 0; lane < 4; ++lane)
      lanes.push_back(index_of(column(lane)));
    const auto elements = writer.load(value, lanes, text);
    for (std::size_t lane = 0; lane < 4; ++lane)
      text += assign(lane, elements[lane]);
    return text;
  }
  for (std::size_t lane = 0; lane < 4; ++lane) {
    std::string before;
    const std::string element = writer.load(value, index_of(column(lane)), before);
    text += "if (" + column(lane) + " < " + std::to_string(columns) + ") {\n" + before +
            assign(lane, element) + "}\n";
  }
  return text;
}

} // namespace

std::int64_t recurrent_shared_bytes(const RecurrentShape &shape, std::int64_t units,
                                    std::int64_t batch, std::int64_t threads) {
  const std::int64_t input_groups =
      elements::ceil_divide(std::max(shape.width(0), shape.layers > 1 ? shape.width(1) : 0), 4);
  const std::int64_t groups = input_groups + shape.units / 4;
  const std::int64_t slices = 32 / units,
                     each = elements::ceil_divide(shape.sums() * batch, slices);
  return 16 * groups * (shape.gates() * units + batch) +
         4 * (threads * each + shape.sums() * units);
}

std::string recurrent_kernel(const RecurrentShape &shape, elements::ElementWriter &writer,
                             const RecurrentText &text) {
  const std::int64_t input_width = std::max(shape.width(0), shape.layers > 1 ? shape.width(1) : 0);
  writer.bound("row", shape.gates() * shape.units);
  writer.bound("b", shape.batch);
  writer.bound("t", shape.steps);
  writer.bound("column", shape.units);
  writer.bound("line", std::ssize(shape.lines));
  const bool has_memory = shape.cell == Cell::Lstm;
  const elements::Index of_state{"line", "b", "column"};
  const auto assign = [&](const std::string &variable, const std::string &value,
                          const elements::Index &index) {
    std::string before;
    const std::string element = writer.load(value, index, before);
    return before + variable + " = " + element + ";\n";
  };
  const std::string first = assign("state", shape.hidden, of_state) +
                            (has_memory ? assign("memory", shape.memory, of_state) : std::string());
  const std::string last = writer.store(of_state, "state", 1) +
                           (has_memory ? writer.store(of_state, "memory", 2) : std::string());
  const auto at_input = [&](const std::string &column) {
    return shape.batch_first ? elements::Index{"b", "t", column}
                             : elements::Index{"t", "b", column};
  };
  writer.bound("feature", shape.directions * shape.units);
  const std::string output = writer.store(at_input("feature"), "state", 0);
  // "case 3: { ... weight = element; ... break; }" for each layer and direction.
  const auto cases = [&](const auto &statements) {
    std::string all;
    for (std::size_t line = 0; line < shape.lines.size(); ++line)
      all += "      case " + std::to_string(line) + ": {\n" + statements(shape.lines[line]) +
             " break; }\n";
    return all;
  };
  const auto weights = [&](std::string RecurrentLine::*operand) {
    return cases(
        [&](const RecurrentLine &line) { return assign("weight", line.*operand, {"row", "k"}); });
  };
  const std::string biases =
      shape.lines.front().input_bias.empty() ? "" : cases([&](const RecurrentLine &line) {
        return assign("input_bias", line.input_bias, {"row"}) +
               assign("state_bias", line.state_bias, {"row"});
      });
  const elements::Substitutions places{
      {"P", text.prefix},
      {"T", std::to_string(text.threads)},
      {"PASSING", text.polls ? "Polled" : "Written"},
      {"CELL", std::string(name_of(shape.cell))},
      {"SIZES",
       elements::constants_text({{"kThreads", text.threads},
                                 {"kLayers", shape.layers},
                                 {"kDirections", shape.directions},
                                 {"kSteps", shape.steps},
                                 {"kAllBatch", shape.batch},
                                 {"kFeatures", shape.features},
                                 {"kUnits", shape.units},
                                 {"kOwn", text.units},
                                 {"kChunks", text.chunks},
                                 {"kBatch", text.batch},
                                 {"kInputGroups", elements::ceil_divide(input_width, 4)}})},
      {"PARAMETERS", writer.parameters()},
      {"INPUT_WEIGHTS", weights(&RecurrentLine::input_weight)},
      {"STATE_WEIGHTS", weights(&RecurrentLine::state_weight)},
      {"BIASES", biases},
      {"FIRST_STATES", first},
      {"INPUT", load_group(writer, shape.input, shape.features, at_input)},
      {"STATE",
       load_group(writer, shape.hidden, shape.units,
                  [](const std::string &column) { return elements::Index{"line", "b", column}; })},
      {"OUTPUT", output},
      {"LAST", last}};
  return kDevice + std::string(text.polls ? kPolling : "") + elements::fill_places(kKernel, places);
}

} // namespace warpwright::families::recurrent
