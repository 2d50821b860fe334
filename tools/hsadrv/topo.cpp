// hsadrv topo: draws the agents of this machine and the links between them.
#include <fmt/format.h>

#include "tools/common/pending_file.hpp"
#include "tools/hsadrv/info/gather.hpp"
#include "tools/hsadrv/subcommands.hpp"
#include "tools/hsadrv/topo/report.hpp"

namespace hsadrv_tool {
namespace {

/// Files for drawings: empty if not requested, "-" for standard output.
struct TopoOptions {
    std::string svg, dot;
};

void write(const std::string& place, const std::string& text, Session& session) {
    if (place == "-") return session.print(text);
    tools::PendingFile file(place);
    file.write(std::as_bytes(std::span(text)));
    file.commit();
}

int draw(const TopoOptions& options, Session& session) {
    const int to_output = (options.svg == "-") + (options.dot == "-") + session.json;
    if (to_output > 1)
        throw tools::Failure(exit_status::usage,
                             fmt::format("{} and {} cannot both be standard output: give one of them a FILE",
                                         options.svg == "-" ? "--svg" : "--dot", session.json ? "--json" : "--dot"));
    const hsadrv::Driver driver;
    const Facts facts = gather(driver, driver.agents());
    const Graph graph = graph_of(facts);
    if (!options.svg.empty()) write(options.svg, as_svg(graph), session);
    if (!options.dot.empty()) write(options.dot, as_dot(graph), session);
    if (session.json) session.print(json_text(as_topo_json(facts)));
    if (options.svg.empty() && options.dot.empty() && !session.json)
        session.print(as_topo_text(facts, session.terminal));
    return exit_status::done;
}

}  // namespace

Run declare_topo(tools::CommandSyntax& command) {
    auto options = std::make_shared<TopoOptions>();
    const tools::OptionTraits drawing{.value = "[FILE]", .without_value = "-"};
    command.options = {{"--svg", &options->svg, "draw as SVG, to a FILE or to standard output", drawing},
                       {"--dot", &options->dot, "write a Graphviz graph, to a FILE or to standard output", drawing}};
    return [options](Session& session) { return draw(*options, session); };
}

}  // namespace hsadrv_tool
