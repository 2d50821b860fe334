// Drawings of machines that are made up: what is drawn of which links, and where.
#include <regex>
#include <set>

#include "tests/support/catch.hpp"
#include "tests/tools/hsadrv/machine.hpp"
#include "tools/hsadrv/topo/canvas.hpp"
#include "tools/hsadrv/topo/report.hpp"
#include "tools/hsadrv/topo/svg_layout.hpp"

using namespace made_up;
using test_support::Contains;

namespace {

Terminal terminal(unsigned columns, bool utf8 = true) {
    Terminal result;
    result.columns = columns;
    result.utf8 = utf8;
    return result;
}

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
    return found;
}

/// Columns of the widest line, of which each sign is one.
std::size_t widest(const std::string& text) {
    std::size_t most = 0, now = 0;
    for (const char letter : text) {
        if (letter == '\n')
            now = 0;
        else if ((static_cast<unsigned char>(letter) & 0xc0) != 0x80)
            most = std::max(most, ++now);
    }
    return most;
}

}  // namespace

TEST_CASE("a GPU is drawn below the CPU at the least distance, in any order", "[topo]") {
    const Graph graph = graph_of(machine(2, 5));
    CHECK(graph.gpus_of(0) == std::vector<std::size_t>{0, 1, 2});
    CHECK(graph.gpus_of(1) == std::vector<std::size_t>{3, 4});
    REQUIRE(graph.to_cpu.size() == 5);
    for (const Edge& edge : graph.to_cpu) CHECK(edge.distance == 20);
    CHECK(graph.between_cpus.size() == 1);
    CHECK(graph.between_gpus.empty());
}

TEST_CASE("the runtime's nearest CPU takes precedence over distances", "[topo]") {
    Facts facts = machine(2, 2);
    facts.agents[2].nearest_cpu = 2;
    CHECK(graph_of(facts).gpus[0].home == 1);
}

TEST_CASE("GPUs linked pairwise are a hive, others have single links", "[topo]") {
    Facts facts = machine(2, 8);
    hive(facts, 2, 0, 3);
    hive(facts, 2, 4, 7, LinkType::xgmi, 50000);
    Graph graph = graph_of(facts);
    REQUIRE(graph.hives.size() == 2);
    CHECK(graph.hives[0].members == std::vector<std::size_t>{0, 1, 2, 3});
    CHECK(graph.hives[1].text() == "xGMI, each with each, 50.0 GB/s, distance 15");
    CHECK(graph.loose.empty());
    CHECK(graph.between_gpus.size() == 12);

    // One more link makes them one group, in which not each is linked with each.
    link(facts, 2, 6, LinkType::xgmi, 50000, 30);
    graph = graph_of(facts);
    CHECK(graph.hives.empty());
    CHECK(graph.loose.size() == 13);
}

TEST_CASE("a hive of PCIe and one of xGMI", "[topo]") {
    Facts facts = machine(1, 4);
    hive(facts, 1, 0, 1);
    hive(facts, 1, 2, 3);
    for (std::size_t a : {1, 2})
        for (std::size_t b : {3, 4}) link(facts, a, b, LinkType::pcie, 31500, 40);
    const Graph graph = graph_of(facts);
    CHECK(graph.hives.size() == 2);
    CHECK(graph.loose.size() == 4);
}

TEST_CASE("a one-way link is drawn once and marked", "[topo]") {
    Facts facts = machine(1, 1);
    facts.agents[0].ways.clear();  // the host cannot touch the GPU's memory
    const Graph graph = graph_of(facts);
    REQUIRE(graph.to_cpu.size() == 1);
    CHECK(graph.to_cpu[0].text() == "PCIe, 31.5 GB/s, distance 20, one way");
    CHECK_THAT(as_svg(graph), Contains("class=\"link pcie oneway\""));
    CHECK_THAT(tables_text(facts, terminal(80)), Contains("cpu0     -  none\ngpu0  PCIe     -\n"));
}

