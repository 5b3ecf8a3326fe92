"""The vocabulary: frozen records, units in names (`_ms`, `_s`, `_mib`, `_tok_s`), aware UTC times in `*_at`.

Data only. One word per thing, as in DESIGN: Host, Reading, LaunchConfig, Revision, Command, Plan, Operation,
Approval, Launch, Milestone, Measurement, Verdict, Finding, Report, Schedule, Message, AuditEvent.
"""
