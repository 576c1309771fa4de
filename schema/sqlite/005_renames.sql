-- Names that stand for another (benchmarks, parameter values, machines), and how long data is kept.

CREATE TABLE param_value_alias ( -- another value of a parameter; cases that have it belong to the line of the value
    project_id INTEGER NOT NULL REFERENCES project (id), -- whose rule it is
    bench      TEXT NOT NULL,                            -- name of the benchmark
    param      TEXT NOT NULL,                            -- name of the parameter
    alias      TEXT NOT NULL,                            -- canonical text of the other value
    value      TEXT NOT NULL,                            -- canonical text of the value that it stands for
    PRIMARY KEY (project_id, bench, param, alias)
) STRICT, WITHOUT ROWID;

CREATE TABLE joined_series ( -- a line that several series make up under one name; its series stay as they are below it
    id           INTEGER PRIMARY KEY,                        -- from the ids of series, so that both are found alike
    benchmark_id INTEGER NOT NULL REFERENCES benchmark (id), -- under whose name it is shown
    machine_id   INTEGER NOT NULL REFERENCES machine (id),   -- under whose name it is shown
    params       TEXT NOT NULL,                              -- canonical JSON of the parameters after all renames
    metric       TEXT NOT NULL,                              -- name of the metric
    unit         TEXT NOT NULL,                              -- its unit, empty where there is none
    UNIQUE (benchmark_id, machine_id, params, metric, unit)
) STRICT;

CREATE TABLE change_twin ( -- the same change of a line as of one of its series: one of the two is shown
    change_id INTEGER NOT NULL REFERENCES change (id), -- of the line that was made later
    twin_id   INTEGER NOT NULL REFERENCES change (id), -- from which it was copied
    PRIMARY KEY (change_id, twin_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX change_twin_of ON change_twin (twin_id); -- the other way round

CREATE TABLE retention ( -- how long a project's data is kept; no row: for ever
    project_id    INTEGER PRIMARY KEY REFERENCES project (id), -- whose rule it is
    branches_days INTEGER NOT NULL,                            -- runs of other branches are thinned after so many days; 0: never
    branches_keep INTEGER NOT NULL,                            -- runs that are left of each branch and machine, the newest ones
    samples_days  INTEGER NOT NULL,                            -- samples are dropped after so many days, summaries stay; 0: never
    done_ms       INTEGER NOT NULL,                            -- when it was last carried out to its end, since 1970 UTC; 0: never
    n_deleted     INTEGER NOT NULL,                            -- runs that were deleted by it so far
    n_dropped     INTEGER NOT NULL                             -- runs whose samples were dropped by it so far
) STRICT;

CREATE TABLE dropped_samples ( -- runs whose document holds summaries where it held samples
    run_seq    INTEGER PRIMARY KEY REFERENCES run (seq), -- the run
    dropped_ms INTEGER NOT NULL                          -- when, since 1970 UTC
) STRICT;
