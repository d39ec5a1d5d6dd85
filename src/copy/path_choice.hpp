// SPDX-License-Identifier: MIT
// Which way a copy takes: from its layout, its kinds of memory and the settings.
#pragma once

#include "copy/plan.hpp"

namespace roc::transfer {

/// The path of a plan that has everything else: the one that ROCARRAY_COPY_PATH names, where the copy
/// can take it, else the one that is fastest.
copy_path choose_path(plan const& p, timing when);

}  // namespace roc::transfer
