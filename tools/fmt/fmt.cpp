// fmt's implementation, compiled once for the programs and libraries of the tools.
//
// They need no libfmt.so, whose soname differs from distribution to distribution, and with hidden visibility they
// export none of it: libkfdemu is loaded into programs that may have an fmt of their own. Headers alone
// (FMT_HEADER_ONLY) do the same, and compile it again in every source.
//
// fmt/format.h leaves functions to a library. format-inl.h defines them; those that are templates, and that no function
// there uses, are instantiated here.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

template auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl<char>(locale_ref) -> char;
#if FMT_VERSION >= 100000 && FMT_VERSION < 110000
template void vformat_to<char>(buffer<char>&, string_view, vformat_args<>::type, locale_ref);
#endif

}  // namespace detail
FMT_END_NAMESPACE
