//! What documents show of a plan: cards as SVG and PNG, Markdown.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod program;

use program::{headroom, headroom_bytes};

const PLAN: &str = "model=Qwen/Qwen3-8B&gpu=rtx-4090&method=qlora";

#[test]
fn a_card_says_everything_as_text_and_leads_to_the_plan() {
    let estimate = headroom(&["estimate", PLAN, "--json"]).json();
    for (kind, most) in [("--verdict", 3_000), ("--phases", 15_000), ("--waterfall", 15_000)] {
        let card =
            headroom(&["chart", PLAN, "--card", kind, "--both", "--width", "700", "--page", "https://x.org/y/"]).out;
        assert!(card.starts_with("<svg ") && card.ends_with("</svg>\n"), "{card}");
        for said in [
            "<title id=\"title\">Qwen3-8B · QLoRA 4-bit · RTX 4090: Fits: 21.90 GiB of 23.52 GiB</title>",
            "Forward: ",
            "at the peak, Activations: ",
            "<a href=\"https://x.org/y/#v=1&amp;model=Qwen/Qwen3-8B&amp;gpu=rtx-4090&amp;method=qlora\" target=\"_blank\">",
            "svg:has(#dark:target)",
        ] {
            assert!(card.contains(said), "{said} is not in {card}");
        }
        assert!(card.len() <= most, "{kind}: {} bytes", card.len());
    }
    assert_eq!(estimate["verdict"], "fits");
    let missed = headroom(&["chart", "model=Qwen/Qwen3-8B&gpu=t4&torch_dtype=float16", "--verdict", "--dark"]).out;
    assert!(missed.contains("✗ Does not fit: ") && !missed.contains("<style>") && !missed.contains("<a "), "{missed}");
}

#[test]
fn a_card_as_png_has_its_figures_and_its_link_in_text_chunks() {
    let args = ["chart", PLAN, "--card", "--phases", "--png", "--width", "700", "--page", "https://x.org/y/"];
    let png = headroom_bytes(&args);
    assert_eq!(png.get(..8).unwrap(), b"\x89PNG\r\n\x1a\n");
    let width = u32::from_be_bytes(png[16..20].try_into().unwrap());
    assert_eq!(width, 2 * (700 + 28));
    let text = String::from_utf8_lossy(&png);
    for said in ["iTXt", "Qwen3-8B · QLoRA 4-bit · RTX 4090", "Forward: ", "https://x.org/y/#v=1&model=Qwen/Qwen3-8B"]
    {
        assert!(text.contains(said), "{said}");
    }
}

#[test]
fn markdown_has_a_line_and_a_table() {
    let said = headroom(&["estimate", PLAN, "--markdown", "--page", "https://x.org/y/"]).out;
    let mut lines = said.lines();
    let first = lines.next().unwrap();
    assert_eq!(
        first,
        "**[Qwen3-8B · QLoRA 4-bit · RTX 4090](https://x.org/y/#v=1&model=Qwen/Qwen3-8B&gpu=rtx-4090&method=qlora)**: fits, \
         21.90 GiB of 23.52 GiB on each GPU."
    );
    assert_eq!(lines.nth(1), Some("| phase | in tensors | needed |"));
    assert_eq!(lines.filter(|line| line.contains("(peak)")).count(), 1);
    let own = "{\"model\": {\"config\": {\"model_type\": \"llama\"}, \"name\": \"<b>|*\"}, \"gpu\": \"a100-80gb\"}";
    let hostile = headroom(&["estimate", own, "--markdown"]);
    assert!(hostile.out.starts_with("**\\<b\\>\\|\\* · LoRA"), "{}{}", hostile.out, hostile.err);
}
