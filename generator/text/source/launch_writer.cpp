// Edits of a launch, from its callee to its shared memory; see launch_writer.h.
#include "generator/text/source/launch_writer.h"

#include "generator/text/source/host_text.h"

#include <algorithm>
#include <tuple>

namespace warpwright::source {
namespace {

constexpr std::int64_t kPlainSharedBytes = 48 << 10; // larger sizes need an attribute set on the host

/// Template arguments of a name: "<float, 4>" for "ns::kernel<float, 4>".
std::string template_arguments(const std::string &kernel) {
  const std::size_t open = kernel.find('<');
  return open == std::string::npos ? "" : kernel.substr(open);
}

std::vector<symbolic::Sizes> all_sizes(const model::Task &task) {
  std::vector<symbolic::Sizes> sizes{task.sizes};
  sizes.insert(sizes.end(), task.check_sizes.begin(), task.check_sizes.end());
  return sizes;
}

bool same_value(const symbolic::Expression &left, const symbolic::Expression &right,
                const std::vector<symbolic::Sizes> &sizes) {
  return left == right || std::ranges::all_of(sizes, [&](const symbolic::Sizes &binding) {
           const auto a = left.evaluate(binding), b = right.evaluate(binding);
           return a && b && *a == *b;
         });
}

bool same_extents(const std::array<symbolic::Expression, 3> &left,
                  const std::array<symbolic::Expression, 3> &right,
                  const std::vector<symbolic::Sizes> &sizes) {
  return std::ranges::equal(left, right,
                            [&](const auto &a, const auto &b) { return same_value(a, b, sizes); });
}

bool same_argument(const model::Argument &left, const model::Argument &right,
                   const std::vector<symbolic::Sizes> &sizes) {
  const auto *a = std::get_if<model::SizeArgument>(&left);
  const auto *b = std::get_if<model::SizeArgument>(&right);
  return a && b ? same_value(a->value, b->value, sizes) : left == right;
}

bool same_arguments(const std::vector<model::Argument> &left,
                    const std::vector<model::Argument> &right,
                    const std::vector<symbolic::Sizes> &sizes) {
  return std::ranges::equal(
      left, right, [&](const auto &a, const auto &b) { return same_argument(a, b, sizes); });
}

/// Collects the edits of one launch.
class LaunchWriter {
public:
  LaunchWriter(const KernelSource &source, const model::Task &task, const model::LaunchStep &wanted)
      : source_(source), launch_(source.launches().front()),
        reference_(*only_launch(task.reference)), wanted_(wanted), sizes_(all_sizes(task)) {
    for (std::size_t i = 0; i < reference_.arguments.size(); ++i) {
      texts_.push_back(i < launch_->getNumArgs() ? source.text_of(launch_->getArg(unsigned(i)))
                                                 : "");
      if (const auto *size = std::get_if<model::SizeArgument>(&reference_.arguments[i]))
        names_.emplace(size->value.text(), parenthesised(texts_.back()));
    }
  }

  Result<Edits> edits() {
    for (const auto &write :
         {&LaunchWriter::write_callee, &LaunchWriter::write_arguments, &LaunchWriter::write_shape})
      if (auto written = (this->*write)(); !written)
        return std::unexpected(written.error());
    return edits_;
  }

private:
  Result<void> write_callee() {
    const std::string arguments = template_arguments(wanted_.kernel);
    if (arguments == template_arguments(reference_.kernel))
      return {};
    const auto range = source_.range_of(launch_->getCallee());
    if (!range)
      return fail("the name at the launch comes from a macro");
    const std::string text = source_.text_of(launch_->getCallee());
    edits_.push_back({*range, text.substr(0, text.find('<')) + arguments});
    return {};
  }

