#include "runner/deep/line_table.h"

#include <cstring>
#include <elf.h>
#include <map>
#include <optional>

namespace warpwright::runner::deep {
namespace {

Error damaged() { return {"the line table of the machine code cannot be read", ""}; }

/// Reader of little-endian values. Reading past the end fails every later read.
class Bytes {
public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}

  bool at_end() const { return position_ >= bytes_.size(); }
  bool has_failed() const { return has_failed_; }
  std::size_t position() const { return position_; }
  void seek(std::size_t position) {
    has_failed_ = has_failed_ || position > bytes_.size();
    position_ = position;
  }

  template <class T>
  T fixed() {
    T value{};
    if (position_ + sizeof(T) > bytes_.size()) {
      has_failed_ = true;
      position_ = bytes_.size();
      return value;
    }
    std::memcpy(&value, bytes_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    return value;
  }

  std::uint64_t unsigned_leb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; !has_failed_ && shift < 64; shift += 7) {
      const auto byte = fixed<std::uint8_t>();
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (!(byte & 0x80))
        break;
    }
    return value;
  }

  std::int64_t signed_leb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; !has_failed_ && shift < 64;) {
      const auto byte = fixed<std::uint8_t>();
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      shift += 7;
      if (byte & 0x80)
        continue;
      if ((byte & 0x40) && shift < 64)
        value |= ~std::uint64_t{0} << shift;
      break;
    }
    return static_cast<std::int64_t>(value);
  }

  std::string text() {
    std::string result;
    while (!has_failed_)
      if (const char next = fixed<char>(); next != 0)
        result += next;
      else
        break;
    return result;
  }

private:
  std::string_view bytes_;
  std::size_t position_ = 0;
  bool has_failed_ = false;
};

struct Section {
  std::string name;
  std::string_view bytes;
  Elf64_Shdr header{};
};

template <class T>
std::optional<T> read_at(std::string_view file, std::size_t offset) {
  T value;
  if (offset > file.size() || file.size() - offset < sizeof(T))
    return std::nullopt;
  std::memcpy(&value, file.data() + offset, sizeof(T));
  return value;
}

std::string text_at(std::string_view bytes, std::size_t offset) {
  if (offset >= bytes.size())
    return {};
  const std::string_view rest = bytes.substr(offset);
  return std::string(rest.substr(0, rest.find('\0')));
}

Result<std::vector<Section>> sections_of(std::string_view file) {
  const auto header = read_at<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64)
    return fail("the machine code is not an ELF file of 64 bits");
  std::vector<Section> sections;
  for (std::size_t i = 0; i < header->e_shnum; ++i) {
    const auto one = read_at<Elf64_Shdr>(file, header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!one)
      return std::unexpected(damaged());
    const bool has_bytes = one->sh_type != SHT_NOBITS && one->sh_offset <= file.size() &&
                           one->sh_size <= file.size() - one->sh_offset;
    sections.push_back(
        {{}, has_bytes ? file.substr(one->sh_offset, one->sh_size) : std::string_view(), *one});
  }
  if (header->e_shstrndx < sections.size())
    for (Section &section : sections)
      section.name = text_at(sections[header->e_shstrndx].bytes, section.header.sh_name);
  return sections;
}

const Section *find(const std::vector<Section> &sections, std::string_view name) {
  for (const Section &section : sections)
    if (section.name == name)
      return &section;
  return nullptr;
}

/// Names of the symbols to which the relocations of a section refer, by the offset of the relocated place.
std::map<std::size_t, std::string> relocated_names(const std::vector<Section> &sections,
                                                   const std::string &name) {
  std::map<std::size_t, std::string> names;
  const Section *relocations = find(sections, ".rela" + name);
  if (!relocations || relocations->header.sh_link >= sections.size())
    return names;
  const Section &symbols = sections[relocations->header.sh_link];
  const std::string_view texts = symbols.header.sh_link < sections.size()
                                     ? sections[symbols.header.sh_link].bytes
                                     : std::string_view();
  for (std::size_t at = 0; const auto one = read_at<Elf64_Rela>(relocations->bytes, at);
       at += sizeof(Elf64_Rela))
    if (const auto symbol = read_at<Elf64_Sym>(symbols.bytes, ELF64_R_SYM(one->r_info) * sizeof(Elf64_Sym)))
      names[one->r_offset] = text_at(texts, symbol->st_name);
  return names;
}

struct ProgramHeader {
  std::uint8_t smallest_step = 1;
  std::int8_t line_base = 0;
  std::uint8_t line_range = 1, opcode_base = 1;
  std::vector<std::uint8_t> operands; ///< number of operands of the standard opcodes, from 1
};

