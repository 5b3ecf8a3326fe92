"""Command x catalog x inventory to Resolved, Ambiguous or NotFound; diff; lineage; proven-ness."""
