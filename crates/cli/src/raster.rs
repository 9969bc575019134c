//! Pictures as PNG: the SVG, drawn with the fonts of this machine.

use std::sync::Arc;

use headroom_charts::Card;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use crate::outcome::Failure;

/// Pixels of the file for each of the picture's.
const SCALE: f32 = 2.0;

/// `svg` as a PNG file that says in text chunks what it shows and, where the card leads anywhere, where the plan is.
pub(crate) fn png(svg: &str, card: &Card) -> Result<Vec<u8>, Failure> {
    let mut fonts = fontdb::Database::new();
    fonts.load_system_fonts();
    if fonts.is_empty() {
        let said = "this machine has no fonts to write a PNG with; install one (fonts-dejavu-core), or write an SVG";
        return Err(Failure::BadInput(said.to_owned()));
    }
    // The families that an SVG asks for are seldom there under these names: any sans-serif will do.
    let family = ["DejaVu Sans", "Noto Sans", "Liberation Sans", "Arial", "Helvetica"]
        .into_iter()
        .find(|name| fonts.faces().any(|face| face.families.iter().any(|(family, _)| family == name)));
    if let Some(family) = family {
        fonts.set_sans_serif_family(family);
    }
    let options =
        Options { fontdb: Arc::new(fonts), font_family: family.unwrap_or_default().to_owned(), ..Options::default() };
    let cannot =
        |error: String| Failure::BadInput(format!("the picture cannot be drawn as PNG ({error}); write an SVG"));
    let tree = Tree::from_str(svg, &options).map_err(|error| cannot(error.to_string()))?;
    let size = tree.size();
    let pixels = |length: f32| (length * SCALE).ceil() as u32;
    let mut picture =
        Pixmap::new(pixels(size.width()), pixels(size.height())).ok_or_else(|| cannot("it has no size".to_owned()))?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut picture.as_mut());
    encode(&picture, card).map_err(|error| cannot(error.to_string()))
}

fn encode(picture: &Pixmap, card: &Card) -> Result<Vec<u8>, png::EncodingError> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, picture.width(), picture.height());
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.add_itxt_chunk("Title".to_owned(), format!("{}: {}", card.title, card.verdict))?;
    encoder.add_itxt_chunk("Description".to_owned(), card.figures.join("\n"))?;
    if let Some(link) = &card.link {
        encoder.add_itxt_chunk("Source".to_owned(), link.clone())?;
    }
    let mut writer = encoder.write_header()?;
    let pixels: Vec<u8> = picture
        .pixels()
        .iter()
        .flat_map(|pixel| {
            let colour = pixel.demultiply();
            [colour.red(), colour.green(), colour.blue(), colour.alpha()]
        })
        .collect();
    writer.write_image_data(&pixels)?;
    writer.finish()?;
    Ok(file)
}
