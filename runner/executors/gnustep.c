/* SPDX-License-Identifier: Apache-2.0
 * GNUstep's executors as the runner sees them: modules in Objective-C. Main thread. */
#include "runner/executors/gnustep.h"
#include "runner/executors/plugin.h"

const struct executor_ops *gnustep_load_perform(GError **error)
{
    return plugin_load_module("performselector", GNUSTEP_INSTALL, error);
}

const struct executor_ops *gnustep_load_detach(GError **error)
{
    return plugin_load_module("nsthread", GNUSTEP_INSTALL, error);
}
