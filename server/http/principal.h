/* SPDX-License-Identifier: Apache-2.0
 * Who sends a request, and what they may: what a token, a session of a person or a CI's own proof
 * of identity comes to once it was looked at. Holds no secret. Knows texts, no resource. A
 * principal belongs to one request, and to the thread that has it. */
#pragma once

#include "schema/error.h"
#include <stdbool.h>
#include <stdint.h>

enum principal_scope {
    PRINCIPAL_READ = 1u,   /* see what is kept, where reading is not open to all */
    PRINCIPAL_SUBMIT = 2u, /* POST runs, imports, history; nothing else */
    PRINCIPAL_TRIAGE = 4u, /* say what changes are, annotate; goes with PRINCIPAL_READ */
    PRINCIPAL_ADMIN = 8u   /* everything of its project, or of the server where it has none */
};
#define PRINCIPAL_ALL                                                                              \
    ((unsigned)PRINCIPAL_READ | (unsigned)PRINCIPAL_SUBMIT | (unsigned)PRINCIPAL_TRIAGE |          \
     (unsigned)PRINCIPAL_ADMIN)

typedef struct principal {
    char *who;        /* for people: logs of triage, of rules, of writes. Never empty */
    char *key;        /* tells principals apart, for limits and logs: "token:7". Never empty */
    int64_t token_id; /* of the store's tokens; 0: none of them */
    unsigned scopes;  /* enum principal_scope bits */
    char *project;    /* the only one; NULL: all */
    /* The only ones that it may write as or for, exact names (one that ends in * stands for all
     * that begin so, for stored tokens only); NULL: any. An empty list: none. */
    char **branches, **machines;
    bool is_session;    /* a browser sends it by itself: forms need their token */
    int64_t session_id; /* of the store's; 0: it is none */
    int64_t expires_ms; /* of the session, since 1970 UTC; 0: not known */
} Principal;

void principal_free(Principal *principal);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Principal, principal_free)

/* Whoever sends the token of --write-token-file, which all who know it share: it may all. */
#define PRINCIPAL_SHARED_KEY "write-token"
Principal *principal_new_shared(void);

/* "read", "submit,read", "triage", "admin" to bits, with what goes with each: triage takes read
 * along, admin everything. ERROR_SYNTAX says what would be right. And back, the least words. */
bool principal_scopes_parse(const char *text, unsigned *out, GError **error);
char *principal_scopes_print(unsigned scopes);

/* Whether a project, branch or machine is one of the principal's. NULL as the principal: a request
 * from this machine while no token exists, which may all; so these are true then. A branch that is
 * not said (NULL) is none of a bound principal's. */
bool principal_has_project(const Principal *principal, const char *project);
bool principal_has_branch(const Principal *principal, const char *branch);
bool principal_has_machine(const Principal *principal, const char *machine);

/* What somebody asks a token to be, as it was typed; NULL where nothing was said. */
#define PRINCIPAL_NAMES_MAX 100u
struct principal_wish {
    const char *project, *scope, *note;
    const char *expires; /* "90d", "12h", "4w" from now; NULL: never */
    char **branches, **machines;
};
/* Whether it makes sense: sound names, and branches or machines only where it may submit and read.
 * The scopes in their least words, the caller's; *out_lifetime_s: 0 for ever. NULL: ERROR_INVALID
 * or ERROR_SYNTAX says what would be right. */
char *principal_wish_check(const struct principal_wish *wish, int64_t *out_lifetime_s,
                           GError **error);

/* ---- Finding out ---- */

/* What came with a request: the text after `Bearer ` in Authorization (or Basic's password), or a
 * cookie's value. Not NUL-terminated, and never to be kept, logged or told. */
struct principal_credential {
    const char *text;
    size_t length;
    bool is_cookie;
};

enum principal_answer {
    PRINCIPAL_NOT_MINE, /* another kind of credential: the next resolver is asked */
    PRINCIPAL_FOUND,    /* *out is set, the caller's */
    PRINCIPAL_FAILED,   /* it could not be found out: error says why, the answer is of its kind */
    PRINCIPAL_REFUSED   /* of this kind, but expired, revoked, forged: error says why, in words that
                           hold nothing of the credential; the answer is 401 with it */
};

/* `thread` is what thread_start made for the calling thread (a StoreReader of it). On event
 * threads, so it must neither wait nor take long (some 100 us). */
typedef enum principal_answer (*principal_resolve_fn)(const struct principal_credential *credential,
                                                      void *thread, void *user, Principal **out,
                                                      GError **error);
struct principal_resolver {
    principal_resolve_fn resolve;
    void *user; /* outlives the server */
};