  Result<void> write_arguments() {
    if (same_arguments(wanted_.arguments, reference_.arguments, sizes_))
      return {};
    std::string text;
    for (const model::Argument &argument : wanted_.arguments) {
      auto written = argument_text(argument);
      if (!written)
        return std::unexpected(written.error());
      text += (text.empty() ? "" : ", ") + *written;
    }
    const unsigned count = launch_->getNumArgs();
    const auto first = count ? source_.range_of(launch_->getArg(0)) : std::nullopt;
    const auto last = count ? source_.range_of(launch_->getArg(count - 1)) : std::nullopt;
    if (!first || !last)
      return fail("the arguments of the launch cannot be read");
    edits_.push_back({{first->begin, last->end}, text});
    return {};
  }

  Result<std::string> argument_text(const model::Argument &argument) const {
    for (std::size_t i = 0; i < reference_.arguments.size(); ++i)
      if (same_argument(argument, reference_.arguments[i], sizes_) && !texts_[i].empty())
        return texts_[i];
    if (const auto *size = std::get_if<model::SizeArgument>(&argument))
      return host_text(size->value, names_);
    return fail("its kernel takes an argument that the file's launch does not pass");
  }

  Result<void> write_shape() {
    const LaunchSite site(source_, launch_);
    for (const auto &[shape, wanted, old] :
         {std::tuple(&site.grid(), &wanted_.grid, &reference_.grid),
          std::tuple(&site.block(), &wanted_.block, &reference_.block)}) {
      if (same_extents(*wanted, *old, sizes_))
        continue;
      std::array<std::string, 3> texts;
      for (std::size_t i = 0; i < 3; ++i) {
        auto text = host_text((*wanted)[i], names_);
        if (!text)
          return std::unexpected(text.error());
        texts[i] = *text;
      }
      add_edits(edits_, shape->replace(texts, site.arguments_declared_at()));
    }
    return write_shared();
  }

  Result<void> write_shared() {
    if (same_value(wanted_.shared_bytes, reference_.shared_bytes, sizes_))
      return {};
    for (const symbolic::Sizes &binding : sizes_)
      if (const auto bytes = wanted_.shared_bytes.evaluate(binding);
          !bytes || *bytes > kPlainSharedBytes)
        return fail(
            "it needs more than 48 KiB of dynamic shared memory, which the host must allow");
    auto text = host_text(wanted_.shared_bytes, names_);
    if (!text)
      return std::unexpected(text.error());
    const clang::Expr *old = LaunchSite(source_, launch_).shared_bytes();
    const auto place = source_.range_of(old ? old : launch_->getConfig()->getArg(1));
    if (!place)
      return fail("the launch's shape comes from a macro");
    if (old)
      edits_.push_back({*place, *text});
    else if (const auto block = std::ranges::find(edits_, *place, &TextEdit::range);
             block != edits_.end())
      block->replacement += ", " + *text;
    else
      edits_.push_back({{place->end, place->end}, ", " + *text});
    return {};
  }

  const KernelSource &source_;
  const clang::CUDAKernelCallExpr *launch_;
  const model::LaunchStep &reference_, &wanted_;
  std::vector<symbolic::Sizes> sizes_;
  std::vector<std::string> texts_; ///< source texts of the launch's arguments
  Bindings names_;                 ///< texts of sizes at the launch
  Edits edits_;
};

} // namespace

const model::LaunchStep *only_launch(const model::Plan &plan) {
  const model::LaunchStep *only = nullptr;
  for (const model::Step &step : plan.steps)
    if (const auto *launch = std::get_if<model::LaunchStep>(&step)) {
      if (only)
        return nullptr;
      only = launch;
    }
  return only;
}

bool same_launch(const model::LaunchStep &left, const model::LaunchStep &right,
                 const model::Task &task) {
  const std::vector<symbolic::Sizes> sizes = all_sizes(task);
  return same_arguments(left.arguments, right.arguments, sizes) &&
         same_value(left.shared_bytes, right.shared_bytes, sizes) &&
         same_extents(left.grid, right.grid, sizes) && same_extents(left.block, right.block, sizes);
}

Result<Edits> write_launch(const KernelSource &source, const model::Task &task,
                           const model::LaunchStep &wanted) {
  return LaunchWriter(source, task, wanted).edits();
}

} // namespace warpwright::source
