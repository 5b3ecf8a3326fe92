"""SQLAlchemy tables and one repository per aggregate."""
