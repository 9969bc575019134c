//! Starts the page.

fn main() {
    console_error_panic_hook::set_once();
    headroom_web::start();
}
