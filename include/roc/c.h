// SPDX-License-Identifier: MIT
// The C interface of the library, with the rank of arrays at run time. C99 and C++; includes no
// header of the library and none of DLPack.
//
// Every function that can fail returns a roc_status. After an error, roc_last_error_message()
// returns the text, with the values that are wrong. A call with invalid arguments changes nothing.
// After any error no work of the call is pending; if HIP fails, a copy or a fill may have written a
// part of its destination. No exception leaves a function.
//
// What a call promises is the same as in C++: a call without a stream is ordered after all work
// that was enqueued earlier on the device through the library, and is complete on return; a call
// with a stream (roc_…_async) is enqueued.
#pragma once

#include <stddef.h>
#include <stdint.h>

// The same as in <roc/config.hpp>.
#define ROCARRAY_VERSION_MAJOR 0
#define ROCARRAY_VERSION_MINOR 1
#define ROCARRAY_VERSION_PATCH 0

/// Marks the functions of the C interface: the shared library exports them.
#define ROCARRAY_C_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

// Errors

/// The result of a call: one of roc_status_code.
typedef int32_t roc_status;

/// The values of roc_status. Each stands for a class of exceptions of the C++ interface.
enum roc_status_code {
  ROCARRAY_SUCCESS = 0,  ///< no error
  /// an argument has a value that is not allowed: a null pointer, an unknown element type, device
  /// type, enumerator or flag, a stream of another device, a destination in pages that must not be
  /// written
  ROCARRAY_ERROR_INVALID_ARGUMENT = 1,
  ROCARRAY_ERROR_SHAPE = 2,  ///< shapes, ranks or sizes do not match, are negative, or overflow
  /// strides leave the address space, map two indices to one place, or have more than 16 axes after
  /// those that continue without a gap on both sides are merged
  ROCARRAY_ERROR_LAYOUT = 3,
  ROCARRAY_ERROR_OVERLAP = 4,  ///< source and destination of a copy share memory
  /// a handle or an address is not valid: it was destroyed, freed, or never created
  ROCARRAY_ERROR_LIFETIME = 5,
  /// a range overlaps a registered one, is not registered, is read-only, or is the wrong kind
  ROCARRAY_ERROR_REGISTRATION = 6,
  ROCARRAY_ERROR_OUT_OF_MEMORY = 7,  ///< device, pinned or pageable memory is exhausted
  ROCARRAY_ERROR_NOT_SUPPORTED = 8,  ///< the device or the platform cannot do it
  ROCARRAY_ERROR_NO_DEVICE = 9,      ///< there is no device with this ordinal
  /// another error of HIP: see roc_last_hip_error; or work of which HIP does not tell when it is
  /// done
  ROCARRAY_ERROR_HIP = 10,
  ROCARRAY_ERROR_UNKNOWN = 11,  ///< an exception of other code, such as a host function
};

/// Returns the name of a status, such as "ROCARRAY_ERROR_SHAPE"; "unknown status" for other
/// values. *Threads:* any.
ROCARRAY_C_API char const* roc_status_name(roc_status status);
/// Returns the status of the calling thread's last call that failed; ROCARRAY_SUCCESS if none has.
/// A call that succeeds does not change it. *Threads:* any; each has its own.
ROCARRAY_C_API roc_status roc_last_error(void);
/// Returns the message of the calling thread's last call that failed: the function, the problem
/// with its values, and what to do; empty if none has failed.
///
/// *Lifetime:* valid until the next call of the thread that fails, and until the thread ends.
///
/// *Threads:* any; each has its own.
ROCARRAY_C_API char const* roc_last_error_message(void);
/// Returns HIP's code (the number of the hipError_t) of the calling thread's last call that failed;
/// 0 if that error was not reported by HIP. *Threads:* any; each has its own.
ROCARRAY_C_API int32_t roc_last_hip_error(void);

/// Sets the numbers of the library's version. A null pointer is skipped. *Threads:* any.
ROCARRAY_C_API void roc_get_version(int32_t* major_version, int32_t* minor_version,
                                    int32_t* patch_version);

// Arrays

/// The largest rank of a tensor.
#define ROCARRAY_MAX_RANK 64

