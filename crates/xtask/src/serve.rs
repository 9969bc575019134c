//! `cargo xtask serve`: the page on this machine, built anew and reloaded whenever a source file changes.

use std::net::{Ipv4Addr, TcpListener};
use std::process::Command;

use crate::failure::{Failure, Result};
use crate::process;
use crate::setup;

const FIRST_PORT: u16 = 8080;

pub(crate) fn serve(port: Option<u16>) -> Result<()> {
    let toolbox = setup::for_building(Some("serve"))?;
    let port = match port {
        Some(port) if is_free(port) => port,
        Some(port) => {
            return Err(Failure::new(format!("Port {port} is taken: stop what listens there, or choose another.")));
        }
        None => (FIRST_PORT..FIRST_PORT + 100).find(|port| is_free(*port)).ok_or_else(|| {
            Failure::new("No port from 8080 to 8179 is free: choose one with `cargo xtask serve --port N`.")
        })?,
    };
    println!("Building the page; it will be at http://127.0.0.1:{port}/ (Ctrl-C stops the server).");
    let mut trunk = toolbox.command("trunk")?;
    trunk.args(["--skip-version-check", "--config", "Trunk.serve.toml", "serve", "--port", &port.to_string()]);
    become_the_program(&mut trunk)
}

fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// Lets `command` take this process's place, so that whoever stops this process stops the server.
#[cfg(unix)]
fn become_the_program(command: &mut Command) -> Result<()> {
    use std::os::unix::process::CommandExt;
    let error = command.exec();
    Err(process::not_started(command, &error, "run `cargo xtask setup`."))
}

#[cfg(not(unix))]
fn become_the_program(command: &mut Command) -> Result<()> {
    process::run(command, "the lines above say why.")
}
