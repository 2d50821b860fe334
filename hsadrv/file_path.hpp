// A file name as a parameter: converts from strings and from std::filesystem::path.
//
//     Executable load(AgentRef gpu, const FilePath& file);
//     load(gpu, "a.hsaco");  load(gpu, folder / "a.hsaco");  load(gpu, name_in_a_string);
//
// Avoids <filesystem>, which costs a tenth of a second of compile time; callers that have paths include it. Thread
// safety: a value.
#pragma once

#include "shared/cpp20.hpp"

#include <concepts>
#include <string>
#include <string_view>
#include <utility>

namespace hsadrv {

class FilePath {
  public:
    FilePath(std::string name) noexcept : name_(std::move(name)) {}  // NOLINT: conversion is the interface
    FilePath(std::string_view name) : name_(name) {}                 // NOLINT
    FilePath(const char* name) : name_(name) {}                      // NOLINT
    /// A std::filesystem::path.
    template <class Path>
        requires requires(const Path& path) {
            { path.native() } -> std::convertible_to<const std::string&>;
        }
    FilePath(const Path& path) : name_(path.native()) {}  // NOLINT
    /// A std::filesystem::directory_entry.
    template <class Entry>
        requires requires(const Entry& entry) {
            { entry.path().native() } -> std::convertible_to<const std::string&>;
        }
    FilePath(const Entry& entry) : name_(entry.path().native()) {}  // NOLINT

    const std::string& string() const noexcept { return name_; }
    const char* c_str() const noexcept { return name_.c_str(); }

  private:
    std::string name_;
};

}  // namespace hsadrv
