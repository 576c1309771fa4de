-- What is found in the histories: what waits to be judged, each series' level, changes, what was told.

CREATE TABLE analysis_queue ( -- runs that wait to be judged: entered with the run, removed with the result
    run_seq INTEGER PRIMARY KEY REFERENCES run (seq) -- judged in this order
) STRICT;

CREATE TABLE rejudge ( -- series that wait to be judged anew: a run was removed, or people decided about a change
    series_id INTEGER PRIMARY KEY REFERENCES series (id) -- the line
) STRICT;

CREATE TABLE series_level ( -- what holds now, so that comparisons need not read histories
    series_id       INTEGER PRIMARY KEY REFERENCES series (id), -- the line
    n_commits       INTEGER NOT NULL,                           -- commits it was judged on
    last_commit_id  INTEGER NOT NULL REFERENCES "commit" (id),  -- the newest of them
    first_commit_id INTEGER NOT NULL REFERENCES "commit" (id),  -- the oldest of them
    start_commit_id INTEGER NOT NULL REFERENCES "commit" (id),  -- where its last segment begins
    judged_seq      INTEGER NOT NULL,                           -- the latest run that was taken
    judged_ms       INTEGER NOT NULL,                           -- when, since 1970 UTC
    n               INTEGER NOT NULL,                           -- commits behind the level; 0: too few to have one
    level           REAL NOT NULL,                              -- of the last segment, in the metric's unit
    noise           REAL NOT NULL,                              -- relative standard deviation of a commit's value
    base_n          INTEGER NOT NULL,                           -- the same three before the newest commit came
    base_level      REAL NOT NULL,                              -- its baseline's level
    base_noise      REAL NOT NULL                               -- its baseline's noise
) STRICT;

CREATE TABLE series_state ( -- the detector's memory
    series_id INTEGER PRIMARY KEY REFERENCES series (id), -- the line
    state     BLOB NOT NULL,                              -- the detector before the newest commit (server/analysis/detector.h)
    tail      BLOB NOT NULL                               -- commits in it and what the newest one gave (server/work/series_stream.h)
) STRICT;

CREATE TABLE series_checkpoint ( -- detectors at some commits of the past, from which a spliced commit restarts
    series_id INTEGER NOT NULL REFERENCES series (id),   -- the line
    commit_id INTEGER NOT NULL REFERENCES "commit" (id), -- the newest commit in it
    state     BLOB NOT NULL,                             -- the detector after that commit
    tail      BLOB NOT NULL,                             -- commits in it
    PRIMARY KEY (series_id, commit_id)
) STRICT;

CREATE TABLE series_version ( -- what is measured: library and bench_version of results
    series_id INTEGER NOT NULL REFERENCES series (id), -- the line
    run_seq   INTEGER NOT NULL,                        -- from this run on, in order of receipt
    digest    INTEGER NOT NULL,                        -- of both versions
    PRIMARY KEY (series_id, run_seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE change ( -- a range of commits at which a series' level moved
    id             INTEGER PRIMARY KEY,                       -- given by the writer; kept when the place moves a little
    project_id     INTEGER NOT NULL REFERENCES project (id),  -- whose it is
    series_id      INTEGER NOT NULL REFERENCES series (id),   -- the line
    good_commit_id INTEGER REFERENCES "commit" (id),          -- last commit at the old level
    bad_commit_id  INTEGER NOT NULL REFERENCES "commit" (id), -- first commit at the new level
    kind           TEXT NOT NULL,                             -- change, boundary (the environment moved), pinned (people fixed it)
    status         TEXT NOT NULL,                             -- the detector's: candidate, confirmed, withdrawn, reverted
    effect         REAL NOT NULL,                             -- relative: 0.05 says that values rose by 5 %
    effect_low     REAL NOT NULL,                             -- its 95 % interval
    effect_high    REAL NOT NULL,                             -- its other end
    level_before   REAL NOT NULL,                             -- in the metric's unit
    level_after    REAL NOT NULL,                             -- in the metric's unit
    p              REAL NOT NULL,                             -- of such a shift by noise alone
    n_before       INTEGER NOT NULL,                          -- commits behind level_before
    n_after        INTEGER NOT NULL,                          -- commits behind level_after
    found_ms       INTEGER NOT NULL,                          -- when it was first seen, since 1970 UTC
    told_ms        INTEGER,                                   -- when it was told; NULL: never
    triage         TEXT NOT NULL,                             -- people's: open, acknowledged, expected, noise, infra, fixed
    note           TEXT,                                      -- what they say of it
    who            TEXT,                                      -- who said so last
    triaged_ms     INTEGER                                    -- when, since 1970 UTC
) STRICT;

CREATE INDEX change_series ON change (series_id); -- changes of a line
CREATE INDEX change_project ON change (project_id, id); -- changes of a project, by id

CREATE TABLE change_log ( -- who did what to a change
    id        INTEGER PRIMARY KEY,                     -- order of the entries
    change_id INTEGER NOT NULL REFERENCES change (id), -- to which
    at_ms     INTEGER NOT NULL,                        -- when, since 1970 UTC
    who       TEXT,                                    -- NULL: the detector, or nobody said who
    triage    TEXT,                                    -- its new triage, NULL where only a note was made
    status    TEXT,                                    -- its new status, NULL where people acted
    note      TEXT                                     -- what was said
) STRICT;

CREATE INDEX change_log_change ON change_log (change_id); -- entries of a change

CREATE TABLE outbox ( -- what is to be told, each once: written in the transaction that found it
    id         INTEGER PRIMARY KEY, -- order of telling
    news       TEXT NOT NULL,       -- confirmed, withdrawn, reverted, environment
    change_id  INTEGER NOT NULL,    -- of which change; 0 for an environment
    project_id INTEGER NOT NULL,    -- whose news it is
    machine_id INTEGER NOT NULL,    -- where it was measured
    commit_id  INTEGER NOT NULL,    -- first commit at the new level, or in the new environment; 0 where the change says it
    at_ms      INTEGER NOT NULL,    -- when it was found, since 1970 UTC
    UNIQUE (news, change_id, project_id, machine_id, commit_id)
) STRICT;

INSERT INTO analysis_queue (run_seq) SELECT seq FROM run;
