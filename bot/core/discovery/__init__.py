"""Raw artefacts (units, processes, histories, logs) to launch candidates with provenance."""
