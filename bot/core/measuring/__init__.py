"""From the load script's records to numbers that hold: measurements, doubts, baselines, verdicts, reasons.

script      what the script is told, and what each of its lines says
result      its final record -> Measurement
fairness    what makes a number doubtful
speculation accept length of this run
verdict     two measurements -> Verdict
baseline    which earlier measurement to compare with
explain     why one launch is slower than another, from the launches at hand
encoding    Measurement <-> JSON, for `relaunch bench --json` and `--compare`
"""
