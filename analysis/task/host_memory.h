// The memory of an imagined run of host code (host_run.h): blocks of cells, each of which may hold a
// known value.
//
// A block is a variable, an allocation or a temporary. A cell is named by its path in the block:
// ".nx", "[3].count", "" for a scalar. A cell that is absent is unknown, or zero in a zeroed block.
// Writes can be recorded, so that the branches of an undecided condition can be run one after the
// other and compared. Thread: the unit's thread.
#pragma once

#include <clang/AST/Decl.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::analysis {

struct HostPlace {
  int block = -1; ///< below 0: not known
  std::string path;
  bool is_known() const { return block >= 0; }
  /// A field (".nx"), an element, or what is noted about a block ("#size"); unknown in an unknown place.
  HostPlace part(const std::string &name) const {
    return is_known() ? HostPlace{block, path + name} : *this;
  }
  HostPlace element(std::int64_t index) const { return part("[" + std::to_string(index) + "]"); }
  bool operator==(const HostPlace &) const = default;
};

struct RunValue {
  enum class Kind {
    Unknown,
    Integer,
    Floating,
    Text,     ///< a string literal, an argument of the program, or a std::string
    Pointer,  ///< to `place`, or to element `integer` of the array there
    Function, ///< the address of a function
    Record    ///< a struct, class or array at `place`
  };
  Kind kind = Kind::Unknown;
  std::int64_t integer = 0;
  double floating = 0;
  std::string text;
  HostPlace place;
  bool is_element = false; ///< a pointer into an array
  const clang::FunctionDecl *function = nullptr;

  bool is(Kind one) const { return kind == one; }
  bool operator==(const RunValue &) const = default;
  /// The cell that a pointer points to, moved by `elements`; unknown if it is outside its variable.
  HostPlace pointee(std::int64_t elements = 0) const;
  std::optional<std::int64_t> as_integer() const {
    return is(Kind::Integer) ? std::optional(integer) : std::nullopt;
  }
  std::optional<double> number() const; ///< of an integer or a floating-point value
};

RunValue integer_value(std::int64_t value);
RunValue floating_value(double value);
RunValue text_value(std::string text);
RunValue pointer_value(HostPlace place, bool is_element, std::int64_t index = 0);
RunValue record_value(HostPlace place);

class HostMemory {
public:
  using Cells = std::map<std::string, RunValue>;
  /// Old values of the cells that were written, by block and path; nullopt: the cell was absent.
  using Record = std::map<std::pair<int, std::string>, std::optional<RunValue>>;

  HostPlace allocate(bool is_zeroed = false);
  RunValue read(const HostPlace &place) const;
  /// Writes a value; a record is copied with all of its cells.
  void write(const HostPlace &place, const RunValue &value);
  /// Makes a cell and all cells below it unknown; the size of an allocation stays.
  void forget(const HostPlace &place);
  /// Makes unknown all that an unknown pointer may point to.
  void forget_escaped();
  /// An unknown function has the address, and may keep it.
  void escape(const HostPlace &place);

  /// Records writes until the matching end_record().
  void begin_record() { records_.emplace_back(); }
  /// Ends the latest record and returns it. It is part of the record around it.
  Record end_record();
  /// The values now of the cells in a record.
  Record values_of(const Record &record) const;
  void restore(const Record &record);
  /// Makes the cells of a record unknown.
  void forget(const Record &record);

private:
  static constexpr std::size_t kMostCells = 4096; ///< of one block; a fuller one becomes unknown

  void set(int block, const std::string &path, const std::optional<RunValue> &value);

  std::vector<Cells> blocks_;
  std::vector<bool> escaped_;
  std::vector<Record> records_;
};

} // namespace warpwright::analysis
