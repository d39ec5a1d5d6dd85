// SPDX-License-Identifier: MIT
// Copies, fills and batches.
#include <roc/c.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <roc/copy_batch.hpp>
#include <roc/copy_path.hpp>
#include <roc/detail/strided_region.hpp>
#include <roc/detail/tensor_operand.hpp>
#include <roc/options.hpp>
#include <roc/stream.hpp>

#include "c_interface/call.hpp"
#include "c_interface/handle_table.hpp"
#include "c_interface/handles.hpp"

namespace roc::c_interface {
namespace {

struct batch_entry {
  copy_batch batch;
};

using detail::operand_role;

struct batch_table : handle_table<roc_batch, batch_entry> {
  batch_table() noexcept : handle_table("batch") {}
};

// Returns a tensor as an operand whose memory was looked up.
// Throws as detail::tensor_operand does.
detail::tensor_operand operand(roc_tensor const* tensor, operand_role role) {
  char const* const name = role == operand_role::source ? "from" : "to";
  if (tensor == nullptr) throw_invalid(std::string(name) + " is null; pass a tensor");
  // The caller's object may be a DLTensor, which another compiler or language wrote.
  roc_tensor description;
  std::memcpy(&description, tensor, sizeof(description));
  auto const [code, bits, lanes] = description.dtype;
  detail::tensor_operand result({description.data,
                                 description.device.device_type,
                                 description.device.device_id,
                                 description.ndim,
                                 {code, bits, lanes},
                                 description.shape,
                                 description.strides,
                                 description.byte_offset},
                                name);
  result.look_up(role);
  return result;
}

// The options of one call, in effect for the calling thread while this exists.
class call_options {
 public:
  explicit call_options(roc_copy_options const* options) {
    if (options == nullptr) return;
    if (options->path < 0 || options->path > ROCARRAY_PATH_HOST) {
      throw_invalid("roc_copy_options::path is invalid: " + std::to_string(options->path) +
                    "; use an enumerator of roc_copy_path");
    }
    if (options->threads < 0) {
      throw_invalid("roc_copy_options::threads is negative: " + std::to_string(options->threads) +
                    "; use a number from 0 to 256");
    }
    override_.emplace(copy_options{static_cast<copy_path>(options->path),
                                   static_cast<std::size_t>(options->threads)});
    if (options->borrow_source != 0) use_ = detail::source_use::borrowed;
  }
  detail::source_use source_use() const noexcept { return use_; }

 private:
  std::optional<detail::options_override> override_;
  detail::source_use use_ = detail::source_use::copied;
};

static_assert(ROCARRAY_PATH_FASTEST == static_cast<int>(copy_path::none) &&
              ROCARRAY_PATH_DMA == static_cast<int>(copy_path::dma) &&
              ROCARRAY_PATH_DMA_2D == static_cast<int>(copy_path::dma_2d) &&
              ROCARRAY_PATH_DMA_3D == static_cast<int>(copy_path::dma_3d) &&
              ROCARRAY_PATH_STAGED == static_cast<int>(copy_path::staged) &&
              ROCARRAY_PATH_PACKED == static_cast<int>(copy_path::packed) &&
              ROCARRAY_PATH_KERNEL == static_cast<int>(copy_path::kernel) &&
              ROCARRAY_PATH_HOST == static_cast<int>(copy_path::host));

void copy(roc_tensor const* from, roc_tensor const* to, stream_ref const* stream,
          roc_copy_options const* options) {
  detail::tensor_operand source = operand(from, operand_role::source);
  detail::tensor_operand destination = operand(to, operand_role::destination);
  detail::tensor_operand::match(source, destination);
  call_options const scope(options);
  detail::copy(source.region(), destination.region(), stream, scope.source_use());
}

void fill(roc_tensor const* to, void const* value, std::size_t bytes, stream_ref const* stream) {
  detail::tensor_operand const destination = operand(to, operand_role::destination);
  require(value, "value");
  if (bytes != destination.element_size() || bytes > 16) {
    throw_invalid("the value has " + std::to_string(bytes) + " bytes, the elements of `to` have " +
                  std::to_string(destination.element_size()) +
                  "; use a value of the size of an element, from 1 to 16 bytes");
  }
  detail::fill(destination.region(), value, stream);
}

void submit(roc_batch batch, stream_ref const* stream, roc_copy_options const* options) {
  auto const entry = table<batch_table>().get(batch);
  call_options const scope(options);
  if (stream == nullptr) {
    entry->batch.submit();
  } else if (scope.source_use() == detail::source_use::borrowed) {
    entry->batch.submit(*stream, borrow_source);
  } else {
    entry->batch.submit(*stream);
  }
}

}  // namespace
}  // namespace roc::c_interface

using namespace roc::c_interface;

// Copies and fills

int32_t roc_device_type(void) { return roc::detail::tensor_operand::device_type(); }

roc_status roc_copy(roc_tensor const* from, roc_tensor const* to, roc_copy_options const* options) {
  return run("roc_copy", [&] { copy(from, to, nullptr, options); });
}

roc_status roc_copy_async(roc_tensor const* from, roc_tensor const* to, roc_stream stream,
                          roc_copy_options const* options) {
  return run("roc_copy_async", [&] {
    stream_argument const argument(stream);
    roc::stream_ref const target = argument.get();
    copy(from, to, &target, options);
  });
}

roc_status roc_fill(roc_tensor const* to, void const* value, size_t bytes) {
  return run("roc_fill", [&] { fill(to, value, bytes, nullptr); });
}

roc_status roc_fill_async(roc_tensor const* to, void const* value, size_t bytes,
                          roc_stream stream) {
  return run("roc_fill_async", [&] {
    stream_argument const argument(stream);
    roc::stream_ref const target = argument.get();
    fill(to, value, bytes, &target);
  });
}

roc_status roc_zero(roc_tensor const* to) {
  return run("roc_zero",
             [&] { roc::detail::zero(operand(to, operand_role::destination).region(), nullptr); });
}

roc_status roc_zero_async(roc_tensor const* to, roc_stream stream) {
  return run("roc_zero_async", [&] {
    stream_argument const argument(stream);
    roc::stream_ref const target = argument.get();
    roc::detail::zero(operand(to, operand_role::destination).region(), &target);
  });
}

// Batches

roc_status roc_batch_create(roc_batch* batch) {
  return run("roc_batch_create", [&] {
    require(batch, "batch");
    *batch = table<batch_table>().add(std::make_shared<batch_entry>());
  });
}

roc_status roc_batch_add(roc_batch batch, roc_tensor const* from, roc_tensor const* to) {
  return run("roc_batch_add", [&] {
    auto const entry = table<batch_table>().get(batch);
    auto source = operand(from, operand_role::source);
    auto destination = operand(to, operand_role::destination);
    roc::detail::tensor_operand::match(source, destination);
    roc::detail::add_regions(entry->batch, source.region(), destination.region());
  });
}

roc_status roc_batch_submit(roc_batch batch, roc_copy_options const* options) {
  return run("roc_batch_submit", [&] { submit(batch, nullptr, options); });
}

roc_status roc_batch_submit_async(roc_batch batch, roc_stream stream,
                                  roc_copy_options const* options) {
  return run("roc_batch_submit_async", [&] {
    stream_argument const argument(stream);
    roc::stream_ref const target = argument.get();
    submit(batch, &target, options);
  });
}

roc_status roc_batch_destroy(roc_batch batch) {
  return run("roc_batch_destroy", [&] {
    if (batch != nullptr) table<batch_table>().remove(batch);
  });
}
