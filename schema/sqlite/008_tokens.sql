-- Tokens, sessions of people, and the log of writes: what 006, which was released empty, was to hold.

CREATE TABLE token ( -- who may do what; a revoked one stays, since the log of writes names it
    id           INTEGER PRIMARY KEY, -- part of the token's text: brkv_ID_SECRET; never used again
    hash         BLOB NOT NULL,       -- SHA-256 of the secret part; the secret itself is kept nowhere
    project      TEXT,                -- name of the only project it is for, NULL: all
    scopes       TEXT NOT NULL,       -- words with commas: read, submit, triage, admin
    branches     TEXT,                -- the only branches it may write, a line each, NULL: any
    machines     TEXT,                -- the only machines it may write for, a line each, NULL: any
    note         TEXT,                -- what or who it is for; the name under which its writes are logged
    made_by      TEXT,                -- who made it
    created_ms   INTEGER NOT NULL,    -- when, since 1970 UTC
    expires_ms   INTEGER NOT NULL,    -- from when on it is refused, since 1970 UTC; 0: never
    last_used_ms INTEGER NOT NULL,    -- about when it was last taken, to some minutes; 0: never
    revoked_ms   INTEGER NOT NULL,    -- when it was revoked, since 1970 UTC; 0: it was not
    revoked_by   TEXT                 -- by whom
) STRICT;

CREATE TABLE session ( -- a person's browser that signed in with a token; gone when signed out
    id         INTEGER PRIMARY KEY, -- part of the cookie's text: brks_ID_SECRET
    hash       BLOB NOT NULL,       -- SHA-256 of the secret part
    token_id   INTEGER,             -- of which token; NULL: the one of --write-token-file
    token_hash BLOB NOT NULL,       -- that token's hash at the time: another token ends it
    created_ms INTEGER NOT NULL,    -- when it signed in, since 1970 UTC
    expires_ms INTEGER NOT NULL     -- from when on it is refused, since 1970 UTC
) STRICT;

CREATE INDEX session_token ON session (token_id, id); -- sessions of a token
CREATE INDEX session_expires ON session (expires_ms); -- those that are over

CREATE TABLE audit ( -- a row for each write that was asked for; grows at its end, and only its oldest rows go
    id         INTEGER PRIMARY KEY, -- order of the rows
    request_id TEXT NOT NULL,       -- of the request, as in the server's log; of the command line "cli-…"
    at_ms      INTEGER NOT NULL,    -- when, since 1970 UTC
    who        TEXT,                -- the token's or CI job's name; NULL: nobody who said who
    token_id   INTEGER,             -- its token, NULL: none
    project    TEXT,                -- the project that the address names, or the token's; NULL: none
    address    TEXT,                -- from where: the client's address
    method     TEXT NOT NULL,       -- what: the method …
    path       TEXT NOT NULL,       -- … and the path without its query
    detail     TEXT,                -- what else there is to say, such as how many refusals were left out
    status     INTEGER              -- the outcome: the answer's status; NULL: the server ended before there was one
) STRICT;

CREATE UNIQUE INDEX audit_request ON audit (request_id); -- the row of a request
CREATE INDEX audit_project ON audit (project, id); -- rows of a project

CREATE TRIGGER audit_stays BEFORE UPDATE ON audit WHEN old.status IS NOT NULL OR new.id <> old.id OR new.request_id <> old.request_id
    OR new.at_ms <> old.at_ms OR new.who IS NOT old.who OR new.path <> old.path OR new.method <> old.method
BEGIN SELECT raise(ABORT, 'the audit log only grows'); END;

CREATE TRIGGER audit_goes BEFORE DELETE ON audit WHEN old.id > (SELECT max(id) FROM audit) - 1000
BEGIN SELECT raise(ABORT, 'of the audit log only the oldest rows go'); END;