TEST_CASE("facts unknown to the driver are left out", "[topo]") {
    Facts facts = machine(1, 1);
    for (AgentFacts& agent : facts.agents)
        for (WayFacts& way : agent.ways) way.hops[0].max_bandwidth_mb_s = way.hops[0].min_bandwidth_mb_s = 0;
    CHECK(graph_of(facts).to_cpu[0].text() == "PCIe, distance 20");
    CHECK_THAT(tables_text(facts, terminal(80)), Contains("gpu0     ?     -"));
}

TEST_CASE("of several hops the narrowest counts", "[topo]") {
    Facts facts = machine(1, 1);
    hsadrv::Link second = facts.agents[1].ways[0].hops[0];
    second.type = LinkType::xgmi;
    second.max_bandwidth_mb_s = 8000;
    for (AgentFacts& agent : facts.agents) agent.ways[0].hops.push_back(second);
    CHECK(graph_of(facts).to_cpu[0].text() == "PCIe, 8.0 GB/s, distance 20, 2 hops");
    CHECK_THAT(tables_text(facts, terminal(80)), Contains("PCIe+xGMI"));
}

TEST_CASE("the drawing of one CPU and two GPUs", "[topo]") {
    Facts facts = machine(1, 2);
    hive(facts, 1, 0, 1);
    CHECK(drawing_text(graph_of(facts), terminal(80)) ==
          "┌─ cpu0 ──────────────────────────┐\n"
          "│ AMD EPYC 7763 64-Core Processor │\n"
          "│ 64 CPUs, 256.0 GiB, NUMA node 0 │\n"
          "└─┬───────────────────────────────┘\n"
          "  └─────────────────┬─────────────────────────────────┐\n"
          "    ┌─ gpu0 ────────┴──────────────┐  ┌─ gpu1 ────────┴──────────────┐\n"
          "    │ AMD Instinct MI210           │  │ AMD Instinct MI210           │\n"
          "    │ gfx90a:sramecc+:xnack-       │  │ gfx90a:sramecc+:xnack-       │\n"
          "    │ 64.0 GiB, 104 CUs            │  │ 64.0 GiB, 104 CUs            │\n"
          "    │ 0000:03:00.0                 │  │ 0000:04:00.0                 │\n"
          "    │ PCIe, 31.5 GB/s, distance 20 │  │ PCIe, 31.5 GB/s, distance 20 │\n"
          "    └───╥──────────────────────────┘  └───╥──────────────────────────┘\n"
          "        ╚═════════════════════════════════╝\n");
}

TEST_CASE("drawings and tables of any machine fit the terminal's columns and show all agents", "[topo]") {
    for (unsigned cpus = 1; cpus <= 4; ++cpus)
        for (const unsigned gpus : {0u, 1u, 2u, 3u, 5u, 8u, 16u})
            for (const unsigned columns : {60u, 80u, 100u, 200u}) {
                Facts facts = machine(cpus, gpus);
                if (gpus > 0) hive(facts, cpus, 0, gpus - 1);
                CAPTURE(cpus, gpus, columns);
                const std::string drawing = drawing_text(graph_of(facts), terminal(columns));
                CHECK(widest(drawing) <= columns);
                CHECK(widest(tables_text(facts, terminal(columns))) <= columns);
                for (const AgentFacts& agent : facts.agents) CHECK(count(drawing, "─ " + agent.label + " ─") == 1);
                const std::string ascii = as_topo_text(facts, terminal(columns, false));
                CHECK(std::all_of(ascii.begin(), ascii.end(), [](char letter) { return (letter & 0x80) == 0; }));
            }
}

