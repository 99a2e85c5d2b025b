// Finding the edits that break a program, by halving. Thread: the caller's.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace warpwright::program {

/// Numbers of edits, rising.
using EditSet = std::vector<std::size_t>;

struct Halved {
  EditSet kept;                              ///< they pass together
  std::map<std::size_t, std::string> guilty; ///< each left-out edit, and how the program failed with it
  int tests = 0;
};

/// Keeps as many of `count` edits as pass together. An edit is left out if the program fails when it is added to those
/// that were kept before it, so edits that fail only together cost the later one. One guilty edit of n takes about 2
/// log n tests.
/// @param failure why the program with these edits fails, nullopt: it passes. It is not called without edits.
/// @param stop once requested, untested edits are left out
Halved halve(std::size_t count, const std::function<std::optional<std::string>(const EditSet &)> &failure,
             std::stop_token stop = {});

} // namespace warpwright::program