/// Device types of tensors. The numbers are those of DLPack's DLDeviceType. roc_device_type()
/// returns that of this platform's device memory; those of another platform are errors.
enum roc_tensor_device_type {
  ROCARRAY_DEVICE_CPU = 1,             ///< host memory, pinned or not (kDLCPU)
  ROCARRAY_DEVICE_CUDA = 2,            ///< device memory of the platform nvidia (kDLCUDA)
  ROCARRAY_DEVICE_CUDA_HOST = 3,       ///< pinned memory of the platform nvidia (kDLCUDAHost)
  ROCARRAY_DEVICE_ROCM = 10,           ///< device memory of the platform amd (kDLROCM)
  ROCARRAY_DEVICE_ROCM_HOST = 11,      ///< pinned memory of the platform amd (kDLROCMHost)
  ROCARRAY_DEVICE_HOST_PLATFORM = 12,  ///< device memory of the platform host (kDLExtDev)
  ROCARRAY_DEVICE_CUDA_MANAGED = 13,   ///< managed memory of the platform nvidia (kDLCUDAManaged)
};

/// Codes of element types. The numbers are those of DLPack's DLDataTypeCode; those from 7 to 17,
/// its floating-point types of at most 8 bits, are accepted too.
enum roc_element_code {
  ROCARRAY_TYPE_INT = 0,      ///< signed integer
  ROCARRAY_TYPE_UINT = 1,     ///< unsigned integer
  ROCARRAY_TYPE_FLOAT = 2,    ///< IEEE floating point
  ROCARRAY_TYPE_OPAQUE = 3,   ///< an object of which only the size is known
  ROCARRAY_TYPE_BFLOAT = 4,   ///< bfloat16
  ROCARRAY_TYPE_COMPLEX = 5,  ///< real and imaginary part; bits of both
  ROCARRAY_TYPE_BOOL = 6,     ///< boolean
};

/// The memory that a tensor is in. Has the layout of DLPack's DLDevice.
typedef struct roc_tensor_device {
  int32_t device_type;  ///< one of roc_tensor_device_type
  int32_t device_id;    ///< ordinal of the device; ignored for host memory
} roc_tensor_device;

/// The type of elements. Has the layout of DLPack's DLDataType. An element has bits times lanes
/// bits, which must be a whole number of bytes.
typedef struct roc_element_type {
  uint8_t code;    ///< one of roc_element_code
  uint8_t bits;    ///< bits of one lane, such as 32
  uint16_t lanes;  ///< 1, or the number of lanes of a vector type
} roc_element_type;

/// An array of any rank, which owns nothing. Has the layout of DLPack's DLTensor: pass one as
/// ROCARRAY_TENSOR(pointer).
///
/// *Lifetime:* the functions read the description during the call. The elements must live as long
/// as the contract requires.
typedef struct roc_tensor {
  void* data;                ///< address of the memory; may be null if there are no elements
  roc_tensor_device device;  ///< where the memory is
  int32_t ndim;              ///< the rank: 0 to ROCARRAY_MAX_RANK
  roc_element_type dtype;    ///< type of the elements
  int64_t const* shape;      ///< extents, outermost axis first; may be null if ndim is 0
  int64_t const* strides;    ///< in elements, may be negative; null: C order without gaps
  uint64_t byte_offset;      ///< bytes from `data` to the first element
} roc_tensor;

/// Converts a pointer to a DLTensor of <dlpack/dlpack.h>, included before or after this header.
#define ROCARRAY_TENSOR(pointer) ((roc_tensor const*)(pointer))

/// Returns DLPack's device type of this platform's device memory: ROCARRAY_DEVICE_CUDA, _ROCM or
/// _HOST_PLATFORM. A program that uses it runs on every platform. *Threads:* any.
ROCARRAY_C_API int32_t roc_device_type(void);

// Handles. A handle is not an address: it must not be dereferenced. Values are not used twice in a
// process, so that a destroyed handle is always recognized: its use is ROCARRAY_ERROR_LIFETIME.

/// A stream. ROCARRAY_DEFAULT_STREAM, which is null, is the legacy default stream of the current
/// device.
typedef struct roc_stream_handle* roc_stream;
/// An event: a point in the work of a stream.
typedef struct roc_event_handle* roc_event;
/// A list of copies that are submitted together.
typedef struct roc_batch_handle* roc_batch;
/// A source of device memory. ROCARRAY_DEFAULT_RESOURCE, which is null, is the resource of arrays
/// on the device: by default a pool.
typedef struct roc_resource_handle* roc_resource;

