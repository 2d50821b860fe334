"""The C interface. Written by interface.py from the headers, which document it."""
# pylint: disable-all
from ctypes import (CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint8, c_uint16,
                    c_uint32, c_uint64, c_void_p, sizeof)

AGENT_CPU = 0
AGENT_GPU = 1
AGENT_OTHER = 2
VIEW_POOLS = 0
VIEW_REGIONS = 1
SEGMENT_GLOBAL = 0
SEGMENT_READONLY = 1
SEGMENT_PRIVATE = 2
SEGMENT_GROUP = 3
SEGMENT_KERNARG = 4
POOL_KERNARG = 1
POOL_FINE_GRAINED = 2
POOL_COARSE_GRAINED = 4
LANGUAGE_CPP = 0
LANGUAGE_OPENCL = 1
LANGUAGE_LLVM_IR = 2
LANGUAGE_ASSEMBLY = 3
SUCCESS = 0
ERROR = 1
ERROR_INVALID_ARGUMENT = 2
ERROR_INVALID_HANDLE = 3
ERROR_OUT_OF_MEMORY = 4
ERROR_OUT_OF_HOST_MEMORY = 5
ERROR_INVALID_CODE_OBJECT = 6
ERROR_QUEUE = 7
ERROR_MEMORY_FAULT = 8
ERROR_DEVICE_LOST = 9
ERROR_STREAM_ENDED = 10
ERROR_TIMEOUT = 11
ERROR_NO_DEVICE = 12
ERROR_NOT_OFFERED = 13
ERROR_FORKED_CHILD = 14
ERROR_HOST_FUNCTION = 15
ERROR_UNKNOWN = 16
ERROR_COMPILE = 17
ERROR_NO_COMPILER = 18
EVENT_PLAIN = 0
EVENT_TIMING = 1
ARGUMENT_UNKNOWN = 0
ARGUMENT_POINTER = 1
ARGUMENT_INTEGER = 2
ARGUMENT_FLOATING = 3
ARGUMENT_OBJECT = 4
ARGUMENT_VALUE = 5
ADVICE_READ_MOSTLY = 0
ADVICE_NOT_READ_MOSTLY = 1
ADVICE_PREFERRED_LOCATION = 2
ADVICE_NO_PREFERRED_LOCATION = 3
ADVICE_ACCESSIBLE_BY = 4
ADVICE_ACCESSIBLE_IN_PLACE_BY = 5
ADVICE_NOT_ACCESSIBLE_BY = 6
ACCESS_NONE = 0
ACCESS_MIGRATING = 1
ACCESS_IN_PLACE = 2
MEMORY_DEVICE = 0
MEMORY_DEVICE_FINE = 1
MEMORY_HOST = 2
MEMORY_HOST_COARSE = 3
SIGNAL_PLAIN = 0
SIGNAL_SHARED = 1
EQUAL = 0
NOT_EQUAL = 1
LESS = 2
GREATER_EQUAL = 3
PRIORITY_NORMAL = 0
PRIORITY_LOW = 1
PRIORITY_HIGH = 2
ARRAY_MAX_RANK = 64
ARRAY_STRIDED = 1
ARRAY_READ_ONLY = 2
ARRAY_ON_GPU = 4
CASTING_NO = 0
CASTING_SAFE = 1
CASTING_SAME_KIND = 2
CASTING_UNSAFE = 3
INDEX_INTEGER = 0
INDEX_SLICE = 1
INDEX_NEW_AXIS = 2
INDEX_ELLIPSIS = 3
INDEX_START = 1
INDEX_STOP = 2
INDEX_STEP = 4
AllocateFunction = CFUNCTYPE(c_void_p, c_size_t, c_size_t, c_void_p, c_void_p)
DeallocateFunction = CFUNCTYPE(None, c_void_p, c_size_t, c_size_t, c_void_p)
HostFunction = CFUNCTYPE(c_int, c_void_p)
ReleaseFunction = CFUNCTYPE(None, c_void_p)
CompletionFunction = CFUNCTYPE(None, c_int, c_char_p, c_void_p)


