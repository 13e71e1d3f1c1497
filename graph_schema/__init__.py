"""What the graph holds, declared once as data."""
