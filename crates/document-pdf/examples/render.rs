//! Renders a document from the standard input to the standard output; pictures come from a folder:
//! `cargo run -p document-pdf --example render -- "A title" de folder <document.json >document.pdf`.

use std::io::{Read, Write};

use document_pdf::{PictureRef, RenderOptions, render};
use rich_text::Node;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [title, language, folder] = arguments.as_slice() else {
        return Err("usage: render TITLE LANGUAGE FOLDER".into());
    };
    let mut json = String::new();
    std::io::stdin().read_to_string(&mut json)?;
    let document: Node = serde_json::from_str(&json)?;
    let options = RenderOptions {
        title,
        language,
        picture: &|picture| match picture {
            PictureRef::Image(name) | PictureRef::Island(name) => {
                std::fs::read(std::path::Path::new(folder).join(name)).ok()
            }
        },
    };
    let started = std::time::Instant::now();
    let pdf = render(&document, &options)?;
    std::io::stdout().write_all(&pdf.bytes)?;
    eprintln!(
        "{} bytes, PDF/UA-1: {}, {:?}",
        pdf.bytes.len(),
        pdf.is_accessible(),
        started.elapsed()
    );
    Ok(())
}