class AgentFacts(Structure):
    _fields_ = [
        ('struct_size', c_size_t),
        ('native_agent', c_uint64),
        ('kind', c_uint32),
        ('device', c_uint32),
        ('pools', c_uint32),
        ('regions', c_uint32),
        ('name', c_char * 64),
        ('product_name', c_char * 64),
    ]

    def __init__(self, **fields):
        super().__init__(struct_size=sizeof(type(self)), **fields)


class PoolFacts(Structure):
    _fields_ = [
        ('struct_size', c_size_t),
        ('size_bytes', c_uint64),
        ('alloc_max_bytes', c_uint64),
        ('alloc_granule_bytes', c_uint64),
        ('segment', c_uint32),
        ('flags', c_uint32),
        ('alloc_allowed', c_uint32),
        ('host_accessible', c_uint32),
    ]

    def __init__(self, **fields):
        super().__init__(struct_size=sizeof(type(self)), **fields)


class CompileOptions(Structure):
    _fields_ = [
        ('struct_size', c_size_t),
        ('language', c_uint32),
        ('code_object_version', c_uint32),
        ('line_numbers', c_uint32),
        ('no_cache', c_uint32),
        ('target', c_char_p),
        ('name', c_char_p),
        ('level', c_char_p),
        ('clang', c_char_p),
        ('defines', POINTER(c_char_p)),
        ('define_count', c_size_t),
        ('folders', POINTER(c_char_p)),
        ('folder_count', c_size_t),
        ('clang_options', POINTER(c_char_p)),
        ('clang_option_count', c_size_t),
    ]

    def __init__(self, **fields):
        super().__init__(struct_size=sizeof(type(self)), **fields)


class DeviceFacts(Structure):
    _fields_ = [
        ('struct_size', c_size_t),
        ('native_agent', c_uint64),
        ('memory_bytes', c_uint64),
        ('memory_free_bytes', c_uint64),
        ('compute_units', c_uint32),
        ('wavefront_size', c_uint32),
        ('workgroup_max', c_uint32),
        ('workgroup_max_dim', c_uint32 * 3),
        ('grid_max_dim', c_uint32 * 3),
        ('lds_bytes', c_uint32),
        ('max_clock_mhz', c_uint32),
        ('name', c_char * 64),
        ('product_name', c_char * 64),
        ('uuid', c_char * 32),
        ('pci_address', c_char * 16),
        ('isa', c_char * 96),
    ]

    def __init__(self, **fields):
        super().__init__(struct_size=sizeof(type(self)), **fields)


class KernelFacts(Structure):
    _fields_ = [
        ('struct_size', c_size_t),
        ('name', c_char_p),
        ('argument_count', c_size_t),
        ('lds_pointer_count', c_size_t),
        ('kernarg_bytes', c_uint32),
        ('lds_bytes', c_uint32),
        ('scratch_bytes', c_uint32),
        ('workgroup_max', c_uint32),
        ('workgroup_required', c_uint32 * 3),
        ('wavefront_size', c_uint32),
        ('vgprs', c_uint32),
        ('sgprs', c_uint32),
        ('dynamic_stack', c_uint32),
    ]

    def __init__(self, **fields):
        super().__init__(struct_size=sizeof(type(self)), **fields)


class ArgumentFacts(Structure):
    _fields_ = [
        ('struct_size', c_size_t),
        ('name', c_char_p),
        ('type_name', c_char_p),
        ('offset_bytes', c_uint32),
        ('size_bytes', c_uint32),
        ('kind', c_uint32),
        ('element_kind', c_uint32),
        ('element_bytes', c_uint32),
        ('is_const', c_uint32),
    ]

    def __init__(self, **fields):
        super().__init__(struct_size=sizeof(type(self)), **fields)


class GraphNode(Structure):
    _fields_ = [
        ('graph', c_uint64),
        ('number', c_uint32),
        ('reserved', c_uint32),
    ]


class IpcMemory(Structure):
    _fields_ = [
        ('words', c_uint64 * 8),
    ]


class IpcSignal(Structure):
    _fields_ = [
        ('words', c_uint64 * 5),
    ]


class LaunchConfig(Structure):
    _fields_ = [
        ('struct_size', c_size_t),
        ('grid', c_uint32 * 3),
        ('workgroup', c_uint32 * 3),
        ('lds_bytes', c_uint32),
        ('lds_align_bytes', c_uint32),
        ('stack_bytes', c_uint32),
        ('lds_count', c_uint32),
        ('lds_offsets_bytes', POINTER(c_uint32)),
        ('cooperative', c_uint32),
        ('groups', c_uint32 * 3),
    ]

    def __init__(self, **fields):
        super().__init__(struct_size=sizeof(type(self)), **fields)