TEST_CASE("boxes of the SVG do not overlap, and are within it", "[topo]") {
    for (unsigned cpus = 1; cpus <= 4; ++cpus)
        for (const unsigned gpus : {0u, 1u, 2u, 3u, 5u, 8u, 16u}) {
            CAPTURE(cpus, gpus);
            Facts facts = machine(cpus, gpus);
            if (gpus > 0) hive(facts, cpus, 0, gpus - 1);
            const Graph graph = graph_of(facts);
            const Layout layout(graph);
            std::vector<Rect> boxes;
            for (std::size_t i = 0; i < cpus; ++i) boxes.push_back(layout.cpu(i));
            for (std::size_t i = 0; i < gpus; ++i) boxes.push_back(layout.gpu(i));
            for (std::size_t a = 0; a < boxes.size(); ++a) {
                CHECK(boxes[a].x >= Layout::margin);
                CHECK(boxes[a].right() <= layout.width() - Layout::margin);
                CHECK(boxes[a].bottom() <= layout.bottom());
                for (std::size_t b = a + 1; b < boxes.size(); ++b)
                    CHECK((boxes[a].right() <= boxes[b].x || boxes[b].right() <= boxes[a].x ||
                           boxes[a].bottom() <= boxes[b].y || boxes[b].bottom() <= boxes[a].y));
            }
        }
}

TEST_CASE("adjacent hives share a height, hives below the same CPU do not", "[topo]") {
    Facts facts = machine(2, 8);
    hive(facts, 2, 0, 3);
    hive(facts, 2, 4, 7);
    const Graph apart = graph_of(facts);
    CHECK(Layout(apart).rail_y(0, 0) == Layout(apart).rail_y(1, 0));
    Facts one = machine(1, 4);
    hive(one, 1, 0, 1);
    hive(one, 1, 2, 3);
    const Graph together = graph_of(one);
    CHECK(Layout(together).rail_y(0, 0) < Layout(together).rail_y(1, 0));
}

TEST_CASE("the SVG has each agent once, a line for each drawn link, and no script", "[topo]") {
    Facts facts = machine(2, 8);
    hive(facts, 2, 0, 3);
    const std::string svg = as_svg(graph_of(facts));
    for (const AgentFacts& agent : facts.agents) CHECK(count(svg, ">" + agent.label + "</text>") == 1);
    CHECK(count(svg, "<title>gpu0 to cpu0: PCIe, 31.5 GB/s, distance 20</title>") == 1);
    CHECK(count(svg, "<path class=\"link pcie\"") == 8 + 1);  // and the legend's
    CHECK(count(svg, "<path class=\"link xgmi\"") == 2 + 1);  // the hive, and between the CPUs
    CHECK(count(svg, "<script") == 0);
    CHECK(count(svg, "href") == 0);
}

TEST_CASE("names are escaped in markup", "[topo]") {
    Facts facts = machine(1, 1);
    facts.agents[1].product = "A<b>&\"C\"\\";
    CHECK_THAT(as_svg(graph_of(facts)), Contains("A&lt;b&gt;&amp;&quot;C&quot;\\"));
    CHECK_THAT(as_dot(graph_of(facts)), Contains("\\nA<b>&\\\"C\\\"\\\\\\n"));
}

TEST_CASE("the DOT graph names nodes before edges, and each link once", "[topo]") {
    Facts facts = machine(2, 4);
    hive(facts, 2, 0, 3);
    const std::string dot = as_dot(graph_of(facts));
    CHECK(count(dot, " -- ") == 1 + 4 + 6);
    std::set<std::string> nodes;
    const std::regex line("  \"([a-z0-9]+)\"(?: -- \"([a-z0-9]+)\")? \\[.*\\];");
    for (std::sregex_iterator at(dot.begin(), dot.end(), line), end; at != end; ++at) {
        if (!(*at)[2].matched)
            nodes.insert((*at)[1]);
        else
            CHECK((nodes.count((*at)[1]) == 1 && nodes.count((*at)[2]) == 1));
    }
    CHECK(nodes.size() == 6);
    CHECK(count(dot, "{") == count(dot, "}"));
}

TEST_CASE("lines that meet on a canvas join", "[topo]") {
    Canvas canvas;
    canvas.across(0, 4, 1);
    canvas.down(2, 0, 2);
    CHECK(canvas.text(true) == "  │\n──┼──\n  │\n");
    CHECK(canvas.text(false) == "  |\n--+--\n  |\n");
    canvas.down(4, 1, 2, Stroke::doubled);
    CHECK(canvas.text(true) == "  │\n──┼─║\n  │ ║\n");
}
