// What differs between models behind the decoder and in the rows, by name: nothing else asks which model it is.
//
//     if (traits_of(target).unified_registers) …
//
// Thread safety: constant data.
#pragma once

#include "tools/kfdemu/isa/rows/row.hpp"

namespace kfdemu::isa {

struct Traits {
    /// VGPRs and AccVGPRs are one file, split by the kernel descriptor; encodings choose with their ACC bits. Else, of
    /// a model that has them, matrix instructions add in AccVGPRs alone.
    bool unified_registers = false;
    bool separate_accumulators = false;
    bool architected_scratch = false;     ///< the hardware sets FLAT_SCRATCH for each wave
    bool kernarg_preload = false;         ///< the command processor loads arguments into SGPRs
    bool packed_workitem_ids = false;     ///< all three in v0, ten bits each
    bool returns_float_atomics = false;   ///< those of memory that are kFloatAtomic
    bool flat_float_atomics = false;      ///< FLAT has them, too
    bool negates_doubles = false;         ///< BLGP of MFMA of doubles
    bool flushes_factors = false;         ///< of rows that are kFlushesHalves
    bool wide_dpp = false;                ///< row_newbcast, and DPP of 64 bits by it
    bool wave32 = false;                  ///< kernels choose waves of 32 or 64 lanes; else 64
    bool gds = true;                      ///< DS instructions may name it
    bool scc_bit = false, nv_bit = true;  ///< of memory instructions
    bool scope_bits = false;              ///< those of memory instructions are called sc0, sc1 and nt
    bool xcc_registers = false;           ///< s_getreg_b32 knows the XCC and the performance snapshot
    bool wide_loads_to_lds = false;       ///< of 96 and 128 bits
    bool dlc_bit = false;                 ///< of memory instructions
    bool null_register = false;           ///< operand 125; what is a register for the trap handler elsewhere is an SGPR
    bool literals_everywhere = false;     ///< VOP3 and VOP3P may have one
    bool compares_to_exec = false;        ///< V_CMPX writes EXEC and nothing else
    bool keeps_halves = false;            ///< a result of 16 bits leaves the other half of its register
    bool workgroup_processors = false;    ///< kernels choose their mode; all SGPRs are a wave's
    bool unified_formats = false;         ///< of buffers: one number of the layout and its meaning
    bool scratch_register = false;        ///< FLAT_SCRATCH is a hardware register
    bool vscnt = false;                   ///< stores have a counter of their own; GFX10's hardware registers
    bool row_share = false;               ///< DPP8; DPP has row_share, row_xmask and FI, and no shifts of the wave
    unsigned vector_line_bytes = 64;      ///< of the cache that vector memory goes through; that of scalars has 64
    bool dpp_everywhere = false;          ///< VOPC, VOP3 and VOP3P may have it; it moves something
    bool scalar_beside_dpp = false;       ///< source 1 of VOP3 with DPP may be one
    bool sdwa = true;
    bool null_before_m0 = false;   ///< operand 124 is NULL and 125 is M0
    bool register_halves = false;  ///< short formats: bit 7 of a VGPR's number is the half that 16 bits are in
    bool fewer_formats = false;    ///< of buffers: GFX11's numbers, which leave out some
    /// Scratch memory is counted by shader engines, and a wave's in so many bits of 256 bytes; 0: by GPU, and in KiB.
    unsigned scratch_size_bits = 0;
    bool instruction_prefetch = false;  ///< kernels say how much is fetched before they begin
    bool dlc_misses = false;            ///< loads go past GL1 only with DLC
    bool gfx11_numbers = false;         ///< of messages and hardware registers; fields of s_waitcnt
    bool temporal_hints = false;    ///< memory instructions have a scope and a temporal hint, most of them three dwords
    bool number_wins = false;       ///< V_MIN and V_MAX are IEEE 754-2019's; MODE has neither IEEE nor DX10_CLAMP
    bool gfx12_names = false;       ///< of messages, hardware registers and bytes
    bool group_id_in_ttmp = false;  ///< work-group ids are in TTMP9 and TTMP7, and no SGPR
    bool split_counters = false;    ///< of LDS and of scalar memory; each has instructions of its own that wait
    bool split_barriers = false;    ///< waves signal, and wait later
    bool spread_tiles = false;      ///< lanes from 16 on have elements of WMMA's A and B of their own
    bool sve_bit = false;           ///< SCRATCH says whether it adds a VGPR; loads to LDS have opcodes of their own
};

const Traits& traits_of(Target target);

}  // namespace kfdemu::isa