class Argument(Structure):
    _fields_ = [
        ('kind', c_uint32),
        ('element_kind', c_uint32),
        ('element_bytes', c_uint32),
        ('reserved', c_uint32),
        ('value', c_void_p),
        ('size_bytes', c_size_t),
        ('memory', c_void_p),
        ('offset_bytes', c_size_t),
    ]


class ManagedFacts(Structure):
    _fields_ = [
        ('struct_size', c_size_t),
        ('preferred_agent', c_uint64),
        ('prefetched_agent', c_uint64),
        ('read_mostly', c_uint32),
        ('access', c_uint32),
    ]

    def __init__(self, **fields):
        super().__init__(struct_size=sizeof(type(self)), **fields)


class MemoryCallbacks(Structure):
    _fields_ = [
        ('struct_size', c_size_t),
        ('allocate', AllocateFunction),
        ('deallocate', DeallocateFunction),
        ('release', ReleaseFunction),
        ('user', c_void_p),
    ]

    def __init__(self, **fields):
        super().__init__(struct_size=sizeof(type(self)), **fields)


class StreamOptions(Structure):
    _fields_ = [
        ('struct_size', c_size_t),
        ('name', c_char_p),
        ('packets', c_uint32),
        ('exclusive', c_uint32),
        ('kernarg_bytes', c_size_t),
        ('cu_mask', POINTER(c_uint32)),
        ('cu_mask_words', c_size_t),
        ('priority', c_uint32),
        ('reserved', c_uint32),
    ]

    def __init__(self, **fields):
        super().__init__(struct_size=sizeof(type(self)), **fields)


class Array(Structure):
    _fields_ = [
        ('struct_size', c_size_t),
        ('data', c_void_p),
        ('memory', c_void_p),
        ('dtype', c_char_p),
        ('rank', c_uint32),
        ('flags', c_uint32),
        ('gpu', c_uint32),
        ('reserved', c_uint32),
        ('shape', c_int64 * 64),
        ('strides_bytes', c_int64 * 64),
    ]

    def __init__(self, **fields):
        super().__init__(struct_size=sizeof(type(self)), **fields)


class Index(Structure):
    _fields_ = [
        ('kind', c_uint32),
        ('given', c_uint32),
        ('start', c_int64),
        ('stop', c_int64),
        ('step', c_int64),
    ]