/// The legacy default stream of the device that is current at the time of the call.
#define ROCARRAY_DEFAULT_STREAM ((roc_stream)0)
/// The resource from which arrays of the C++ interface allocate.
#define ROCARRAY_DEFAULT_RESOURCE ((roc_resource)0)

// Devices

/// Sets `count` to the number of devices: 0 if there is no device or no driver, which is no error.
/// *Threads:* any.
ROCARRAY_C_API roc_status roc_device_count(int32_t* count);
/// Sets `device` to the ordinal of the calling thread's current device. Streams, events and memory
/// are created on it. *Threads:* any; each has its own current device.
ROCARRAY_C_API roc_status roc_get_device(int32_t* device);
/// Makes a device current for the calling thread (hipSetDevice). ROCARRAY_ERROR_NO_DEVICE if it
/// does not exist. *Threads:* any; each has its own current device.
ROCARRAY_C_API roc_status roc_set_device(int32_t device);
/// Blocks until all work on a device has finished, and reports its errors (hipDeviceSynchronize).
/// *Threads:* any.
ROCARRAY_C_API roc_status roc_synchronize_device(int32_t device);

// Streams

/// How a stream is ordered with the legacy default stream.
enum roc_stream_kind {
  ROCARRAY_STREAM_BLOCKING = 0,      ///< ordered with it
  ROCARRAY_STREAM_NON_BLOCKING = 1,  ///< not ordered with it (hipStreamNonBlocking)
};

/// Creates a stream on the current device.
///
/// @param kind one of roc_stream_kind
/// @param priority lower numbers run first, 0 is the default; clamped to the device's range
/// @param stream set to the handle; destroy it with roc_stream_destroy
///
/// *Threads:* any.
ROCARRAY_C_API roc_status roc_stream_create(int32_t kind, int32_t priority, roc_stream* stream);
/// Makes a handle of a stream that other code created on the current device.
///
/// @param native_stream a hipStream_t or cudaStream_t; null is the legacy default stream. An
///   invalid one is an error only if the runtime detects it.
/// @param stream set to the handle; roc_stream_destroy removes the handle and leaves the stream
///
/// *Lifetime:* the native stream must outlive the work that the library enqueues on it, and the
/// memory that was allocated or freed on it.
///
/// *Threads:* any.
ROCARRAY_C_API roc_status roc_stream_from_native(void* native_stream, roc_stream* stream);
/// Makes a handle of the calling thread's own default stream on the current device
/// (hipStreamPerThread). It is ordered with the legacy default stream.
///
/// @param stream set to the handle; roc_stream_destroy removes the handle and leaves the stream
///
/// *Threads:* any; only the calling thread may use the handle.
ROCARRAY_C_API roc_status roc_stream_per_thread(roc_stream* stream);
/// Sets `native_stream` to the hipStream_t or cudaStream_t, for kernels and the vendor's
/// libraries; null for the default stream. *Lifetime:* valid until the stream is destroyed.
/// *Threads:* any.
ROCARRAY_C_API roc_status roc_stream_native(roc_stream stream, void** native_stream);
/// Sets `device` to the ordinal of the stream's device; the current device for the default stream.
/// *Threads:* any.
ROCARRAY_C_API roc_status roc_stream_device(roc_stream stream, int32_t* device);
/// Blocks until all work enqueued so far on the stream has finished, and reports its errors.
/// *Threads:* any.
ROCARRAY_C_API roc_status roc_stream_synchronize(roc_stream stream);
/// Sets `is_idle` to 1 if all work enqueued so far has finished, else to 0. Does not block.
/// *Threads:* any.
ROCARRAY_C_API roc_status roc_stream_query(roc_stream stream, int32_t* is_idle);
/// Makes work that is enqueued on the stream from now on wait for the last record of `event`. Does
/// not block the calling thread. *Threads:* any; not concurrently with a record of the event.
ROCARRAY_C_API roc_status roc_stream_wait(roc_stream stream, roc_event event);
/// Destroys a handle. Does not block: pending work is still done. Does nothing for the default
/// stream. *Threads:* any; calls of other threads that use the stream are not affected.
ROCARRAY_C_API roc_status roc_stream_destroy(roc_stream stream);

// Events

