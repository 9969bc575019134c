//! Starts the page.

fn main() {
    headroom_web::start();
}
