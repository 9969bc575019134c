//! Which GPU the run is on.

use headroom_core::gpu::search;

use super::Resolver;
use crate::trainers::Fact;

impl Resolver {
    /// Takes the GPU that the files name; one of which there are several with other memory is asked for.
    pub(super) fn gpu(&mut self) {
        let Some((name, statement)) = self.text(Fact::Gpu) else { return };
        match search(&name).one() {
            Some(id) => self.set("gpu", id, &statement),
            None => self.missing.push("gpu"),
        }
    }
}
