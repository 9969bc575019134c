"""Headroom's tools that need PyTorch: recording a model as a program (`python -m headroom.record`)."""
