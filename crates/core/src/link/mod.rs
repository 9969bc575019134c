//! Plan <-> permalink, versioned.
