/* What the kernels of atomics.cpp and atomics.cl change: one element for each operation. */
#ifndef TESTS_SHARED_ATOMIC_ROWS_H
#define TESTS_SHARED_ATOMIC_ROWS_H

enum AtomicRow {
    atomic_row_add,
    atomic_row_sub,
    atomic_row_min,
    atomic_row_max,
    atomic_row_and,
    atomic_row_or,
    atomic_row_xor,
    atomic_row_exchange,
    atomic_row_exchange_sum,
    atomic_row_compare_exchange,
    atomic_rows
};

#endif
