// SPDX-License-Identifier: MIT
// Graphs: the capture of streams, and the launch of captured work.
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "base/no_destructor.hpp"
#include "platform/host/access_checker.hpp"
#include "platform/host/api_call.hpp"
#include "platform/host/capture.hpp"
#include "platform/host/scheduler.hpp"

namespace roc::host_hip {
namespace {

using graph_ptr = std::shared_ptr<graph_object const>;

// A graph that can be launched. Its launches run one after the other.
struct executable_graph {
  std::mutex mutex;
  graph_ptr graph;
  operation_ptr last_launch;
};

struct graph_tables {
  std::mutex mutex;
  std::map<hipGraph_t, graph_ptr> graphs;
  std::map<hipGraphExec_t, std::shared_ptr<executable_graph>> executables;
};

// Never destroyed: static objects of the program may own graphs.
graph_tables& tables() {
  static base::no_destructor<graph_tables> instance;
  return *instance;
}

graph_ptr find_graph(hipGraph_t graph) {
  std::lock_guard const lock(tables().mutex);
  auto const found = tables().graphs.find(graph);
  return found == tables().graphs.end() ? nullptr : found->second;
}

std::shared_ptr<executable_graph> find_executable(hipGraphExec_t executable) {
  std::lock_guard const lock(tables().mutex);
  auto const found = tables().executables.find(executable);
  return found == tables().executables.end() ? nullptr : found->second;
}

// Returns why a graph cannot take the place of another one.
hipGraphExecUpdateResult compare(graph_object const& before, graph_object const& after) {
  if (before.nodes.size() != after.nodes.size()) return hipGraphExecUpdateErrorTopologyChanged;
  for (std::size_t i = 0; i != before.nodes.size(); ++i) {
    if (before.nodes[i].dependencies != after.nodes[i].dependencies) {
      return hipGraphExecUpdateErrorTopologyChanged;
    }
    if (std::string_view(before.nodes[i].kind) != after.nodes[i].kind) {
      return hipGraphExecUpdateErrorNodeTypeChanged;
    }
  }
  return hipGraphExecUpdateSuccess;
}

// Replaces the graph of `target`, or leaves it unchanged if that is not possible.
hipGraphExecUpdateResult update_whole(graph_ptr& target, graph_ptr source) {
  auto const result = compare(*target, *source);
  if (result == hipGraphExecUpdateSuccess) target = std::move(source);
  return result;
}

// Does what ROCm does: compares no dependencies, and replaces one node after the other until one is
// of another kind.
hipGraphExecUpdateResult update_nodes(graph_ptr& target, graph_object const& source) {
  if (target->nodes.size() != source.nodes.size()) return hipGraphExecUpdateErrorTopologyChanged;
  auto updated = std::make_shared<graph_object>(*target);
  updated->accesses = source.accesses;
  auto result = hipGraphExecUpdateSuccess;
  for (std::size_t i = 0; i != source.nodes.size(); ++i) {
    if (std::string_view(updated->nodes[i].kind) != source.nodes[i].kind) {
      result = hipGraphExecUpdateErrorNodeTypeChanged;
      break;
    }
    updated->nodes[i].work = source.nodes[i].work;
  }
  target = std::move(updated);
  return result;
}

// Implements the queries of a capture. `id` may be null.
hipError_t query_capture(hipStream_t handle, stream_object const* stream,
                         hipStreamCaptureStatus& status, unsigned long long* id) {
  auto& captures = stream_captures::instance();
  if (handle == nullptr && captures.is_default_stream_ordered(stream->device)) {
    return hipErrorStreamCaptureImplicit;
  }
  auto const found = captures.query(stream);
  status = found.status;
  if (id != nullptr) *id = found.id;
  return hipSuccess;
}

}  // namespace
}  // namespace roc::host_hip

ROCARRAY_HOST_API_BEGIN

ROCARRAY_HOST_API hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
  return api_call("hipStreamBeginCapture", [=] {
    auto const target = scheduler::instance().find_stream(stream);
    if (target == nullptr) return hipErrorInvalidHandle;
    if (stream == nullptr) return hipErrorStreamCaptureUnsupported;
    if (mode < hipStreamCaptureModeGlobal || mode > hipStreamCaptureModeRelaxed) {
      return hipErrorInvalidValue;
    }
    return stream_captures::instance().begin(captured_stream_of(*target), mode);
  });
}

