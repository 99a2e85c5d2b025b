// The chosen text in source order; see slicer.h.
#include "analysis/slicer/compatibility.h"
#include "analysis/slicer/slicer.h"

#include <algorithm>

namespace warpwright::analysis::slicer {
namespace {

bool is_type_of_header(std::string_view name, std::string_view marker) {
  if (marker == "half")
    return name == "__half" || name == "half" || name == "__half2" || name == "half2";
  return name == "__nv_bfloat16" || name == "__nv_bfloat162" || name == "nv_bfloat16" ||
         name == "nv_bfloat162";
}

/// A condition in terms of a macro that NVRTC has, too.
std::string for_nvrtc(std::string condition) {
  constexpr std::string_view kCompiler = "__NVCC__";
  for (std::size_t at = 0; (at = condition.find(kCompiler, at)) != std::string::npos;)
    condition.replace(at, kCompiler.size(), "__CUDACC__");
  return condition;
}

std::string line_marker(const SourceText &source, std::size_t offset) {
  std::string name;
  for (char c : source.display)
    name += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return "#line " + std::to_string(LineIndex(source.text).line_of(offset) + 1) + " \"" + name +
         "\"\n";
}

} // namespace

std::string Slicer::preamble() const {
  std::set<std::string> defined = macros_;
  defined.insert(linked_names_.begin(), linked_names_.end());
  for (std::size_t i = 0; i < inventory_.items.size(); ++i)
    if (chosen_[i])
      defined.insert(inventory_.items[i].names.begin(), inventory_.items[i].names.end());
  std::string text;
  for (const std::string &define : inventory_.command_line_macros) {
    const std::string name = define.substr(8, define.find_first_of(" (", 8) - 8);
    if (needed_.contains(name))
      text += "#ifndef " + name + "\n" + define + "\n#endif\n";
  }
  for (const auto &[header, marker] :
       {std::pair("cuda_fp16.h", "half"), std::pair("cuda_bf16.h", "bfloat16")})
    if (!includes(header) && std::ranges::any_of(needed_, [&](const std::string &name) {
          return is_type_of_header(name, marker);
        }))
      text += "#include <" + std::string(header) + ">\n";
  return text + compatibility_declarations(needed_, std_names_, defined);
}

bool Slicer::includes(std::string_view header) const {
  for (const auto &file : inventory_.files)
    for (const Directive &directive : file->directives)
      if (directive.kind == DirectiveKind::Include && directive.name == header &&
          uses_header(header))
        return true;
  return false;
}

bool Slicer::uses_header(std::string_view header) const {
  static const std::pair<std::string_view, std::vector<std::string_view>> kMarkers[] = {
      {"cuda_fp16", {"half"}},
      {"cuda_bf16", {"bfloat16", "bf16"}},
      {"cuda_fp8", {"fp8", "e4m3", "e5m2"}},
      {"mma.h", {"wmma", "nvcuda"}},
      {"cooperative_groups", {"cooperative_groups"}},
      {"cub/", {"cub", "Block", "Warp"}},
      {"curand", {"curand"}},
      {"math_constants", {"CUDART_"}},
      {"cuda_pipeline", {"pipeline"}},
      {"cuComplex", {"cu"}}};
  for (const auto &[prefix, words] : kMarkers)
    if (header.starts_with(prefix))
      return std::ranges::any_of(needed_, [&](const std::string &name) {
        return std::ranges::any_of(words,
                                   [&](std::string_view word) { return name.contains(word); });
      });
  return true;
}

std::string Slicer::emit_file(std::size_t file) {
  std::size_t position = 0;
  std::string text;
  while (position < pieces_[file].size()) {
    text += emit_pieces(file, position);
    ++position; // skips an #endif or #else without its #if
  }
  return text;
}

std::string Slicer::emit_pieces(std::size_t file, std::size_t &position) {
  std::string text;
  while (position < pieces_[file].size()) {
    const Piece &piece = pieces_[file][position];
    if (!piece.directive) {
      text += emit_item(inventory_.items[piece.item]);
      ++position;
    } else if (piece.directive->kind == DirectiveKind::If) {
      text += emit_conditional(file, position);
    } else if (piece.directive->kind == DirectiveKind::Elif ||
               piece.directive->kind == DirectiveKind::Else ||
               piece.directive->kind == DirectiveKind::Endif) {
      return text;
    } else {
      text += emit_directive(file, *piece.directive);
      ++position;
    }
  }
  return text;
}

std::string Slicer::emit_conditional(std::size_t file, std::size_t &position) {
  struct Branch {
    const Directive *directive;
    std::string text;
    bool has_items = false;
    Range range;
  };
  std::vector<Branch> branches;
  const Directive *end = nullptr;
  while (position < pieces_[file].size()) {
    const Directive *directive = pieces_[file][position].directive;
    ++position;
    if (directive->kind == DirectiveKind::Endif) {
      end = directive;
      break;
    }
    const std::size_t first = position;
    Branch branch{directive, emit_pieces(file, position), false, {directive->range.end, 0}};
    for (std::size_t i = first; i < position; ++i)
      branch.has_items = branch.has_items || !pieces_[file][i].directive;
    branch.range.end = position < pieces_[file].size() ? pieces_[file][position].offset()
                                                       : inventory_.files[file]->text.size();
    branches.push_back(std::move(branch));
  }
  if (std::ranges::all_of(branches, [](const Branch &branch) { return branch.text.empty(); }))
    return {};
  if (is_linked_ && is_include_guard(file, *branches.front().directive))
    return branches.front().text; // another unit may have included it before
  const bool has_items =
      std::ranges::any_of(branches, [](const Branch &b) { return b.has_items && !b.text.empty(); });
  std::string text;
  for (const Branch &branch : branches) {
    collect_identifiers(*inventory_.files[file], branch.directive->range, needed_);
    text += for_nvrtc(std::string(inventory_.files[file]->of(branch.directive->range))) + "\n";
    text += has_items && !branch.has_items ? branch_not_taken(file, branch.range) : branch.text;
  }
  return text + (end ? std::string(inventory_.files[file]->of(end->range)) : "#endif") + "\n";
}

bool Slicer::is_include_guard(std::size_t file, const Directive &directive) const {
  const auto &directives = inventory_.files[file]->directives;
  const auto at =
      std::ranges::find_if(directives, [&](const Directive &one) { return &one == &directive; });
  return at != directives.end() && at + 1 != directives.end() &&
         (at + 1)->kind == DirectiveKind::Define && !directive.name.empty() &&
         (at + 1)->name == directive.name;
}

std::string Slicer::branch_not_taken(std::size_t file, Range range) {
  const SourceText &source = *inventory_.files[file];
  const std::size_t first = token_at(source, range.begin);
  if (first >= source.tokens.size() || source.tokens[first].range.begin >= range.end)
    return {};
  collect_identifiers(source, range, needed_);
  return line_marker(source, source.tokens[first].range.begin) +
         std::string(source.of(Range{source.tokens[first].range.begin, range.end})) + "\n";
}

std::string Slicer::emit_directive(std::size_t file, const Directive &directive) {
  const SourceText &source = *inventory_.files[file];
  switch (directive.kind) {
  case DirectiveKind::Include: {
    if (is_device_header(directive.name) && side_ == Side::Device)
      return directive.name == "cub/cub.cuh" ? cub_includes(needed_)
             : uses_header(directive.name)   ? "#include <" + directive.name + ">\n"
                                             : "";
    const auto child = source.includes.find(directive.range.begin);
    return child == source.includes.end() ? "" : emit_file(child->second);
  }
  case DirectiveKind::Define:
  case DirectiveKind::Undef:
    return needed_.contains(directive.name) ? std::string(source.of(directive.range)) + "\n" : "";
  default:
    return {};
  }
}

std::string Slicer::emit_item(const Item &item) const {
  const std::size_t index = &item - inventory_.items.data();
  if (item.is_using ? !is_used_namespace(*item.names.begin()) : !chosen_[index])
    return {};
  const SourceText &source = *inventory_.files[item.file];
  if (others_.contains({source.path, item.range.begin}))
    return {};
  std::vector<TextEdit> edits = side_ == Side::Device ? item.edits : std::vector<TextEdit>();
  for (TextEdit &edit : edits)
    edit.range = {edit.range.begin - item.range.begin, edit.range.end - item.range.begin};
  const Result<std::string> text = apply_edits(source.of(item.range), edits);
  std::string before, after;
  for (const std::string &scope : item.scopes) {
    before += scope + "\n";
    after += "}\n";
  }
  return before + line_marker(source, item.range.begin) +
         (text ? *text : std::string(source.of(item.range))) + "\n" + after;
}

bool Slicer::is_used_namespace(const std::string &name) const {
  if (name == "nvcuda" || name == "cooperative_groups" || name == "cub" || name == "wmma")
    return std::ranges::any_of(inventory_.files, [&](const auto &file) {
      return std::ranges::any_of(file->directives, [&](const Directive &directive) {
        return directive.kind == DirectiveKind::Include && is_device_header(directive.name) &&
               uses_header(directive.name);
      });
    });
  for (std::size_t i = 0; i < inventory_.items.size(); ++i)
    if (chosen_[i] && std::ranges::count(inventory_.items[i].scopes, "namespace " + name + " {"))
      return true;
  return false;
}

} // namespace warpwright::analysis::slicer