/// Creates an event for ordering on the current device. It does not measure time.
///
/// @param event set to the handle; destroy it with roc_event_destroy
///
/// *Threads:* any.
ROCARRAY_C_API roc_status roc_event_create(roc_event* event);
/// Creates an event on the current device that also records the time, for roc_event_elapsed_time.
///
/// @param event set to the handle; destroy it with roc_event_destroy
///
/// *Threads:* any.
ROCARRAY_C_API roc_status roc_event_create_timed(roc_event* event);
/// Records the end of the work enqueued on `stream` so far. A later record replaces this one.
/// *Threads:* any; one at a time for one event.
ROCARRAY_C_API roc_status roc_event_record(roc_event event, roc_stream stream);
/// Sets `is_done` to 1 if the recorded work has finished or nothing was recorded, else to 0. Does
/// not block. *Threads:* any; not concurrently with a record of the event.
ROCARRAY_C_API roc_status roc_event_query(roc_event event, int32_t* is_done);
/// Blocks until the recorded work has finished; returns at once if nothing was recorded.
/// *Threads:* any; not concurrently with a record of the event.
ROCARRAY_C_API roc_status roc_event_synchronize(roc_event event);
/// Sets `milliseconds` to the time between two records on the device's clock
/// (hipEventElapsedTime). Does not block.
///
/// @param begin an event of roc_event_create_timed; one that measures no time is
///   ROCARRAY_ERROR_INVALID_ARGUMENT
/// @param end a second one, on the same device
/// @param milliseconds set to the time; not changed after an error
///
/// ROCARRAY_ERROR_HIP if one of them was not recorded, or its work has not finished.
///
/// *Threads:* any; not concurrently with a record of one of the events.
ROCARRAY_C_API roc_status roc_event_elapsed_time(roc_event begin, roc_event end,
                                                 double* milliseconds);
/// Destroys an event, which may be recorded and waited for. Does not block. Does nothing for null.
/// *Threads:* any.
ROCARRAY_C_API roc_status roc_event_destroy(roc_event event);

// Device memory

/// Creates a resource that allocates with hipMalloc. Freeing its memory blocks until all work on
/// the device has finished.
///
/// @param device ordinal; -1: the current device
/// @param resource set to the handle; destroy it with roc_resource_destroy
///
/// *Threads:* any.
ROCARRAY_C_API roc_status roc_resource_create_hip(int32_t device, roc_resource* resource);
/// Creates a resource that allocates with hipMallocFromPoolAsync. ROCARRAY_ERROR_NOT_SUPPORTED if
/// the device has no memory pool.
///
/// @param device ordinal; -1: the current device
/// @param resource set to the handle; destroy it with roc_resource_destroy
///
/// *Threads:* any.
ROCARRAY_C_API roc_status roc_resource_create_hip_async(int32_t device, roc_resource* resource);
/// Creates a pool that keeps freed memory for later allocations.
///
/// @param upstream the resource that the pool takes its memory from, created by a function of this
///   group; ROCARRAY_DEFAULT_RESOURCE: hipMalloc on the current device
/// @param limit the most bytes that the pool takes; SIZE_MAX: no limit
/// @param resource set to the handle; destroy it with roc_resource_destroy
///
/// *Lifetime:* `upstream` may be destroyed at any time: the pool keeps what it needs.
///
/// *Threads:* any.
ROCARRAY_C_API roc_status roc_resource_create_pool(roc_resource upstream, size_t limit,
                                                   roc_resource* resource);
/// Destroys a handle. The resource itself is destroyed with its last allocation and the last pool
/// that uses it; a pool blocks then until pending work on its memory has finished. Does nothing for
/// the default resource. *Threads:* any.
ROCARRAY_C_API roc_status roc_resource_destroy(roc_resource resource);

/// Allocates device memory, aligned to 256 bytes, for work that is enqueued on `stream`, and for
/// calls of the library without a stream or with another one.
///
/// @param resource the resource; it must be on the stream's device
/// @param bytes size in bytes; for 0, `data` is set to null
/// @param stream the stream on which the memory is used first; the memory is on its device, or on
///   the resource's
/// @param data set to the address
///
/// ROCARRAY_ERROR_OUT_OF_MEMORY if there is not enough memory.
///
/// *Synchronization:* blocks only if memory is short, or as the resource does.
///
/// *Lifetime:* until roc_free. Copies, fills and batches of the library record their streams, as
/// for device arrays of the C++ interface.
///
/// *Threads:* any.
ROCARRAY_C_API roc_status roc_allocate(roc_resource resource, size_t bytes, roc_stream stream,
                                       void** data);