/// Interpreter of one line program. Rows with line 0 have no line and are left out.
class Program {
public:
  Program(Bytes &bytes, const ProgramHeader &header, const std::map<std::size_t, std::string> &names,
          std::vector<LineRow> &rows)
      : bytes_(bytes), header_(header), names_(names), rows_(rows) {}

  void run(std::size_t end) {
    while (!bytes_.has_failed() && bytes_.position() < end) {
      const auto opcode = bytes_.fixed<std::uint8_t>();
      if (opcode >= header_.opcode_base)
        special(opcode - header_.opcode_base);
      else if (opcode == 0)
        extended();
      else
        standard(opcode);
    }
  }

private:
  void add_row() {
    if (line_ > 0 && !kernel_.empty())
      rows_.push_back({kernel_, address_, static_cast<std::size_t>(line_)});
  }

  void special(int opcode) {
    address_ += static_cast<std::uint64_t>(opcode / header_.line_range * header_.smallest_step);
    line_ += header_.line_base + opcode % header_.line_range;
    add_row();
  }

  void extended() {
    const std::size_t length = bytes_.unsigned_leb(), start = bytes_.position();
    const auto opcode = length == 0 ? 0 : bytes_.fixed<std::uint8_t>();
    if (opcode == 1) { // end of the sequence
      address_ = 0;
      line_ = 1;
      kernel_.clear();
    } else if (opcode == 2) { // set the address
      const auto name = names_.find(bytes_.position());
      address_ = bytes_.fixed<std::uint64_t>();
      kernel_ = name == names_.end() ? "" : name->second;
    }
    bytes_.seek(start + length);
  }

  void standard(std::uint8_t opcode) {
    switch (opcode) {
    case 1: // copy
      return add_row();
    case 2: // advance the address
      address_ += bytes_.unsigned_leb() * header_.smallest_step;
      return;
    case 3: // advance the line
      line_ += bytes_.signed_leb();
      return;
    case 8: // add the address step of opcode 255
      address_ += static_cast<std::uint64_t>((255 - header_.opcode_base) / header_.line_range *
                                             header_.smallest_step);
      return;
    case 9: // advance the address by a fixed step
      address_ += bytes_.fixed<std::uint16_t>();
      return;
    default:
      for (int i = 0; i < header_.operands[opcode - 1]; ++i)
        bytes_.unsigned_leb();
    }
  }

  Bytes &bytes_;
  const ProgramHeader &header_;
  const std::map<std::size_t, std::string> &names_;
  std::vector<LineRow> &rows_;
  std::string kernel_;
  std::uint64_t address_ = 0;
  std::int64_t line_ = 1;
};

/// All programs of a section.
Result<std::vector<LineRow>> rows_of(const std::vector<Section> &sections, const std::string &name) {
  const Section *section = find(sections, name);
  if (!section)
    return fail("the machine code has no section " + name, "Compile it with -lineinfo");
  const auto names = relocated_names(sections, name);
  std::vector<LineRow> rows;
  Bytes bytes(section->bytes);
  while (!bytes.at_end()) {
    const std::size_t end = bytes.fixed<std::uint32_t>() + bytes.position();
    bytes.fixed<std::uint16_t>(); // version
    const std::size_t program = bytes.fixed<std::uint32_t>() + bytes.position();
    ProgramHeader header;
    header.smallest_step = bytes.fixed<std::uint8_t>();
    bytes.fixed<std::uint8_t>(); // whether rows are statements at first
    header.line_base = bytes.fixed<std::int8_t>();
    header.line_range = bytes.fixed<std::uint8_t>();
    header.opcode_base = bytes.fixed<std::uint8_t>();
    for (int opcode = 1; opcode < header.opcode_base; ++opcode)
      header.operands.push_back(bytes.fixed<std::uint8_t>());
    if (bytes.has_failed() || header.line_range == 0 || end > section->bytes.size() || program > end)
      return std::unexpected(damaged());
    bytes.seek(program); // behind the folders and files
    Program(bytes, header, names, rows).run(end);
    if (bytes.has_failed())
      return std::unexpected(damaged());
    bytes.seek(end);
  }
  return rows;
}

} // namespace

Result<LineTables> read_line_tables(std::string_view cubin) {
  const auto sections = TRY(sections_of(cubin));
  LineTables tables;
  tables.source = TRY(rows_of(sections, ".debug_line"));
  tables.ptx = TRY(rows_of(sections, ".nv_debug_line_sass"));
  const Section *ptx = find(sections, ".nv_debug_ptx_txt");
  if (!ptx)
    return fail("the machine code has no section .nv_debug_ptx_txt", "Compile it with -lineinfo");
  for (const char c : ptx->bytes) // its lines end with 0
    tables.ptx_text += c == 0 ? '\n' : c;
  return tables;
}

} // namespace warpwright::runner::deep
