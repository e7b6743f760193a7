"""Work that takes long, or reads what strangers sent: in processes of its own, with limits, progress and a stop."""