/// Frees device memory. It is reused only after the work that was enqueued so far on `stream`, on
/// the stream of the allocation and on all streams that used it through the library has finished.
///
/// @param data an address that roc_allocate returned; null does nothing. Any other address, and one
///   that was freed, is ROCARRAY_ERROR_LIFETIME.
/// @param stream the stream of the memory's device on which the memory was used last; the default
///   stream is that of the memory's device
///
/// *Synchronization:* does not block, unless the resource does, or host memory is exhausted.
///
/// *Threads:* any.
ROCARRAY_C_API roc_status roc_free(void* data, roc_stream stream);
/// Records that your own work on `stream`, such as a kernel, uses the memory, so that the memory is
/// reused only after that work. Call it before the work is enqueued on a stream other than that of
/// the allocation; for a stream of another library (roc_stream_from_native), once more after its
/// last work.
///
/// @param data an address that roc_allocate returned
/// @param stream a stream of the memory's device; the default stream is that of the memory's device
///
/// *Threads:* any.
ROCARRAY_C_API roc_status roc_record_stream(void* data, roc_stream stream);

// Host memory

/// Kinds of host memory that the library allocates.
enum roc_host_memory {
  ROCARRAY_MEMORY_PINNED = 1,  ///< page-locked: copies run at link speed (hipHostMalloc)
  ROCARRAY_MEMORY_MAPPED = 2,  ///< pinned, and accessible to kernels by roc_device_address
  /// Migrates between host and device (hipMallocManaged). Describe it as ROCARRAY_DEVICE_CPU.
  ROCARRAY_MEMORY_MANAGED = 3,
};

/// Flags of pinned and mapped memory; combine with |.
enum roc_host_flags {
  ROCARRAY_MEMORY_DEFAULT = 0,         ///< pinned for the current device
  ROCARRAY_MEMORY_PORTABLE = 1,        ///< pinned for every device
  ROCARRAY_MEMORY_WRITE_COMBINED = 4,  ///< fast to write and to send, slow to read
  ROCARRAY_MEMORY_COHERENT = 8,        ///< kernels and the CPU see each other's writes
  ROCARRAY_MEMORY_NON_COHERENT = 16,   ///< cached by the device while a kernel runs
};

/// Allocates host memory that is not initialized.
///
/// @param kind one of roc_host_memory
/// @param flags of roc_host_flags; must be 0 for managed memory
/// @param bytes size in bytes; for 0, `data` is set to null
/// @param data set to the address
///
/// ROCARRAY_ERROR_NOT_SUPPORTED for managed memory if the device has none.
///
/// *Lifetime:* until roc_free_host.
///
/// *Threads:* any.
ROCARRAY_C_API roc_status roc_allocate_host(int32_t kind, uint32_t flags, size_t bytes,
                                            void** data);
/// Frees host memory.
///
/// @param data an address that roc_allocate_host returned; null does nothing. Any other address,
///   and one that was freed, is ROCARRAY_ERROR_LIFETIME.
///
/// *Synchronization:* blocks until copies and fills of the library that use the memory have
/// finished. Synchronize with your own kernels first.
///
/// *Threads:* any.
ROCARRAY_C_API roc_status roc_free_host(void* data);
/// Sets `address` to that at which the current device accesses mapped or managed memory, or memory
/// that is registered with ROCARRAY_REGISTER_MAPPED. ROCARRAY_ERROR_REGISTRATION for other memory.
///
/// @param data an address in such memory
/// @param bytes how many bytes from there the device accesses
/// @param address set to the address on the device
///
/// *Lifetime:* valid as long as the memory is allocated and registered.
///
/// *Threads:* any.
ROCARRAY_C_API roc_status roc_device_address(void* data, size_t bytes, void** address);

/// A range of host memory.
typedef struct roc_host_range {
  void const* data;  ///< the first byte
  size_t bytes;      ///< size in bytes; an empty range is skipped
} roc_host_range;

