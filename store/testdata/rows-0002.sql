INSERT INTO rigs VALUES ('r1', 'shop', '', 'shop.yaml', '', '/src', '', '2026-01-02T03:04:05.678Z', '2026-01-02T03:04:05.678Z', NULL, NULL, 3);
INSERT INTO pods VALUES ('p1', 'r1', 'dev', 'Dev', '', '', 0);
INSERT INTO seats (id, rig_id, pod_id, pod, member, label, runtime, agent_ref, profile, role, model, effort, codex_profile,
  permission_policy, restore_policy, cwd, env, readiness_timeout_ms, ordinal, generation, lifecycle, continuity, binding,
  context_delivered, previous, handover_at, handover_by, forked_from, last_error, created_at, updated_at, version)
VALUES
  ('s1', 'r1', 'p1', 'dev', 'impl', '', 'claude-code', 'builtin:x', '', '', '', '', '', '', 'resume_if_possible', '/src', '{"A":"1"}',
   0, 0, 1, 'active', 'fresh', '', 0, '', NULL, '', '', '', '2026-01-02T03:04:05.678Z', '2026-01-02T03:04:05.678Z', 4),
  ('s2', 'r1', 'p1', 'dev', 'qa', '', 'terminal', 'builtin:y', '', '', '', '', '', '', 'relaunch_fresh', '/src', NULL,
   0, 1, 0, '', '', '', 0, '', NULL, '', '', '', '2026-01-02T03:04:05.678Z', '2026-01-02T03:04:05.678Z', 0);
INSERT INTO edges VALUES ('r1', 's1', 's2', 'delegates_to');
INSERT INTO sessions (id, seat_id, generation, name, runtime, status, origin, startup, startup_note, continuity, resume_token,
  resume_provenance, last_verified, pid, pid_start, build, homes, settings, created_at, ended_at, exit_code, last_seen, version)
VALUES ('o1', 's1', 1, 'dev-impl@shop', 'claude-code', 'running', 'launched', 'ready', '', 'fresh',
  '0b5c1d2e-7f00-4a11-9c33-5d6e7f809102', 'hook', NULL, 4711, '998877', '2.1.332', '{"home":"/home/x"}', '',
  '2026-01-02T03:04:05.678Z', NULL, NULL, NULL, 2);
INSERT INTO tenures VALUES ('s1', 1, 'o1', 'initial', 'fresh', '', 'start', 'ada', '2026-01-02T03:04:05.678Z', NULL);
INSERT INTO bindings VALUES ('s1', '', '812-1', 'dev-impl@shop', '%3', 4710, '2026-01-02T03:04:05.678Z', 1);
INSERT INTO operations (id, verb, target, rig_id, seat_id, reason, operator, fingerprint, plan, state, receipt, error, owner, build,
  committed, undo_until, started_at, ended_at, version)
VALUES ('op1', 'up', 'shop', 'r1', '', '', 'ada', 'f', '{}', 'running', NULL, '', '{"pid":1}', '1', 0, NULL,
  '2026-01-02T03:04:05.678Z', NULL, 0),
  ('op2', 'handover', 'dev-impl@shop', 'r1', 's1', '', 'ada', 'g', '{}', 'done', '{}', '', '{"pid":2}', '1', 1, '2026-01-02T03:14:06.000Z',
  '2026-01-02T03:04:06.000Z', '2026-01-02T03:04:07.000Z', 1);
INSERT INTO events (at, type, rig_id, seat_id, rig, seat, op_id, operator, payload)
VALUES ('2026-01-02T03:04:05.678Z', 'rig.created', 'r1', '', 'shop', '', 'op1', 'ada', NULL),
  ('2026-01-02T03:04:06.000Z', 'seat.started', 'r1', 's1', 'shop', 'dev-impl@shop', 'op1', 'ada', '{"generation":1}');
INSERT INTO snapshots VALUES ('n1', 'r1', 'manual', 'complete', '', x'7b7d', '2026-01-02T03:04:07.000Z');
