//! How long the whole answer to an edit takes, natively: `cargo run --release -p headroom-panels --example time`.
use std::time::Instant;

use headroom_panels::{Engine, Turn};
use headroom_view::Event;

fn settle(engine: &mut Engine) -> (f64, usize, f64) {
    let began = Instant::now();
    let (mut turns, mut longest) = (0, 0.0_f64);
    loop {
        let turn_began = Instant::now();
        let turn = engine.work();
        longest = longest.max(turn_began.elapsed().as_secs_f64() * 1e3);
        turns += 1;
        match turn {
            Turn::Idle => break,
            Turn::First => engine.go_on(),
            Turn::Whole => println!("    whole after {:.1} ms", began.elapsed().as_secs_f64() * 1e3),
            Turn::More => {}
            Turn::Show => drop(engine.answer(true)),
        }
    }
    drop(engine.answer(false));
    (began.elapsed().as_secs_f64() * 1e3, turns, longest)
}

fn main() {
    let links = std::env::args().skip(1).collect::<Vec<_>>();
    let links = if links.is_empty() { vec![String::new()] } else { links };
    for link in links {
        let mut engine = Engine::new("http://localhost/", &link, "en");
        let width = |name: &str| Event { action: format!("width {name}"), value: "800".to_owned() };
        engine.take(&["phases", "comparison", "map", "waterfall"].map(width));
        println!("{link} cold: {:?}", settle(&mut engine));
        for length in [1536, 3072, 768, 2560, 1280] {
            engine.take(&[Event { action: "type max_length".to_owned(), value: length.to_string() }]);
            println!("  max_length {length}: {:?}", settle(&mut engine));
        }
    }
}
