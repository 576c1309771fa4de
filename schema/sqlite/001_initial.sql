CREATE TABLE project ( -- what is under test and has a git history
    id                  INTEGER PRIMARY KEY,  -- given by the writer
    name                TEXT NOT NULL UNIQUE, -- as in the run document
    default_branch      TEXT NOT NULL,        -- the branch whose history is judged
    commit_url_template TEXT,                 -- link to a commit on the forge, {sha} stands for it
    rules               TEXT,                 -- JSON: how changes are judged
    version             INTEGER NOT NULL      -- number of the transaction that last changed what the project shows
) STRICT;

CREATE TABLE param_default ( -- a case that has the default is the same series as one that lacks the parameter
    project_id INTEGER NOT NULL REFERENCES project (id), -- whose default it is
    bench      TEXT NOT NULL,                            -- name of the benchmark
    param      TEXT NOT NULL,                            -- name of the parameter
    value      TEXT NOT NULL,                            -- canonical text of the default
    PRIMARY KEY (project_id, bench, param)
) STRICT, WITHOUT ROWID;

CREATE TABLE machine ( -- where it is measured
    id   INTEGER PRIMARY KEY, -- given by the writer
    name TEXT NOT NULL UNIQUE -- as in the run document
) STRICT;

CREATE TABLE machine_alias ( -- another name of a machine; runs under it belong to the machine
    alias      TEXT PRIMARY KEY NOT NULL,               -- the other name
    machine_id INTEGER NOT NULL REFERENCES machine (id) -- whose it is
) STRICT, WITHOUT ROWID;

CREATE TABLE benchmark ( -- a name under which a project measures
    id         INTEGER PRIMARY KEY,                      -- given by the writer
    project_id INTEGER NOT NULL REFERENCES project (id), -- whose it is
    name       TEXT NOT NULL,                            -- as in the run document
    UNIQUE (project_id, name)
) STRICT;

CREATE TABLE benchmark_alias ( -- another name of a benchmark; results under it belong to the benchmark
    project_id   INTEGER NOT NULL REFERENCES project (id),   -- within which the name holds
    alias        TEXT NOT NULL,                              -- the other name
    benchmark_id INTEGER NOT NULL REFERENCES benchmark (id), -- whose it is
    PRIMARY KEY (project_id, alias)
) STRICT, WITHOUT ROWID;

CREATE TABLE topology ( -- hwloc XML, once per text
    id     INTEGER PRIMARY KEY,  -- given by the writer
    digest TEXT NOT NULL UNIQUE, -- SHA-256 of the text
    xml    TEXT NOT NULL         -- as it was posted
) STRICT;

CREATE TABLE environment ( -- facts of a machine that move results, once per digest
    id          INTEGER PRIMARY KEY,             -- given by the writer
    digest      TEXT NOT NULL UNIQUE,            -- SHA-256 of the chosen facts
    facts       TEXT NOT NULL,                   -- canonical JSON of all facts of the first run that had it
    topology_id INTEGER REFERENCES topology (id) -- of the first run that had it and a topology
) STRICT;

CREATE TABLE "commit" ( -- a git commit; what is not known is NULL, what is known never changes
    id             INTEGER PRIMARY KEY,                      -- given by the writer
    project_id     INTEGER NOT NULL REFERENCES project (id), -- whose history it belongs to
    sha            TEXT NOT NULL,                            -- 40 or 64 hex digits
    time_s         INTEGER,                                  -- committer date, seconds since 1970 UTC
    claimed_time_s INTEGER,                                  -- what was told, where that lay too far ahead and time_s was clamped
    parents_known  INTEGER NOT NULL,                         -- 1: commit_parent holds all of them, none means a root commit
    author         TEXT,                                     -- name as told
    subject        TEXT,                                     -- first line of the message
    trailers       TEXT,                                     -- JSON {"Name":["value"]}
    branch         TEXT,                                     -- under which it was first told
    UNIQUE (project_id, sha)
) STRICT;

