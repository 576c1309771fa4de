/* SPDX-License-Identifier: Apache-2.0
 * See oidc_resolver.h. Event threads; the only clock that tokens are held against is read here. */
#include "server/oidc_resolver.h"

enum principal_answer oidc_resolve(const struct principal_credential *credential, void *thread,
                                   void *user, Principal **out, GError **error)
{
    struct oidc_identity identity;
    (void)thread;
    if (!user || credential->is_cookie || !oidc_is_token(credential->text, credential->length))
        return PRINCIPAL_NOT_MINE;
    if (!oidc_verify(user, credential->text, credential->length, g_get_real_time() / G_USEC_PER_SEC,
                     &identity, error))
        return PRINCIPAL_REFUSED;
    Principal *principal = g_new0(Principal, 1);
    principal->who = g_strdup(identity.subject);
    principal->key = g_strdup_printf("oidc:%s:%s", identity.trust, identity.repository);
    principal->scopes =
        (unsigned)PRINCIPAL_SUBMIT | (identity.may_read ? (unsigned)PRINCIPAL_READ : 0u);
    principal->project = g_strdup(identity.project);
    principal->branches = g_new0(char *, 2);
    principal->branches[0] = g_strdup(identity.branch);
    principal->machines = g_strdupv(identity.machines);
    oidc_identity_clear(&identity);
    *out = principal;
    return PRINCIPAL_FOUND;
}
