// The main() of every test program without its own.
#include "tests/support/session.hpp"

int main(int argc, char** argv) { return test_support::run_session(argc, argv); }