/// Flags of a registration; combine with |.
enum roc_register_flags {
  ROCARRAY_REGISTER_DEFAULT = 0,     ///< pinned for the current device
  ROCARRAY_REGISTER_MAPPED = 1,      ///< accessible to kernels by roc_device_address
  ROCARRAY_REGISTER_PORTABLE = 2,    ///< pinned for every device
  ROCARRAY_REGISTER_READ_ONLY = 4,   ///< the device only reads: copies from the device to it fail
  ROCARRAY_REGISTER_HUGE_PAGES = 8,  ///< asks the system for huge pages before pinning
};

/// Registers host memory, so that copies of it run at link speed (hipHostRegister): all ranges or
/// none. Registering the same range again counts.
///
/// @param ranges the ranges
/// @param count how many ranges
/// @param flags of roc_register_flags
///
/// ROCARRAY_ERROR_REGISTRATION if a range overlaps a registered one without being the same.
///
/// *Lifetime:* the memory must stay allocated until it is deregistered.
///
/// *Threads:* any.
ROCARRAY_C_API roc_status roc_register_host(roc_host_range const* ranges, size_t count,
                                            uint32_t flags);
/// Deregisters ranges: all or none. ROCARRAY_ERROR_REGISTRATION for a range that is not registered,
/// and for a part of one.
///
/// @param ranges the ranges
/// @param count how many ranges
///
/// *Synchronization:* blocks until the copies that use the ranges have finished.
///
/// *Threads:* any.
ROCARRAY_C_API roc_status roc_deregister(roc_host_range const* ranges, size_t count);

// Copies and fills. Ranks, extents and element types of two tensors must be equal, layouts may
// differ. Contiguous host memory of rank 1 also matches a tensor of any rank with as many elements,
// in C order. Bytes in gaps are never touched.

/// The path of a copy. The result is the same for every path.
enum roc_copy_path {
  ROCARRAY_PATH_FASTEST = 0,  ///< the library chooses
  ROCARRAY_PATH_DMA = 1,      ///< one contiguous copy
  ROCARRAY_PATH_DMA_2D = 2,   ///< rows with a pitch
  ROCARRAY_PATH_DMA_3D = 3,   ///< planes of rows
  ROCARRAY_PATH_STAGED = 4,   ///< contiguous, through pinned staging memory
  ROCARRAY_PATH_PACKED = 5,   ///< strided: the CPU packs the elements in pinned staging memory
  ROCARRAY_PATH_KERNEL = 6,   ///< strided device memory: a kernel copies
  ROCARRAY_PATH_HOST = 7,     ///< both are host memory: the CPU copies
};

/// How one copy, or the copies of one batch, are done. Zeros are the defaults, and so is a null
/// pointer in place of the options.
typedef struct roc_copy_options {
  int32_t path;     ///< one of roc_copy_path; a copy that cannot take the path fails
  int32_t threads;  ///< worker threads that help: 1 to 256; 0: the option copy_threads
  /// Not 0: an asynchronous copy may read a pageable source until the stream has been synchronized.
  /// The source must live, and must not change, until then.
  int32_t borrow_source;
} roc_copy_options;

/// Copies element by element.
///
/// @param from the source
/// @param to the destination; its elements are written
/// @param options null: the defaults
///
/// Errors: SHAPE; LAYOUT; OVERLAP; LIFETIME (data is null); REGISTRATION (the destination is
/// registered as read-only); INVALID_ARGUMENT (element types differ or are unknown, memory of
/// another platform, a path that is not possible); NO_DEVICE; OUT_OF_MEMORY; HIP.
///
/// *Synchronization:* ordered after all work enqueued earlier on the device through the library,
/// and complete on return.
///
/// *Threads:* any.
ROCARRAY_C_API roc_status roc_copy(roc_tensor const* from, roc_tensor const* to,
                                   roc_copy_options const* options);
/// Enqueues a copy on `stream`, as roc_copy does it. INVALID_ARGUMENT also if the stream is on
/// another device than the memory.
///
/// @param from the source
/// @param to the destination; its elements are written
/// @param stream the stream
/// @param options null: the defaults
///
/// *Synchronization:* blocks only if all staging memory is in use, or if earlier copies still write
/// a pageable source.
///
/// *Lifetime:* device, pinned and registered memory must live until the stream has been
/// synchronized; device memory of roc_allocate may be freed with roc_free. A pageable source may be
/// changed or freed on return, unless it is borrowed. A destination in host memory is complete
/// after synchronization.
///
/// *Threads:* any.
ROCARRAY_C_API roc_status roc_copy_async(roc_tensor const* from, roc_tensor const* to,
                                         roc_stream stream, roc_copy_options const* options);

