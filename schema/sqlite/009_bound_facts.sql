-- What a token that is bound to a branch (a pull request's job) tells of a commit gives way to the word of others.

CREATE TABLE commit_bound_facts ( -- commits of which something is known that nobody else told
    commit_id INTEGER PRIMARY KEY REFERENCES "commit" (id), -- the commit
    facts     INTEGER NOT NULL                              -- what: 1 parents, 2 time, 4 author, 8 subject, 32 branch, added up
) STRICT;

CREATE TABLE bound_run ( -- runs that such a token posted: they count for their own branch only, whatever becomes of their commit
    run_seq INTEGER PRIMARY KEY REFERENCES run (seq) -- the run
) STRICT;

-- Told of candidates that were dropped afterwards, as once was done: a change that was told stays.
DELETE FROM outbox WHERE change_id <> 0 AND change_id NOT IN (SELECT id FROM change);
