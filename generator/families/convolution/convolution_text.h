// Text around the device templates of convolutions (generator/device/convolution*.cuh): sizes as constants of a struct,
// tables, and functors that read an input element or a weight and store a result.
#pragma once

#include "generator/families/convolution/convolution_phases.h"

namespace warpwright::families::convolution {

using Numbers = std::vector<std::int64_t>;

/// C++ initializers "{1, 2}" and "{{1, 2}, {3, 4}}"; a table without rows gets one empty row.
std::string row_text(const Numbers &row);
std::string table_text(const std::vector<Numbers> &rows);

using Constants = std::vector<std::pair<std::string, std::int64_t>>;

/// A line of a struct: "static constexpr int kThreads = 128, kColumns = 64;".
std::string static_constants(const Constants &constants);

/// Constants that all convolution templates share: kBatch, kGroupIn, kGroupOut, kChannelsIn, kChannelsOut, kTransposed,
/// kOutW and, with suffixes D, H and W, kIn, kKernel, kInputStep, kOutputStep and kCount.
/// @param count positions of the first phase
std::string shape_constants(const elements::ConvolutionShape &shape,
                            const std::array<std::int64_t, 3> &input_step,
                            const std::array<std::int64_t, 3> &output_step,
                            const std::array<std::int64_t, 3> &count);

/// Writer of a convolution's functors. All arguments must outlive it.
class ConvolutionText {
public:
  ConvolutionText(const ops::GraphIndex &index, const elements::Region &region);

  const elements::ConvolutionShape &shape() const { return shape_; }
  elements::ElementWriter &writer() { return writer_; }
  /// The parameter that holds the input if it is contiguous FP32 memory with nothing to compute on the way; else empty.
  const std::string &input() const { return input_; }
  /// Functor that maps (n, channel, d, h, w) to an input element as float.
  std::string load();
  /// Functor that maps (output channel, input channel, tap d, h, w) to a weight as float.
  std::string weight();
  /// Functor of (n, channel, od, oh, ow, sum) that adds the bias and stores the result.
  std::string finish();
  /// Functor of (n, channel, od, oh, position, sums) that stores `along` neighbors of the last dimension.
  std::string finish_all(std::int64_t along);
  /// True if all outputs of a position can be stored together.
  bool stores_whole(std::int64_t along) const {
    return (along == 2 || along == 4) && shape_.out[2] % along == 0;
  }

private:
  std::string element(std::size_t operand, const elements::Index &at);
  /// Declaration and use of the bias, "const float added = ...;" and " + added"; both empty without a bias.
  std::pair<std::string, std::string> bias();

  const model::Node &anchor_;
  elements::ConvolutionShape shape_;
  elements::ElementWriter writer_;
  std::string input_;
};

} // namespace warpwright::families::convolution
