// What the direct convolution multiplies, as text: which taps a thread's outputs meet, and the code for them.
// Thread: pure functions.
#pragma once

#include "generator/families/convolution/convolution_phases.h"

#include <optional>

namespace warpwright::generator {

/// Phases that one thread makes together: all of the last dimension.
struct Together {
  std::array<std::int64_t, 3> first{}, count{};
  std::vector<std::pair<ConvolutionTap, std::int64_t>> taps; ///< and which of the phases
};

std::vector<Together> together(const ConvolutionPhases &all);

/// The inputs of all pixels at an offset, multiplied by the weights of the taps that see it.
class DirectText {
public:
  /// All must outlive it. @param straight heights in straight code
  /// @param leaving dimensions in which an element may lie outside the input
  /// @param load sets `value` at offsets "@D@", "@H@", "@W@"
  DirectText(const ConvolutionShape &shape, const std::vector<Together> &parts, bool straight,
             const std::array<bool, 3> &leaving, const std::string &load);
  /// Statements before the loops.
  std::string masks() const;
  /// Depths of the filter in a loop, heights and widths in straight code where it is short.
  std::string multiply() const;
  bool deep() const { return shape_.spatial == 3; }

private:
  std::optional<std::size_t> bit(std::size_t d, std::int64_t offset) const;
  std::string depth_offset() const { return deep() ? "dd" : "0"; }
  std::string height_text(const Together &part) const;
  std::string lines_text() const;
  std::string compared(const std::string &h, const std::string &w) const;
  std::string step(const std::string &h, const std::string &w, const std::string &multiplications,
                   const std::string &condition) const;

  const ConvolutionShape &shape_;
  const std::vector<Together> &parts_;
  bool straight_, masks_ = false;
  std::array<bool, 3> leaving_;
  const std::string &load_;
  std::vector<std::pair<std::size_t, std::int64_t>> bits_; ///< dimension and offset
};

} // namespace warpwright::generator
