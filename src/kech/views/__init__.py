"""Views: results as tables, pictures and pages."""
