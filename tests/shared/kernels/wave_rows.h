/* What the kernels of wave.cpp and wave.cl write, row after row; each row has one element for each work-item. */
#ifndef TESTS_SHARED_WAVE_ROWS_H
#define TESTS_SHARED_WAVE_ROWS_H

enum WaveRow {
    row_reduce_add,
    row_reduce_min,
    row_reduce_max,
    row_inclusive_add,
    row_inclusive_min,
    row_inclusive_max,
    row_exclusive_add,
    row_exclusive_min,
    row_exclusive_max,
    ordered_rows,
    row_reduce_and = ordered_rows,
    row_reduce_or,
    row_reduce_xor,
    integer_rows
};

enum LaneRow {
    row_lane_id,
    row_ballot,
    row_active,
    row_any,
    row_all,
    row_first,
    row_broadcasts, /* one row for each lane, of 64 or 32 */
    lane_rows = row_broadcasts + 64
};

/* For each shift by fewer lanes than a wave has. */
enum PermuteRow { row_permute, row_bpermute, row_activelanepermute, permute_rows };

#endif
