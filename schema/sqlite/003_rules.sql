-- What people want to be told: rules per project and per series, and what a commit expects of itself.

CREATE TABLE rule_log ( -- a project's rules each time they were saved; the last ones are also project.rules
    id         INTEGER PRIMARY KEY,                      -- order of the entries
    project_id INTEGER NOT NULL REFERENCES project (id), -- whose rules
    at_ms      INTEGER NOT NULL,                         -- when, since 1970 UTC
    who        TEXT,                                     -- NULL: nobody said who
    note       TEXT,                                     -- why, as was said
    rules      TEXT NOT NULL,                            -- JSON as in schema/rules.h; [] where all were taken away
    n_series   INTEGER NOT NULL                          -- series that were judged anew because of it
) STRICT;

CREATE INDEX rule_log_project ON rule_log (project_id, id); -- entries of a project

CREATE TABLE rule_rejudge ( -- of the series in rejudge, those that wait because a rule changed
    series_id INTEGER PRIMARY KEY REFERENCES series (id) -- the line
) STRICT;

CREATE TABLE change_basis ( -- what a change rests on beside the data; no row where there is nothing to say
    change_id   INTEGER PRIMARY KEY REFERENCES change (id), -- of which change
    by_rule     INTEGER NOT NULL,                           -- 1: its status came with a rule, not with data
    never_news  INTEGER NOT NULL,                           -- 1: found while muted, or by a rule that came later: shown, not told
    expectation TEXT,                                       -- what its commit expects: the trailer's value
    in_advance  INTEGER NOT NULL                            -- 1: that covers it and gave it its triage, no people did
) STRICT;

CREATE INDEX outbox_project ON outbox (project_id, id); -- what was told of a project, in that order

INSERT INTO rule_log (project_id, at_ms, note, rules, n_series)
    SELECT id, CAST(strftime('%s', 'now') AS INTEGER) * 1000, 'kept from before rules had a form; it had no effect', rules, 0 FROM project WHERE rules IS NOT NULL;
UPDATE project SET rules = NULL;
