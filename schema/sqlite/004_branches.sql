-- Heads of branches, and annotations on commits.

CREATE TABLE branch_head ( -- where a branch points
    project_id INTEGER NOT NULL REFERENCES project (id),  -- whose it is
    branch     TEXT NOT NULL,                             -- its name
    commit_id  INTEGER NOT NULL REFERENCES "commit" (id), -- its newest commit
    before_id  INTEGER REFERENCES "commit" (id),          -- where it pointed before, NULL for its first place
    move       TEXT NOT NULL,                             -- how it came here: made, forward, forced, unproven
    moved_ms   INTEGER NOT NULL,                          -- when, since 1970 UTC
    who        TEXT,                                      -- who said so
    PRIMARY KEY (project_id, branch)
) STRICT, WITHOUT ROWID;

CREATE TABLE annotation ( -- what people say of a commit or a range of commits; a removed one stays as its own log
    id              INTEGER PRIMARY KEY,                       -- given by the writer, never used again
    project_id      INTEGER NOT NULL REFERENCES project (id),  -- whose it is
    first_commit_id INTEGER NOT NULL REFERENCES "commit" (id), -- one end of the range
    last_commit_id  INTEGER NOT NULL REFERENCES "commit" (id), -- the other; the same for a single commit
    benchmark_id    INTEGER REFERENCES benchmark (id),         -- of which it is said, NULL: of all
    machine_id      INTEGER REFERENCES machine (id),           -- of which it is said, NULL: of all
    text            TEXT NOT NULL,                             -- what is said
    who             TEXT,                                      -- by whom
    made_ms         INTEGER NOT NULL,                          -- when, since 1970 UTC
    removed_by      TEXT,                                      -- who took it away
    removed_ms      INTEGER                                    -- when, NULL: it stands
) STRICT;

CREATE TABLE pull_request_run ( -- runs of pull requests: what they measured was no part of a branch yet
    run_seq      INTEGER PRIMARY KEY REFERENCES run (seq), -- the run
    pull_request TEXT NOT NULL,                            -- number or name, as posted
    base         TEXT                                      -- sha of what it is to go into, as posted
) STRICT;

INSERT INTO pull_request_run (run_seq, pull_request, base)
SELECT run_seq, json_extract(source, '$.pull_request'), json_extract(source, '$.base')
FROM run_samples WHERE json_extract(source, '$.pull_request') IS NOT NULL;
