/* SPDX-License-Identifier: Apache-2.0
 * A CI job's token as a principal: what server/access/oidc.h knows of it, in the words of
 * server/http/principal.h. It may submit to its project, as its branch, and nothing else. */
#pragma once

#include "server/access/oidc.h"
#include "server/http/principal.h"

/* For http_options.resolvers; `user` is the Oidc; NULL takes no token. */
enum principal_answer oidc_resolve(const struct principal_credential *credential, void *thread,
                                   void *user, Principal **out, GError **error);