ROCARRAY_HOST_API hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
  return api_call("hipStreamEndCapture", [=] {
    auto const target = scheduler::instance().find_stream(stream);
    if (target == nullptr) return hipErrorInvalidHandle;
    if (graph == nullptr) return hipErrorInvalidValue;
    if (stream_captures::instance().query(target.get()).has_failed_to_end) {
      return undefined_call(
          "hipStreamEndCapture was called again after it has refused to end the capture, which "
          "accesses freed memory under ROCm; let all streams join the first one before the end",
          hipErrorStreamCaptureUnjoined);
    }
    *graph = nullptr;
    graph_ptr captured;
    hipError_t const result = stream_captures::instance().end(target.get(), captured);
    if (result != hipSuccess) return result;
    auto const handle = static_cast<hipGraph_t>(next_handle());
    std::lock_guard const lock(tables().mutex);
    tables().graphs.emplace(handle, std::move(captured));
    *graph = handle;
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipStreamIsCapturing(hipStream_t stream,
                                                  hipStreamCaptureStatus* status) {
  return api_call("hipStreamIsCapturing", [=] {
    auto const target = scheduler::instance().find_stream(stream);
    if (status == nullptr) return hipErrorInvalidValue;
    if (target == nullptr) return hipErrorInvalidHandle;
    return query_capture(stream, target.get(), *status, nullptr);
  });
}

ROCARRAY_HOST_API hipError_t hipStreamGetCaptureInfo(hipStream_t stream,
                                                     hipStreamCaptureStatus* status,
                                                     unsigned long long* id) {
  return api_call("hipStreamGetCaptureInfo", [=] {
    auto const target = scheduler::instance().find_stream(stream);
    if (status == nullptr) return hipErrorInvalidValue;
    if (target == nullptr) return hipErrorInvalidHandle;
    return query_capture(stream, target.get(), *status, id);
  });
}

ROCARRAY_HOST_API hipError_t hipGraphDestroy(hipGraph_t graph) {
  return api_call("hipGraphDestroy", [=] {
    std::lock_guard const lock(tables().mutex);
    return tables().graphs.erase(graph) != 0 ? hipSuccess : hipErrorInvalidValue;
  });
}

ROCARRAY_HOST_API hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* executable,
                                                          hipGraph_t graph,
                                                          unsigned long long flags) {
  return api_call("hipGraphInstantiateWithFlags", [=] {
    auto source = find_graph(graph);
    if (executable == nullptr || source == nullptr || flags != 0) return hipErrorInvalidValue;
    auto created = std::make_shared<executable_graph>();
    created->graph = std::move(source);
    auto const handle = static_cast<hipGraphExec_t>(next_handle());
    std::lock_guard const lock(tables().mutex);
    tables().executables.emplace(handle, std::move(created));
    *executable = handle;
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipGraphExecUpdate(hipGraphExec_t executable, hipGraph_t graph,
                                                hipGraphNode_t* failed_node,
                                                hipGraphExecUpdateResult* update_result) {
  return api_call("hipGraphExecUpdate", [=] {
    auto const target = find_executable(executable);
    auto source = find_graph(graph);
    if (target == nullptr || source == nullptr || failed_node == nullptr ||
        update_result == nullptr) {
      return hipErrorInvalidValue;
    }
    *failed_node = nullptr;
    std::lock_guard const lock(target->mutex);
    *update_result = is_fake_runtime ? update_nodes(target->graph, *source)
                                     : update_whole(target->graph, std::move(source));
    return *update_result == hipGraphExecUpdateSuccess ? hipSuccess : graph_update_failure;
  });
}

ROCARRAY_HOST_API hipError_t hipGraphExecDestroy(hipGraphExec_t executable) {
  return api_call("hipGraphExecDestroy", [=] {
    std::lock_guard const lock(tables().mutex);
    return tables().executables.erase(executable) != 0 ? hipSuccess : hipErrorInvalidValue;
  });
}

ROCARRAY_HOST_API hipError_t hipGraphLaunch(hipGraphExec_t executable, hipStream_t stream) {
  return api_call("hipGraphLaunch", [=] {
    auto const launched = find_executable(executable);
    auto const target = scheduler::instance().find_stream(stream);
    if (launched == nullptr) return hipErrorInvalidValue;
    if (target == nullptr) return hipErrorInvalidHandle;
    std::lock_guard const lock(launched->mutex);
    std::vector<tracked_work> works;
    if (tracks_work()) {
      for (auto const& access : launched->graph->accesses) {
        works.push_back(
            stream_captures::instance().track(target.get(), access.kind, stream, {access.memory}));
      }
    }
    auto const launch = scheduler::instance().submit(
        target, [graph = launched->graph, owned = std::move(works)] { graph->run(); },
        launched->last_launch, "graph");
    if (launch != nullptr) launched->last_launch = launch;
    return hipSuccess;
  });
}

ROCARRAY_HOST_API_END
