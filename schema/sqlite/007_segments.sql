-- Levels that held before the present ones, so that a comparison with an old commit need not read histories.

CREATE TABLE series_segment ( -- a segment that a change or a boundary ended; the last one is in series_level
    series_id       INTEGER NOT NULL REFERENCES series (id),   -- the line
    end_commit_id   INTEGER NOT NULL REFERENCES "commit" (id), -- the first commit after it
    start_commit_id INTEGER NOT NULL REFERENCES "commit" (id), -- where it begins
    n               INTEGER NOT NULL,                          -- commits behind the level, the last ones before the end
    level           REAL NOT NULL,                             -- in the metric's unit
    noise           REAL NOT NULL,                             -- relative standard deviation of a commit's value
    PRIMARY KEY (series_id, end_commit_id)
) STRICT, WITHOUT ROWID;

INSERT OR IGNORE INTO analysis_queue (run_seq) SELECT seq FROM run; -- what was measured is noted again: an older schema may lack it
INSERT OR IGNORE INTO rejudge (series_id) SELECT id FROM series;