/// Writes a value to every element.
///
/// @param to the destination
/// @param value an element
/// @param bytes the size of an element: 1 to 16
///
/// *Synchronization:* ordered after all work enqueued earlier on the device, and complete on
/// return.
///
/// *Threads:* any.
ROCARRAY_C_API roc_status roc_fill(roc_tensor const* to, void const* value, size_t bytes);
/// Enqueues a fill on `stream`, as roc_fill does it. *Lifetime:* the value has been read on return;
/// host memory must live until the stream has been synchronized. *Threads:* any.
ROCARRAY_C_API roc_status roc_fill_async(roc_tensor const* to, void const* value, size_t bytes,
                                         roc_stream stream);
/// Writes zero bytes to every element of any size.
///
/// @param to the destination
///
/// *Synchronization:* ordered after all work enqueued earlier on the device, and complete on
/// return.
///
/// *Threads:* any.
ROCARRAY_C_API roc_status roc_zero(roc_tensor const* to);
/// Enqueues what roc_zero does on `stream`. *Lifetime:* host memory must live until the stream has
/// been synchronized. *Threads:* any.
ROCARRAY_C_API roc_status roc_zero_async(roc_tensor const* to, roc_stream stream);

// Batches: many small copies at the cost of one (class copy_batch of the C++ interface).

/// Creates an empty batch.
///
/// @param batch set to the handle; destroy it with roc_batch_destroy
///
/// *Threads:* any.
ROCARRAY_C_API roc_status roc_batch_create(roc_batch* batch);
/// Adds the copy that roc_copy would do. No element is read or written yet. Fails as roc_copy does
/// for tensors that do not fit; the batch is then as before.
///
/// @param batch the batch
/// @param from the source
/// @param to the destination
///
/// *Lifetime:* the memory must live until the batch is submitted, and then as long as for a copy.
///
/// *Threads:* one at a time for one batch.
ROCARRAY_C_API roc_status roc_batch_add(roc_batch batch, roc_tensor const* from,
                                        roc_tensor const* to);
/// Executes all copies, with the result of executing them in the order in which they were added.
/// The batch keeps them and can be submitted again. After an error, some of the copies may have
/// been executed.
///
/// @param batch the batch
/// @param options null: the defaults
///
/// *Synchronization:* ordered after all work enqueued earlier on the devices, and complete on
/// return.
///
/// *Threads:* one at a time for one batch.
ROCARRAY_C_API roc_status roc_batch_submit(roc_batch batch, roc_copy_options const* options);
/// Enqueues all copies on `stream`, as roc_batch_submit executes them.
///
/// @param batch the batch; it may be changed or destroyed at once
/// @param stream the stream; memory of another device is INVALID_ARGUMENT
/// @param options null: the defaults
///
/// *Synchronization:* blocks only as roc_copy_async does.
///
/// *Threads:* one at a time for one batch.
ROCARRAY_C_API roc_status roc_batch_submit_async(roc_batch batch, roc_stream stream,
                                                 roc_copy_options const* options);
/// Destroys a batch. Does not block. Does nothing for null. *Threads:* any.
ROCARRAY_C_API roc_status roc_batch_destroy(roc_batch batch);

// Options of the library

/// Writes the text of an option of the process to `text`, with a zero at its end.
///
/// @param name a member of roc::options, such as "copy_threads"
/// @param text the destination; may be null if `size` is 0
/// @param size bytes of `text`; 64 are always enough. If the text does not fit, the call fails with
///   ROCARRAY_ERROR_INVALID_ARGUMENT and writes `length` only.
/// @param length set to the characters of the text, without the zero; may be null
///
/// *Threads:* any.
ROCARRAY_C_API roc_status roc_get_option(char const* name, char* text, size_t size, size_t* length);
/// Sets an option of the process, for calls that begin from now on.
///
/// @param name a member of roc::options, such as "copy_threads"
/// @param text the value as its environment variable takes it: a number, which may end with K, M or
///   G if it counts bytes; a name, such as "staged"; 0 or 1. What roc_get_option returned is valid.
///
/// *Threads:* any. Calls of this function do not lose each other's changes; those of
/// roc::set_options, which sets all options, may.
ROCARRAY_C_API roc_status roc_set_option(char const* name, char const* text);

#ifdef __cplusplus
}
#endif
