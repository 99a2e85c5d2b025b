// The matmul family: batched products of operands in any layout, with the ops that fusion puts before and after them.
//
// The family has six algorithms (matmul_text.h); a configuration chooses among them. Omits: sparse operands; a
// single TF32 product, which would not be FP32-accurate.
#include "generator/families/matmul/matmul.h"

#include "generator/families/matmul/matmul_guess.h"
#include "generator/families/matmul/matmul_text.h"
#include "generator/ops/names.h"

namespace warpwright::families::matmul {
namespace {

bool claims(const ops::GraphIndex &index, const model::Node &anchor) {
  if (anchor.op != op::matmul || anchor.inputs.size() != 2)
    return false;
  const model::TensorType &a = index.node(anchor.inputs[0]).type(),
                          &b = index.node(anchor.inputs[1]).type();
  // Positions within a matrix must fit in int.
  const auto fits = [](const model::Shape &shape) {
    return shape.size() >= 2 && model::elements_of(shape) > 0 &&
           model::elements_of(shape) < (std::int64_t{1} << 40);
  };
  return fits(a.shape) && fits(b.shape) && fits(anchor.type().shape) &&
         anchor.type().dtype != model::Dtype::Bool;
}

std::vector<elements::Configuration> configurations(const ops::GraphIndex &index,
                                                    const elements::Region &region,
                                                    const elements::DeviceFacts &device) {
  const auto problem = matmul_problem(index, region);
  if (!problem)
    return {elements::Configuration{{"algorithm", 0}}}; // lower() reports the error
  return matmul_configurations(*problem, device);
}

Result<elements::Lowering> lower(const ops::GraphIndex &index, const elements::Region &region,
                                 const elements::Configuration &configuration,
                                 const elements::DeviceFacts &device, const std::string &prefix) {
  const auto problem = matmul_problem(index, region);
  if (!problem)
    return std::unexpected(problem.error());
  const auto algorithm = elements::setting_of(configuration, "algorithm", 0, 5);
  if (!algorithm)
    return std::unexpected(algorithm.error());
  const auto chosen = static_cast<MatmulAlgorithm>(*algorithm);
  if (problem->twin_b && chosen != MatmulAlgorithm::Half && chosen != MatmulAlgorithm::ThinHalf)
    return fail("two products in one launch need 16-bit operands in memory");
  switch (chosen) {
  case MatmulAlgorithm::Rows:
    return lower_matmul_rows(index, region, *problem, configuration, prefix);
  case MatmulAlgorithm::SplitTf32:
    return lower_matmul_split_tf32(index, region, *problem, configuration, device, prefix);
  case MatmulAlgorithm::Half:
    return lower_matmul_half(index, region, *problem, configuration, device, prefix);
  case MatmulAlgorithm::ThinHalf:
    return lower_matmul_thin_half(index, region, *problem, configuration, device, prefix);
  case MatmulAlgorithm::Packed:
    return lower_matmul_packed(index, region, *problem, configuration, device, prefix);
  default:
    return lower_matmul_simt(index, region, *problem, configuration, prefix);
  }
}

} // namespace

const elements::Family kMatmulFamily{"matmul", claims, true, true, configurations, lower};

} // namespace warpwright::families::matmul
