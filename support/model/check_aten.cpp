#include "support/model/aten_operators.h"
#include "support/model/plan_checks.h"

#include <optional>

namespace warpwright::model {
namespace {

/// Number of elements from a view's first to its last; nullopt for negative extents or strides, and
/// on overflow.
std::optional<std::int64_t> span_of(const TensorView &view) {
  std::int64_t last = 0, contiguous = 1;
  bool is_empty = false;
  for (std::size_t i = view.shape.size(); i-- > 0;) {
    const std::int64_t stride = view.strides.empty() ? contiguous : view.strides[i];
    std::int64_t reach = 0;
    if (view.shape[i] < 0 || stride < 0)
      return std::nullopt;
    is_empty = is_empty || view.shape[i] == 0;
    if (is_empty)
      continue;
    if (__builtin_mul_overflow(view.shape[i] - 1, stride, &reach) ||
        __builtin_add_overflow(last, reach, &last) ||
        __builtin_mul_overflow(contiguous, view.shape[i], &contiguous))
      return std::nullopt;
  }
  return is_empty ? 0 : last + 1;
}

Result<std::int64_t> check_view(const TensorView &view, const KnownBuffer &buffer,
                                const std::string &where) {
  if (!view.strides.empty() && view.strides.size() != view.shape.size())
    return fail(where + ": a view has as many strides as dimensions",
                "Leave the strides out where the tensor is contiguous");
  const auto span = span_of(view);
  if (!span || view.offset < 0 || view.offset > buffer.elements ||
      *span > buffer.elements - view.offset)
    return fail(where + ": the view leaves \"" + view.buffer + "\", which has " +
                    std::to_string(buffer.elements) + " elements",
                "Check its offset, shape and strides");
  return *span;
}

Result<void> check_use(const TensorView &view, KnownBuffers &buffers, const std::string &where) {
  auto buffer = TRY(find_buffer(buffers, view.buffer, where));
  TRY(check_made(*buffer, view.buffer, where));
  auto span = check_view(view, *buffer, where);
  return span ? Result<void>{} : std::unexpected(span.error());
}

Result<void> check_argument(const AtenArgument &argument, KnownBuffers &buffers,
                            const std::string &where) {
  if (const auto *view = std::get_if<TensorView>(&argument))
    return check_use(*view, buffers, where);
  if (const auto *views = std::get_if<std::vector<TensorView>>(&argument))
    for (const TensorView &view : *views)
      if (!view.buffer.empty())
        TRY(check_use(view, buffers, where));
  return {};
}

Result<void> check_result(const TensorView &view, KnownBuffers &buffers, const std::string &where) {
  if (view.buffer.empty())
    return {};
  auto buffer = TRY(find_buffer(buffers, view.buffer, where));
  if (buffer->is_input)
    return fail(where + ": \"" + view.buffer + "\" is an input", "Name a temporary or an output");
  if (buffer->is_made)
    return fail(where + ": \"" + view.buffer + "\" is the result of an earlier step already",
                "Give every result its own temporary");
  auto span = TRY(check_view(view, *buffer, where));
  if (span != buffer->elements)
    return fail(where + ": a result is the whole of \"" + view.buffer + "\", which has " +
                    std::to_string(buffer->elements) + " elements, not " + std::to_string(span),
                "Give the buffer the extent from the result's first element to its last");
  buffer->is_made = true;
  return {};
}

} // namespace

Result<KnownBuffer *> find_buffer(KnownBuffers &buffers, const std::string &name,
                                  const std::string &where) {
  if (const auto found = buffers.find(name); found != buffers.end())
    return &found->second;
  std::string known;
  for (const auto &[other, buffer] : buffers)
    known += (known.empty() ? "" : ", ") + other;
  return fail(where + ": there is no buffer or temporary \"" + name + "\"", "There are: " + known);
}

Result<void> check_made(const KnownBuffer &buffer, const std::string &name,
                        const std::string &where) {
  if (buffer.is_temporary && buffer.is_result && !buffer.is_made)
    return fail(where + ": \"" + name + "\" is the result of a later step", "Reorder the steps");
  return {};
}

Result<void> check_aten(const AtenStep &step, KnownBuffers &buffers, const std::string &where) {
  if (auto pure = check_operator(step); !pure)
    return fail(where + ": " + pure.error().message, pure.error().remedy);
  for (std::size_t i = 0; i < step.arguments.size(); ++i)
    TRY(check_argument(step.arguments[i], buffers,
                       where + ".arguments[" + std::to_string(i) + "]"));
  for (const auto &[name, value] : step.keywords)
    TRY(check_argument(value, buffers, where + ".keywords." + name));
  for (std::size_t i = 0; i < step.results.size(); ++i)
    TRY(check_result(step.results[i], buffers, where + ".results[" + std::to_string(i) + "]"));
  return {};
}

} // namespace warpwright::model
