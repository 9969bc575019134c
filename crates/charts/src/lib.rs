//! Estimates as SVG pictures.