CREATE TABLE commit_parent ( -- the edges of the history
    commit_id INTEGER NOT NULL REFERENCES "commit" (id), -- the child
    ordinal   INTEGER NOT NULL,                          -- place among the child's parents, from 0
    parent_id INTEGER NOT NULL REFERENCES "commit" (id), -- the parent
    PRIMARY KEY (commit_id, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE series ( -- benchmark x parameters x machine x metric: one line on a graph
    id           INTEGER PRIMARY KEY,                        -- given by the writer
    benchmark_id INTEGER NOT NULL REFERENCES benchmark (id), -- what is measured
    machine_id   INTEGER NOT NULL REFERENCES machine (id),   -- where it is measured
    params       TEXT NOT NULL,                              -- canonical JSON of the parameters without defaults: the identity
    spelling     TEXT,                                       -- as first posted, where that differs; unlike params it never changes
    metric       TEXT NOT NULL,                              -- name of the metric
    unit         TEXT NOT NULL,                              -- its unit, empty where there is none
    better       INTEGER NOT NULL,                           -- 0 not known, 1 higher, 2 lower
    UNIQUE (benchmark_id, machine_id, params, metric, unit)
) STRICT;

CREATE TABLE series_tally ( -- counts of each series, so that a start need not read all points
    series_id    INTEGER PRIMARY KEY REFERENCES series (id), -- whose counts they are
    n_points     INTEGER NOT NULL,                           -- points of runs up to tally_state.run_seq
    last_run_seq INTEGER NOT NULL                            -- the latest run among them, 0 for none
) STRICT;

CREATE TABLE tally_state ( -- one row: how far series_tally reaches
    id      INTEGER PRIMARY KEY CHECK (id = 1), -- always 1: there is one row
    run_seq INTEGER NOT NULL                    -- runs up to this one are counted
) STRICT;

CREATE TABLE run ( -- one execution at one commit on one machine; narrow, since all of it is read at the start
    seq            INTEGER PRIMARY KEY,                       -- order of receipt, never used again
    id             TEXT NOT NULL UNIQUE,                      -- made by the sender: the idempotency key
    project_id     INTEGER NOT NULL REFERENCES project (id),  -- what was measured
    machine_id     INTEGER NOT NULL REFERENCES machine (id),  -- where it was measured
    commit_id      INTEGER NOT NULL REFERENCES "commit" (id), -- at which commit
    branch         TEXT,                                      -- as posted
    reason         TEXT,                                      -- merge, nightly, manual and so on
    dirty          INTEGER NOT NULL,                          -- 1: the work tree was not the commit's
    started_ms     INTEGER NOT NULL,                          -- since 1970 UTC
    finished_ms    INTEGER,                                   -- since 1970 UTC
    received_ms    INTEGER NOT NULL,                          -- since 1970 UTC, by this server's clock
    environment_id INTEGER REFERENCES environment (id),       -- of the machine at that time
    n_results      INTEGER NOT NULL,                          -- results of the document
    n_errors       INTEGER NOT NULL,                          -- those with an error
    n_samples      INTEGER NOT NULL                           -- numbers measured
) STRICT;

CREATE TABLE run_samples ( -- the rest of each run document; results and metrics are in the document's order
    run_seq     INTEGER PRIMARY KEY REFERENCES run (seq), -- whose it is
    digest      TEXT NOT NULL,                            -- SHA-256 of the canonical document
    series      BLOB NOT NULL,                            -- the directory: per result its series (server/store/sample_blob.h)
    commits     BLOB NOT NULL,                            -- which facts of its commit and history it told (server/store/commit_telling.h)
    machine     TEXT,                                     -- name as posted, where it was an alias
    source      TEXT,                                     -- canonical JSON
    context     TEXT,                                     -- canonical JSON
    environment TEXT,                                     -- canonical JSON, where it differs from environment.facts
    topology_id INTEGER REFERENCES topology (id),         -- as posted
    results     BLOB NOT NULL                             -- samples, what was recorded beside them, info, flags (server/store/sample_blob.h)
) STRICT;

CREATE TABLE point ( -- one series in one run: every column a graph draws
    series_id INTEGER NOT NULL REFERENCES series (id), -- the line
    run_seq   INTEGER NOT NULL REFERENCES run (seq),   -- the run that holds it
    center    REAL NOT NULL,                           -- median of the samples, or what the document gave
    low       REAL,                                    -- 95 % interval of the median, NULL where none is claimed
    high      REAL,                                    -- its other end
    n         INTEGER NOT NULL,                        -- samples behind it, 0 where not known
    censored  INTEGER NOT NULL,                        -- 0; 1: lies above center, -1: below it
    flagged   INTEGER NOT NULL,                        -- 1: kept out of baselines
    PRIMARY KEY (series_id, run_seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE benchmark_run ( -- which runs hold a result of a benchmark, errors included
    benchmark_id INTEGER NOT NULL REFERENCES benchmark (id), -- the benchmark
    run_seq      INTEGER NOT NULL REFERENCES run (seq),      -- the run that holds it
    PRIMARY KEY (benchmark_id, run_seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE error_case ( -- benchmark x parameters that ever ended in an error
    id           INTEGER PRIMARY KEY,                        -- given by the writer
    benchmark_id INTEGER NOT NULL REFERENCES benchmark (id), -- what was to be measured
    params       TEXT NOT NULL,                              -- canonical JSON as posted
    UNIQUE (benchmark_id, params)
) STRICT;

CREATE TABLE result_error ( -- errors of results
    case_id INTEGER NOT NULL REFERENCES error_case (id), -- benchmark and parameters
    run_seq INTEGER NOT NULL REFERENCES run (seq),       -- the run that holds it
    ordinal INTEGER NOT NULL,                            -- place of the result in the document, from 0
    message TEXT NOT NULL,                               -- as posted
    PRIMARY KEY (case_id, run_seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX result_error_run ON result_error (run_seq); -- errors of a run

CREATE TABLE deleted_run ( -- ids of removed runs: they stay removed
    id         TEXT PRIMARY KEY NOT NULL, -- as it was in run
    run_seq    INTEGER NOT NULL,          -- as it was in run
    project_id INTEGER NOT NULL,          -- as it was in run
    deleted_ms INTEGER NOT NULL           -- since 1970 UTC
) STRICT, WITHOUT ROWID;