FUNCTIONS = {  # name: (result, parameters)
    'hsadrv_driver_agent_count': (c_int, [c_void_p, POINTER(c_size_t)]),
    'hsadrv_driver_agent_info': (c_int, [c_void_p, c_size_t, POINTER(AgentFacts)]),
    'hsadrv_driver_pool_info': (c_int, [c_void_p, c_size_t, c_uint32, c_size_t, POINTER(PoolFacts)]),
    'hsadrv_memory_create_in': (c_int, [c_void_p, c_size_t, c_uint32, c_size_t, c_size_t, POINTER(c_void_p)]),
    'hsadrv_compile': (c_int, [c_void_p, c_void_p, c_size_t, POINTER(CompileOptions), c_uint64, POINTER(c_void_p)]),
    'hsadrv_compiled_code': (c_int, [c_void_p, POINTER(c_void_p), POINTER(c_size_t)]),
    'hsadrv_compiled_messages': (c_int, [c_void_p, POINTER(c_char_p)]),
    'hsadrv_compiled_destroy': (c_int, [c_void_p]),
    'hsadrv_memory_export_dmabuf': (c_int, [c_void_p, c_size_t, c_size_t, POINTER(c_int), POINTER(c_uint64)]),
    'hsadrv_memory_import_dmabuf': (c_int, [POINTER(c_void_p), c_size_t, c_int, POINTER(c_void_p)]),
    'hsadrv_driver_create': (c_int, [POINTER(c_void_p)]),
    'hsadrv_driver_destroy': (c_int, [c_void_p]),
    'hsadrv_driver_device_count': (c_int, [c_void_p, POINTER(c_size_t)]),
    'hsadrv_driver_device': (c_int, [c_void_p, c_size_t, POINTER(c_void_p)]),
    'hsadrv_driver_find_device': (c_int, [c_void_p, c_char_p, POINTER(c_void_p)]),
    'hsadrv_device_info': (c_int, [c_void_p, POINTER(DeviceFacts)]),
    'hsadrv_result_name': (c_char_p, [c_int]),
    'hsadrv_last_error': (c_int, []),
    'hsadrv_last_error_message': (c_char_p, []),
    'hsadrv_last_error_status': (c_uint32, []),
    'hsadrv_last_error_address': (c_uint64, []),
    'hsadrv_version': (c_uint32, []),
    'hsadrv_stream_record': (c_int, [c_void_p, c_uint32, c_uint64, POINTER(c_void_p)]),
    'hsadrv_event_destroy': (c_int, [c_void_p]),
    'hsadrv_stream_wait': (c_int, [c_void_p, c_void_p, c_uint64]),
    'hsadrv_event_synchronize': (c_int, [c_void_p, c_uint64]),
    'hsadrv_event_query': (c_int, [c_void_p, POINTER(c_int)]),
    'hsadrv_event_elapsed': (c_int, [c_void_p, c_void_p, POINTER(c_int64)]),
    'hsadrv_executable_load': (c_int, [c_void_p, c_void_p, c_size_t, c_char_p, POINTER(c_void_p)]),
    'hsadrv_executable_load_file': (c_int, [c_void_p, c_char_p, POINTER(c_void_p)]),
    'hsadrv_executable_destroy': (c_int, [c_void_p]),
    'hsadrv_executable_kernel_count': (c_int, [c_void_p, POINTER(c_size_t)]),
    'hsadrv_executable_kernel_name': (c_int, [c_void_p, c_size_t, POINTER(c_char_p)]),
    'hsadrv_executable_kernel': (c_int, [c_void_p, c_char_p, POINTER(c_void_p)]),
    'hsadrv_executable_global': (c_int, [c_void_p, c_char_p, POINTER(c_void_p), POINTER(c_size_t)]),
    'hsadrv_kernel_destroy': (c_int, [c_void_p]),
    'hsadrv_kernel_info': (c_int, [c_void_p, POINTER(KernelFacts)]),
    'hsadrv_kernel_suggest_group_size': (c_int, [c_void_p, c_uint32, POINTER(c_uint32), POINTER(c_uint32)]),
    'hsadrv_kernel_argument_info': (c_int, [c_void_p, c_size_t, POINTER(ArgumentFacts)]),
    'hsadrv_stream_begin_capture': (c_int, [c_void_p]),
    'hsadrv_stream_end_capture': (c_int, [c_void_p, POINTER(c_void_p)]),
    'hsadrv_graph_destroy': (c_int, [c_void_p]),
    'hsadrv_graph_size': (c_int, [c_void_p, POINTER(c_size_t), POINTER(c_size_t)]),
    'hsadrv_graph_launch': (c_int, [c_void_p, c_void_p, c_uint64]),
    'hsadrv_graph_update': (c_int, [c_void_p, c_size_t, c_void_p, POINTER(LaunchConfig), POINTER(Argument), c_size_t, c_uint64]),
    'hsadrv_graph_builder_create': (c_int, [c_void_p, POINTER(c_void_p)]),
    'hsadrv_graph_builder_destroy': (c_int, [c_void_p]),
    'hsadrv_graph_builder_add_kernel': (c_int, [c_void_p, POINTER(GraphNode), c_size_t, c_void_p, POINTER(LaunchConfig), POINTER(Argument), c_size_t, POINTER(GraphNode)]),
    'hsadrv_graph_builder_add_copy': (c_int, [c_void_p, POINTER(GraphNode), c_size_t, c_void_p, c_void_p, c_size_t, POINTER(GraphNode)]),
    'hsadrv_graph_builder_add_fill': (c_int, [c_void_p, POINTER(GraphNode), c_size_t, c_void_p, c_size_t, c_void_p, c_size_t, POINTER(GraphNode)]),
    'hsadrv_graph_builder_add_call': (c_int, [c_void_p, POINTER(GraphNode), c_size_t, HostFunction, c_void_p, ReleaseFunction, POINTER(GraphNode)]),
    'hsadrv_graph_builder_add_graph': (c_int, [c_void_p, POINTER(GraphNode), c_size_t, c_void_p, POINTER(GraphNode)]),
    'hsadrv_graph_builder_add_empty': (c_int, [c_void_p, POINTER(GraphNode), c_size_t, POINTER(GraphNode)]),
    'hsadrv_graph_builder_hold': (c_int, [c_void_p, c_void_p]),
    'hsadrv_graph_builder_finish': (c_int, [c_void_p, POINTER(c_void_p)]),
    'hsadrv_graph_kernel_index': (c_int, [c_void_p, POINTER(GraphNode), POINTER(c_size_t)]),
    'hsadrv_memory_export_ipc': (c_int, [c_void_p, c_size_t, c_size_t, POINTER(IpcMemory)]),
    'hsadrv_memory_attach_ipc': (c_int, [POINTER(c_void_p), c_size_t, POINTER(IpcMemory), POINTER(c_void_p)]),
    'hsadrv_signal_export_ipc': (c_int, [c_void_p, POINTER(IpcSignal)]),
    'hsadrv_signal_attach_ipc': (c_int, [c_void_p, POINTER(IpcSignal), POINTER(c_void_p)]),
    'hsadrv_kernel_launch': (c_int, [c_void_p, c_void_p, POINTER(LaunchConfig), POINTER(Argument), c_size_t, c_uint64]),
    'hsadrv_memory_create_managed': (c_int, [POINTER(c_void_p), c_size_t, c_size_t, POINTER(c_void_p)]),
    'hsadrv_managed_advise': (c_int, [c_void_p, c_size_t, c_uint32, c_void_p]),
    'hsadrv_managed_info': (c_int, [c_void_p, c_size_t, c_void_p, POINTER(ManagedFacts)]),
    'hsadrv_stream_prefetch': (c_int, [c_void_p, c_void_p, c_size_t, c_void_p, c_uint64]),
    'hsadrv_memory_create': (c_int, [c_void_p, c_uint32, c_size_t, POINTER(c_void_p)]),
    'hsadrv_memory_destroy': (c_int, [c_void_p]),
    'hsadrv_memory_address': (c_int, [c_void_p, POINTER(c_void_p)]),
    'hsadrv_memory_size': (c_int, [c_void_p, POINTER(c_size_t)]),
    'hsadrv_memory_allow_access': (c_int, [c_void_p, c_void_p]),
    'hsadrv_registration_create': (c_int, [c_void_p, c_void_p, c_size_t, c_uint32, POINTER(c_void_p)]),
    'hsadrv_registration_destroy': (c_int, [c_void_p]),
    'hsadrv_registration_address': (c_int, [c_void_p, POINTER(c_void_p)]),
    'hsadrv_memory_resource_create': (c_int, [c_void_p, POINTER(MemoryCallbacks), POINTER(c_void_p)]),
    'hsadrv_memory_resource_create_cache': (c_int, [c_void_p, c_uint32, c_size_t, POINTER(c_void_p)]),
    'hsadrv_memory_resource_destroy': (c_int, [c_void_p]),
    'hsadrv_memory_create_from': (c_int, [c_void_p, c_void_p, c_size_t, c_size_t, POINTER(c_void_p)]),
    'hsadrv_signal_create': (c_int, [c_void_p, c_int64, c_uint32, POINTER(c_void_p)]),
    'hsadrv_signal_destroy': (c_int, [c_void_p]),
    'hsadrv_signal_load': (c_int, [c_void_p, POINTER(c_int64)]),
    'hsadrv_signal_store': (c_int, [c_void_p, c_int64]),
    'hsadrv_signal_add': (c_int, [c_void_p, c_int64]),
    'hsadrv_signal_wait': (c_int, [c_void_p, c_uint32, c_int64, c_uint64, POINTER(c_int64)]),
    'hsadrv_stream_wait_signal': (c_int, [c_void_p, c_void_p, c_uint32, c_int64, c_uint64]),
    'hsadrv_stream_decrement': (c_int, [c_void_p, c_void_p, c_uint64]),
    'hsadrv_stream_create': (c_int, [c_void_p, POINTER(StreamOptions), POINTER(c_void_p)]),
    'hsadrv_stream_destroy': (c_int, [c_void_p, c_uint64]),
    'hsadrv_stream_synchronize': (c_int, [c_void_p, c_uint64]),
    'hsadrv_stream_query': (c_int, [c_void_p, POINTER(c_int)]),
    'hsadrv_stream_copy': (c_int, [c_void_p, c_void_p, c_void_p, c_size_t, c_uint64]),
    'hsadrv_stream_copy_and_wait': (c_int, [c_void_p, c_void_p, c_void_p, c_size_t, c_uint64]),
    'hsadrv_stream_fill': (c_int, [c_void_p, c_void_p, c_size_t, c_void_p, c_size_t, c_uint64]),
    'hsadrv_memory_destroy_on': (c_int, [c_void_p, c_void_p]),
    'hsadrv_stream_hold': (c_int, [c_void_p, c_void_p]),
    'hsadrv_stream_call': (c_int, [c_void_p, HostFunction, c_void_p, ReleaseFunction, c_uint64]),
    'hsadrv_stream_on_complete': (c_int, [c_void_p, CompletionFunction, c_void_p, c_uint64]),
    'hsadrv_physical_memory_granule': (c_int, [c_void_p, c_uint32, POINTER(c_size_t)]),
    'hsadrv_physical_memory_create': (c_int, [c_void_p, c_uint32, c_size_t, POINTER(c_void_p)]),
    'hsadrv_physical_memory_share': (c_int, [c_void_p, POINTER(c_int)]),
    'hsadrv_physical_memory_import': (c_int, [c_void_p, c_int, c_size_t, POINTER(c_void_p)]),
    'hsadrv_physical_memory_destroy': (c_int, [c_void_p]),
    'hsadrv_virtual_range_create': (c_int, [c_void_p, c_size_t, POINTER(c_void_p)]),
    'hsadrv_virtual_range_address': (c_int, [c_void_p, POINTER(c_void_p)]),
    'hsadrv_virtual_range_map': (c_int, [c_void_p, c_size_t, c_void_p, POINTER(c_void_p), c_size_t, POINTER(c_void_p)]),
    'hsadrv_virtual_range_destroy': (c_int, [c_void_p]),
    'hsadrv_array_create': (c_int, [c_void_p, POINTER(Array)]),
    'hsadrv_array_copy': (c_int, [c_void_p, POINTER(Array), POINTER(Array), c_uint64]),
    'hsadrv_array_copy_and_wait': (c_int, [c_void_p, POINTER(Array), POINTER(Array), c_uint64]),
    'hsadrv_array_assign': (c_int, [c_void_p, POINTER(Array), POINTER(Array), c_uint32, c_uint64]),
    'hsadrv_array_fill': (c_int, [c_void_p, POINTER(Array), c_void_p, c_uint64]),
    'hsadrv_array_slice': (c_int, [POINTER(Array), POINTER(Index), c_size_t, POINTER(Array)]),
    'hsadrv_array_reshape': (c_int, [POINTER(Array), POINTER(c_int64), c_uint32, c_char, POINTER(Array)]),
    'hsadrv_array_transpose': (c_int, [POINTER(Array), POINTER(c_int32), POINTER(Array)]),
    'hsadrv_array_broadcast': (c_int, [POINTER(Array), POINTER(c_int64), c_uint32, POINTER(Array)]),
    'hsadrv_array_field': (c_int, [POINTER(Array), c_char_p, POINTER(Array)]),
    'hsadrv_array_view': (c_int, [POINTER(Array), c_char_p, POINTER(Array)]),
    'hsadrv_array_extent': (c_int, [POINTER(Array), POINTER(c_int64), POINTER(c_size_t)]),
    'hsadrv_array_export_ipc': (c_int, [POINTER(Array), c_char_p, c_size_t, POINTER(c_size_t)]),
    'hsadrv_array_attach_ipc': (c_int, [c_void_p, c_char_p, POINTER(Array)]),
    'hsadrv_array_export_dlpack': (c_int, [POINTER(Array), c_uint32, POINTER(c_void_p)]),
    'hsadrv_array_release_dlpack': (c_int, [c_void_p, c_uint32]),
    'hsadrv_array_end_capsule': (None, [c_void_p]),
    'hsadrv_array_import_dlpack': (c_int, [c_void_p, c_uint32, POINTER(Array)]),
}
