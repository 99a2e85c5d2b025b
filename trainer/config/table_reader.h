// Strict reader of one TOML table: code reads every key by name, and a key that was not read is an error.
//
// Errors name file, line and key. A reader keeps its first error, so calls can be chained without checks.
// Thread: one.
#pragma once

#include "support/error.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace warpwright::trainer {

/// A parsed file. It must outlive its readers.
class TomlFile {
public:
  /// Errors: invalid TOML, with its line.
  static Result<TomlFile> parse(const std::string &text, const std::string &path);
  /// Sets one value, given as "table.key = value". Errors: another form.
  Result<void> set(const std::string &setting);
  TomlFile(TomlFile &&) noexcept;
  ~TomlFile();
  /// Errors: a top-level table or key that is not among `known`.
  Result<void> allow(const std::set<std::string> &known) const;

private:
  friend class TableReader;
  struct Document;
  TomlFile();
  std::unique_ptr<Document> document_;
};

class TableReader {
public:
  /// @param table may be absent from the file; then every field keeps its default
  TableReader(const TomlFile &file, std::string table);

  TableReader &read(const std::string &key, std::string &value);
  TableReader &read(const std::string &key, bool &value);
  TableReader &read(const std::string &key, std::uint64_t &value);
  TableReader &read(const std::string &key, int &value, int least = 0,
                    int most = std::numeric_limits<int>::max());
  TableReader &read(const std::string &key, double &value, double least, double most);
  TableReader &read(const std::string &key, std::vector<std::string> &value);
  TableReader &read(const std::string &key, std::vector<int> &value);
  /// Reads a text that must be one of `words`.
  TableReader &choose(const std::string &key, std::string &value,
                      const std::vector<std::string> &words);

  /// Returns the first error, or an error for a key that was not read. Call it last.
  Result<void> finish();

private:
  void refuse(const std::string &key, const std::string &why);

  const TomlFile &file_;
  std::string table_;
  std::set<std::string> asked_;
  std::optional<Error> error_;
};

} // namespace warpwright::trainer
