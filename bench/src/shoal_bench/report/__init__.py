"""From results to pages for people: tables beside the published figures, and pictures."""
