// CLI11's names for headers: the library takes seconds to compile, so those alone include it that declare options.
#pragma once

namespace CLI {
class App;
class Option;
}  // namespace CLI
