//! The tests of the page in a browser: the command that runs them, and the ports of the sites they look at.

use std::net::{Ipv4Addr, TcpListener};
use std::process::Command;

use crate::asked::Asked;
use crate::checkout;
use crate::failure::{Failure, Result};
use crate::process;
use crate::setup::Toolbox;

/// Whether the page that was built answers as the terminal does.
pub(crate) fn answers_of_the_page(toolbox: &Toolbox, asked: &Asked) -> Result<()> {
    process::run(&mut browser_tests(toolbox, &["answers.spec.ts"], asked)?, "the lines above say what differs.")
}

/// The browser's tests of `filter`, which have the terminal to compare with.
pub(super) fn browser_tests(toolbox: &Toolbox, filter: &[&str], asked: &Asked) -> Result<Command> {
    let [site, other_site] = free_ports()?;
    let mut tests = toolbox.command("npx")?;
    tests
        .current_dir(checkout::root().join("tests").join("e2e"))
        .args(["--no-install", "playwright", "test"])
        .args(filter)
        .env("HEADROOM_SITE_PORT", site.to_string())
        .env("HEADROOM_OTHER_SITE_PORT", other_site.to_string());
    if let Some(chromium) = &toolbox.chromium {
        tests.env("HEADROOM_CHROMIUM", chromium);
    }
    tests.env("HEADROOM_CLI", &asked.terminal).env("HEADROOM_PLANS", &asked.plans);
    Ok(tests)
}

/// Two ports that nothing listens on, so that two checkouts can be tested at once.
pub(super) fn free_ports() -> Result<[u16; 2]> {
    let listen = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let ports = || -> std::io::Result<[u16; 2]> {
        let (one, two) = (listen()?, listen()?);
        Ok([one.local_addr()?.port(), two.local_addr()?.port()])
    };
    ports().map_err(|error| Failure::new(format!("No free port for the test site ({error}): check the network.")))
}
